"""Documents from the compiled part, as mappings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Document(Mapping[str, Any]):
    """A document with named parts.

    Parameters
    ----------
    document : mapping
        The parts by name.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)

    def __getitem__(self, key: str) -> Any:
        """A part of the document."""
        return self._document[key]

    def __iter__(self) -> Iterator[str]:
        """The names of the parts."""
        return iter(self._document)

    def __len__(self) -> int:
        """The number of parts."""
        return len(self._document)
