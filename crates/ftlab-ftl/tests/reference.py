#!/usr/bin/env python3
"""The page-mapped FTLs of the golden test once more, written only to be believed.

It shares nothing with the engine: lists, and loops over all blocks. Each rule is in one of the
functions below. Needs `zstd`, with which sequences are compressed.

    reference.py count SEQUENCE BLOCKS PAGES_PER_BLOCK LOGICAL_PAGES WARMUP [FTL...]
    reference.py sample SEQUENCE EVERY | zstd -19 > SHORTER

A sequence is little-endian 32-bit page numbers. `count` prints for each FTL the pages it moved and
the blocks it erased after the first WARMUP writes, as rows of `SHORT` in golden.rs. `sample` keeps
the writes of every EVERY-th page, and numbers these pages from 0: the same kind of workload for a
drive that is EVERY times smaller.
"""

import array
import subprocess
import sys

RESERVE = 4
DAC_REGIONS = 4


class Block:
    """An erase block in use."""

    def __init__(self, stream):
        self.stream = stream
        self.pages = []  # Logical page at each place, None once it is invalid.
        self.valid = 0
        self.closed_at = None  # Host writes when its last page was programmed.


class Ftl:
    """The engine. A subclass says where pages go, and which blocks are collected."""

    def __init__(self, blocks, pages_per_block):
        self.size = pages_per_block
        self.free = blocks  # Only their number matters to the counts.
        self.blocks = []  # In use, in order of allocation.
        self.open = {}  # Stream -> block with room.
        self.place = {}  # Logical page -> its block, and where in it.
        self.now = self.moved = self.erased = 0

    def write(self, page):
        self.now += 1
        old = self.place.get(page)
        stream = self.host_stream(old and old[0].stream)
        while stream not in self.open:
            if self.free > RESERVE:
                self.allocate(stream)
            else:
                self.collect()
        self.program(page, stream)

    def allocate(self, stream):
        assert self.free > 0
        self.free -= 1
        self.open[stream] = Block(stream)
        self.blocks.append(self.open[stream])

    def program(self, page, stream):
        if page in self.place:
            old, at = self.place[page]
            old.pages[at] = None
            old.valid -= 1
        block = self.open[stream]
        self.place[page] = (block, len(block.pages))
        block.pages.append(page)
        block.valid += 1
        if len(block.pages) == self.size:
            block.closed_at = self.now
            del self.open[stream]

    def collect(self):
        victims = self.victims()
        assert victims, "nothing to collect"
        for victim in victims:
            for page in list(victim.pages):
                if page is not None:
                    stream = self.relocation_stream(victim.stream)
                    if stream not in self.open:
                        self.allocate(stream)
                    self.program(page, stream)
                    self.moved += 1
            self.erase(victim)

    def erase(self, block):
        assert block.valid == 0
        self.blocks.remove(block)
        self.free += 1
        self.erased += 1

    def closed(self):
        return [block for block in self.blocks if block.closed_at is not None]

    def emptiest(self):
        return [min(self.closed(), key=lambda block: block.valid)]  # The first of equals.

    def best_cost_benefit(self):
        def score(block):
            age = self.now - block.closed_at + 1
            return age * (self.size - block.valid) / block.valid if block.valid else float("inf")

        return [max(self.closed(), key=score)]  # The first of equals.

    # Of a single region, which is what other FTLs start from.
    victims = emptiest

    def host_stream(self, old):
        return 0

    def relocation_stream(self, old):
        return 0


class Fifo(Ftl):
    def victims(self):
        return [block for block in self.closed() if block.valid < self.size][:1]


class SepGc(Ftl):
    def relocation_stream(self, old):
        return 1


class SepGcCostBenefit(SepGc):
    victims = Ftl.best_cost_benefit


class Dac(Ftl):
    def host_stream(self, old):
        return 0 if old is None else min(old + 1, DAC_REGIONS - 1)

    def relocation_stream(self, old):
        return max(old - 1, 0)


class DacCostBenefit(Dac):
    victims = Ftl.best_cost_benefit


class TwoRGreedy(SepGc):
    def victims(self):
        by_valid = sorted(self.closed(), key=lambda block: block.valid)
        region = [block for block in by_valid if block.stream == by_valid[0].stream]
        chosen, invalid = [], 0
        for block in region:
            if invalid < self.size and block.valid < self.size:
                chosen.append(block)
                invalid += self.size - block.valid
        return chosen


class TwoRFifo(SepGc):
    cur_scan = 0  # A position in the list of blocks.

    def region(self, block):
        return block.stream

    # Blocks of one region, oldest first; if none is empty enough, of those that are less empty.
    def victims(self):
        limit = int(0.8 * len(self.blocks))  # SCAN_DEPTH
        chosen = self.sweep(limit, lambda valid: valid < 0.5 * self.size)  # BLK_UTIL
        for percent in range(55, 101, 5):
            if not chosen:
                # In whole numbers, so that nothing is rounded; a full block is no victim.
                most = min(percent * self.size // 100, self.size - 1)
                chosen = self.sweep(limit, lambda valid, most=most: valid <= most)
        return chosen or self.emptiest()

    def sweep(self, limit, is_eligible):
        if self.cur_scan >= limit:
            self.cur_scan = 0
        chosen, invalid = [], 0
        for at in [*range(self.cur_scan, limit), *range(self.cur_scan)]:
            block = self.blocks[at]
            fits = not chosen or self.region(block) == self.region(chosen[0])
            if block.closed_at is not None and is_eligible(block.valid) and fits:
                chosen.append(block)
                invalid += self.size - block.valid
                if invalid >= self.size:
                    self.cur_scan = at + 1 if at + 1 < limit else 0
                    break
        return chosen

    def erase(self, block):
        if self.blocks.index(block) < self.cur_scan:
            self.cur_scan -= 1
        super().erase(block)


class TwoRPlusPlus(TwoRFifo):
    def relocation_stream(self, old):
        return 1 if old == 0 else 2

    def region(self, block):
        return block.stream == 2


FTLS = {
    "1r-greedy": Ftl,
    "fifo": Fifo,
    "sep-gc/greedy": SepGc,
    "sep-gc/cost-benefit": SepGcCostBenefit,
    "2r-greedy": TwoRGreedy,
    "2r-fifo": TwoRFifo,
    "2r++": TwoRPlusPlus,
    "dac-greedy": Dac,
    "dac-cb": DacCostBenefit,
}


def read(path):
    data = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    assert sys.byteorder == "little"
    return array.array("I", data)


def count(path, blocks, pages_per_block, logical_pages, warmup, *names):
    pages = read(path)
    assert max(pages) < int(logical_pages)
    for name in names or FTLS:
        ftl = FTLS[name](int(blocks), int(pages_per_block))
        for page in pages[: int(warmup)]:
            ftl.write(page)
        moved, erased = ftl.moved, ftl.erased
        for page in pages[int(warmup) :]:
            ftl.write(page)
        print(f'    ("{name}", {ftl.moved - moved:_}, {ftl.erased - erased:_}),', flush=True)


def sample(path, every):
    pages = (page // int(every) for page in read(path) if page % int(every) == 0)
    sys.stdout.buffer.write(array.array("I", pages).tobytes())


if __name__ == "__main__":
    {"count": count, "sample": sample}[sys.argv[1]](*sys.argv[2:])
