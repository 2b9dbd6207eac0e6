"""Power cuts: qemu logs all writes of the backing file, and images of possible remains are built.

What a cut leaves is everything up to some flush, and any subset of the writes after it, each whole
or torn between sectors. Every such image must open, and hold for each page the version at the last
flush that had been acknowledged by then, or a later one.
"""

import random
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from drive import Drive
from system import eventually, expect, kill, need, run, say, start, unmount

PAGE_BYTES = 4096
SECTOR_BYTES = 512
PAGES = 24 * 256

# qemu updates the length of the log after each flush.
UPDATE = "log-super-update-interval=1"

# Flags of an entry of the log.
FLUSH, DISCARD = 1, 4


class NbdClient:
    """The part of NBD needed to write pages and to flush."""

    READ, WRITE, DISCONNECT, FLUSH = 0, 1, 2, 3

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        expect(self._receive(16) == b"NBDMAGICIHAVEOPT", "no greeting of NBD")
        self._receive(2)
        # No zeros after the reply; the export without a name.
        self.socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
        self._receive(10)

    def _receive(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            expect(bool(part), "the server closed the connection")
            data += part
        return data

    def request(self, kind: int, offset: int = 0, data: bytes = b"") -> None:
        """Sends a request and waits until it is done."""
        head = struct.pack(">IHHQQI", 0x25609513, 0, kind, 0, offset, len(data))
        self.socket.sendall(head + data)
        if kind != self.DISCONNECT:
            _, error, _ = struct.unpack(">IIQ", self._receive(16))
            expect(error == 0, f"request {kind} at {offset}: error {error}")

    def read(self, offset: int, count: int) -> bytes:
        """Reads."""
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, self.READ, 0, offset, count))
        _, error, _ = struct.unpack(">IIQ", self._receive(16))
        expect(error == 0, f"reading at {offset}: error {error}")
        return self._receive(count)


class Entry(NamedTuple):
    """A write or a flush (dm-log-writes)."""

    offset: int
    data: bytes
    is_flush: bool


def read_log(log: Path) -> Iterator[Entry]:
    """What qemu logged."""
    with log.open("rb") as file:
        _, _, count, sector = struct.unpack("<QQQI", file.read(28))
        file.seek(sector)
        for _ in range(count):
            at = file.tell()
            first, sectors, flags = struct.unpack("<QQQ", file.read(24))
            file.seek(at + sector)
            is_discard = bool(flags & DISCARD)
            data = bytes(sectors * sector) if is_discard else file.read(sectors * sector)
            yield Entry(first * sector, data, bool(flags & FLUSH))


def logged(log: Path) -> int:
    """The number of entries in the log."""
    with log.open("rb") as file:
        return struct.unpack("<QQQ", file.read(24))[2]


def content(page: int, version: int) -> bytes:
    """The content of a version of a page."""
    return struct.pack("<II", page, version) * (PAGE_BYTES // 8)


def work(drive: Drive, log: Path, writes: int, chance: random.Random) -> list[tuple[int, dict]]:
    """Writes pages; for each acknowledged flush, the length of the log and what it covered."""
    client, versions, flushes = NbdClient(drive.socket), {}, []
    for version in range(1, writes + 1):
        page = chance.randrange(PAGES if chance.random() < 0.2 else PAGES // 8)
        client.request(client.WRITE, page * PAGE_BYTES, content(page, version))
        versions[page] = version
        if chance.random() < 0.01:
            client.request(client.FLUSH)
            flushes.append((logged(log), dict(versions)))
    client.request(client.DISCONNECT)
    return flushes


def write_part(file, entry: Entry, chance: random.Random) -> None:
    """One write that no flush covers: lost, torn or whole."""
    fate = chance.random()
    if fate < 1 / 3:
        return
    for at in range(0, len(entry.data), SECTOR_BYTES):
        if fate > 2 / 3 or chance.random() < 1 / 2:
            file.seek(entry.offset + at)
            file.write(entry.data[at : at + SECTOR_BYTES])


def make_image(image: Path, base: Path, entries: list[Entry], chance: random.Random) -> None:
    """What a power cut after `entries` may leave."""
    run("cp", "--sparse=always", base, image)
    flushes = [index for index, entry in enumerate(entries) if entry.is_flush]
    durable = flushes[-1] if flushes else 0
    with image.open("r+b") as file:
        for entry in entries[:durable]:
            file.seek(entry.offset)
            file.write(entry.data)
        for entry in entries[durable:]:
            write_part(file, entry, chance)


def verify(drive: Drive, copy: Path, floor: dict[int, int]) -> int:
    """Opens the image: no page may be older than at the last flush. Returns how many are newer."""
    drive.check()
    drive.serve(front="nbd")
    run("nbdcopy", drive.uri, copy)
    drive.stop()
    newer = 0
    with copy.open("rb") as file:
        for page in range(PAGES):
            data = file.read(PAGE_BYTES)
            _, version = struct.unpack("<II", data[:8])
            expected = content(page, version) if version else bytes(PAGE_BYTES)
            expect(data == expected, f"page {page} was never written like this")
            oldest = floor.get(page, 0)
            expect(version >= oldest, f"page {page} is version {version}, but {oldest} was flushed")
            newer += version > oldest
    return newer


def record(drive: Drive, log: Path, writes: int, chance: random.Random) -> list[tuple[int, dict]]:
    """Runs a drive whose backing file qemu serves and logs."""
    exported = drive.directory / "exported"
    exported.touch()
    log.touch()
    daemon = start(
        "qemu-storage-daemon",
        *["--blockdev", f"file,node-name=file,filename={drive.file}"],
        *["--blockdev", f"file,node-name=log,filename={log}"],
        *[
            "--blockdev",
            f"blklogwrites,node-name=logged,file=file,log=log,{UPDATE}",
        ],
        *["--export", f"fuse,id=export,node-name=logged,mountpoint={exported},writable=on"],
    )
    try:
        size = drive.file.stat().st_size
        eventually("qemu serves the file", lambda: exported.stat().st_size == size)
        own, drive.file = drive.file, exported
        drive.serve(front="nbd")
        flushes = work(drive, log, writes, chance)
        drive.kill()
        drive.file = own
    finally:
        daemon.terminate()
        daemon.wait()
        kill(daemon)
        unmount(exported, "--lazy")
    return flushes


def main(options) -> list[dict]:
    """The program `power-cuts`."""
    need("qemu-storage-daemon", "nbdcopy", "cp", "umount", root=True)
    writes, cuts = (3000, 8) if options.short else (40_000, 200)
    directory, chance = options.directory("cuts"), random.Random(1)
    base, log, copy = directory / "base", directory / "log", directory / "copy"
    with Drive(
        options.ftlab, directory, f"{PAGES * PAGE_BYTES >> 20}MiB", options.ftl, "40%"
    ) as drive:
        run("cp", "--sparse=always", drive.file, base)
        flushes = record(drive, log, writes, chance)
        entries = list(read_log(log))
        say(f"{len(entries)} entries logged, {len(flushes)} flushes acknowledged")
        newer = 0
        for _ in range(cuts):
            end = chance.randrange(len(entries) + 1)
            floor = next((held for count, held in reversed(flushes) if count <= end), {})
            make_image(drive.file, base, entries[:end], chance)
            newer += verify(drive, copy, floor)
        return [{"power cuts": cuts, "entries": len(entries), "newer versions found": newer}]
