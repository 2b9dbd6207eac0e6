"""Policies written in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ftlab._parameter import Parameter

if TYPE_CHECKING:
    from ftlab._core import DriveView, Hint

__all__ = ["FitContext", "Policy", "Stream"]


@dataclass(frozen=True, slots=True)
class Stream:
    """A write frontier: a sequence of blocks, one open at a time, that take pages in order of arrival.

    Parameters
    ----------
    name : str
        Its name in results, such as ``"cold"``.
    takes_relocations : bool, default True
        Whether it takes pages that garbage collection moves.
    cold : bool, default False
        Whether its blocks count as the cold region.
    """

    name: str
    takes_relocations: bool = True
    cold: bool = False


@dataclass(frozen=True, slots=True)
class FitContext:
    """What is known of drive and workload before the first write.

    Attributes
    ----------
    blocks : int
        Erase blocks of the drive.
    pages_per_block : int
        Pages in each.
    logical_pages : int
        Pages that the host can address.
    reserve_blocks : int
        Free blocks that host writes may not take.
    oracle : tuple of (float, float)
        Shares of the logical pages, and of the writes to them, of areas that follow one another and fill
        the drive; empty if the workload does not tell them.
    """

    blocks: int
    pages_per_block: int
    logical_pages: int
    reserve_blocks: int
    oracle: tuple[tuple[float, float], ...]


class Policy:
    """A policy of the page-mapped engine, for prototyping in Python.

    The policy decides in which stream a page is put and which blocks are collected; the engine does the
    rest. Derive from this class, and pass an instance to :func:`ftlab.run` as one of its `ftls`; or give it a
    name with :func:`register`, which also takes parameters. Methods whose names begin with ``on_`` are
    notified of events; those that are not overridden cost nothing.

    This is slow: at a write amplification of six, some thirty thousand host writes per second, where Rust
    does tens of millions. Runs of several FTLs in Python share one interpreter.

    An exception raised by a method ends the run and propagates from :func:`ftlab.run`. An invalid answer,
    such as a victim that is not sealed, raises :class:`ftlab.errors.PolicyError`.

    Attributes
    ----------
    name : str
        Its name in results; by default that of the class.
    parameters : sequence of Parameter
        Its parameters, each made by :func:`parameter`.
    values : mapping of str to int, float, bool or str
        Their values by name, from before :meth:`setup`.
    hints : {"lifetimes", "streams"} or None
        What :meth:`place_host` is told beside addresses: how long pages live, for which the workload is read
        ahead, or the streams that the host names.
    source : str
        Where it is described, for lists.
    version : int
        Raise it if it decides otherwise though its source is the same: :func:`sweep` keeps results by both.
    streams : sequence of Stream
        The streams; methods return them by index, from 0.
    metadata_bits_per_page, metadata_bits_per_block, metadata_bytes : int
        The state that a controller would have to keep for it, for results.

    Examples
    --------
    Greedy collection with one stream, like the FTL ``1r-greedy``: the victim is the block with the fewest
    valid pages; among equals, the one allocated first.

    >>> import ftlab
    >>> class Greedy(ftlab.Policy):
    ...     def select_victims(self, drive, requester, valid_pages_max):
    ...         victim = drive.emptiest_blocks()[0]
    ...         return [victim] if drive.valid_pages(victim) <= valid_pages_max else []
    >>> drive = ftlab.Drive(logical_pages=4096, pages_per_block=32)
    >>> result = ftlab.run("uniform", [Greedy(), "1r-greedy"], drive=drive, fill="random")
    >>> result.waf["Greedy"] == result.waf["1r-greedy"]
    True
    """

    parameters: Sequence[Parameter] = ()
    values: Mapping[str, Any] = MappingProxyType({})
    hints: Literal["lifetimes", "streams"] | None = None
    source: str = "your own"
    version: int = 1
    streams: Sequence[Stream] = (Stream("data"),)
    metadata_bits_per_page: float = 0
    metadata_bits_per_block: int = 0
    metadata_bytes: int = 0

    @property
    def name(self) -> str:
        """Its name in results: letters, digits, dashes and plus signs."""
        return type(self).__name__

    def fit(self, values: Mapping[str, Any], context: FitContext) -> Mapping[str, Any]:
        """Work out parameters that are ``auto``, before :meth:`setup`; it changes nothing.

        Parameters
        ----------
        values : mapping of str to int, float, bool, str or None
            The parameters; ``None`` stands for ``auto``.
        context : FitContext
            The drive, and what is known of the workload.

        Returns
        -------
        mapping of str to int, float, bool or str
            The parameters that get another value; by default none.
        """
        return {}

    def setup(self, blocks: int, pages_per_block: int, logical_pages: int, reserve_blocks: int) -> None:
        """Initialise the policy: a run begins on an erased drive.

        Parameters
        ----------
        blocks : int
            Erase blocks of the drive.
        pages_per_block : int
            Pages in each.
        logical_pages : int
            Pages that the host can address.
        reserve_blocks : int
            Free blocks that host writes may not take.
        """

    def place_host(self, lpn: int, hint: Hint, drive: DriveView) -> int:
        """Choose the stream for a page that the host writes; its old version is still valid.

        Parameters
        ----------
        lpn : int
            The logical page.
        hint : Hint
            What is known beside, if `hints` asks for it.
        drive : DriveView
            The drive, valid only during the call.

        Returns
        -------
        int
            The stream; the first one if not overridden.
        """
        return 0

    def place_relocation(self, lpn: int, victim: int, stream: int, drive: DriveView) -> int:
        """Choose the stream for a valid page of a victim.

        Parameters
        ----------
        lpn : int
            The logical page.
        victim : int
            The block that it leaves.
        stream : int
            The stream of that block.
        drive : DriveView
            The drive.

        Returns
        -------
        int
            A stream that takes relocations; the last one if not overridden.
        """
        return len(self.streams) - 1

    def select_victims(self, drive: DriveView, requester: int, valid_pages_max: int) -> Iterable[int]:
        """Choose the victims of one collection; all are collected before the next call.

        Parameters
        ----------
        drive : DriveView
            The drive.
        requester : int
            The stream that needs a block.
        valid_pages_max : int
            The most valid pages that a victim may have. If that is a whole block, the victims must
            contain at least one invalid page if any sealed block has one.

        Returns
        -------
        iterable of int
            Sealed blocks; none if all are too full.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which blocks to collect")

    def on_block_opened(self, block: int, drive: DriveView) -> None:
        """Called when a block has been opened for writing.

        Parameters
        ----------
        block : int
            The block; ``drive.stream_of(block)`` is its stream.
        drive : DriveView
            The drive.
        """

    def on_block_sealed(self, block: int, drive: DriveView) -> None:
        """Called when a block is full, and may be a victim from now on.

        Parameters
        ----------
        block : int
            The block.
        drive : DriveView
            The drive.
        """

    def on_invalidate(self, block: int, drive: DriveView) -> None:
        """Called when a page of a block has become invalid.

        Parameters
        ----------
        block : int
            The block.
        drive : DriveView
            The drive.
        """

    def on_block_erased(self, block: int, drive: DriveView) -> None:
        """Called when a block has been collected and erased.

        Parameters
        ----------
        block : int
            The block.
        drive : DriveView
            The drive.
        """

    def on_trim(self, lpn: int, drive: DriveView) -> None:
        """Called when the host has trimmed a page that held data.

        Parameters
        ----------
        lpn : int
            The logical page.
        drive : DriveView
            The drive.
        """
