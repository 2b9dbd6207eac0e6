"""A file server's load: dbench, which repeats what Samba did for the clients of NetBench."""

import os
import random
import threading
from pathlib import Path

from databases import NEEDS, Database, live
from system import Failed, expect, kill_with_children, need, run, start


class Ledger(threading.Thread):
    """Writes one file after the other, each known by its number, and knows which were acknowledged as durable."""

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self.directory, self.acknowledged = directory, 0
        directory.mkdir()
        self.entries = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)

    @staticmethod
    def content(number: int) -> bytes:
        """The bytes of a file: up to 64 KiB."""
        source = random.Random(number)
        return source.randbytes(source.randrange(1, 1 << 16))

    def run(self) -> None:
        try:
            while True:
                with open(self.directory / str(self.acknowledged), "xb") as file:
                    file.write(self.content(self.acknowledged))
                    file.flush()
                    os.fsync(file.fileno())
                os.fsync(self.entries)
                self.acknowledged += 1
        except OSError:
            # The drive was killed.
            os.close(self.entries)

    def expect_kept(self) -> None:
        """Whether every acknowledged file is there, byte by byte."""
        for number in range(self.acknowledged):
            try:
                found = (self.directory / str(number)).read_bytes()
            except OSError as error:
                raise Failed(f"file {number} of {self.acknowledged} is lost: {error}") from error
            expect(found == self.content(number), f"file {number} is not what was written")


class FileServer(Database):
    name = "file-server"
    drive_mib = 512
    # What the clients have at a time, and the files of the ledger.
    growth_mib = 160
    grows = False

    load = None
    ledger = None

    @property
    def clients(self) -> int:
        """How many at the same time; each has up to 25 MiB of files."""
        return 1 if self.short else 4

    def _arguments(self, seconds: float) -> list[object]:
        return ["-D", self.place, "-t", f"{seconds:.0f}", self.clients]

    def create(self) -> None:
        self.place.mkdir()

    def work(self, seconds: float) -> dict:
        output = run("dbench", *self._arguments(seconds))
        line = next(line for line in output.splitlines() if line.startswith("Throughput"))
        return {"MB per second": float(line.split()[1])}

    def begin_work(self) -> None:
        self.ledger = Ledger(self.place / "ledger")
        self.ledger.start()
        self.load = start("dbench", *self._arguments(3600))

    def kill(self) -> None:
        if self.load:
            kill_with_children(self.load)
        if self.ledger:
            self.ledger.join()

    def verify(self) -> dict:
        self.ledger.expect_kept()
        return {"acknowledged files": self.ledger.acknowledged}


def main(options) -> list[dict]:
    """The program `file-server`."""
    need(*NEEDS, "dbench", root=True)
    return [live(options, FileServer)]
