"""A database's life on a drive: a load under which write amplification is measured for several
FTLs at once, and one under which the drive is killed.

The drive runs one FTL; the others carry out the same operations as its shadows, on drives of the same
size that were initially empty too: all see the same writes. The host's operations are also recorded;
the simulator must reach the same counters, and draws the figure.
"""

import os
import subprocess
import threading
import time
from pathlib import Path

from drive import Drive, FileSystem
from system import Failed, eventually, expect, run_json, say

# How often counters are read until they stop changing: databases are never quite idle.
SETTLING_MAX = 10

# The load that a drive is sized for.
LOAD_SECONDS = 150

NEEDS = ["losetup", "mount", "umount", "mkfs.ext4", "e2fsck"]


class Database:
    """The interface of each database; all data is in `place`, on the drive."""

    name = ""
    # The size of the drive, and the growth of the database under a load of LOAD_SECONDS; a file of random
    # bytes takes the rest. For a longer load both are increased by its growth.
    drive_mib = 1024
    growth_mib = 160
    grows = True

    def __init__(self, place: Path, outside: Path, short: bool) -> None:
        self.place, self.outside, self.short = place, outside, short

    @classmethod
    def sizes_mib(cls, seconds: float) -> tuple[int, int]:
        """The size of the drive for a load of this duration, and the space for growth on it."""
        longer = max(0.0, seconds / LOAD_SECONDS - 1) if cls.grows else 0.0
        more = round(cls.growth_mib * longer)
        return cls.drive_mib + more, cls.growth_mib + more

    def create(self) -> None:
        """Creates it, with its tables; it is running afterwards."""

    def start(self) -> None:
        """Starts it, which includes crash recovery."""

    def work(self, seconds: float) -> dict:
        """Runs the load for this long; returns its results."""
        return {}

    def begin_work(self) -> None:
        """Starts a load in the background, until the drive is killed."""

    def kill(self) -> None:
        """Kills it and its load."""

    def verify(self) -> dict:
        """Verifies its content; an error if anything is wrong or lost."""
        return {}

    def stop(self) -> None:
        """Shuts it down cleanly."""


class Ledger(threading.Thread):
    """A client that commits one number after the other, and knows which were acknowledged."""

    CREATE = "CREATE TABLE ledger (number INT PRIMARY KEY);"

    def __init__(self, client: list[str]) -> None:
        super().__init__(daemon=True)
        self.acknowledged = 0
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.client = subprocess.Popen(client, text=True, bufsize=1, **pipes)

    def run(self) -> None:
        try:
            while self.client.poll() is None:
                number = self.acknowledged + 1
                line = f"INSERT INTO ledger VALUES ({number}); SELECT {number};\n"
                self.client.stdin.write(line)
                self.client.stdin.flush()
                if self.client.stdout.readline().strip() != str(number):
                    return
                self.acknowledged = number
        except (OSError, ValueError):
            return

    def expect_kept(self, found: int) -> None:
        """Whether no acknowledged commit is lost; one more may have been committed."""
        kept = self.acknowledged <= found <= self.acknowledged + 1
        expect(kept, f"{self.acknowledged} commits were acknowledged, but {found} are there")


def fill_up(place: Path, growth_mib: int) -> None:
    """Fills the file system, except for space to grow, so that the drive is as full as drives usually are."""
    free = os.statvfs(place)
    left_mib = (free.f_bavail * free.f_frsize >> 20) - growth_mib
    with open(place / "other-data", "wb") as other:
        for _ in range(max(0, left_mib)):
            other.write(os.urandom(1 << 20))
        os.fsync(other.fileno())


def all_counters(drive: Drive) -> dict[str, dict]:
    """The flash counters of each FTL, once all have processed the host's operations."""
    # The status is as of the last second.
    status = drive.status()
    for _ in range(SETTLING_MAX):
        before = status
        time.sleep(1.5)
        status = drive.status()
        is_behind = any(shadow["behind"] for shadow in status["shadows"])
        if not is_behind and status["drive"]["flash"] == before["drive"]["flash"]:
            break
    for shadow in status["shadows"]:
        expect(not shadow["failure"], f"{shadow['ftl']}: {shadow['failure']}")
    counters = {status["drive"]["ftl"]: status["drive"]["flash"]}
    return counters | {shadow["ftl"]: shadow["flash"] for shadow in status["shadows"]}


