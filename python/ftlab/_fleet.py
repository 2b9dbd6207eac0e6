"""Fleets: traces of many volumes, each on a drive of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ftlab._command_line import printed, reading_words, setting_words
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._lazy import needs
from ftlab._run import Fill
from ftlab._tables import data_frame
from ftlab._text import Setting
from ftlab._workload import Trace
from ftlab.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from distributed import Client
    from fsspec import AbstractFileSystem

__all__ = ["Fleet", "fleet"]

# Places whose first name is a bucket, by fsspec's names of them.
_WITH_BUCKETS = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss"}

_Traces = str | os.PathLike[str] | Trace


class Fleet(Document):
    """What a fleet comes to: the document that ``ftlab fleet --json`` prints, and a row for each run.

    Parameters
    ----------
    directory : path
        The directory of the fleet.
    document : mapping
        The document.

    Attributes
    ----------
    directory : pathlib.Path
        The directory of the fleet.
    """

    def __init__(self, directory: Path, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.directory = directory

    @property
    def trust(self) -> str:
        """What it rests on, in one line; ``fleet["trust"]`` has the parts."""
        return str(self["trust"]["line"])

    def to_arrow(self) -> pa.Table:
        """A row for each volume, over-provisioning and FTL, as in ``fleet.parquet``.

        Returns
        -------
        pyarrow.Table
            Counts, write amplification, what it rests on, and what is in the volume; null without a run.
        """
        import pyarrow.parquet as pq

        return pq.read_table(self.directory / "fleet.parquet")

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())

    def write_dataset(self, url: str, **storage_options: Any) -> None:
        """Write the table to a place that fsspec knows, in a part for each FTL.

        Parameters
        ----------
        url : str
            The place, such as ``"s3://bucket/fleet"``, for which the extra ``s3`` is needed, or
            ``"memory://fleet"``.
        **storage_options
            Passed on to fsspec, such as ``endpoint_url``.

        Raises
        ------
        ParameterError
            If the bucket does not exist: none is made, since its name may be mistyped.
        """
        import pyarrow.dataset as ds

        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise needs("writing a fleet to a URL", "fsspec", "dask", error) from None
        system, path = url_to_fs(url, **storage_options)
        _check_bucket(system, path)
        system.makedirs(path, exist_ok=True)
        ds.write_dataset(
            self.to_arrow(),
            path,
            format="parquet",
            filesystem=system,
            partitioning=["ftl"],
            partitioning_flavor="hive",
            existing_data_behavior="overwrite_or_ignore",
        )

    def __repr__(self) -> str:
        """Write amplification of all bytes, by FTL."""
        wafs = (f"{of['ftl']} {of['waf_of_all']:.4g}" for of in self["ftls"] if of["waf_of_all"] is not None)
        return f"<ftlab.Fleet of {self['selected']} volumes: {', '.join(wafs) or 'no evidence'}>"


def fleet(
    traces: _Traces | Iterable[_Traces],
    ftls: str | Iterable[str],
    out: str | os.PathLike[str],
    *,
    drive: Drive | None = None,
    op: Sequence[str | float] = (),
    sizes: str | os.PathLike[str] | None = None,
    select: str | None = None,
    baseline: str | None = None,
    pack: int | None = None,
    by: Sequence[str] = (),
    handles: int | None = None,
    fill: Fill = "sequential",
    writes: int | None = None,
    seed: int = 1,
    ignore_trims: bool = False,
    wrap: bool = False,
    strict: bool = False,
    memory: str | int | None = None,
    threads: int | None = None,
    client: Client | None = None,
    parts: int | None = None,
) -> Fleet:
    """Run every volume of traces on a drive of its own; each trace is read once.

    As the command ``ftlab fleet`` does; either continues what the other began in `out`.

    Parameters
    ----------
    traces : str, path, Trace or iterable of them
        Traces of one format: files, patterns of their names such as ``"traces/*.csv.gz"``, or a fleet that is
        made up, such as ``"fleet:volumes=100"``.
    ftls : str or iterable of str
        FTLs.
    out : path
        Directory for everything.
    drive : Drive, optional
        The drives; the size of each is that of its volume, unless it is given.
    op : sequence of str or float, optional
        Over-provisioning; by default that of `drive`.
    sizes : path, optional
        Table of the sizes of volumes.
    select : str, optional
        Which volumes are run, such as ``"written > 2 * footprint and footprint > 10GiB"``, or ``"all"``.
    baseline : str, optional
        The FTL that others are held against; by default the first one.
    pack : int, optional
        Volumes that share a drive, with their requests merged by time; by default each has its own.
    by : sequence of str, optional
        By what volumes are put together: ``"lifetime"``, ``"size"``, ``"random"``, ``"random:draws=N"``,
        ``"alone"``; by default the first three.
    handles : int, optional
        Placement handles of a drive that volumes share; by default 8.
    fill : {"sequential", "random", "twice", "none"}, default "sequential"
        How drives are filled first.
    writes : int, optional
        Host page writes of each volume that are counted at most.
    seed : int, default 1
        Seed of random fills.
    ignore_trims : bool, default False
        Whether trims do nothing.
    wrap : bool, default False
        Whether addresses beyond a drive are taken modulo its size.
    strict : bool, default False
        Whether what is wrong with a trace or a volume ends everything.
    memory : str or int, optional
        Memory for everything together, such as ``"16GiB"``.
    threads : int, optional
        Number of threads; by default one per processor.
    client : distributed.Client, optional
        Runs on the workers of this Dask cluster instead, after the traces were read here. Workers need the
        same version of ftlab, and `out` under the same path.
    parts : int, optional
        Parts that the runs are divided into for a `client`; by default four for each thread of it.

    Returns
    -------
    Fleet
        Totals, and a table of all runs.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> made_up = "fleet:volumes=12,scale=0.00003"
    >>> fleet = ftlab.fleet(made_up, ["1r-greedy", "2r-fifo"], "fleet", select="all", op=["20%"])
    >>> fleet["volumes"], fleet.to_arrow().num_rows
    (12, 24)
    """
    place = Path(out).absolute()
    drive = Drive() if drive is None else drive
    settings: dict[str, Setting | None] = dict(drive._settings())
    if op:
        settings["op"] = ",".join(map(str, op))
    named = [ftls] if isinstance(ftls, str) else list(ftls)
    if not named:
        raise ParameterError("no FTL is named; give one, such as 'sepbit'")
    words = _trace_words(traces)
    settings |= {"fill": fill, "writes": writes, "seed": seed, "ignore_trims": ignore_trims, "wrap": wrap}
    settings |= {"sizes": sizes, "select": select, "baseline": baseline, "strict": strict}
    settings |= {"pack": pack, "by": ",".join(by) or None, "handles": handles}
    words += setting_words(settings)
    for ftl in named:
        words += ["--ftl", ftl]
    means = setting_words({"memory": memory, "threads": threads})
    if client is None:
        return _told(place, [*words, *means])
    printed("fleet", [*words, *means, "--out", os.fspath(place), "--plan", "--quiet"])
    count = parts or 4 * max(1, sum(client.nthreads().values()))
    shards = [f"{number}/{count}" for number in range(1, count + 1)]
    # A worker runs one thread of them; another part takes the next.
    client.gather(client.map(_part, shards, place=os.fspath(place), memory=memory, pure=False))
    return _told(place, [*means])


def _trace_words(traces: _Traces | Iterable[_Traces]) -> list[str]:
    """The traces, and how they are read."""
    every = [traces] if isinstance(traces, str | os.PathLike | Trace) else list(traces)
    paths = [os.fspath(trace.path if isinstance(trace, Trace) else trace) for trace in every]
    reading = [reading_words(trace) if isinstance(trace, Trace) else [] for trace in every]
    if not paths:
        raise ParameterError("no trace is named; give a file, such as 'alibaba.csv.gz'")
    if any(words != reading[0] for words in reading):
        raise ParameterError("all traces of a fleet are read in one way; give each Trace the same settings")
    return paths + reading[0]


def _check_bucket(system: AbstractFileSystem, path: str) -> None:
    """Refuse a bucket that does not exist: making directories would make it."""
    protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    bucket = path.lstrip("/").split("/")[0]
    if protocols & _WITH_BUCKETS and not system.exists(bucket):
        raise ParameterError(
            f"there is no bucket {bucket!r}, or these keys may not see it; correct its name, or make it first"
        )


def _part(shard: str, place: str, memory: str | int | None = None) -> None:
    """Carries out a part of a fleet on a worker."""
    limits = setting_words({"memory": memory})
    printed("fleet", ["--out", place, "--shard", shard, "--threads", "1", "--quiet", *limits])


def _told(place: Path, words: list[str]) -> Fleet:
    """Carries out the rest of a fleet, and what it comes to."""
    text = printed("fleet", [*words, "--out", os.fspath(place), "--json", "--quiet"])
    return Fleet(place, json.loads(text))
