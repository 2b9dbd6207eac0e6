"""Running programs, and cleaning up after them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


class Skipped(Exception):
    """Something is missing on this machine; the message says what, and how to install it."""


class Failed(Exception):
    """A program failed, or gave a wrong result."""


def say(text: str) -> None:
    """Prints a status message."""
    print(text, file=sys.stderr, flush=True)


def need(*programs: str, root: bool = False) -> None:
    """Skips unless `programs` are installed, and, if needed, we are root and have /dev/fuse."""
    missing = [name for name in programs if find(name) is None]
    if root and os.geteuid() != 0:
        missing.append("root")
    if root and not Path("/dev/fuse").exists():
        missing.append("/dev/fuse")
    if missing:
        raise Skipped(f"without {', '.join(missing)} (make setup-drive)")


def find(program: str) -> str | None:
    """The path of a program; on Debian, PostgreSQL's are not on the path."""
    places = [os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]
    places += map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
    return shutil.which(program, path=":".join(places))


def command(program: str, *arguments: object) -> list[str]:
    """A command line, with the program's full path."""
    return [find(program) or program, *map(str, arguments)]


def run(program: str, *arguments: object, cwd: Path | None = None, stdin: str | None = None) -> str:
    """The output of a program; an error if it fails."""
    line = command(program, *arguments)
    done = subprocess.run(line, cwd=cwd, input=stdin, capture_output=True, text=True)
    output = done.stdout + done.stderr
    if done.returncode != 0:
        raise Failed(f"{' '.join(line)}: exit {done.returncode}\n{output}")
    return output


def run_json(program: str, *arguments: object, **how: object) -> dict:
    """The JSON document in the output of a program."""
    output = run(program, *arguments, **how)
    return json.JSONDecoder().raw_decode(output, output.index("{"))[0]


def attempt(program: str, *arguments: object) -> bool:
    """Runs a program that may fail; returns whether it succeeded."""
    line = command(program, *arguments)
    return (
        subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    )


def start(program: str, *arguments: object, **how: object) -> subprocess.Popen:
    """Starts a program, without output unless `how` overrides this."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command(program, *arguments), **(quiet | how))


def start_logged(log: Path, program: str, *arguments: object, **how: object) -> subprocess.Popen:
    """Starts a program with its output in a file."""
    with log.open("w") as file:
        return start(program, *arguments, stdout=file, stderr=file, **how)


def kill(process: subprocess.Popen) -> None:
    """Kills a program, if it is still running."""
    if process.poll() is None:
        process.kill()
    process.wait()


def kill_with_children(process: subprocess.Popen) -> None:
    """Ends a program and its child processes, which might wait for it forever."""
    with contextlib.suppress(FileNotFoundError):
        tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        process.kill()
        for child in map(int, tasks.split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    kill(process)


def is_mounted(place: Path) -> bool:
    """Whether something is mounted there, even if it no longer works."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return any(line.split(" ")[1] == str(place) for line in mounts)


def unmount(place: Path, *how: str) -> None:
    """Unmounts everything that is mounted there."""
    while is_mounted(place):
        run("umount", *how, place)


def eventually(what: str, holds: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until `holds`."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.05)


def wait_for(what: str, server: subprocess.Popen, holds: Callable[[], bool]) -> None:
    """Waits until a server that was started `holds`; an error at once if it ends."""
    eventually(f"{what} is ready", lambda: server.poll() is not None or holds(), 300)
    expect(server.poll() is None, f"{what} does not start")


def expect(holds: bool, otherwise: str) -> None:
    """Fails unless `holds`."""
    if not holds:
        raise Failed(otherwise)
