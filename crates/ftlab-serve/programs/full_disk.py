"""A disk that fills up under the drive's file system: syncs fail, and the page cache lies.

The file system's image is sparse, on a tmpfs that is filled while the drive is written. What the kernel could
not write back counts as clean from then on. The drive must turn read-only; once there is room again, it is
opened and closed, the page cache is dropped, and every page must be that of the last flush, or a later one.
"""

import contextlib
import os
import random
from pathlib import Path

from drive import Drive
from power_cuts import PAGE_BYTES, NbdClient, content
from system import Failed, attempt, expect, need, run, say, unmount

# Of the drive, and of the image, of which a file system uses little.
DRIVE_BYTES, IMAGE_BYTES, DISK_BYTES = 24 << 20, 400 << 20, 220 << 20
PAGES = DRIVE_BYTES // PAGE_BYTES

# Writes until the disk is filled, and most of those after it.
BEFORE, AFTER = 3000, 30_000


class ThinDisk:
    """A file system on a sparse image on a tmpfs."""

    def __init__(self, directory: Path, kind: str) -> None:
        self.disk, self.mount_point = directory / "disk", directory / "mnt"
        self.image, self.filler = self.disk / "image", self.disk / "filler"
        self.kind, self.device = kind, ""

    def __enter__(self) -> "ThinDisk":
        for path in (self.disk, self.mount_point):
            path.mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.disk)
        with self.image.open("wb") as image:
            image.truncate(IMAGE_BYTES)
        self.device = run("losetup", "--find", "--show", "--sector-size=4096", self.image).strip()
        # One page of the tmpfs at a time: the loop driver reports a write that is cut short as done.
        queue = Path("/sys/block") / Path(self.device).name / "queue"
        (queue / "max_sectors_kb").write_text("4")
        run(f"mkfs.{self.kind}", "-q", self.device)
        self.mount()
        return self

    def mount(self) -> None:
        """Mounts the file system."""
        run("mount", self.device, self.mount_point)

    def __exit__(self, *_: object) -> None:
        unmount(self.mount_point, "--lazy")
        if self.device:
            attempt("losetup", "--detach", self.device)
        unmount(self.disk, "--lazy")

    def fill(self, margin: int) -> None:
        """Leaves about that number of bytes."""
        os.sync()
        room = os.statvfs(self.disk)
        size = room.f_bavail * room.f_bsize - margin
        with self.filler.open("wb") as filler:
            # What the kernel writes back meanwhile takes some of it.
            while size > 0:
                with contextlib.suppress(OSError):
                    os.posix_fallocate(filler.fileno(), 0, size)
                    return
                size -= 1 << 18

    def make_room(self) -> None:
        """Undoes that; a file system that has given up is mounted again."""
        self.filler.unlink()
        if os.statvfs(self.mount_point).f_flag & os.ST_RDONLY or not attempt(
            "touch", self.mount_point / "probe"
        ):
            run("umount", self.mount_point)
            if self.kind == "ext4":
                attempt("e2fsck", "-fy", self.device)
            self.mount()


def write_until_it_fails(client: NbdClient, disk: ThinDisk, chance: random.Random) -> dict:
    """Writes pages while the disk fills up; the versions at the last flush, and the later ones."""
    flushed, versions = {}, {}
    filled_at = chance.randrange(BEFORE)
    for version in range(1, filled_at + AFTER):
        if version == filled_at + 1:
            disk.fill(chance.randrange(4 << 20))
        page = chance.randrange(PAGES if chance.random() < 0.5 else PAGES // 8)
        versions.setdefault(page, []).append(version)
        try:
            client.request(client.WRITE, page * PAGE_BYTES, content(page, version))
            if chance.random() < 0.02:
                client.request(client.FLUSH)
                flushed = {page: written[-1] for page, written in versions.items()}
        except Failed:
            return {page: (flushed.get(page, 0), written) for page, written in versions.items()}
    raise Failed("the disk filled up, and the drive did not notice")


def verify(drive: Drive, versions: dict) -> None:
    """Reads every page that was written."""
    client = NbdClient(drive.socket)
    for page, (flushed, written) in versions.items():
        found = client.read(page * PAGE_BYTES, PAGE_BYTES)
        allowed = [content(page, version) for version in written if version >= flushed]
        if flushed == 0:
            allowed.append(bytes(PAGE_BYTES))
        expect(found in allowed, f"page {page} is older than its flushed version {flushed}")
    client.request(client.DISCONNECT)


def one_run(chosen, kind: str, number: int) -> int:
    """Fills one disk; the number of pages that were flushed before."""
    chance = random.Random(number)
    directory = chosen.directory(f"{kind}-{number}")
    with ThinDisk(directory, kind) as disk:
        home = disk.mount_point / "home"
        home.mkdir()
        with Drive(chosen.ftlab, home, f"{DRIVE_BYTES}", chosen.ftl, pages_per_block=64) as drive:
            drive.serve(front="nbd")
            versions = write_until_it_fails(NbdClient(drive.socket), disk, chance)
            drive.kill()
            disk.make_room()
            drive.serve(front="nbd")
            drive.stop()
            Path("/proc/sys/vm/drop_caches").write_text("3")
            drive.check()
            drive.serve("--read-only", front="nbd")
            verify(drive, versions)
            drive.stop()
    return sum(flushed > 0 for flushed, _ in versions.values())


def main(chosen) -> dict:
    """Runs it on each file system."""
    need("mkfs.ext4", "mkfs.xfs", "losetup", "e2fsck", root=True)
    runs = 3 if chosen.short else int(chosen.seconds)
    results = {}
    for kind in ("ext4", "xfs"):
        pages = [one_run(chosen, kind, number) for number in range(runs)]
        say(f"{kind}: {runs} full disks, {sum(pages)} flushed pages, none lost")
        results[kind] = {"runs": runs, "flushed_pages": sum(pages), "lost_pages": 0}
    return results
