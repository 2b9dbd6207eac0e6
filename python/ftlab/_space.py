"""The search space of the parameters of an FTL."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ftlab import _core
from ftlab._own import registered
from ftlab._parameter import Parameter
from ftlab._registry import ftls, parts
from ftlab._text import Setting, texts
from ftlab._tuning import Trial
from ftlab.errors import ParameterError

if TYPE_CHECKING:
    import optuna

__all__ = ["Dimension", "Space", "Values"]

Values = str | Sequence[object]
"""Values of a parameter: a pair of numbers or ``"0.3..0.7"``, a list of choices or ``"raise|greedy"``."""

WIDE = 20
"""A range whose ends are further apart than this factor is searched on a logarithmic scale."""

AROUND = 32
"""If limits are far apart, the search covers default / AROUND to default * AROUND."""

FEW = 16
"""Limits are not far apart if there are at most this many integers between them."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A parameter that is searched: between `low` and `high`, or among `choices`."""

    name: str
    kind: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()

    @property
    def log(self) -> bool:
        """Whether the search uses a logarithmic scale."""
        return self.low > 0 and self.high / self.low > WIDE

    def suggest(self, trial: optuna.Trial) -> str:
        """The value that a trial tries, as the user would type it."""
        if self.kind == "choice":
            return str(trial.suggest_categorical(self.name, self.choices))
        if self.kind == "whole":
            return str(trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log))
        value = trial.suggest_float(self.name, self.low, self.high, log=self.log)
        # Three digits are enough; the result stays between the limits.
        return f"{min(max(float(f'{value:.3g}'), self.low), self.high):.12g}"

    def parse(self, text: str) -> float | str | None:
        """Optuna's value for `text`, or nothing if it is not searched."""
        if self.kind == "choice":
            return text if text in self.choices else None
        number = _number(text)
        if number is None or not self.low <= number <= self.high:
            return None
        return int(number) if self.kind == "whole" else number

    def __str__(self) -> str:
        """As in ``0.3..0.7``."""
        if self.kind == "choice":
            return "|".join(self.choices)
        return f"{self.low:.12g}..{self.high:.12g}"


class Space:
    """The parameters of an FTL that are searched, and those that are not.

    Parameters
    ----------
    ftl : str
        The FTL, optionally with parameters, which are not searched.
    fix : mapping
        Values of further parameters that are not searched.
    given : mapping
        Ranges to search, instead of those that follow from limits and default.

    Attributes
    ----------
    dimensions : tuple of Dimension
        The parameters searched.
    omitted : dict of str to str
        The parameters not searched, and why.
    """

    def __init__(self, ftl: str, fix: Mapping[str, Setting], given: Mapping[str, Values]) -> None:
        self._name, named, values = _core.ftl(ftl, registered())
        self._ftl, self._named, self._default = ftl, dict(named), dict(values)
        self._fixed = texts(fix)
        _core.ftl(self.ftl({}), registered())
        parameters = {parameter.name: parameter for parameter in _parameters(self._name)}
        self.dimensions: tuple[Dimension, ...] = ()
        self.omitted: dict[str, str] = {}
        for name in given:
            if name in self._named or name in self._fixed:
                raise ParameterError(f"{self._name}: {name} has a fixed value and cannot be searched too")
            if name not in parameters:
                _core.ftl(f"{self._name}:{name}=0", registered())  # raises an error that lists them
        for name, parameter in parameters.items():
            if name not in self._named and name not in self._fixed:
                self._add(parameter, given.get(name))
        if not self.dimensions:
            reasons = [f"{name} ({why})" for name, why in self.omitted.items()]
            why = "; ".join(reasons) or "all have fixed values" if parameters else "it has none"
            raise ParameterError(f"{self._name}: there is no parameter to search: {why}")

    def _add(self, parameter: Parameter, given: Values | None) -> None:
        if given is not None:
            dimension = _given(parameter, given)
            for value in dimension.choices or (f"{dimension.low:.12g}", f"{dimension.high:.12g}"):
                _core.ftl(self.ftl({parameter.name: value}), registered())
            self.dimensions += (dimension,)
            return
        found = _suggested(parameter, self._default[parameter.name])
        if isinstance(found, Dimension):
            self.dimensions += (found,)
        else:
            self.omitted[parameter.name] = found

    @property
    def ranges(self) -> dict[str, str]:
        """The range searched for each parameter."""
        return {dimension.name: str(dimension) for dimension in self.dimensions}

    @property
    def default_trial(self) -> Trial:
        """The FTL as it was given."""
        return Trial(self._ftl, {d.name: self._default[d.name] for d in self.dimensions})

    def ftl(self, values: Mapping[str, str]) -> str:
        """The FTL with these values; defaults are left out."""
        other = {name: value for name, value in values.items() if self._default.get(name) != value}
        every = {**self._named, **self._fixed, **other}
        arguments = ",".join(f"{name}={value}" for name, value in every.items())
        return f"{self._name}:{arguments}" if arguments else self._name

    def suggest(self, trial: optuna.Trial) -> Trial:
        """The FTL and the values that a trial tries."""
        values = {dimension.name: dimension.suggest(trial) for dimension in self.dimensions}
        return Trial(self.ftl(values), values)

    def reset(self, trial: Trial, name: str) -> Trial:
        """`trial` with one parameter reset to its default."""
        values = {**trial.parameters, name: self._default[name]}
        return Trial(self.ftl(values), values)

    def start(self) -> dict[str, float | str] | None:
        """The default in Optuna's terms, if it is within the space."""
        if any(self._default[name] != value for name, value in self._fixed.items()):
            return None
        found = {d.name: d.parse(self._default[d.name]) for d in self.dimensions}
        known = {name: value for name, value in found.items() if value is not None}
        return known if len(known) == len(found) else None


