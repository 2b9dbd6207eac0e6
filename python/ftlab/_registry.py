"""Names of FTLs, workloads, formats and timings."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from ftlab import _core
from ftlab._own import Own, registered
from ftlab._parameter import Parameter

__all__ = ["Entry", "formats", "ftls", "generators", "parts", "timings"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that has a name.

    Attributes
    ----------
    kind : {"ftl", "placement", "victim", "generator", "format", "timing"}
        What it is.
    name : str
        The name to use.
    summary : str
        What it does, in a line.
    source : str
        Where it is described: paper and section.
    parameters : tuple of Parameter
        Its parameters.
    """

    kind: str
    name: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...]


def _entries(*kinds: str) -> dict[str, Entry]:
    return {
        name: Entry(kind, name, summary, source, tuple(map(Parameter._of, parameters)))
        for kind, name, summary, source, parameters in _core.entries()
        if kind in kinds
    }


def _own(own: Own) -> Entry:
    """A policy of the user, as listed."""
    summary = (inspect.getdoc(own.policy) or "").partition("\n")[0]
    return Entry("ftl", own.name, summary, own.policy.source, tuple(own.policy.parameters))


def ftls() -> dict[str, Entry]:
    """List the FTLs.

    Returns
    -------
    dict of str to Entry
        By name. In addition, every pair of a placement and a victim rule of :func:`parts` is an FTL,
        such as ``"sep-gc/greedy"``. Policies of your own are those of :func:`register`.

    Examples
    --------
    >>> import ftlab
    >>> [parameter.name for parameter in ftlab.ftls()["2r-fifo"].parameters]
    ['victims', 'blk-util', 'scan-depth', 'fallback', 'adapt-depth', 'd', 'seed']
    """
    return _entries("ftl") | {own.name: _own(own) for own in registered()}


def parts() -> dict[str, Entry]:
    """List the placements and victim rules; a pair of them makes an FTL.

    Returns
    -------
    dict of str to Entry
        By kind and name, such as ``"victim/greedy"``.
    """
    both = [*_entries("placement").values(), *_entries("victim").values()]
    return {f"{entry.kind}/{entry.name}": entry for entry in both}


def generators() -> dict[str, Entry]:
    """List the workload generators.

    Returns
    -------
    dict of str to Entry
        By name.
    """
    return _entries("generator")


def formats() -> dict[str, Entry]:
    """List the trace formats.

    Returns
    -------
    dict of str to Entry
        By name.
    """
    return _entries("format")


def timings() -> dict[str, Entry]:
    """List the timings: how fast flash is.

    Returns
    -------
    dict of str to Entry
        By name.
    """
    return _entries("timing")
