"""The scoreboard: many FTLs over many workloads and drives."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from ftlab import _core
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._progress import CountProgress, count_reporter
from ftlab._run import Fill
from ftlab._tables import data_frame
from ftlab._text import texts
from ftlab._workload import Trace, core_workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Scoreboard", "compare"]


class Scoreboard(Document):
    """FTLs from best to worst, relative to a baseline: the document that ``ftlab compare --json`` prints.

    Beside it, ``board["cells"]`` has the result of every cell, and ``board["markdown"]`` the tables.

    Parameters
    ----------
    document : mapping
        The document.
    """

    @property
    def relative(self) -> dict[str, float]:
        """Geometric mean of WAF - 1 + 0.003 over that of the baseline, by FTL, the best first.

        With maps on flash, by FTL and map, such as ``"2r++ with dftl:cache=2MiB"``.
        """
        return {_name(score): score["relative"] for score in self["scores"]}

    @property
    def trust(self) -> str:
        """What it rests on, in one line; ``board["trust"]`` has the parts."""
        return str(self["trust"]["line"])

    def to_arrow(self, name: Literal["cells", "scores", "workloads"] = "cells") -> pa.Table:
        """A table of the scoreboard.

        Parameters
        ----------
        name : {"cells", "scores", "workloads"}
            A row for every cell, that is, for every FTL on every drive under every workload; for every FTL
            with every map; or for each of these under every workload.

        Returns
        -------
        pyarrow.Table
            The table; a cell without a result has an ``error``.
        """
        import pyarrow as pa

        if name not in _TABLES:
            raise KeyError(f"there is no table {name!r}; the tables are {', '.join(_TABLES)}")
        rows = _TABLES[name](self)
        columns = {key: None for row in rows for key in row}
        return pa.table({key: [row.get(key) for row in rows] for key in columns})

    def to_pandas(self, name: Literal["cells", "scores", "workloads"] = "cells") -> pd.DataFrame:
        """The scoreboard as a pandas data frame."""
        return data_frame(self.to_arrow(name))

    def __repr__(self) -> str:
        """The scores."""
        scores = ", ".join(f"{ftl} {relative:.3g}" for ftl, relative in self.relative.items())
        return f"<ftlab.Scoreboard relative to {' or '.join(self['baseline'])}: {scores}>"

    def _repr_html_(self) -> str:
        """The table of scores, for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(_name(score))}</th><td>{score['relative']:.3g}</td>"
            f"<td>{score['relative_range'][0]:.3g}</td><td>{score['relative_range'][1]:.3g}</td>"
            f"<td>{score['cells']}</td></tr>"
            for score in self["scores"]
        )
        head = "<tr><th>FTL</th><th>relative</th><th>best cell</th><th>worst cell</th><th>cells</th></tr>"
        return f"<table>{head}{rows}</table><p>{escape(self.trust)}</p>"


def _name(score: dict[str, Any]) -> str:
    return f"{score['ftl']} with {score['mapping']}" if "mapping" in score else str(score["ftl"])


def _cells(board: Scoreboard) -> list[dict[str, Any]]:
    rows = []
    for outcome in board["cells"]:
        run = outcome["run"].get("Ok")
        row = dict(outcome["cell"])
        if run is None:
            row["error"] = outcome["run"]["Err"]
        else:
            scalars = {key: value for key, value in run.items() if not isinstance(value, list | dict)}
            row |= scalars | {"settling": run["settling"]["verdict"], "ftl": row["ftl"]}
        rows.append(row)
    return rows


def _scores(board: Scoreboard) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in score.items() if not isinstance(value, list | dict)}
        for score in board["scores"]
    ]


def _workloads(board: Scoreboard) -> list[dict[str, Any]]:
    named = ("ftl", "mapping")
    return [
        {key: score[key] for key in named if key in score} | of
        for score in board["scores"]
        for of in score["workloads"]
    ]


_TABLES = {"cells": _cells, "scores": _scores, "workloads": _workloads}


