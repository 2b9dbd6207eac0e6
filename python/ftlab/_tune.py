"""Searching for the best parameters of an FTL for a workload."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ftlab._command_line import command_line, workload_text
from ftlab._drive import Drive
from ftlab._progress import TuneProgress, tune_reporter
from ftlab._run import identity
from ftlab._space import Space, Values
from ftlab._study import Search, quiet_optuna
from ftlab._text import Setting, texts
from ftlab._trials import Runner
from ftlab._tuning import Trial, Tuning, Validation
from ftlab.errors import ParameterError

__all__ = ["tune"]

Settings = dict[str, Any]
"""Arguments of :func:`run` other than workload, FTLs and drive."""


def tune(
    ftl: str,
    workload: object,
    *,
    drive: Drive | str | int | None = None,
    metadata_budget: str | int | None = None,
    trials: int = 100,
    space: Mapping[str, Values] | None = None,
    fix: Mapping[str, Setting] | None = None,
    validate: object = None,
    batch: int = 8,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int = 1,
    progress: TuneProgress = None,
    **settings: Any,
) -> Tuning:
    """Search for the parameters of an FTL with the least write amplification, within a metadata budget.

    As the command ``ftlab tune`` does. Optuna's tree-structured Parzen estimator proposes parameters
    (the defaults first), and ftlab runs them. It needs the package ``optuna``, which
    ``pip install '.[tune]'`` installs. Same seed and batch, same result, for any number of threads and
    even if the search was interrupted. Ctrl-C stops it.

    Parameters
    ----------
    ftl : str
        The FTL. Parameters given with it, as in ``"2r++:regions=3"``, are not searched.
    workload : str, path, Trace, array or table
        The workload, as for :func:`run`; not an iterator, since every trial reads it again.
    drive : Drive, str or int, optional
        The drive, or its logical size.
    metadata_budget : str or int, optional
        Limit on all the state that the FTL needs: ``"4B/page"``, ``"2bits/page"``, ``"64B/block"``,
        ``"1MiB"``, or bytes.
    trials : int, default 100
        Number of parameter sets to try.
    space : mapping of str to values, optional
        Ranges to search: ``{"epoch": (0.01, 0.5), "fallback": ["raise", "greedy"]}``, or strings such as
        ``"0.01..0.5"``. Other parameters are searched between their limits, or, if these are far apart,
        from 1/32 of the default to 32 times the default. Parameters with neither narrow limits nor a
        default above 0, and seeds, are searched only if they are named here.
    fix : mapping of str to values, optional
        Parameters that are set to these values and not searched. They do not apply to the default that
        the best is compared with.
    validate : workload or "rest", optional
        Runs the best and the default on this workload too, with the next seed; ``"rest"`` is the part of
        the trace after `writes`.
    batch : int, default 8
        Trials that are proposed together, and may run at the same time. Results depend on it.
    threads : int, optional
        Maximum number of threads; by default one per processor.
    out : path, optional
        Directory in which the study is saved, as Optuna's journal ``study.journal``: the same search
        resumes where it was stopped, or is extended by more `trials`. A study is refused if its workload
        has another content by now, or if the FTL decides otherwise in this version of ftlab.
    seed : int, default 1
        Seed of the search, of the generator and of the random fill.
    progress : bool or callable, optional
        Whether to show a progress bar, by default on terminals and in notebooks; or a function that is
        called with a :class:`TuneStatus` at the beginning and after each trial.
    **settings
        Further arguments of :func:`run`, such as `fill`, `writes` and `warmup_writes`.

    Returns
    -------
    Tuning
        The best parameters, the default for comparison, and every trial.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`. Incompatible parameters fail only their trial.
    ImportError
        If Optuna is missing.

    Examples
    --------
    >>> import ftlab
    >>> drive = ftlab.Drive(logical_pages=16384, pages_per_block=64)
    >>> tuned = ftlab.tune("2r-fifo", "zipf:theta=0.9", drive=drive, fill="random", trials=12)
    >>> tuned.best.waf <= tuned.default.waf
    True
    >>> sorted(tuned.searched)
    ['adapt-depth', 'blk-util', 'd', 'fallback', 'scan-depth', 'victims']
    """
    if isinstance(workload, Iterator) or isinstance(validate, Iterator):
        raise ParameterError("an iterator is read once, but each trial reads the workload; give a table")
    for name, number in {"trials": trials, "batch": batch, "threads": threads or 1}.items():
        if number < 1:
            raise ParameterError(f"{name}: {number} is not a whole number of at least 1")
    drive, run_settings = Drive.of(drive), {**settings, "seed": seed}
    searched = Space(ftl, fix or {}, space or {})
    runner = Runner(workload, drive, metadata_budget, run_settings)
    unseen = None if validate is None else _Unseen(workload, validate, drive, run_settings)
    question = {
        "ftl": ftl,
        "fix": texts(fix or {}),
        "space": searched.ranges,
        "drive": texts(drive._settings()),
        "settings": texts(run_settings),
        "workload": workload_text(workload),
        "metadata_budget": None if metadata_budget is None else str(metadata_budget),
        "batch": batch,
        "identity": identity(workload, searched.default_trial.ftl, drive, run_settings),
    }
    with quiet_optuna(), tune_reporter(progress) as tell, runner.workers(threads) as run_all:
        default = runner.run(searched.default_trial)
        if unseen is not None:
            unseen.begin(default)
        with closing(Search(searched, seed, batch, None if out is None else Path(out))) as search:
            search.begin(question)
            _check_unchanged(search.done, default, out)
            for status in search.resume(trials, run_all):
                if tell is not None:
                    tell(status)
        best = _without_idle(_best(search.done, runner.budget_bytes), searched, runner)
    return Tuning(
        best=best,
        default=default,
        trials=search.done,
        budget_bytes=runner.budget_bytes,
        searched=searched.ranges,
        omitted=searched.omitted,
        validation=None if unseen is None else unseen.validation(best),
        command=command_line([default.ftl, best.ftl], workload, drive, run_settings),
    )


class _Unseen:
    """Writes that the search does not see."""

    def __init__(self, workload: object, validate: object, drive: Drive, settings: Settings) -> None:
        if isinstance(validate, str) and validate == "rest":
            if settings.get("writes") is None:
                raise ParameterError('validate: "rest" is the part of the trace after writes; give writes')
            if settings.get("warmup_drive_writes") is not None:
                raise ParameterError('validate: "rest" needs the warm-up in page writes; give warmup_writes')
            first = int(settings.get("warmup_writes") or 0) + int(settings["writes"])
            settings = {**settings, "writes": None, "warmup_writes": first}
            self._name = f"{workload_text(workload)} after its first {first:,} page writes"
        else:
            workload, settings = validate, {**settings, "seed": int(settings["seed"]) + 1}
            self._name = f"{workload_text(workload)}, seed {settings['seed']}"
        self._runner = Runner(workload, drive, None, settings)

    def begin(self, default: Trial) -> None:
        """Runs the default on them, so that errors in them are reported before the search."""
        self._default_waf = self._waf(default)

    def validation(self, best: Trial) -> Validation:
        """The best and the default on them."""
        return Validation(self._name, self._waf(best), self._default_waf)

    def _waf(self, trial: Trial) -> float:
        return self._runner.run(trial).waf or 0


def _check_unchanged(done: list[Trial], default: Trial, out: object) -> None:
    """Refuses a study in which the same FTL had a different result."""
    for trial in done:
        if trial.ftl == default.ftl and trial.waf != default.waf:
            raise ParameterError(
                f"{out}: {trial.ftl} has a write amplification of {trial.waf} in the study here, but "
                f"{default.waf} now: the workload or ftlab has changed; choose another directory as out"
            )


def _best(trials: list[Trial], budget_bytes: int | None) -> Trial:
    """The best trial within the budget; an error that says why there is none."""
    finished = [trial for trial in trials if trial.waf is not None]
    if not finished:
        raise ParameterError(f"all trials failed, the first with: {trials[0].error}")
    within = [trial for trial in finished if trial.within_budget]
    if not within:
        least = min(finished, key=lambda trial: trial.metadata_bytes or 0)
        raise ParameterError(
            f"no trial is within the metadata budget of {budget_bytes} bytes; {least.ftl} has the least with "
            f"{least.metadata_bytes} bytes; raise the budget, or choose an FTL that needs less metadata"
        )
    return min(within, key=lambda trial: (trial.waf, trial.metadata_bytes))


def _without_idle(best: Trial, space: Space, runner: Runner) -> Trial:
    """The best without parameters that have no effect: those whose default gives the same result."""
    for name in best.parameters:
        simpler = runner.attempt(space.reset(best, name))
        if simpler.waf == best.waf and simpler.metadata_bytes == best.metadata_bytes:
            best = simpler
    return best
