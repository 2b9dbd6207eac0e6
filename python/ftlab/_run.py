"""Running FTLs on a workload."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from ftlab import _core
from ftlab._drive import Drive
from ftlab._policy import Policy
from ftlab._progress import Progress, reporter
from ftlab._result import Result
from ftlab._text import Setting, texts
from ftlab._workload import core_workload

__all__ = ["identity", "run"]

Fill = Literal["sequential", "random", "twice", "none"]
"""How a drive is filled first."""


def run(
    workload: object,
    ftls: str | Policy | Iterable[str | Policy],
    *,
    drive: Drive | str | int | None = None,
    fill: Fill = "sequential",
    writes: int | None = None,
    drive_writes: float | None = None,
    until: Literal["steady"] | None = None,
    repeat: bool = False,
    warmup_writes: int = 0,
    interval: int | None = None,
    seed: int = 1,
    timing: str | None = None,
    faults: str | None = None,
    endurance: int | None = None,
    streams: str | None = None,
    wrap: bool = False,
    ignore_trims: bool = False,
    observe: bool = False,
    threads: int | None = None,
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
        (:func:`ftlab.ftls` lists them), or your own policies.
    drive : Drive, str or int, optional
        The drive, or its logical size.
    fill : {"sequential", "random", "twice", "none"}
        How the drive is filled first, by writing every page once; this is executed but not counted.
    writes : int, optional
        Maximum number of host page writes to count; if neither this nor `drive_writes` is given, a whole
        trace, or 4 drive writes of a generator.
    drive_writes : float, optional
        The same as a multiple of the logical size.
    until : {"steady"}, optional
        End when the write amplification of every FTL is steady, but no later than after `drive_writes` (100
        by default); a trace is repeated until then.
    repeat : bool, default False
        Begin a trace again when it ends, until `writes`, `drive_writes` (4 by default) or `until` ends
        the run.
    warmup_writes : int, default 0
        Host page writes after the fill that are executed but not counted.
    interval : int, optional
        Length of an interval of the running write amplification, in host page writes; by default a
        quarter of the drive.
    seed : int, default 1
        Seed of generator and random fill: same seed, same result.
    timing : str, optional
        Simulates time, on flash with this timing, such as ``"slc:channels=4,luns=2"``
        (:func:`ftlab.timings`).
    faults : str, optional
        Injects flash failures, such as ``"program=1e-5,erase=1e-4,bad=20,seed=1"``.
    endurance : int, optional
        Program/erase cycles that a block endures: adds terabytes written and drive writes per day.
    streams : str, optional
        Assigns streams to requests by their start address: ``"1MiB..2MiB=1,4GiB..8GiB=2"``.
    wrap : bool, default False
        Takes addresses beyond the drive modulo its size, instead of raising.
    ignore_trims : bool, default False
        Ignores trims.
    observe : bool, default False
        Tracks pages and blocks, for plots of the flash and of what is moved; the counts are the same,
        and the run takes two to three times as long.
    threads : int, optional
        Maximum number of threads; by default one per processor. Results do not depend on it.
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
    every = [ftls] if isinstance(ftls, str | Policy) else list(ftls)
    policies = [(ftl.name, ftl) for ftl in every if isinstance(ftl, Policy)]
    names = [ftl.name if isinstance(ftl, Policy) else str(ftl) for ftl in every]
    drive = Drive.of(drive)
    settings = drive._settings() | {
        "fill": fill,
        "writes": writes,
        "drive_writes": drive_writes,
        "until": until,
        "repeat": repeat,
        "warmup_writes": warmup_writes,
        "interval": interval,
        "seed": seed,
        "timing": timing,
        "faults": faults,
        "endurance": endurance,
        "streams": streams,
        "wrap": wrap,
        "ignore_trims": ignore_trims,
        "observe": observe,
        "threads": threads,
    }
    with reporter(progress, names) as tell:
        source = core_workload(workload, drive.page_size)
        document = _core.run(source, names, policies, texts(settings), tell)
    return Result(json.loads(document))


def identity(workload: object, ftl: str, drive: Drive, settings: Mapping[str, Setting | None]) -> str:
    """Hash of everything that determines the result of a run, wherever its trace is.

    The settings are the other arguments of :func:`run`.
    """
    source = core_workload(workload, drive.page_size)
    return _core.identity(source, ftl, texts(drive._settings() | dict(settings)))