def amplification(before: dict[str, dict], after: dict[str, dict]) -> list[dict]:
    """Write amplification of each FTL between two moments."""
    rows = []
    for ftl, counters in after.items():
        host, moved, erased = (
            counters[name] - before[ftl][name]
            for name in ["host_pages", "relocated_pages", "erased_blocks"]
        )
        waf = round((host + moved) / host, 3)
        rows.append(
            {
                "ftl": ftl,
                "host_pages": host,
                "relocated_pages": moved,
                "erased_blocks": erased,
                "waf": waf,
            }
        )
    return rows


def expect_same_in_simulation(
    drive: Drive, trace: Path, counters: dict, figure: Path | None
) -> None:
    """These operations in the simulator, one result per FTL."""
    ftls = [part for ftl in counters for part in ("--ftl", ftl)]
    draw = ["--figure", figure.resolve()] if figure else []
    # The drive was empty, and an FTL may remember even what it held before all of it was trimmed.
    arguments = [trace.name, *drive.shape, "--fill", "none", *ftls, "--quiet", "--json", *draw]
    output = run_json(str(drive.ftlab), "run", *arguments, cwd=trace.parent)
    for run, (ftl, live) in zip(output["runs"], counters.items(), strict=True):
        found = (run["host_writes"], run["relocations"])
        expected = (live["host_pages"], live["relocated_pages"])
        expect(found == expected, f"{ftl}: {expected} on the drive, {found} in simulation")


def measure(options, database: Database, system: FileSystem) -> dict:
    """The load under which write amplification is measured."""
    drive, trace = system.device.drive, options.work / f"{database.name}.parquet"
    system.make("--http", "127.0.0.1:0", "--shadow", options.shadow, "--record", trace)
    database.create()
    _, growth_mib = database.sizes_mib(options.seconds)
    fill_up(system.place, growth_mib)
    before = all_counters(drive)
    say(f"{database.name}: created; {before[drive.ftl]['host_pages']} pages written; running the load")
    told = database.work(3 if options.short else options.seconds)
    after = all_counters(drive)
    database.stop()
    system.unmount_only()
    counters = all_counters(drive)
    system.device.stop()
    figure = None if options.short else options.figure
    expect_same_in_simulation(drive, trace, counters, figure)
    trace.unlink()
    return told | {"write amplification": amplification(before, after)}


def survive(options, database: Database, system: FileSystem) -> dict:
    """The load under which the drive is killed."""
    drive = system.device.drive
    system.mount("--http", "127.0.0.1:0")
    database.start()
    database.begin_work()
    before = drive.host_pages()
    eventually("the database writes", lambda: drive.host_pages() > before)
    time.sleep(1 if options.short else 10)
    pages = drive.host_pages() - before
    drive.kill()
    database.kill()
    system.crash()
    drive.check()
    system.mount()
    database.start()
    found = database.verify()
    database.stop()
    system.unmount()
    system.check()
    say(f"{database.name}: killed after {pages} page writes, and nothing is lost")
    return {"page writes before the kill": pages} | found


def live(options, kind: type[Database], kills: int = 1) -> dict:
    """A database's life: measured, then killed."""
    directory = options.directory(kind.name)
    outside = directory / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    drive_mib, _ = kind.sizes_mib(options.seconds)
    drive = Drive(options.ftlab, directory, f"{drive_mib}MiB", options.ftl)
    with drive, FileSystem(drive, "ext4", options.discard) as system:
        database = kind(system.place / "db", outside, options.short)
        try:
            result = {"program": kind.name} | measure(options, database, system)
            for _ in range(kills):
                result |= survive(options, database, system)
        except Failed:
            logs = [path for path in outside.glob("*.log") if path.stat().st_size]
            for log in logs:
                say(f"{log.name}: ...{log.read_text(errors='replace')[-2000:]}")
            raise
        finally:
            database.kill()
    return result
