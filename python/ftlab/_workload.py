"""Where writes come from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ftlab import _core
from ftlab._text import texts

__all__ = ["Trace", "core_workload"]


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace in a file, and how it is read.

    A path alone does as well where the defaults do.

    Parameters
    ----------
    path : str or path
        The file; plain, gzip or Zstandard.
    format : str, optional
        The format with its parameters, such as ``"msr"``; by its content if not given. See
        :func:`ftlab.formats`.
    map : str, optional
        Columns of a CSV file, such as ``"ts:us=5,op=2,off:bytes=3,len:bytes=4"``.
    volumes : sequence of str, optional
        The volumes of a trace of several that are kept; all by default.
    side_by_side : str or int, optional
        Lays volumes side by side, in pieces of this size in order of first use.
    compact : str or int, optional
        Leaves out addresses that are never written or read, by pieces of this size.
    skip_bad : str or float, default 0
        Share of the lines that may be wrong, such as ``"1%"``; they are counted and passed over.
    assume_write : bool, default False
        Takes every request of a format without operations for a write.

    Examples
    --------
    >>> import ftlab
    >>> trace = ftlab.Trace("alibaba.csv.gz", volumes=["17"], compact="4KiB")
    """

    path: str | os.PathLike[str]
    format: str | None = None
    map: str | None = None
    volumes: Sequence[str] = ()
    side_by_side: str | int | None = None
    compact: str | int | None = None
    skip_bad: str | float | None = None
    assume_write: bool = False


def core_workload(workload: object) -> _core.Workload:
    """`workload` as the compiled part takes it."""
    if isinstance(workload, str):
        return _core.Workload.parse(workload)
    if isinstance(workload, os.PathLike):
        workload = Trace(workload)
    if isinstance(workload, Trace):
        settings = texts({
            "format": workload.format,
            "map": workload.map,
            "side_by_side": workload.side_by_side,
            "compact": workload.compact,
            "skip_bad": workload.skip_bad,
            "assume_write": workload.assume_write,
        })
        return _core.Workload.trace(os.fspath(workload.path), list(workload.volumes), settings)
    raise TypeError(f"{type(workload).__name__} is no workload: give a str, a path or ftlab.Trace")
