"""Progress of runs, sweeps and searches, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tqdm.auto import tqdm

__all__ = [
    "CountProgress",
    "Progress",
    "Status",
    "SweepProgress",
    "SweepStatus",
    "TuneProgress",
    "TuneStatus",
    "count_reporter",
    "reporter",
    "sweep_reporter",
    "tune_reporter",
]


@dataclass(frozen=True, slots=True)
class Status:
    """The progress of a run.

    Attributes
    ----------
    phase : {"look-ahead", "fill", "warm-up", "count"}
        The current phase.
    writes : int
        Host page writes so far: of the fill during the fill, otherwise after it.
    share : float or None
        Share done of the fill, or of everything after it, from 0 to 1, if known.
    waf : dict of str to float or None
        Write amplification so far by FTL.
    """

    phase: str
    writes: int
    share: float | None
    waf: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """The progress of a sweep.

    Attributes
    ----------
    runs : int
        Runs of the experiment.
    done : int
        Runs that have a result, old or new.
    failed : int
        Runs that failed.
    share : float
        Share of the work done, from 0 to 1: by page writes, or on a cluster by runs.
    left : float or None
        Seconds left at the speed so far, if known.
    """

    runs: int
    done: int
    failed: int
    share: float
    left: float | None


@dataclass(frozen=True, slots=True)
class TuneStatus:
    """The progress of a parameter search.

    Attributes
    ----------
    trials : int
        Number of trials planned.
    done : int
        Trials finished, old or new.
    waf : float or None
        The lowest write amplification within the budget so far.
    """

    trials: int
    done: int
    waf: float | None


Progress = bool | Callable[[Status], object] | None
"""Whether a bar is shown (if ``None``, on terminals and in notebooks), or a function to call instead."""

SweepProgress = bool | Callable[[SweepStatus], object] | None
"""What is told of a sweep."""

TuneProgress = bool | Callable[[TuneStatus], object] | None
"""What is told of a parameter search."""

CountProgress = bool | Callable[[int, int | None], object] | None
"""What is told of a number of runs: how many are done, of how many if known."""

Tell = Callable[[str, int, float | None, list[float | None]], None]


class _Callback(AbstractContextManager[Tell]):
    """Calls the user's function."""

    def __init__(self, ftls: list[str], told: Callable[[Status], object]) -> None:
        self.ftls, self.told = ftls, told

    def __enter__(self) -> Tell:
        return self

    def __call__(self, phase: str, writes: int, share: float | None, wafs: list[float | None]) -> None:
        self.told(Status(phase, writes, share, dict(zip(self.ftls, wafs, strict=False))))

    def __exit__(self, *_: object) -> None:
        return None


class _Bar(AbstractContextManager[Tell]):
    """A tqdm bar for each phase, in percent, or a count if the end is not known."""

    def __init__(self, ftls: list[str]) -> None:
        self.ftls = ftls
        self.phase = ""
        self.bar: tqdm[Any] | None = None

    def __enter__(self) -> Tell:
        return self

    def __call__(self, phase: str, writes: int, share: float | None, wafs: list[float | None]) -> None:
        total = None if share is None else 100.0
        bar = self.bar
        if bar is None or (phase != self.phase and "count" not in (phase, self.phase)):
            self._close()
            bar = self.bar = tqdm(
                total=total, unit=" writes", unit_scale=True, leave=False, bar_format=_format(total)
            )
        self.phase = phase
        bar.set_description(phase, refresh=False)
        known = [f"{ftl} {waf:.3f}" for ftl, waf in zip(self.ftls, wafs, strict=False) if waf is not None]
        bar.set_postfix_str("WAF " + ", ".join(known) if known else "", refresh=False)
        bar.n = writes if share is None else round(100 * share, 1)
        bar.refresh()

    def _close(self) -> None:
        if self.bar is not None:
            self.bar.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()


def _format(total: float | None) -> str | None:
    if total is None:
        return None
    return "{desc:<10} {percentage:3.0f}% |{bar:20}| {remaining} left{postfix}"


def _is_interactive() -> bool:
    """Whether standard error is a terminal, or this is a notebook."""
    shell = sys.modules.get("IPython")
    if shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    return sys.stderr is not None and sys.stderr.isatty()


def reporter(progress: Progress, ftls: list[str]) -> AbstractContextManager[Tell | None]:
    """The reporter for a run with these FTLs."""
    if callable(progress):
        return _Callback(ftls, progress)
    if progress is None:
        progress = _is_interactive()
    return _Bar(ftls) if progress else nullcontext()


class _SweepBar(AbstractContextManager["_SweepBar"]):
    """A tqdm bar with the runs of a sweep."""

    def __init__(self) -> None:
        self.bar: tqdm[Any] | None = None

    def __call__(self, runs: int, done: int, failed: int, share: float, left: float | None) -> None:
        if self.bar is None:
            self.bar = tqdm(total=runs, initial=done, unit="run", leave=False)
        self.bar.n = done + failed
        self.bar.set_postfix_str(f"{failed} failed" if failed else "", refresh=False)
        self.bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


class _CountBar(AbstractContextManager["_CountBar"]):
    """A tqdm bar that counts runs."""

    def __init__(self) -> None:
        self.bar: tqdm[Any] | None = None

    def __call__(self, done: int, runs: int | None) -> None:
        if self.bar is None:
            self.bar = tqdm(total=runs, unit="run", leave=False)
        self.bar.total = runs
        self.bar.n = done
        self.bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def count_reporter(
    progress: CountProgress,
) -> AbstractContextManager[Callable[[int, int | None], object] | None]:
    """The reporter for a number of runs."""
    if callable(progress):
        return nullcontext(progress)
    if progress is None:
        progress = _is_interactive()
    return _CountBar() if progress else nullcontext()


TellOfSweep = Callable[[int, int, int, float, float | None], None]


def _told_of_sweep(told: Callable[[SweepStatus], object]) -> TellOfSweep:
    def tell(runs: int, done: int, failed: int, share: float, left: float | None) -> None:
        told(SweepStatus(runs, done, failed, share, left))

    return tell


def sweep_reporter(progress: SweepProgress) -> AbstractContextManager[TellOfSweep | None]:
    """The reporter for a sweep."""
    if callable(progress):
        return nullcontext(_told_of_sweep(progress))
    if progress is None:
        progress = _is_interactive()
    return _SweepBar() if progress else nullcontext()


class _TuneBar(AbstractContextManager["_TuneBar"]):
    """A tqdm bar with the trials of a search."""

    def __init__(self) -> None:
        self.bar: tqdm[Any] | None = None

    def __call__(self, status: TuneStatus) -> None:
        if self.bar is None:
            self.bar = tqdm(total=status.trials, initial=status.done, unit="trial", leave=False)
        self.bar.n = status.done
        self.bar.set_postfix_str("" if status.waf is None else f"WAF {status.waf:.4f}", refresh=False)
        self.bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def tune_reporter(
    progress: TuneProgress,
) -> AbstractContextManager[Callable[[TuneStatus], object] | None]:
    """The reporter for a parameter search."""
    if callable(progress):
        return nullcontext(progress)
    if progress is None:
        progress = _is_interactive()
    return _TuneBar() if progress else nullcontext()
