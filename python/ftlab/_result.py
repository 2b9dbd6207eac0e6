"""Results of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any, Literal, overload

from ftlab import _core
from ftlab._document import Document
from ftlab._files import replacing
from ftlab._parts import RunParts
from ftlab._tables import TableName, data_frame, table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Result", "Run"]


class Run(RunParts, Document):
    """The result of one FTL: a mapping whose parts are also attributes.

    ``run.waf`` and ``run["waf"]`` are the same. The parts are those of ``RunResult`` in
    ``run-result.schema.json``, which explains each.

    Parameters
    ----------
    document : mapping
        The parts by name.

    Examples
    --------
    >>> import ftlab
    >>> result = ftlab.run("uniform", ["1r-greedy", "2r++"], drive="64MiB")
    >>> result["2r++"].host_writes
    65536
    """

    def __getattr__(self, name: str) -> Any:
        """The part of that name."""
        try:
            return self.__dict__["_document"][name]
        except KeyError:
            raise AttributeError(
                f"a run has no part {name!r}; the parts are {', '.join(RunParts.__annotations__)}"
            ) from None

    def __repr__(self) -> str:
        """The FTL and its write amplification."""
        return f"<ftlab.Run of {self.ftl}: {_headline(self)}>"


class Result(Document):
    """The result of a run: the document that ``ftlab run --json`` prints, and tables made from it.

    A mapping with the structure of ``run-result.schema.json``: ``result["runs"][0]["waf"]``.

    Parameters
    ----------
    document : mapping
        The document.

    Examples
    --------
    >>> import ftlab
    >>> result = ftlab.run("uniform", "1r-greedy", drive="1GiB", fill="random", drive_writes=2)
    >>> result["config"]["drive"]["logical_pages"]
    262144
    >>> result.to_arrow().column("host_writes").to_pylist()
    [524288]
    """

    @property
    def runs(self) -> list[Run]:
        """The results of each FTL, in the order in which they were given."""
        return [Run(run) for run in self._document["runs"]]

    @overload
    def __getitem__(self, key: Literal["runs"]) -> list[dict[str, Any]]: ...
    @overload
    def __getitem__(self, key: Literal["config"]) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: str) -> Any:
        """A part of the document, or the :class:`Run` of an FTL: ``result["2r++"]``."""
        if key in self._document:
            return self._document[key]
        runs = {run["ftl"]: run for run in self._document["runs"]}
        if key in runs:
            return Run(runs[key])
        raise KeyError(
            f"there is neither a part nor an FTL {key!r}; the parts are {', '.join(self._document)}, the "
            f"FTLs {', '.join(runs)}"
        )

    @property
    def steady_waf(self) -> dict[str, float | None]:
        """Write amplification by FTL once settled; ``None`` if it has not, or the run was too short."""
        return {run.ftl: run.steady_waf for run in self.runs}

    @property
    def waf(self) -> dict[str, float]:
        """Write amplification of the whole run by FTL: flash pages programmed per page written."""
        return {run.ftl: run.waf for run in self.runs}

    @property
    def media_bytes_per_host_byte(self) -> dict[str, float]:
        """By FTL, what counters of drives give: bytes of these pages per byte that the host sent.

        The same as `waf`, unless requests do not begin and end at page boundaries: a page that is written in
        part is programmed whole.
        """
        return {run.ftl: run.media_bytes_per_host_byte for run in self.runs}

    @property
    def answer(self) -> str:
        """The outcome, in a sentence."""
        return _core.answer(self.to_json())

    @property
    def warnings(self) -> list[str]:
        """What is unlike a drive that is built, where time is simulated.

        Too few blocks, LUNs that no block reaches, erases that take too much time: a sentence each.
        :func:`ftlab.run` warns of them.
        """
        return _core.doubts(self.to_json())

    @property
    def trust(self) -> str:
        """What the answer rests on, in one line; ``result["trust"]`` has the parts."""
        return str(self._document["trust"]["line"])

    def to_arrow(self, name: TableName = "runs") -> pa.Table:
        """A table of the result.

        Parameters
        ----------
        name : str, default "runs"
            ``"runs"`` has one row per FTL; ``"series"`` one per interval of its running write amplification;
            ``"streams"`` one per stream; ``"victims"`` one per bin of the histogram of victims by valid
            share; ``"responses"`` points of the distribution of response times (with `timing`);
            ``"waits"`` what requests waited for at each percentile (with ``waits=on`` in `timing`);
            ``"groups"`` response times by size, tenant and stream (with ``by=...`` in `timing`). With
            `observe`: ``"moves"`` by class, ``"utilisation"``, ``"spread"`` and ``"cells"`` for each
            picture of the flash.

        Returns
        -------
        pyarrow.Table
            Counts are pages, blocks or requests, shares are from 0 to 1, times are in nanoseconds.
        """
        return table(self, name)

    def to_pandas(self, name: TableName = "runs") -> pd.DataFrame:
        """A table as a pandas data frame.

        Parameters
        ----------
        name : str, default "runs"
            The table, as for :meth:`to_arrow`.

        Returns
        -------
        pandas.DataFrame
            The table.
        """
        return data_frame(self.to_arrow(name))

    def to_json(self) -> str:
        """The document as text.

        Returns
        -------
        str
            JSON of ``run-result.schema.json``.
        """
        return json.dumps(self._document)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write ``results.json`` and ``series.parquet``, as ``ftlab run --out`` does.

        Parameters
        ----------
        directory : str or path
            The directory; it is created if it does not exist.
        """
        _core.save(self.to_json(), os.fspath(directory))

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Result:
        """Read the files that :meth:`save` or ``ftlab run --out`` wrote.

        Parameters
        ----------
        directory : str or path
            The directory.

        Returns
        -------
        Result
            This result.
        """
        return cls(json.loads(_core.load(os.fspath(directory))))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML page of all tables and charts, as ``ftlab run --report`` does.

        Parameters
        ----------
        path : str or path
            The file. The picture of the flash needs a run with ``observe=True``.
        """
        with replacing(path) as page:
            page.write_text(_core.report(self.to_json()), encoding="utf-8")

    def __repr__(self) -> str:
        """The workload, and write amplification by FTL."""
        wafs = ", ".join(f"{run.ftl} {_headline(run)}" for run in self.runs)
        return f"<ftlab.Result of {self['config']['workload']}: {wafs}>"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        columns = _COLUMNS
        if any(run.media_bytes_per_host_byte > run.waf for run in self.runs):
            columns = (*_COLUMNS[:1], _IN_PART, *_COLUMNS[1:])
        if any(run.steady_waf is not None for run in self.runs):
            columns = (_STEADY, *columns)
        head = "".join(f"<th>{escape(name)}</th>" for name, _ in columns)
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(run['ftl'])}</th>"
            + "".join(f"<td>{escape(cell(run))}</td>" for _, cell in columns)
            + "</tr>"
            for run in self.runs
        )
        said = "".join(f"<p>{escape(text)}</p>" for text in (self.answer, *self.warnings, self.trust))
        return f"<table><tr><th>FTL</th>{head}</tr>{rows}</table>{said}"


def _headline(run: Run) -> str:
    """The steady value, and the mean of the whole run beside it."""
    if run.steady_waf is None:
        return f"{run.waf:.4g}"
    return f"{run.steady_waf:.4g} (steady; whole run {run.waf:.4g})"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


_COLUMNS: tuple[tuple[str, Callable[[Run], str]], ...] = (
    ("write amplification", lambda run: f"{run['waf']:.4f}"),
    ("last tenth", lambda run: f"{run['waf_last_tenth']:.4f}"),
    ("relocations", lambda run: f"{run['relocations']:,}"),
    ("erases", lambda run: f"{run['erases']:,}"),
    ("victims valid", lambda run: _share(run["victim_valid_share"]["mean"])),
    ("cold region", lambda run: _share(run["cold_region_share"])),
    ("settled?", lambda run: run["settling"]["verdict"].replace("_", " ")),
)
"""Columns of the table in notebooks, the same as on the report page."""

_STEADY: tuple[str, Callable[[Run], str]] = (
    "steady value",
    lambda run: "–" if run["steady_waf"] is None else f"{run['steady_waf']:.4f}",
)
"""The first column if some run has become steady."""

_IN_PART: tuple[str, Callable[[Run], str]] = (
    "media bytes per host byte",
    lambda run: f"{run['media_bytes_per_host_byte']:.4f}",
)
"""The column after the first if pages were written in part."""
