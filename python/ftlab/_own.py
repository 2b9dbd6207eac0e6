"""Policies of the user by name."""

from __future__ import annotations

import hashlib
import inspect
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from ftlab import _core
from ftlab._parameter import AUTO, Parameter
from ftlab._policy import FitContext, Policy
from ftlab._text import texts
from ftlab.errors import ParameterError

if TYPE_CHECKING:
    from ftlab._core import ParameterFields

__all__ = ["Own", "named", "register", "registered"]

P = TypeVar("P", bound=type[Policy])


@dataclass(frozen=True)
class Own:
    """A policy as the compiled part takes it: one, or a class that makes one for each run.

    Attributes
    ----------
    policy : Policy or type of it
        The policy.
    name : str
        Its name.
    code : str
        A hash of its version and its source, by which results are told apart.
    """

    policy: Policy | type[Policy] = field(compare=False)
    name: str
    code: str

    @classmethod
    def of(cls, policy: Policy | type[Policy]) -> Own:
        """The policy, or what makes it."""
        one = policy() if isinstance(policy, type) else policy
        _check_parameters(one.name, one.parameters)
        return cls(policy, one.name, _code(type(one)))

    @property
    def fields(self) -> list[ParameterFields]:
        """Its parameters."""
        return [one._fields() for one in self.policy.parameters]

    @property
    def hints(self) -> str | None:
        """What it asks for beside addresses."""
        return self.policy.hints

    def fitted(
        self,
        given: Mapping[str, str],
        shape: tuple[int, int, int, int],
        oracle: Iterable[tuple[float, float]],
    ) -> dict[str, str]:
        """The values of its parameters on a drive, as texts."""
        values = self._values(given)
        changed = dict(self._one().fit(values, FitContext(*shape, tuple(oracle))))
        for name in changed.keys() - values.keys():
            known = ", ".join(values) or "none"
            raise ParameterError(
                f"{self.name}: fit returned {name}, which is no parameter of it; it has {known}"
            )
        fitted = dict(given) | texts(changed)
        for one in self.policy.parameters:
            self._check_fitted(one, fitted[one.name])
        for name, value in self._values(fitted).items():
            if value is None:
                raise ParameterError(
                    f"{self.name}: {name}={AUTO} has no value; return one from fit, or give one as in "
                    f"{self.name}:{name}=VALUE"
                )
        return fitted

    def make(self, given: Mapping[str, str]) -> Policy:
        """The policy with these values."""
        policy = self._one()
        policy.values = MappingProxyType(self._values(given))
        return policy

    def _one(self) -> Policy:
        return self.policy() if isinstance(self.policy, type) else self.policy

    def _check_fitted(self, one: Parameter, text: str) -> None:
        """Refuses what is no value of its parameter."""
        try:
            one._value(text)
        except ValueError:
            whole = f", such as int({text})" if one.kind == "whole" else ""
            raise ParameterError(
                f"{self.name}: fit returned {one.name}={text}, which is not {one.expects}; return one{whole}"
            ) from None

    def _values(self, given: Mapping[str, str]) -> dict[str, object]:
        return {one.name: one._value(given[one.name]) for one in self.policy.parameters}


def _check_parameters(policy: str, parameters: object) -> None:
    """Refuses what is no sequence of parameters with names of their own."""
    if isinstance(parameters, str) or not isinstance(parameters, Sequence):
        comma = "; with one, write (it,)" if isinstance(parameters, Parameter) else ""
        raise ParameterError(
            f"{policy}: parameters={parameters!r} is not a tuple of ftlab.parameter(...){comma}"
        )
    names: set[str] = set()
    for one in parameters:
        if not isinstance(one, Parameter):
            raise ParameterError(
                f"{policy}: {one!r} among its parameters is none; make each with ftlab.parameter(...)"
            )
        if one.name in names:
            raise ParameterError(f"{policy}: two parameters are named {one.name}; give one another name")
        names.add(one.name)


def _code(policy: type[Policy]) -> str:
    """A hash of what decides; a new one where the source cannot be read, so that no result is used again."""
    classes = [of for of in policy.__mro__ if of not in (Policy, object)]
    try:
        sources = [inspect.getsource(of) for of in classes]
    except (OSError, TypeError):
        sources = [uuid.uuid4().hex]
    text = "\n".join([str(policy.version), *sources])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_REGISTERED: dict[str, Own] = {}


def register(policy: P) -> P:
    """Give your policy its name everywhere: a decorator of its class.

    From then on, :func:`run`, :func:`tune` and :func:`sweep` of this process take its name with parameters,
    and :func:`ftls` lists it. Each run has a policy of its own. A class of the same name takes its place.

    Parameters
    ----------
    policy : type of Policy
        The class; it is made without arguments.

    Returns
    -------
    type of Policy
        The class itself.

    Raises
    ------
    ParameterError
        Its name is no name, or that of a built-in FTL; or its parameters are wrong.

    Examples
    --------
    >>> import ftlab
    >>> @ftlab.register
    ... class Emptiest(ftlab.Policy):
    ...     '''Collects several of the emptiest blocks at a time.'''
    ...     parameters = (ftlab.parameter("blocks", int, 1, "Blocks of a collection.", low=1, high=8),)
    ...     def select_victims(self, drive, requester, valid_pages_max):
    ...         blocks = drive.emptiest_blocks()[:self.values["blocks"]]
    ...         return [block for block in blocks if drive.valid_pages(block) <= valid_pages_max]
    >>> drive = ftlab.Drive(logical_pages=4096, pages_per_block=32)
    >>> result = ftlab.run("uniform", ["Emptiest", "Emptiest:blocks=4"], drive=drive)
    >>> result.waf["Emptiest"] < result.waf["Emptiest:blocks=4"]
    True
    """
    if not (isinstance(policy, type) and issubclass(policy, Policy)):
        raise ParameterError(f"{policy!r} is not a class of policies; derive one from ftlab.Policy")
    own = Own.of(policy)
    _core.ftl(own.name, [own])
    _REGISTERED[own.name] = own
    return policy


def registered() -> list[Own]:
    """The policies that have been given a name."""
    return list(_REGISTERED.values())


def named(ftls: Iterable[str | Policy]) -> tuple[list[str], list[Own]]:
    """The names of FTLs, and the policies in Python among them."""
    every = list(ftls)
    names = [ftl.name if isinstance(ftl, Policy) else str(ftl) for ftl in every]
    own = [Own.of(ftl) for ftl in every if isinstance(ftl, Policy)]
    texts = {str(ftl).partition(":")[0] for ftl in every if not isinstance(ftl, Policy)}
    return names, own + [one for one in registered() if one.name in texts]
