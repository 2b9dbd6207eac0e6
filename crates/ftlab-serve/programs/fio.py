"""fio: random writes, trims and flushes, verified, with kills of the drive in the middle.

A round trims and writes half of the drive in random order, with a flush every 64 requests, and
reads all of it back. Then the other half is under load when the drive is killed. What the first
half holds was flushed, so all of it must verify again. At the end that half is trimmed, and must
read as zeros.
"""

import subprocess
import time

from drive import BlockDevice, Drive
from system import Skipped, eventually, expect, need, run, run_json, say, start

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text: str) -> int:
    """Bytes of a size such as 10G, in binary units."""
    return int(float(text[:-1]) * UNITS[text[-1].upper()]) if text[-1].isalpha() else int(text)


class Front:
    """The drive as fio sees it, over NBD."""

    name = "NBD"

    def __init__(self, drive: Drive) -> None:
        self.drive = drive

    def up(self) -> None:
        self.drive.serve("--http", "127.0.0.1:0", front="nbd")

    def target(self) -> list[str]:
        return ["--ioengine=nbd", f"--uri={self.drive.uri}"]

    def down(self) -> None:
        self.drive.stop()

    def crash(self) -> None:
        self.drive.kill()


class LoopFront(Front):
    """Serves the drive over FUSE and a loop device."""

    name = "FUSE and a loop device"

    def __init__(self, drive: Drive) -> None:
        super().__init__(drive)
        self.device = BlockDevice(drive)

    def up(self) -> None:
        self.device.attach("--http", "127.0.0.1:0")

    def target(self) -> list[str]:
        return ["--ioengine=libaio", "--direct=1", f"--filename={self.device.path}"]

    def down(self) -> None:
        self.device.stop()

    def crash(self) -> None:
        self.drive.kill()
        self.device.detach()


def job(front: Front, offset: int, size: int, seed: int, *how: str) -> list[str]:
    """The arguments of fio for a part of the drive."""
    where = [f"--offset={offset}", f"--size={size}", f"--randseed={seed}"]
    shape = ["--bsrange=4k-64k", "--iodepth=32", "--thread=1", "--output-format=json"]
    return [*front.target(), *where, *shape, *how]


WRITE = ["--name=writes", "--rw=randtrimwrite", "--fsync=64", "--end_fsync=1"]
TRIM = ["--name=trims", "--rw=randtrim", "--end_fsync=1"]
READ = ["--name=reads", "--rw=read", "--bs=256k"]
# Each page can be verified by itself, whatever requests wrote it.
VERIFY = ["--verify=crc32c", "--verify_interval=4k", "--verify_fatal=1", "--verify_dump=0"]


def total(report: dict, kind: str) -> int:
    """Bytes that fio says it read, wrote or trimmed."""
    return sum(part[kind]["io_bytes"] for part in report["jobs"])


def write_and_verify(front: Front, size: int, seed: int, work) -> int:
    """Fills the first part of the drive, and reads it back; returns the bytes written."""
    output = run_json("fio", *job(front, 0, size, seed, *WRITE, *VERIFY, "--do_verify=1"), cwd=work)
    expect(total(output, "read") >= size, f"fio read {total(output, 'read')} bytes of {size}")
    expect(total(output, "trim") > 0, "fio trimmed nothing")
    return total(output, "write")


def verify_again(front: Front, size: int, work) -> None:
    """Reads what was written: each block can be verified by itself."""
    output = run_json("fio", *job(front, 0, size, 1, *READ, *VERIFY), cwd=work)
    expect(total(output, "read") == size, f"fio read {total(output, 'read')} bytes of {size}")


def crash_under_load(front: Front, size: int, seed: int, seconds: float, work) -> None:
    """Kills the drive while fio writes and trims its second half."""
    before = front.drive.host_pages()
    both = ["--name=writes", "--rw=randwrite", "--name=trims", "--rw=randtrim"]
    arguments = job(front, size, size, seed, "--fsync=64", "--loops=1000", *both)
    load = start("fio", *arguments, cwd=work, stdout=subprocess.DEVNULL)
    eventually("fio writes", lambda: front.drive.host_pages() > before)
    time.sleep(seconds)
    expect(load.poll() is None, "fio ended before the kill")
    front.crash()
    expect(load.wait(timeout=120) != 0, "fio did not notice that the drive is gone")


def trim_and_compare(front: Front, size: int, seed: int, work) -> int:
    """Trims the first half, which must then read as zeros; returns the bytes trimmed."""
    output = run_json("fio", *job(front, 0, size, seed, *TRIM), cwd=work)
    zeros = [*READ, "--verify=pattern", "--verify_pattern=0", "--verify_fatal=1"]
    read = run_json("fio", *job(front, 0, size, seed, *zeros), cwd=work)
    expect(total(read, "read") == size, f"fio read {total(read, 'read')} bytes of {size}")
    return total(output, "trim")


def live(front: Front, half: int, bytes_wanted: int, seconds: float, work) -> dict:
    """Runs rounds until enough has been written."""
    written, trimmed, rounds = 0, 0, 0
    while written < bytes_wanted:
        rounds += 1
        front.up()
        written += write_and_verify(front, half, rounds, work)
        crash_under_load(front, half, 1000 + rounds, seconds, work)
        front.drive.check()
        front.up()
        verify_again(front, half, work)
        front.down()
        say(f"{front.name}: round {rounds}, {written >> 20} MiB written, verified twice, one kill")
    front.up()
    trimmed = trim_and_compare(front, half, 1, work)
    front.down()
    front.drive.check()
    stats = front.drive.stats()
    return {
        "front": front.name,
        "bytes written and verified": written,
        "bytes trimmed at the end": trimmed,
        "kills": rounds,
        "host page writes": stats["host_writes"],
        "relocations": stats["relocations"],
        "trimmed pages": stats["trims"],
    }


def main(options) -> list[dict]:
    """The program `fio`."""
    need("fio")
    fronts = [(Front, "nbd")] if "nbd" in run("fio", "--enghelp").split() else []
    try:
        need("losetup", root=True)
        fronts.append((LoopFront, "loop"))
    except Skipped as missing:
        say(f"SKIPPED: fio over a loop device: {missing}")
    wanted = parse_size("128M" if options.short else options.size) // max(1, len(fronts))
    size, seconds = ("128MiB", 0.5) if options.short else ("1GiB", 3)
    half = (64 if options.short else 512) << 20
    results = []
    for kind, name in fronts:
        directory = options.directory(name)
        with Drive(options.ftlab, directory, size, options.ftl) as drive:
            front = kind(drive)
            try:
                results.append(live(front, half, wanted, seconds, directory))
            finally:
                front.crash()
    return results
