"""Parameters, as in ``name:key=value``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from ftlab import _core
from ftlab._text import Setting, texts
from ftlab.errors import ParameterError

if TYPE_CHECKING:
    from ftlab._core import Domain, ParameterFields

__all__ = ["Parameter", "parameter"]

AUTO = "auto"
"""The text of a value that is worked out for drive and workload."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, as in ``name:key=value``; :func:`parameter` declares one of your own policy.

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

    @classmethod
    def _of(cls, fields: ParameterFields) -> Parameter:
        name, default, expects, summary, source, (kind, low, high, choices) = fields
        return cls(name, default, expects, summary, source, kind, low, high, tuple(choices))

    def _fields(self) -> ParameterFields:
        """It, as the compiled part takes it."""
        *told, kind, low, high, choices = astuple(self)
        domain: Domain = (kind, low, high, list(choices))
        name, default, expects, summary, source = told
        return name, default, expects, summary, source, domain

    def _value(self, text: str) -> Any:
        """The value of a text; ``None`` if it is still to be worked out, ``ValueError`` if it is none."""
        if text == AUTO == self.default and AUTO not in self.choices:
            return None
        if self.choices == ("on", "off"):
            return text == "on"
        kinds: dict[str, type] = {"whole": int, "number": float}
        return kinds.get(self.kind, str)(text)


KINDS = {int: "whole", float: "number", bool: "choice", str: "text"}
"""The kind of parameters that have values of a type."""


def parameter(
    name: str,
    type: type[int] | type[float] | type[bool] | type[str],
    default: Setting | None,
    summary: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    source: str = "our choice",
) -> Parameter:
    """Declare a parameter of a policy of your own.

    Parameters
    ----------
    name : str
        The key in ``name:key=value``: letters, digits and dashes.
    type : {int, float, bool, str}
        The type of its values.
    default : int, float, bool, str or None
        The value if none is given; ``None`` if :meth:`Policy.fit` works one out, which users write as
        ``auto``.
    summary : str
        What it does.
    low, high : float, optional
        The least and the greatest value, for ``int`` and ``float``. :func:`ftlab.tune` searches between
        them.
    choices : sequence of str, optional
        The values, for ``str``.
    source : str, default "our choice"
        Where the default comes from.

    Returns
    -------
    Parameter
        The parameter, for ``parameters`` of a :class:`Policy`.

    Raises
    ------
    ParameterError
        Its name is none, or its default is not among its values.

    Examples
    --------
    >>> import ftlab
    >>> ftlab.parameter("age", float, 0.25, "Share of a drive write.", low=0, high=1).expects
    'a number in 0.0..=1.0'
    """
    if type not in KINDS:
        raise ParameterError(f"parameter: type={type!r} is not one of int, float, bool, str")
    if choices and type is not str:
        raise ParameterError(f"parameter: {name} has choices, which are of type str, not {type.__name__}")
    if (low is not None or high is not None) and KINDS[type] not in ("whole", "number"):
        raise ParameterError(f"parameter: {name} has limits, which only int and float have; leave them out")
    if low is not None and high is not None and not low <= high:
        raise ParameterError(
            f"parameter: {name} has low={low} above high={high}, and no value between; exchange them"
        )
    kind = "choice" if choices else KINDS[type]
    among = ["on", "off"] if type is bool else list(choices)
    text = texts({"default": AUTO if default is None else default})["default"]
    domain: Domain = (kind, low, high, among)
    return Parameter._of(_core.parameter(name, text, summary, source, domain))
