"""Running FTLs on a workload."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from ftlab import _core
from ftlab._drive import Drive
from ftlab._own import named, registered
from ftlab._policy import Policy
from ftlab._progress import Progress, reporter
from ftlab._result import Result
from ftlab._text import Setting, texts
from ftlab._workload import core_workload

__all__ = ["identity", "run"]

Fill = Literal["sequential", "random", "twice", "none"]
"""How a drive is filled first."""


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _names_arguments_of_drives(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The same, with an error that says where arguments of the drive go."""

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        of_drive = [field.name for field in fields(Drive) if field.name in kwargs]
        if of_drive:
            given = ", ".join(f"{name}={kwargs[name]!r}" for name in of_drive)
            message = f"{', '.join(of_drive)}: an argument of the drive; write drive=ftlab.Drive({given})"
            raise TypeError(message)
        return function(*args, **kwargs)

    return checked


@_names_arguments_of_drives
def run(
    workload: object,
    ftls: str | Policy | Iterable[str | Policy],
    *,
    drive: Drive | str | int | None = None,
    endurance: int | None = None,
    faults: str | None = None,
    timing: str | None = None,
    wrap: bool = False,
    ignore_trims: bool = False,
    streams: str | None = None,
    fill: Literal["sequential", "random", "twice", "none"] = "sequential",
    precondition: Literal["pts"] | None = None,
    warmup_writes: int | None = None,
    warmup_drive_writes: float | None = None,
    writes: int | None = None,
    drive_writes: float | None = None,
    repeat: bool = False,
    until: Literal["steady"] | None = None,
    seed: int = 1,
    interval: int | None = None,
    threads: int | None = None,
    observe: bool = False,
    progress: Progress = None,
) -> Result:
    """Run FTLs on a workload, and compare their write amplification.

    The workload is read once; while the next batch is decoded, all FTLs process the current one, each
    on its own thread, with the GIL released. Ctrl-C stops the run.

    Parameters
    ----------
    workload : str, path, Trace, array, table or iterator
        A generator such as ``"zipf:theta=0.9"`` (:func:`ftlab.generators` lists them), or a trace. A
        string that names an existing file, or contains a path separator, is a trace. An array of
        integers, or a Series of pandas or Polars, is a sequence of page numbers, each one a page write. A
        table is anything with Arrow's interface (pyarrow, Polars, pandas, DuckDB) or a dict of columns, and
        has the column ``lpn`` (page numbers) and optionally ``pages``; or ``lba`` and ``sectors`` of 512
        bytes; or ``offset`` and ``size`` in bytes, multiples of 512; and optionally ``op`` (``"write"``,
        ``"trim"``, ``"flush"``, ``"read"``, or 0 to 3), ``t_us`` and ``stream``. Neither is copied. An
        iterator of either is consumed as the run proceeds, and requires the size of the drive.
    ftls : str, Policy or iterable of them
        FTLs with their parameters, such as ``"2r++"`` and ``"2r-fifo:blk-util=0.4"``
        (:func:`ftlab.ftls` lists them), or policies of your own.
    drive : Drive, str or int, optional
        The drive, or its logical size.
    endurance : int, optional
        Program/erase cycles that a block endures: adds terabytes written and drive writes per day.
    faults : str, optional
        Injects flash failures: shares of programs and erases that fail, number of factory bad blocks, and a
        seed, such as program=1e-5,erase=1e-4,bad=20,seed=1.
    timing : str, optional
        Simulates time, with the flash timing NAME, such as slc:channels=4,luns=2,queue-depth=16. Blocks are
        those of its chip, one on each LUN, unless `pages_per_block` is given. See ``ftlab list timings``.
    wrap : bool, default False
        Takes addresses beyond the drive modulo its size, instead of rejecting them.
    ignore_trims : bool, default False
        Ignores trims, as in papers whose FTLs do not support them.
    streams : str, optional
        Assigns streams (placement handles) to requests by their start address, instead of those named in the
        trace: 1MiB..2MiB=1,4GiB..8GiB=2; the rest is stream 0.
    fill : {"sequential", "random", "twice", "none"}, default "sequential"
        How the drive is filled first, which is executed but not counted: none, every page once in ascending
        order (sequential) or in random order (random), or every page twice (twice).
    precondition : {"pts"}, optional
        Prepares the drive as a test does: pts, as SNIA's Performance Test Specification, writes every page
        twice and then runs the workload until it is steady.
    warmup_writes : int, optional
        Host page writes after the fill that are executed but not counted.
    warmup_drive_writes : float, optional
        Host page writes that are not counted, as a multiple of the logical capacity, which is given too.
    writes : int, optional
        Maximum number of host page writes to count; if neither this nor `drive_writes` is given, a whole
        trace, or 4 drive writes of a generator.
    drive_writes : float, optional
        Maximum number of host page writes to count, as a multiple of the logical capacity.
    repeat : bool, default False
        Begins a trace again when it ends, until `writes`, `drive_writes` (4 by default) or `until` ends the
        run.
    until : {"steady"}, optional
        Ends when the write amplification of every FTL is steady: a run of ten times the length would have the
        same, within 3% of WAF - 1. That takes 8 drive writes at least; a trace that has fewer needs `repeat`.
        After `drive_writes` (200 by default) it ends all the same, and results tell what is known: at least,
        or at most.
    seed : int, default 1
        Seed of generator and random fill: same seed, same result.
    interval : int, optional
        Length of an interval of the running write amplification, in host page writes; by default a quarter of
        the drive.
    threads : int, optional
        Number of threads; by default one per processor. Results do not depend on it.
    observe : bool, default False
        Tracks pages and blocks, for plots of the flash and of what is moved; the counts are the same, and the
        run takes two to three times as long.
    progress : bool or callable, optional
        Whether to show a progress bar, by default on terminals and in notebooks; or a function that is
        called with a :class:`Status` several times per second.

    Returns
    -------
    Result
        The results of each FTL.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> result = ftlab.run("zipf:theta=0.9", ["1r-greedy", "2r++"], drive="1GiB", fill="random")
    >>> {ftl: round(waf, 1) for ftl, waf in result.waf.items()}
    {'1r-greedy': 7.9, '2r++': 4.7}

    Your own page numbers, from NumPy:

    >>> import numpy as np
    >>> pages = np.random.default_rng(1).integers(0, 100_000, 1_000_000)
    >>> ftlab.run(pages, "2r++", drive=ftlab.Drive(pages_per_block=128)).runs[0]["host_writes"]
    1000000
    """
    names, policies = named([ftls] if isinstance(ftls, str | Policy) else ftls)
    drive = Drive.of(drive)
    settings = drive._settings() | {
        "endurance": endurance,
        "faults": faults,
        "timing": timing,
        "wrap": wrap,
        "ignore_trims": ignore_trims,
        "streams": streams,
        "fill": fill,
        "precondition": precondition,
        "warmup_writes": warmup_writes,
        "warmup_drive_writes": warmup_drive_writes,
        "writes": writes,
        "drive_writes": drive_writes,
        "repeat": repeat,
        "until": until,
        "seed": seed,
        "interval": interval,
        "threads": threads,
        "observe": observe,
    }
    with reporter(progress, names) as tell:
        source = core_workload(workload, drive.page_size)
        document = _core.run(source, names, policies, texts(settings), tell)
    result = Result(json.loads(document))
    if timing is not None:
        for text in result.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
    return result


def identity(workload: object, ftl: str, drive: Drive, settings: Mapping[str, Setting | None]) -> str:
    """Hash of everything that determines the result of a run, wherever its trace is.

    The settings are the other arguments of :func:`run`.
    """
    source = core_workload(workload, drive.page_size)
    return _core.identity(source, ftl, registered(), texts(drive._settings() | dict(settings)))