def _parameters(name: str) -> tuple[Parameter, ...]:
    """The parameters of an FTL that exists."""
    known = ftls()
    if name in known:
        return known[name].parameters
    placement, _, victim = name.partition("/")
    both = parts()
    return both[f"placement/{placement}"].parameters + both[f"victim/{victim}"].parameters


def _suggested(parameter: Parameter, default: str) -> Dimension | str:
    """The range of a parameter for which none is given; or why it is not searched."""
    name, kind = parameter.name, parameter.kind
    if kind == "choice":
        return Dimension(name, kind, choices=parameter.choices)
    if name == "seed":
        return "a seed is not worth tuning"
    if kind == "text":
        return "neither a number nor a choice"
    low, high = parameter.low, parameter.high
    number = _number(default)
    if low is not None and high is not None and _is_narrow(kind, low, high, number):
        return Dimension(name, kind, low, high)
    if not number or number < 0:
        return f"its default {default} gives no scale for a range"
    least, most = number / AROUND, number * AROUND
    if kind == "whole":
        least = max(1, math.ceil(least))
    low = least if low is None else max(low, least)
    high = most if high is None else min(high, most)
    return Dimension(name, kind, float(f"{low:.3g}"), float(f"{high:.3g}"))


def _is_narrow(kind: str, low: float, high: float, default: float | None) -> bool:
    """Whether limits are close enough to search everything between them."""
    if kind == "whole" and high - low <= FEW:
        return True
    if low > 0:
        return high / low <= WIDE
    return default is not None and default >= high / 10


def _given(parameter: Parameter, values: Values) -> Dimension:
    """The range given for a parameter."""
    name, kind = parameter.name, parameter.kind
    if isinstance(values, str):
        ends = values.split("..")
        values = ends if len(ends) == 2 else values.split("|")
        is_range = len(ends) == 2
    else:
        is_range = isinstance(values, tuple) and kind in ("whole", "number")
    texts = [str(value) for value in values]
    if not is_range:
        return Dimension(name, "choice", choices=tuple(dict.fromkeys(texts)))
    numbers = [number for number in map(_number, texts) if number is not None]
    if kind not in ("whole", "number") or len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise ParameterError(
            f"{name}: {'..'.join(texts)} is not a range of {parameter.expects}; write a range of numbers "
            "with the lower one first, such as 0.3..0.7, or choices such as A|B"
        )
    return Dimension(name, kind, numbers[0], numbers[1])


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