def compare(
    workloads: str | os.PathLike[str] | Trace | Iterable[str | os.PathLike[str] | Trace],
    ftls: str | Iterable[str] = (),
    *,
    out: str | os.PathLike[str] | None = None,
    baseline: str | Iterable[str] = "sepbit",
    drive: Drive | str | int | None = None,
    fills: Fill | Sequence[Fill] = "sequential",
    real_drive: str | None = None,
    op: Sequence[str | float] = (),
    pages_per_block: Sequence[int] = (),
    writes: int | None = None,
    drive_writes: float | None = None,
    repeat: bool = False,
    until: Literal["steady"] | None = None,
    seed: int = 1,
    ignore_trims: bool = False,
    threads: int | None = None,
    progress: CountProgress = None,
) -> Scoreboard:
    """Compare FTLs over many workloads and drives: every combination runs.

    As the command ``ftlab compare`` does; either continues what the other began in `out`.

    Parameters
    ----------
    workloads : str, path, Trace or iterable of them
        Trace files or generators.
    ftls : str or iterable of str, optional
        FTLs; by default all that have a name, and the other placements with cost-benefit victims.
    out : path, optional
        Directory in which finished runs are kept, and not repeated; by default they are not kept.
    baseline : str or iterable of str, default "sepbit"
        The FTL to compare with; of several, the best in each cell. ``"rivals"`` compares each FTL with the
        best of all others in the cell, those that know the future left out.
    drive : Drive, str or int, optional
        What all drives have in common, or their logical size; generators require one.
    fills : {"sequential", "random", "twice", "none"} or sequence of them
        How drives are filled first.
    real_drive : str, optional
        Runs on models of a drive that can be bought: its capacity and, if they are known, its
        over-provisioning and the unit that it collects at once, such as ``"7.68TB, 7%"``.
    op : sequence of str or float, optional
        Over-provisioning of the drives, in ascending order; by default that of `real_drive`, or 7%, 10% and
        28%.
    pages_per_block : sequence of int, optional
        Pages per erase block of the drives; by default the usual number for their size.
    writes : int, optional
        Maximum number of host page writes; by default a whole trace, or 4 drive writes of a generator.
    drive_writes : float, optional
        Maximum number of host page writes, as a multiple of the logical capacity.
    repeat : bool, default False
        Begins a trace again when it ends, until one of the others ends the run.
    until : {"steady"}, optional
        Ends each run when write amplification is steady, and compares the steady values; a short trace needs
        `repeat`.
    seed : int, default 1
        Seed of generators and random fills.
    ignore_trims : bool, default False
        Ignores trims.
    threads : int, optional
        Maximum number of threads; by default one per processor.
    progress : bool or callable, optional
        Whether to show a bar, by default on terminals and in notebooks; or a function that is called with the
        number of runs done, and of all runs.

    Returns
    -------
    Scoreboard
        FTLs from best to worst.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> board = ftlab.compare("hotcold", ["1r-greedy", "2r++"], drive="32MiB", op=["10%"])
    >>> list(board.relative)[-1]
    '1r-greedy'
    """
    every = [workloads] if isinstance(workloads, str | os.PathLike | Trace) else list(workloads)
    of = Drive.of(drive)
    settings = of.without_op() | {
        "writes": writes,
        "drive_writes": drive_writes,
        "repeat": repeat,
        "until": until,
        "seed": seed,
        "ignore_trims": ignore_trims,
        "threads": threads,
        "real_drive": real_drive,
    }
    chosen = list(pages_per_block) or ([of.pages_per_block] if of.pages_per_block else [])
    axes = (
        [core_workload(workload, of.page_size) for workload in every],
        _names(ftls),
        _names(baseline),
        _names(fills),
        [str(share) for share in op],
        chosen,
    )
    with tempfile.TemporaryDirectory() as unkept, count_reporter(progress) as tell:
        directory = os.fspath(out) if out is not None else unkept
        found = _core.compare(axes, directory, texts(settings), tell)
    return Scoreboard(json.loads(found))


def _names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names]
