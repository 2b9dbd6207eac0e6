"""Names of FTLs, workloads, formats and timings."""

from __future__ import annotations

from dataclasses import dataclass

from ftlab import _core

__all__ = ["Entry", "Parameter", "formats", "ftls", "generators", "parts", "timings"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, as in ``name:key=value``.

    Attributes
    ----------
    name : str
        The key.
    default : str
        Its value if none is given.
    expects : str
        The values allowed, in words.
    summary : str
        What it does.
    source : str
        Where the default comes from.
    kind : {"whole", "number", "choice", "text"}
        The kind of its values.
    low, high : float or None
        Limits of a number, if it has any.
    choices : tuple of str
        The values of a choice.
    """

    name: str
    default: str
    expects: str
    summary: str
    source: str
    kind: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]


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
        name: Entry(kind, name, summary, source, tuple(_parameter(*fields) for fields in parameters))
        for kind, name, summary, source, parameters in _core.entries()
        if kind in kinds
    }


def _parameter(
    name: str, default: str, expects: str, summary: str, source: str, domain: _core.Domain
) -> Parameter:
    kind, low, high, choices = domain
    return Parameter(name, default, expects, summary, source, kind, low, high, tuple(choices))


def ftls() -> dict[str, Entry]:
    """List the FTLs.

    Returns
    -------
    dict of str to Entry
        By name. In addition, every pair of a placement and a victim rule of :func:`parts` is an FTL,
        such as ``"sep-gc/greedy"``.

    Examples
    --------
    >>> import ftlab
    >>> [parameter.name for parameter in ftlab.ftls()["2r-fifo"].parameters]
    ['victims', 'blk-util', 'scan-depth', 'fallback', 'adapt-depth', 'd', 'seed']
    """
    return _entries("ftl")


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
