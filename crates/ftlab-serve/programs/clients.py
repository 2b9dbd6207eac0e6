"""NBD clients: nbdinfo, nbdcopy, qemu-img, and nbdkit as a proxy with TLS."""

import random
from pathlib import Path

from drive import Drive
from system import attempt, eventually, expect, kill, need, run, run_json, start

PAGE_BYTES = 4096


def image(place: Path, megabytes: int, seed: int) -> Path:
    """A disk image: pages of random bytes, a third of them, and zeros."""
    source, path = random.Random(seed), place / f"image-{seed}"
    with open(path, "wb") as file:
        for _ in range(megabytes << 20 >> 12):
            file.write(
                source.randbytes(PAGE_BYTES) if source.random() < 1 / 3 else bytes(PAGE_BYTES)
            )
    return path


def same(first: Path, second: Path) -> None:
    """Compares two files."""
    run("cmp", first, second)


def copy_there_and_back(drive: Drive, uri: str, picture: Path) -> None:
    """nbdcopy, with four connections."""
    back = picture.with_suffix(".back")
    run("nbdcopy", "--connections=4", "--flush", picture, uri)
    run("nbdcopy", "--connections=4", uri, back)
    same(picture, back)
    back.unlink()


def convert_and_compare(drive: Drive, picture: Path) -> None:
    """qemu-img: converts qcow2 to the drive, and compares."""
    qcow2 = picture.with_suffix(".qcow2")
    run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", picture, qcow2)
    run("qemu-img", "convert", "-n", "-O", "raw", qcow2, drive.uri)
    output = run("qemu-img", "compare", "-F", "raw", qcow2, drive.uri)
    expect("Images are identical" in output, output)
    qcow2.unlink()


def through_tls(drive: Drive, picture: Path) -> None:
    """nbdkit as a proxy with TLS: only clients with the key are admitted."""
    keys, socket = drive.directory / "keys.psk", drive.directory / "tls"
    run("psktool", "--username=alice", f"--pskfile={keys}")
    tls = ["--tls=require", f"--tls-psk={keys}"]
    where = [f"--unix={socket}", "--foreground", "--exit-with-parent"]
    proxy = start("nbdkit", *where, *tls, "nbd", f"socket={drive.socket}")
    try:
        eventually("nbdkit serves", socket.exists)
        query = f"socket={socket}&tls-psk-file={keys}"
        copy_there_and_back(drive, f"nbds+unix://alice@/?{query}", picture)
        known = run("nbdinfo", f"nbds+unix://alice@/?{query}")
        expect("with TLS" in known, known)
        expect(not attempt("nbdinfo", f"nbd+unix:///?socket={socket}"), "admitted without TLS")
        expect(not attempt("nbdinfo", f"nbds+unix://eve@/?{query}"), "admitted with a wrong name")
    finally:
        kill(proxy)


def main(options) -> list[dict]:
    """The program `clients`."""
    need("nbdinfo", "nbdcopy", "qemu-img", "nbdkit", "psktool", "cmp")
    megabytes = 64 if options.short else 1024
    directory = options.directory("nbd")
    with Drive(options.ftlab, directory, f"{megabytes * 2}MiB", options.ftl) as drive:
        drive.serve(front="nbd")
        (export,) = run_json("nbdinfo", "--json", drive.uri)["exports"]
        expect(export["export-size"] == megabytes << 21, f"nbdinfo says {export['export-size']}")
        first, second, third = (image(directory, 2 * megabytes, seed) for seed in [1, 2, 3])
        copy_there_and_back(drive, drive.uri, first)
        convert_and_compare(drive, second)
        through_tls(drive, third)
        # After a kill, everything that was flushed is there.
        drive.kill()
        drive.check()
        drive.serve(front="nbd")
        run("nbdcopy", drive.uri, directory / "back")
        same(third, directory / "back")
        drive.stop()
        return [
            {
                "bytes of each image": third.stat().st_size,
                "host page writes": drive.stats()["host_writes"],
            }
        ]
