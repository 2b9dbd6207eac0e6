"""Real programs on a live drive, each with one command (docs/drive-programs.md):

    python3 crates/ftlab-serve/programs fio --size 10G
    python3 crates/ftlab-serve/programs postgresql --short

Exit code 0: success; 1: a failure of the drive; 77: a program is not installed.
"""

import argparse
import importlib
import json
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from system import Failed, Skipped, say

PROGRAMS = {
    "fio": "random writes, trims and flushes, verified, over NBD and over FUSE and a loop device",
    "file-systems": "ext4 and xfs: a source tree, and fsck after a kill",
    "clients": "nbdinfo, nbdcopy, qemu-img, and nbdkit as a proxy with TLS",
    "power-cuts": "recovery from power cuts, with the backing file's writes logged by qemu",
    "full-disk": "ext4 and xfs on a disk that fills up: no flushed page is lost with the page cache",
    "long-run": "a nearly full drive with dashboard, shadows and recording, killed every minute: memory, durations",
    "sqlite": "SQLite: integrity after kills",
    "postgresql": "PostgreSQL under pgbench: integrity after a kill, write amplification",
    "mariadb": "MariaDB under TPC-C: integrity after a kill, write amplification",
    "tenants": "four MariaDB servers under TPC-C on one drive: write amplification",
    "rocksdb": "RocksDB under db_bench: integrity after a kill, write amplification",
    "file-server": "files under dbench: integrity after a kill, write amplification",
    "2r-fig-12": "2R, figure 12: databases that grow until the drive is full, by FTL: throughput, WAF, p99",
    "2r-fig-13": "2R, figure 13: the same of four MariaDB servers on one drive",
}

# Where they are, unless in the module of their name.
MODULES = {"2r-fig-12": "growing", "2r-fig-13": "growing"}

# Size and seconds, where they differ.
DEFAULTS = {"2r-fig-12": ("120MiB", 1800), "2r-fig-13": ("280MiB", 1800), "long-run": ("", 1800)}


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="programs",
        description="Real programs on a live drive.",
        epilog="\n".join(f"  {name:13} {what}" for name, what in PROGRAMS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--short", action="store_true", help="seconds instead of minutes")
    parser.add_argument(
        "--size", help="fio: bytes to write (10G); 2r-fig-*: the size of the drive (120MiB, 280MiB)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="duration of each load (150); 2r-fig-*: at most, long-run: in all (1800); full-disk: runs on each file system",
    )
    parser.add_argument("--ftl", default="2r++", help="the FTL of the drive")
    parser.add_argument(
        "--shadow", default="1r-greedy,2r-fifo", help="FTLs that carry out the same operations"
    )
    parser.add_argument(
        "--ftls",
        default="1r-greedy,2r-greedy,2r-fifo,2r++,hazard",
        help="2r-fig-*: FTLs, each with its own run",
    )
    parser.add_argument("--jobs", type=int, default=1, help="2r-fig-*: runs at a time")
    parser.add_argument("--load", help="2r-fig-12: only tpcc, linkbench or ycsb")
    parser.add_argument(
        "--no-discard",
        dest="discard",
        action="store_false",
        help="databases: the drive is not told which files were deleted",
    )
    parser.add_argument("--figure", type=Path, help="draw running write amplification to this .svg")
    parser.add_argument(
        "--ftlab", type=Path, default=Path("target/release/ftlab"), help="the binary"
    )
    parser.add_argument(
        "--work", type=Path, help="a directory for the drive, instead of a temporary one"
    )
    chosen = parser.parse_args()
    chosen.ftlab = chosen.ftlab.resolve()
    size, seconds = DEFAULTS.get(chosen.program, ("10G", 150))
    chosen.size, chosen.seconds = chosen.size or size, chosen.seconds or seconds
    if not chosen.ftlab.exists():
        parser.error(
            f"{chosen.ftlab} does not exist; build it with `make build`, or give its path with --ftlab"
        )
    return chosen


def main() -> int:
    """Runs one program and prints its results as JSON."""
    chosen = options()
    work = Path(tempfile.mkdtemp(prefix="ftlab-programs-", dir=chosen.work))
    work.chmod(0o755)
    chosen.work = work

    def directory(name: str) -> Path:
        made = work / name
        made.mkdir()
        return made

    chosen.directory = directory
    # On SIGTERM too, everything mounted is unmounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    try:
        name = MODULES.get(chosen.program, chosen.program.replace("-", "_"))
        program = importlib.import_module(name)
        results = program.main(chosen)
    except Skipped as skipped:
        say(f"SKIPPED: {chosen.program}: {skipped}")
        return 77
    except Failed as failed:
        say(f"FAILED: {chosen.program}: {failed}")
        return 1
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(results, indent=2))
    say(f"{chosen.program}: passed, in {time.monotonic() - began:.0f} s")
    return 0


sys.exit(main())
