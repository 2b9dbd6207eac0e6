"""An Optuna search with the same trials for any number of threads, interrupted or not."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ftlab._lazy import needs
from ftlab._progress import TuneStatus
from ftlab._space import Space
from ftlab._tuning import Trial
from ftlab.errors import FileError, ParameterError

if TYPE_CHECKING:
    import optuna

__all__ = ["RunAll", "Search", "quiet_optuna"]

FILE = "study.journal"
"""The file of a study, in Optuna's journal format."""

FAILED = 1e18
"""Constraint violation of a failed trial: larger than that of any trial over the budget, in bytes."""

WITHIN_IDENTITY = ("workload", "drive", "settings")
"""What of a question its identity covers, as it was given."""

RunAll = Callable[[list[Trial]], Iterable[Trial]]
"""Runs trials; yields them in the same order, each as soon as it and those before it have finished."""


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Silences Optuna's report of each trial; ``ImportError`` with a remedy if Optuna is missing."""
    try:
        from optuna import logging
    except ImportError as error:
        raise needs("a parameter search", "Optuna", "tune", error) from None
    level = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(level)


class Search:
    """A search through a space.

    A proposal depends on the seed, on its number, and on the trials of earlier batches, but neither on how
    many run at a time nor on interruptions.
    """

    def __init__(self, space: Space, seed: int, batch: int, out: Path | None) -> None:
        import optuna

        self._space, self._seed, self._batch, self._out = space, seed, batch, out
        self._lock: IO[bytes] | None = None
        storage = None
        if out is not None:
            self._lock, storage = _journal(out)
        self._study = optuna.create_study(
            storage=storage, study_name="ftlab", direction="minimize", load_if_exists=True
        )
        finished = [trial for trial in self._trials() if trial.state.is_finished()]
        self.done = [Trial(**trial.user_attrs["outcome"]) for trial in finished]

    def close(self) -> None:
        """Releases the study to other processes."""
        if self._lock is not None:
            self._lock.close()

    def begin(self, question: dict[str, Any]) -> None:
        """Opens the study; refuses one of a different search."""
        question = json.loads(json.dumps(question))
        kept = self._study.user_attrs.get("question")
        if kept is None:
            self._study.set_user_attr("question", question)
            kept = question
        self._check_same(kept, question)
        start = self._space.start()
        if start is not None:
            self._study.enqueue_trial(start, skip_if_exists=True)

    def _check_same(self, kept: dict[str, Any], question: dict[str, Any]) -> None:
        """Refuses another question. What the identity covers may be named otherwise if that is the same."""
        is_same_run = kept.get("identity") == question["identity"]
        for name, now in question.items():
            if name == "identity" or (name in WITHIN_IDENTITY and is_same_run) or kept.get(name) == now:
                continue
            was, now = (_shown(value) for value in (kept.get(name), now))
            raise ParameterError(
                f"{self._out}: the study in this directory has {name} {was}, not {now}; choose another "
                "directory as out"
            )
        if not is_same_run:
            raise ParameterError(
                f"{self._out}: the workload or ftlab has changed since the study in this directory was "
                "begun; choose another directory as out"
            )

    def resume(self, trials: int, run_all: RunAll) -> Iterator[TuneStatus]:
        """Proposes and runs up to this many trials; yields a status at the start and after each trial."""
        yield self._status(trials)
        while len(self.done) < trials:
            begun = len(self.done)
            # A whole batch is always proposed; trials beyond the number wait for a search with more trials.
            asked = [self._ask(number) for number in range(begun, (begun // self._batch + 1) * self._batch)]
            proposed = [self._space.suggest(trial) for trial in asked][: trials - begun]
            for trial, outcome in zip(asked, run_all(proposed), strict=False):
                self._tell(trial, outcome)
                yield self._status(trials)

    def _status(self, trials: int) -> TuneStatus:
        wafs = [trial.waf for trial in self.done if trial.waf is not None and trial.within_budget]
        return TuneStatus(trials, len(self.done), min(wafs, default=None))

    def _trials(self) -> list[optuna.trial.FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def _ask(self, number: int) -> optuna.Trial:
        """The trial with that number; one that was interrupted keeps its values."""
        import optuna

        seed = np.random.SeedSequence([self._seed, number]).generate_state(1)
        self._study.sampler = optuna.samplers.TPESampler(seed=int(seed[0]))
        begun = [trial for trial in self._trials() if trial.state == optuna.trial.TrialState.RUNNING]
        for trial in begun:
            if trial.number == number:
                return optuna.Trial(self._study, trial._trial_id)
        return self._study.ask()

    def _tell(self, trial: optuna.Trial, outcome: Trial) -> None:
        import optuna

        trial.set_user_attr("outcome", asdict(outcome))
        if outcome.waf is None:
            # Not as a failed trial, from which Optuna would learn nothing.
            trial.set_constraint("failed", FAILED)
            self._study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            trial.set_constraint("over budget", 0 if outcome.within_budget else outcome.metadata_bytes or 0)
            self._study.tell(trial, outcome.waf)
        self.done.append(outcome)


def _journal(out: Path) -> tuple[IO[bytes], optuna.storages.JournalStorage]:
    """The storage in a directory, and a lock that excludes other processes."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / FILE).open("ab")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(f"{out}: another process is searching in this directory; wait for it") from None
    except OSError as error:
        raise FileError(f"{out}: {error.strerror}; choose another directory as out") from None
    return lock, JournalStorage(JournalFileBackend(os.fspath(out / FILE)))


def _shown(value: object) -> str:
    return "no value" if value is None else json.dumps(value)
