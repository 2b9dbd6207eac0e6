"""Half an hour on a drive that is nearly full, with everything that runs beside it, killed every minute.

The drive is 95% full and collects all the time; dashboard, shadows and a recording run beside it. Reported
are the durations of writes, recoveries, and the memory of the process: how much it grows within a life, and
from the first life to the last.
"""

import os
import random
import time
from pathlib import Path

from drive import Drive
from power_cuts import PAGE_BYTES, NbdClient, content
from system import expect, say

DRIVE_BYTES = 512 << 20
PAGES = DRIVE_BYTES // PAGE_BYTES
FULL = int(PAGES * 0.95)

# Seconds from one kill to the next, and until the first look at the memory of a life.
LIFE, YOUNG = 60, 10

# Writes from one flush to the next.
FLUSH_EVERY = 256


def memory_kib(process: int) -> int:
    """The resident memory of a process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise ValueError("no VmRSS")


class Writer:
    """Writes random pages, and knows which versions may be found."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.version = chance, 0
        self.flushed: dict[int, int] = {}
        self.later: dict[int, list[int]] = {}
        self.durations: list[float] = []

    def write(self, client: NbdClient, page: int) -> None:
        """Writes one page."""
        self.version += 1
        self.later.setdefault(page, []).append(self.version)
        began = time.perf_counter()
        client.request(client.WRITE, page * PAGE_BYTES, content(page, self.version))
        self.durations.append(time.perf_counter() - began)
        if self.version % FLUSH_EVERY == 0:
            self.flush(client)

    def flush(self, client: NbdClient) -> None:
        """Flushes: later versions are the ones that must be found from now on."""
        client.request(client.FLUSH)
        self.flushed |= {page: versions[-1] for page, versions in self.later.items()}
        self.later.clear()

    def verify(self, client: NbdClient) -> None:
        """After a kill: which of the versions since the last flush are there decides what is expected."""
        for page, versions in self.later.items():
            found = client.read(page * PAGE_BYTES, PAGE_BYTES)
            allowed = [self.flushed.get(page, 0), *versions]
            there = [version for version in allowed if found == content(page, version)]
            expect(bool(there), f"page {page} is none of its versions {allowed}")
            self.flushed[page] = there[-1]
        self.later.clear()
        for page in self.chance.sample(sorted(self.flushed), 1000):
            found = client.read(page * PAGE_BYTES, PAGE_BYTES)
            expect(found == content(page, self.flushed[page]), f"page {page} is another version")


def live(drive: Drive, writer: Writer, until: float) -> tuple[int, int]:
    """Works until then; the memory soon after the beginning and at the end, in KiB."""
    client, process = NbdClient(drive.socket), drive.process_id
    writer.verify(client)
    began, young = time.monotonic(), 0
    while time.monotonic() < until:
        for _ in range(100):
            # Nine of ten writes to a tenth of the pages.
            hot = writer.chance.random() < 0.9
            writer.write(client, writer.chance.randrange(FULL // 10 if hot else FULL))
        if not young and time.monotonic() > began + YOUNG:
            young = memory_kib(process)
    return young or memory_kib(process), memory_kib(process)


def main(chosen) -> dict:
    """Runs it."""
    short = 25 if "FTLAB_TEST_ALL" in os.environ else 10
    seconds = short if chosen.short else chosen.seconds
    life = 5 if chosen.short else LIFE
    writer = Writer(random.Random(1))
    directory = chosen.directory("long-run")
    with Drive(chosen.ftlab, directory, f"{DRIVE_BYTES}", chosen.ftl) as drive:
        drive.serve(front="nbd")
        client = NbdClient(drive.socket)
        for page in range(FULL):
            writer.write(client, page)
        writer.flush(client)
        client.request(client.DISCONNECT)
        drive.stop()
        writer.durations.clear()
        end, lives, recoveries = time.monotonic() + seconds, [], []
        while time.monotonic() < end:
            record = directory / f"{len(lives)}.parquet"
            began = time.monotonic()
            beside = ["--http", "127.0.0.1:0", "--shadow", chosen.shadow, "--record", record]
            drive.serve(*beside, front="nbd")
            recoveries.append(time.monotonic() - began)
            lives.append(live(drive, writer, min(time.monotonic() + life, end)))
            drive.kill()
        drive.serve(front="nbd")
        writer.verify(NbdClient(drive.socket))
        drive.stop()
        drive.check()
        waf = drive.stats()["waf"]
    writer.durations.sort()
    quantiles = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
    durations = writer.durations
    microseconds = {
        name: round(durations[int(share * (len(durations) - 1))] * 1e6)
        for name, share in quantiles.items()
    }
    growth = max(last - young for young, last in lives)
    say(
        f"{len(lives)} lives, none lost a flushed page; at most {growth} KiB more at the end of one"
    )
    expect(growth < 64 << 10, f"the process grew by {growth} KiB within a life")
    return {
        "lives": len(lives),
        "writes": len(durations),
        "waf": waf,
        "microseconds": microseconds | {"longest": round(durations[-1] * 1e6)},
        "recovery_seconds": {"mean": sum(recoveries) / len(recoveries), "longest": max(recoveries)},
        "memory_kib": {
            "first_life": lives[0],
            "last_life": lives[-1],
            "growth_within_a_life": growth,
        },
    }
