"""A live drive: created, served, killed and checked with the commands of docs/drive.md."""

import json
import os
import queue
import signal
import subprocess
import threading
import urllib.request
from pathlib import Path

from system import Failed, attempt, eventually, expect, kill, run, say, start, unmount


def listen(process: subprocess.Popen, lines: queue.Queue[str]) -> None:
    """Forwards the output of a process, and an empty line at its end."""
    for line in process.stderr:
        lines.put(line.strip())
    lines.put("")


class Drive:
    """A drive in `directory`, and the process that serves it. Cleans up at its end."""

    def __init__(
        self,
        ftlab: Path,
        directory: Path,
        size: str,
        ftl: str,
        op: str = "10%",
        pages_per_block: int = 256,
    ) -> None:
        self.ftlab, self.directory, self.ftl = ftlab, directory, ftl
        self.file, self.socket = directory / "drive", directory / "socket"
        self.mount_point = directory / "fuse"
        self.mount_point.mkdir()
        self.url = ""
        self._process: subprocess.Popen | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self.shape = ["--op", op, "--pages-per-block", str(pages_per_block)]
        self("create", self.file, "--size", size, "--ftl", ftl, *self.shape)

    def __enter__(self) -> "Drive":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def __call__(self, subcommand: str, *arguments: object) -> str:
        return run(str(self.ftlab), "drive", subcommand, *arguments)

    @property
    def uri(self) -> str:
        """Its URI for NBD clients."""
        return f"nbd+unix:///?socket={self.socket}"

    @property
    def fuse_file(self) -> Path:
        """The drive as a file."""
        return self.mount_point / "drive"

    def serve(self, *options: object, front: str) -> None:
        """Serves it as `nbd` or `fuse`; returns once it is ready."""
        address = self.socket if front == "nbd" else self.mount_point
        # Remains of a killed server.
        self.socket.unlink(missing_ok=True)
        arguments = ["drive", "serve", self.file, f"--{front}", address, *options]
        self._process = start(str(self.ftlab), *arguments, stderr=subprocess.PIPE)
        self._lines = queue.Queue()
        threading.Thread(target=listen, args=(self._process, self._lines), daemon=True).start()
        if "--http" in options:
            self.url = self._says("dashboard at ").split("dashboard at ")[1]
        self._says("NBD at " if front == "nbd" else "the drive is the file ")

    def _says(self, part: str) -> str:
        while line := self._lines.get(timeout=120):
            if part in line:
                return line
            say(f"  ftlab: {line}")
        raise Failed(f"{self.file} is not served")

    def status(self) -> dict:
        """The status from the dashboard."""
        with urllib.request.urlopen(f"{self.url}/api/status") as reply:
            return json.load(reply)

    @property
    def process_id(self) -> int:
        """Of the process that serves it."""
        return self._process.pid

    def prefer(self) -> None:
        """Lets its server run before other processes: a drive does not wait for the host's processors."""
        os.setpriority(os.PRIO_PROCESS, self._process.pid, -10)

    def history(self) -> list[dict]:
        """A sample of each second, from the dashboard."""
        with urllib.request.urlopen(f"{self.url}/api/history") as reply:
            return json.load(reply)

    def host_pages(self) -> int:
        """Pages that the host has written."""
        return self.status()["drive"]["flash"]["host_pages"]

    def stop(self) -> None:
        """Stops serving cleanly."""
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait(timeout=600)
        expect(code == 0, f"serving {self.file} ended with {code}")

    def kill(self) -> None:
        """Stops serving with kill -9, and removes the remains of its mount."""
        if self._process is not None:
            kill(self._process)
        unmount(self.mount_point, "--lazy")

    def check(self) -> str:
        """Verifies the drive, which must not be served; an error if anything is damaged."""
        return self("check", self.file)

    def stats(self) -> dict:
        """Its counters since it was created."""
        return json.loads(self("stats", self.file, "--json"))


class BlockDevice:
    """The drive as a loop device."""

    def __init__(self, drive: Drive) -> None:
        self.drive, self.path = drive, ""

    def __enter__(self) -> "BlockDevice":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def attach(self, *options: object) -> None:
        """Serves the drive and attaches a loop device to it."""
        self.drive.serve(*options, front="fuse")
        how = ["--find", "--show", "--direct-io=on", "--sector-size=4096"]
        self.path = run("losetup", *how, self.drive.fuse_file).strip()

    def release(self) -> str:
        """Detaches the loop device, as soon as it is no longer in use; returns its path."""
        path, self.path = self.path, ""
        if path:
            attempt("losetup", "--detach", path)
        return path

    def detach(self) -> None:
        """Detaches the loop device, and waits until it is free."""
        if path := self.release():
            backing = Path("/sys/block") / Path(path).name / "loop/backing_file"
            eventually(f"{path} is free", lambda: not self._is_ours(backing))

    def _is_ours(self, backing: Path) -> bool:
        try:
            return str(self.drive.mount_point) in backing.read_text()
        except OSError:
            return False

    def stop(self) -> None:
        """Detaches it and stops serving cleanly."""
        self.detach()
        self.drive.stop()


class FileSystem:
    """A file system on a loop device on the drive."""

    def __init__(self, drive: Drive, kind: str, discard: bool = True) -> None:
        self.device, self.kind = BlockDevice(drive), kind
        self.options = "discard,noatime" if discard else "noatime"
        self.place = drive.directory / "mnt"
        self.place.mkdir()

    def __enter__(self) -> "FileSystem":
        return self

    def __exit__(self, *_: object) -> None:
        unmount(self.place, "--lazy")
        self.device.release()

    def make(self, *options: object, how: tuple[object, ...] = ()) -> None:
        """Creates and mounts it; `how` is for mkfs."""
        self.device.attach(*options)
        run(f"mkfs.{self.kind}", "-q", *how, self.device.path)
        self._mount()

    def mount(self, *options: object) -> None:
        """Mounts it again, which replays its journal."""
        self.device.attach(*options)
        self._mount()

    def _mount(self) -> None:
        run("mount", "-t", self.kind, "-o", self.options, self.device.path, self.place)

    def unmount_only(self) -> None:
        """Unmounts it; the drive is still served."""
        unmount(self.place)

    def unmount(self) -> None:
        """Unmounts it and closes the drive."""
        self.unmount_only()
        self.device.stop()

    def check(self) -> None:
        """Verifies it, unmounted, on its own device."""
        self.device.attach()
        if self.kind == "ext4":
            run("e2fsck", "-f", "-n", self.device.path)
        else:
            run("xfs_repair", "-n", self.device.path)
        self.device.stop()

    def crash(self) -> None:
        """Kills the drive's server with kill -9 under the file system, which then fails."""
        self.device.drive.kill()
        unmount(self.place, "--lazy")
        self.device.detach()
