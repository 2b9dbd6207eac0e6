"""Runs of an FTL with different parameters on one workload."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ftlab import _core
from ftlab._drive import Drive
from ftlab._own import registered
from ftlab._progress import Status
from ftlab._result import Run
from ftlab._run import run
from ftlab._study import RunAll
from ftlab._tuning import Trial
from ftlab.errors import FtlError, MemoryLimitError, ParameterError

__all__ = ["Runner"]


class _Stopped(Exception):  # noqa: N818
    """The search no longer needs the trial."""


class Runner:
    """Runs trials on a workload, and checks them against a metadata budget.

    Attributes
    ----------
    budget_bytes : int or None
        The budget on this drive, whose size is known after the first run.
    """

    def __init__(
        self, workload: object, drive: Drive, budget: str | int | None, settings: dict[str, Any]
    ) -> None:
        self._workload, self._drive, self._settings = workload, drive, settings
        self._budget = None if budget is None else str(budget)
        if self._budget is not None:
            _core.metadata_budget(self._budget, 1, 1)
        self.budget_bytes: int | None = None
        self._known: dict[tuple[tuple[str, str], ...], Trial] = {}
        self._stopped = threading.Event()

    def run(self, trial: Trial) -> Trial:
        """The trial with its result; equal parameters are run only once."""
        key = tuple(_core.ftl(trial.ftl, registered())[2])
        if key not in self._known:
            self._known[key] = self._outcome(trial)
        return replace(self._known[key], ftl=trial.ftl, parameters=trial.parameters)

    @contextmanager
    def workers(self, threads: int | None) -> Iterator[RunAll]:
        """Threads that run trials; trials still running at the end are stopped."""
        with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            try:
                yield lambda trials: pool.map(self.attempt, trials)
            finally:
                self._stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)

    def attempt(self, trial: Trial) -> Trial:
        """Like `run`, for parameters that may turn out to be incompatible."""
        try:
            return self.run(trial)
        except (ParameterError, FtlError, MemoryLimitError) as error:
            return replace(trial, error=str(error))

    def _outcome(self, trial: Trial) -> Trial:
        result = run(
            self._workload,
            trial.ftl,
            drive=self._drive,
            threads=1,
            progress=self._check_stopped,
            **self._settings,
        )
        (done,), drive = result.runs, result["config"]["drive"]
        if self._budget is not None:
            self.budget_bytes = _core.metadata_budget(self._budget, drive["logical_pages"], drive["blocks"])
        metadata_bytes = done["memory"]["metadata_bytes"]
        return replace(
            trial,
            waf=_objective(done, result["config"].get("until_steady", False)),
            steady_waf=done["steady_waf"],
            run_waf=done["waf"],
            trust=result.trust,
            waf_last_tenth=done["waf_last_tenth"],
            metadata=done["memory"]["metadata"],
            metadata_bytes=metadata_bytes,
            within_budget=self.budget_bytes is None or metadata_bytes <= self.budget_bytes,
        )

    def _check_stopped(self, _: Status) -> None:
        if self._stopped.is_set():
            raise _Stopped


def _objective(run: Run, until_steady: bool) -> float:
    """What trials are compared by: without the transient if they end when they are steady, or with it."""
    window = run["settling"]["window_waf"] if until_steady else None
    return float(run["waf"] if window is None else window)
