"""ext4 and xfs: a source tree is unpacked and compared, then the drive is killed under load."""

import filecmp
import os
import tarfile
import threading
import time
from pathlib import Path

from drive import Drive, FileSystem
from system import expect, need, run, say

NEEDS = ["losetup", "mount", "umount", "mkfs.ext4", "e2fsck", "mkfs.xfs", "xfs_repair"]

# Python before 3.11.4 knows no filters.
TRUSTED = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}


def source_tree(megabytes: float, place: Path) -> Path:
    """An archive of sources: this crate's, and as many of its dependencies as requested."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    crates = sorted((home / "registry/src").glob("*/*"))
    archive, left = place / "sources.tar", megabytes * 1e6
    with tarfile.open(archive, "w") as tar:
        # Not all of the crate: fuzzing leaves hundreds of megabytes beside its sources.
        for tree in [Path(__file__).resolve().parents[1] / "src", *crates]:
            tar.add(tree, arcname=tree.name)
            left = megabytes * 1e6 - archive.stat().st_size
            if left <= 0:
                break
    return archive


def files_below(place: Path) -> list[Path]:
    """All regular files, relative."""
    found = (path for path in place.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(place) for path in found)


def expect_equal(reference: Path, place: Path) -> int:
    """Compares two trees byte by byte; returns the number of files."""
    files = files_below(reference)
    _, different, missing = filecmp.cmpfiles(reference, place, files, shallow=False)
    expect(not different and not missing, f"{place}: differs {different}, cannot be read {missing}")
    return len(files)


class Churn(threading.Thread):
    """Repeatedly unpacks and removes the archive, until the file system fails or it is told to end."""

    def __init__(self, archive: Path, place: Path) -> None:
        super().__init__(daemon=True)
        self.archive, self.place, self.rounds = archive, place, 0
        # Between two files it may miss the failure: it then finds the empty folder below the mount.
        self.is_over = threading.Event()

    def run(self) -> None:
        try:
            while not self.is_over.is_set():
                directory = self.place / str(self.rounds)
                with tarfile.open(self.archive) as tar:
                    tar.extractall(directory, **TRUSTED)
                self.rounds += 1
                if self.rounds >= 3:
                    run("rm", "-r", self.place / str(self.rounds - 3))
        except Exception as error:  # The file system has failed, as expected.
            self.ended = str(error)


def survive(drive: Drive, kind: str, archive: Path, reference: Path, seconds: float) -> dict:
    """The test of one file system: unpack, compare, kill under load, check, compare."""
    with FileSystem(drive, kind) as system:
        system.make()
        with tarfile.open(archive) as tar:
            tar.extractall(system.place / "sources", **TRUSTED)
        run("sync", "--file-system", system.place)
        files = expect_equal(reference, system.place / "sources")
        say(f"{kind}: {files} files unpacked and identical; killing the drive under load")
        churn = Churn(archive, system.place)
        churn.start()
        time.sleep(seconds)
        system.crash()
        churn.is_over.set()
        churn.join()
        recovered = drive.check()
        # Mounting replays the journal of the file system; after that it must be clean.
        system.mount()
        expect_equal(reference, system.place / "sources")
        system.unmount()
        system.check()
        # It must be usable.
        system.mount()
        run("rm", "-r", system.place / "sources")
        run("fstrim", system.place)
        system.unmount()
    drive.check()
    stats = drive.stats()
    return {
        "file system": kind,
        "files": files,
        "unpacked again before the kill": churn.rounds,
        "recovery": next((line for line in recovered.splitlines() if "not closed" in line), ""),
        "host page writes": stats["host_writes"],
    }


def main(options) -> list[dict]:
    """The program `file-systems`."""
    need(*NEEDS, root=True)
    results = []
    megabytes, size = (20, "320MiB") if options.short else (400, "2GiB")
    archive = source_tree(megabytes, options.work)
    reference = options.work / "reference"
    with tarfile.open(archive) as tar:
        tar.extractall(reference, **TRUSTED)
    for kind in ["ext4", "xfs"]:
        directory = options.directory(kind)
        with Drive(options.ftlab, directory, size, options.ftl) as drive:
            seconds = 2 if options.short else options.seconds
            results.append(survive(drive, kind, archive, reference, seconds))
    return results
