"""2R-Greedy in Python: identical to the FTL ``2r-greedy``, to the last relocation.

Kang et al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 13(11), 2020, section 4.2
and algorithm 1. Every host write goes to the normal region, every relocated page to the cold region. A
collection takes several blocks of one region, the one with the emptiest block of all: blocks with the
fewest valid pages first, until their invalid pages add up to a block. Ties go to the block allocated first.
"""

from __future__ import annotations

import ftlab

NORMAL, COLD = 0, 1


class TwoRGreedy(ftlab.Policy):
    """Two regions with greedy victims."""

    name = "my-2r-greedy"
    streams = (
        ftlab.Stream("normal", takes_relocations=False),
        ftlab.Stream("cold", cold=True),
    )
    metadata_bits_per_block = 1

    def place_host(self, lpn: int, hint: ftlab.Hint, drive: ftlab.DriveView) -> int:
        """Host writes are normal."""
        return NORMAL

    def place_relocation(self, lpn: int, victim: int, stream: int, drive: ftlab.DriveView) -> int:
        """A page that is still valid when its block is collected counts as cold."""
        return COLD

    def select_victims(self, drive: ftlab.DriveView, requester: int, valid_pages_max: int) -> list[int]:
        """The emptiest blocks of the region with the emptiest block."""
        emptiest = drive.emptiest_blocks()
        victims, invalid_pages = [], 0
        for block in emptiest:
            if drive.stream_of(block) != drive.stream_of(emptiest[0]):
                continue
            valid_pages = drive.valid_pages(block)
            is_too_full = valid_pages > valid_pages_max or valid_pages == drive.pages_per_block
            if is_too_full or invalid_pages >= drive.pages_per_block:
                break
            victims.append(block)
            invalid_pages += drive.pages_per_block - valid_pages
        return victims


def main() -> None:
    """Compare it with the FTL in Rust."""
    drive = ftlab.Drive(logical_pages=16_384, pages_per_block=64)
    result = ftlab.run("zipf:theta=0.9", [TwoRGreedy(), "2r-greedy"], drive=drive, fill="random")
    for run in result.runs:
        print(f"{run['ftl']:>12}: {run['relocations']:,} relocations, {run['erases']:,} erases")


if __name__ == "__main__":
    main()
