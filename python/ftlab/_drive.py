"""The simulated drive."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from ftlab.errors import ParameterError

__all__ = ["Drive"]


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive to simulate: how large it is, and when it collects garbage.

    Parameters
    ----------
    logical : str or int, optional
        Logical capacity, such as 8GiB (8G is the same); by default that of the trace's device, or up to its
        highest address.
    op : str or float, optional
        Over-provisioning, (physical - logical) / logical; 10% if neither this nor `blocks` is given. For
        hybrid-mapped FTLs it is the log space, including the one or two blocks that they merge into.
    pages_per_block : int, optional
        Pages per erase block, at least 2; by default those of the flash that `timing` names, or else the
        usual number for the size of the drive: 512, fewer below 1 GiB.
    page_size : str or int, default "4KiB"
        Bytes per page, a multiple of 512.
    logical_pages : int, optional
        Logical capacity in pages.
    blocks : int, optional
        Number of erase blocks.
    reserve : int, default 4
        Free blocks that host writes may not use; hybrid-mapped FTLs and page have their own rules.
    gc : str, default "foreground"
        When garbage is collected: foreground, a whole collection before the host write that needs it;
        incremental[:pages=N], some pages (at most N) after each host write; background[:pages=N], the first
        victim before the host write and the others like that; garbage[:share=S], whole collections while at
        least that share of the programmed pages is invalid; gradual[:from=S], whole collections, the more the
        fewer blocks are free, below that share; or throttled[:from=S,invalid=S,moves=N], blocks of which at
        least that share is invalid, with at most so many moves for each page of the host, below that share of
        free blocks.
    gc_start : str or float, optional
        Collects early, after host writes, while less than this share of the blocks is free; off by default.
    gc_min_invalid : str or float, optional
        Share of a block that must be invalid for early collection; 12.5% by default.
    free_block : {"fifo", "least-worn"}, default "fifo"
        Which free block is opened next: the one that has been free longest (fifo), or the one with the fewest
        erases (least-worn).
    wear_threshold : int, default 0
        Moves cold pages once a block has been erased this many times more than the least-worn block; 0
        disables.
    refresh : str, optional
        Rewrites the pages of a block once it has been read that often since it was erased, or that many host
        page writes after it became full, such as reads=100000,age=5000000. Reads need `timing` with
        unit=request.
    slc_cache : str, optional
        Blocks that are programmed with one bit a cell, take what the host writes, and are folded into the
        others later, such as size=64MiB,bits=3,full=fold,idle=on; full=bypass writes past a full cache. They
        come on top of `op`.
    mapping : str, default "full"
        Where page-mapped FTLs keep which page lies where: full, in memory; iu:size=SIZE, in memory by units
        of several pages; dftl:cache=SIZE, s-ftl, cdftl, tpftl, leaftl or learnedftl, in translation pages on
        flash, which take from `op`, and in part in memory. ``ftlab run`` runs every FTL with each of several,
        after commas.

    See Also
    --------
    run : runs FTLs on a drive.

    Examples
    --------
    >>> import ftlab
    >>> ftlab.Drive("1GiB", op="7%").op
    '7%'
    """

    logical: str | int | None = None
    op: str | float | None = None
    pages_per_block: int | None = None
    page_size: str | int | None = None
    logical_pages: int | None = None
    blocks: int | None = None
    reserve: int | None = None
    gc: str | None = None
    gc_start: str | float | None = None
    gc_min_invalid: str | float | None = None
    free_block: Literal["fifo", "least-worn"] | None = None
    wear_threshold: int | None = None
    refresh: str | None = None
    slc_cache: str | None = None
    mapping: str | None = None

    @classmethod
    def of(cls, drive: Drive | str | int | None) -> Drive:
        """`drive` itself, or one of that logical size.

        Examples
        --------
        >>> import ftlab
        >>> ftlab.Drive.of("1GiB") == ftlab.Drive("1GiB")
        True
        """
        return drive if isinstance(drive, cls) else cls(logical=drive)  # type: ignore[arg-type]

    def without_op(self) -> dict[str, str | int | float | None]:
        """Its settings, where over-provisioning is an argument of its own.

        Raises
        ------
        ParameterError
            It has an over-provisioning.
        """
        for name in ("op", "blocks"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    f"the drive has {name}={getattr(self, name)!r}; give over-provisioning as the argument op"
                )
        return self._settings()

    def _settings(self) -> dict[str, str | int | float | None]:
        return asdict(self)
