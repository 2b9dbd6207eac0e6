"""Results of a parameter search."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv

from ftlab._files import replacing
from ftlab._tables import data_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Trial", "Tuning", "Validation"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A set of parameters, and its result.

    Attributes
    ----------
    ftl : str
        The FTL with these parameters, as for :func:`ftlab.run`.
    parameters : dict of str to str
        The values of the parameters searched.
    waf : float or None
        Write amplification: without the transient if runs end when they are steady, or else of the whole run;
        none if the run failed.
    waf_last_tenth : float or None
        Write amplification over the last tenth of the writes.
    metadata : str or None
        The state that the FTL needs, as a formula.
    metadata_bytes : int or None
        What it takes on this drive.
    within_budget : bool
        Whether that is within the budget.
    error : str or None
        Why it failed, such as incompatible parameters.
    steady_waf : float or None
        The steady value; none if the run did not become steady.
    run_waf : float or None
        Write amplification of the whole run.
    trust : str
        What it rests on, in one line.
    """

    ftl: str
    parameters: dict[str, str]
    waf: float | None = None
    waf_last_tenth: float | None = None
    metadata: str | None = None
    metadata_bytes: int | None = None
    within_budget: bool = False
    error: str | None = None
    steady_waf: float | None = None
    run_waf: float | None = None
    trust: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """The best and the default on writes that the search has not seen.

    Attributes
    ----------
    workload : str
        The workload.
    best, default : float
        Write amplification.
    """

    workload: str
    best: float
    default: float


@dataclass(frozen=True)
class Tuning:
    """The result of a search: the best parameters, compared with the default.

    Attributes
    ----------
    best : Trial
        The trial with the least write amplification within the budget; among equals, the one with the
        least metadata. Parameters without effect have been reset to their defaults.
    default : Trial
        The FTL as it was given.
    trials : list of Trial
        All trials, in order.
    budget_bytes : int or None
        The metadata budget on this drive.
    searched : dict of str to str
        The range searched for each parameter.
    omitted : dict of str to str
        Parameters that were not searched, and why.
    validation : Validation or None
        The best and the default on another workload, with `validate`.
    command : str or None
        The command that runs the best and the default again; none for workloads that a command cannot
        name, such as arrays.
    """

    best: Trial
    default: Trial
    trials: list[Trial]
    budget_bytes: int | None
    searched: dict[str, str]
    omitted: dict[str, str]
    validation: Validation | None
    command: str | None

    @property
    def trust(self) -> str:
        """What the best rests on, in one line."""
        return self.best.trust

    @property
    def gain(self) -> float:
        """The share of the default's flash writes that the best saves."""
        return 1 - _waf(self.best) / _waf(self.default)

    @property
    def pareto(self) -> list[Trial]:
        """The Pareto front of write amplification and metadata, in ascending order of metadata."""
        front: list[Trial] = []
        for trial in sorted(self._finished(), key=lambda trial: (trial.metadata_bytes, trial.waf)):
            if not front or _waf(trial) < _waf(front[-1]):
                front.append(trial)
        return front

    def _finished(self) -> list[Trial]:
        every = [self.default, self.best, *self.trials]
        return [trial for trial in every if trial.waf is not None]

    def to_arrow(self) -> pa.Table:
        """Table with a row for each trial: its parameters, as text, and its result."""
        rows = []
        for trial in self.trials:
            row = asdict(trial)
            rows.append({"ftl": row.pop("ftl"), **row.pop("parameters"), **row})
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())

    def to_json(self) -> str:
        """Everything as text, trials included."""
        document: dict[str, Any] = asdict(self)
        document["pareto"] = [trial.ftl for trial in self.pareto]
        return json.dumps(document, indent=2) + "\n"

    def figure(self, ax: Axes | None = None) -> Figure:
        """Draw write amplification against metadata: trials, the Pareto front, the default, the budget.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure as wide as a column of a paper.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from ftlab.plot._pareto import pareto

        return pareto(self, ax)

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write ``tuning.json``, ``trials.csv`` and ``pareto.svg``.

        Parameters
        ----------
        directory : str or path
            The directory; it is created if it does not exist.

        Returns
        -------
        list of pathlib.Path
            The files.
        """
        place = Path(directory)
        place.mkdir(parents=True, exist_ok=True)
        paths = [place / name for name in ("tuning.json", "trials.csv", "pareto.svg")]
        with replacing(paths[0]) as file:
            file.write_text(self.to_json(), encoding="utf-8")
        with replacing(paths[1]) as file:
            pa.csv.write_csv(self.to_arrow(), file)
        with replacing(paths[2]) as file:
            self.figure().savefig(file)
        return paths

    def __repr__(self) -> str:
        return (
            f"<ftlab.Tuning: {self.best.ftl}, WAF {_waf(self.best):.4g}; "
            f"{self.default.ftl} has {_waf(self.default):.4g}; {len(self.trials)} trials>"
        )


def _waf(trial: Trial) -> float:
    """The write amplification of a trial that has one."""
    assert trial.waf is not None
    return trial.waf
