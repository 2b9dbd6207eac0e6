"""How far a run is, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tqdm.auto import tqdm

__all__ = ["Progress", "Status", "reporter"]


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run is.

    Attributes
    ----------
    phase : {"look-ahead", "fill", "warm-up", "count"}
        What is going on.
    writes : int
        Host page writes so far in the fill, or else behind it.
    share : float or None
        Share of the fill, or else of what follows it, from 0 to 1, where it is known.
    waf : dict of str to float or None
        Write amplification so far by FTL.
    """

    phase: str
    writes: int
    share: float | None
    waf: dict[str, float | None]


Progress = bool | Callable[[Status], object] | None
"""Whether a bar is shown (where somebody looks, if ``None``), or what is told instead."""

Tell = Callable[[str, int, float | None, list[float | None]], None]


class _Callback(AbstractContextManager[Tell]):
    """Tells a function of the user's."""

    def __init__(self, ftls: list[str], told: Callable[[Status], object]) -> None:
        self.ftls, self.told = ftls, told

    def __enter__(self) -> Tell:
        return self

    def __call__(self, phase: str, writes: int, share: float | None, wafs: list[float | None]) -> None:
        self.told(Status(phase, writes, share, dict(zip(self.ftls, wafs, strict=False))))

    def __exit__(self, *_: object) -> None:
        return None


class _Bar(AbstractContextManager[Tell]):
    """A bar of tqdm for each phase, in percent, or a count where the end is not known."""

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
            bar = self.bar = tqdm(total=total, leave=False, bar_format=_format(total))
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
    return "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def _somebody_looks() -> bool:
    """Whether standard error is a terminal, or this is a notebook."""
    shell = sys.modules.get("IPython")
    if shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    return sys.stderr is not None and sys.stderr.isatty()


def reporter(progress: Progress, ftls: list[str]) -> AbstractContextManager[Tell | None]:
    """What tells of a run with these FTLs."""
    if callable(progress):
        return _Callback(ftls, progress)
    if progress is None:
        progress = _somebody_looks()
    return _Bar(ftls) if progress else nullcontext()
