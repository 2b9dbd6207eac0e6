"""Theory: closed forms of write amplification.

Over-provisioning is (physical - logical) / logical, as a number (0.1) or a string (``"10%"``). The physical
pages in these models are those available to data and collection: subtract the reserve of a drive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ftlab import _core
from ftlab.errors import ParameterError

__all__ = ["Division", "d_choices", "fifo", "greedy", "hot_cold", "split"]


def _share(value: str | float, name: str, low: float, high: float) -> float:
    """A share within bounds."""
    text = str(value)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = float("nan")
    if low <= share <= high:
        return share
    raise ParameterError(f'{name}={value} is not a share from {low:g} to {high:g}, such as "10%"')


def _op(op: str | float) -> float:
    return _share(op, "op", 1e-6, 1e3)


def _count(value: int, name: str, most: int) -> int:
    if 1 <= value <= most:
        return value
    raise ParameterError(f"{name}={value} is not a whole number from 1 to {most}")


def fifo(op: str | float) -> float:
    """Compute write amplification of uniform writes when the oldest block is collected.

    Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014, section 3.

    Parameters
    ----------
    op : str or float
        Over-provisioning.

    Returns
    -------
    float
        Write amplification.

    Examples
    --------
    >>> import ftlab
    >>> round(ftlab.model.fifo("10%"), 2)
    5.68
    """
    return _core.model_fifo(_op(op))


def greedy(op: str | float, pages_per_block: int = 1024) -> float:
    """Compute write amplification of uniform writes when the emptiest block is collected.

    Desnoyers, ACM TOS 10(2), 2014, section 4.

    Parameters
    ----------
    op : str or float
        Over-provisioning.
    pages_per_block : int, default 1024
        Pages per erase block.

    Returns
    -------
    float
        Write amplification.
    """
    return _core.model_greedy(_op(op), _count(pages_per_block, "pages_per_block", 65_536))


def d_choices(op: str | float, d: int = 10, pages_per_block: int = 1024) -> float:
    """Compute write amplification of uniform writes when the emptiest of d random blocks is collected.

    Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid
    state drives", SIGMETRICS 2013.

    Parameters
    ----------
    op : str or float
        Over-provisioning.
    d : int, default 10
        Number of blocks drawn.
    pages_per_block : int, default 1024
        Pages per erase block.

    Returns
    -------
    float
        Write amplification.
    """
    pages = _count(pages_per_block, "pages_per_block", 65_536)
    return _core.model_d_choices(_op(op), pages, _count(d, "d", 1_000_000))


def hot_cold(op: str | float, writes: str | float = 0.9, pages: str | float = 0.1) -> float:
    """Compute write amplification of unseparated hot and cold writes under FIFO.

    Desnoyers, ACM TOS 10(2), 2014.

    Parameters
    ----------
    op : str or float
        Over-provisioning.
    writes : str or float, default 0.9
        Share of the writes that go to the hot pages.
    pages : str or float, default 0.1
        Share of the pages that are hot.

    Returns
    -------
    float
        Write amplification.
    """
    hot = _share(pages, "pages", 1e-9, 1 - 1e-9)
    return _core.model_hot_cold(_op(op), _share(writes, "writes", 0, 1), hot)


@dataclass(frozen=True, slots=True)
class Division:
    """Spare pages divided among groups of pages.

    Attributes
    ----------
    spare : tuple of float
        Spare pages of each group, in the unit of its pages.
    waf : float
        Write amplification of all groups together.
    """

    spare: tuple[float, ...]
    waf: float


def split(op: str | float, groups: Iterable[tuple[float, float]]) -> dict[str, Division]:
    """Divide the spare pages among separated groups, by every rule of the Wolf paper.

    Dayan, Bouganim and Bonnet, "Modelling and managing SSD write-amplification", 2015, section 5.5.

    Parameters
    ----------
    op : str or float
        Over-provisioning of the whole drive.
    groups : iterable of (float, float)
        Pages of each group, in any unit, and its share of the writes; the shares sum to 1.

    Returns
    -------
    dict of str to Division
        By rule; the optimum is last.

    Examples
    --------
    >>> import ftlab
    >>> rules = ftlab.model.split("10%", [(0.1, 0.9), (0.9, 0.1)])
    >>> rules["optimum"].waf < rules["wolf"].waf < rules["by-size"].waf
    True
    """
    pairs = [(float(pages), float(writes)) for pages, writes in groups]
    if not pairs or any(pages <= 0 or writes < 0 for pages, writes in pairs):
        raise ParameterError(f"groups={pairs}: pages must be above 0 and writes at least 0")
    if abs(sum(writes for _, writes in pairs) - 1) > 1e-6:
        raise ParameterError(f"the write shares of groups={pairs} do not sum to 1")
    rules = _core.model_split(_op(op), pairs)
    return {name: Division(tuple(spare), waf) for name, spare, waf in rules}
