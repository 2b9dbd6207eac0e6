"""Running experiment files, on this machine or on a cluster."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ftlab import _core
from ftlab._own import Own, registered
from ftlab._progress import SweepProgress, sweep_reporter
from ftlab._tables import data_frame
from ftlab.errors import FileError

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client, Future

__all__ = ["Failure", "Sweep", "sweep"]

Finished = tuple[bytes, list[tuple[str, str]]]
"""Finished runs, encoded, and the names of those that failed, with reasons."""

Job = list[tuple[str, str]]
"""Runs that share a workload and a drive: the hash and the name of each."""

Tell = Callable[[int, int, int, float, float | None], None]
"""Is told the number of runs, those done, those that failed, the share of the work, the seconds left."""

Done = tuple[int, int, list[tuple[str, str]], str | None]
"""Runs carried out and reused, failures, and what is to be said of results that are not used again."""

Recipe = tuple[str, str, str, tuple[Own, ...]]
"""What a plan is made of: file, text, scale, and policies in Python."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed.

    Attributes
    ----------
    run : str
        The run, by its position on the axes.
    error : str
        Why it failed.
    """

    run: str
    error: str


class Sweep:
    """The outcome of a sweep, and the results of its experiment.

    Attributes
    ----------
    directory : pathlib.Path
        The directory of the results.
    ran : int
        Number of runs carried out.
    reused : int
        Number of runs that already had results.
    failures : list of Failure
        Runs that failed; the same sweep retries them.
    absent : list of str
        Optional workloads that were skipped because their traces are missing.
    """

    def __init__(
        self, plan: _core.Plan, directory: Path, ran: int, reused: int, failures: list[tuple[str, str]]
    ) -> None:
        self._plan = plan
        self.directory = directory
        self.ran, self.reused = ran, reused
        self.failures = [Failure(*failure) for failure in failures]
        self.absent = plan.absent

    def __repr__(self) -> str:
        return (
            f"<Sweep: {self.ran} runs carried out, {self.reused} reused, "
            f"{len(self.failures)} failed; in {self.directory}>"
        )

    @property
    def trust(self) -> str:
        """What the results rest on, in one line."""
        return self._plan.trust(os.fspath(self.directory))[0]

    @property
    def without_evidence(self) -> dict[str, str]:
        """Points of which nothing is to be concluded, and what each lacks."""
        return dict(self._plan.trust(os.fspath(self.directory))[1])

    def to_arrow(self) -> pa.Table:
        """Table with a row for each point of the experiment that has a result, like ``results.csv``.

        Returns
        -------
        pyarrow.Table
            A column for each axis, as text; ``run``, the hash that identifies the run in the Parquet files
            of `directory`; and a column for each metric, null if the run does not have it.
        """
        texts, numbers = self._plan.table(os.fspath(self.directory))
        columns: dict[str, pa.Array] = {name: pa.array(values, pa.string()) for name, values in texts}
        columns |= {name: pa.array(values, pa.float64()) for name, values in numbers}
        return pa.table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())


def sweep(
    experiment: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    client: Client | None = None,
    scale: str | float = 1,
    threads: int | None = None,
    progress: SweepProgress = None,
) -> Sweep:
    """Carry out every run of an experiment file that has no result yet.

    As the command ``ftlab sweep`` does; either continues what the other began: a run is identified
    by a hash of everything that determines its result, including the content of its trace and the versions
    of what decides, and runs with a result in the directory are not repeated. Finished runs are saved at
    once, whatever happens to this process. Results depend neither on `threads` nor on `client`. Ctrl-C
    stops it.

    Parameters
    ----------
    experiment : path
        The experiment file, in TOML.
    out : path, optional
        Directory for the results, as Parquet files; by default the name of the experiment with
        ``.results``. Only one process at a time may add to it.
    client : distributed.Client, optional
        Runs on the workers of this Dask cluster instead, one job (FTLs that share a workload and a
        drive) per worker thread. Workers need the same version of ftlab, and the traces under the same
        paths. If a worker dies, its unfinished runs are repeated elsewhere.
    scale : str or float, default 1
        Reduces drives and the writes of generators, such as ``"1/8"``.
    threads : int, optional
        Number of threads if there is no `client`; by default one per processor.
    progress : bool or callable, optional
        Whether to show a progress bar, by default on terminals and in notebooks; or a function that is
        called with a :class:`SweepStatus` now and then.

    Returns
    -------
    Sweep
        What was done, and a table of the results. A failed run does not stop the others; it is listed in
        `failures`, and a warning reports it.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> from pathlib import Path
    >>> _ = Path("op.toml").write_text('''
    ... title = "How much over-provisioning does greedy collection need?"
    ... workloads = ["uniform"]
    ... ftls = ["1r-greedy"]
    ... drive = { logical-pages = 8192, pages-per-block = 64, op = "{op}" }
    ... grid = { op = ["10%", "20%"] }
    ... ''')
    >>> done = ftlab.sweep("op.toml")
    >>> done.ran, done.to_arrow().column("op").to_pylist()
    (2, ['10%', '20%'])
    >>> ftlab.sweep("op.toml").reused
    2
    """
    path = Path(experiment)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: {error}") from None
    directory = Path(out) if out is not None else Path(path.name).with_suffix(".results")
    # On a cluster each process has its own working directory.
    recipe = (os.fspath(path if client is None else path.absolute()), text, str(scale), tuple(registered()))
    plan = _core.Plan(*recipe)
    with sweep_reporter(progress) as tell:
        if client is not None:
            ran, reused, failures, others = _collect(
                plan, directory, lambda jobs: _distributed(client, recipe, jobs), tell
            )
        else:
            ran, reused, failures, others = _here(plan, directory, threads, tell)
    if others is not None:
        warnings.warn(others, RuntimeWarning, stacklevel=2)
    if failures:
        lines = "".join(f"\n  {run}: {error}" for run, error in failures)
        warnings.warn(
            f"{len(failures)} of the runs failed; the same sweep retries them:{lines}",
            RuntimeWarning,
            stacklevel=2,
        )
    return Sweep(plan, directory, ran, reused, failures)


def _here(plan: _core.Plan, directory: Path, threads: int | None, tell: Tell | None) -> Done:
    """Carries out what has no policy in Python on all threads, and the rest, which takes turns, on one."""
    share = 1 - len(plan.own) / max(plan.runs, 1)

    def tell_of_all(_: int, done: int, failed: int, part: float, left: float | None) -> None:
        if tell is not None:
            tell(plan.runs, done, failed, share * part, left)

    ran, reused, failures, others = _core.sweep(plan, os.fspath(directory), threads, tell and tell_of_all)
    if not plan.own:
        return ran, reused, failures, others

    def tell_of_rest(_: int, done: int, failed: int, part: float, left: float | None) -> None:
        if tell is not None:
            before = ran + reused
            tell(plan.runs, before + done, len(failures) + failed, share + (1 - share) * part, left)

    own = _collect(plan, directory, lambda jobs: _in_turn(plan, jobs), tell_of_rest, plan.own)
    return ran + own[0], reused + own[1], failures + own[2], others


def _collect(
    plan: _core.Plan,
    directory: Path,
    finish: Callable[[list[Job]], Generator[Finished, None, None]],
    tell: Tell | None,
    only: set[str] | None = None,
) -> Done:
    """Lets `finish` run what is missing in the directory, or `only` these; stores results as they arrive."""
    failures: list[tuple[str, str]] = []
    runs = plan.runs if only is None else len(only)
    with closing(_core.Store(os.fspath(directory))) as store:
        pending, others = store.pending(plan), store.others
        jobs = [[run for run in job if only is None or run[0] in only] for job in pending]
        jobs = [job for job in jobs if job]
        ran, reused = 0, runs - sum(map(len, jobs))
        with closing(finish(jobs)) as arriving:
            for stored, failed in arriving:
                ran += store.add(stored) if stored else 0
                failures += failed
                if tell is not None:
                    done = ran + reused
                    tell(runs, done, len(failures), (done + len(failures)) / runs, None)
    return ran, reused, failures, others


def _in_turn(plan: _core.Plan, jobs: list[Job]) -> Generator[Finished, None, None]:
    """Carries out jobs in this process, one after the other."""
    for job in jobs:
        yield plan.run({run for run, _ in job})


def _distributed(client: Client, recipe: Recipe, jobs: list[Job]) -> Generator[Finished, None, None]:
    """Carries out jobs on the workers of a cluster."""
    from distributed import as_completed

    futures: dict[Future[Finished], Job] = {}
    try:
        for job in jobs:
            futures[client.submit(_run, recipe, [run for run, _ in job])] = job
        for future in as_completed(list(futures)):
            yield _result(future, futures.pop(future))
    finally:
        if futures:
            client.cancel(list(futures))


def _result(future: Future[Finished], job: Job) -> Finished:
    """The result of a future; if it fails as a whole, such as by killing workers, its own runs fail."""
    try:
        finished: Finished = future.result()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return b"", [(name, reason) for _, name in job]
    return finished


def _run(recipe: Recipe, runs: list[str]) -> Finished:
    """Carries out runs of one job, on a worker."""
    plan = _plan(*recipe)
    if not plan.has(set(runs)):
        # Traces may have changed since it was made.
        _plan.cache_clear()
        plan = _plan(*recipe)
    return plan.run(set(runs))


@lru_cache(maxsize=4)
def _plan(path: str, text: str, scale: str, policies: tuple[Own, ...]) -> _core.Plan:
    """The plan of an experiment, which the jobs of a worker share."""
    return _core.Plan(path, text, scale, policies)
