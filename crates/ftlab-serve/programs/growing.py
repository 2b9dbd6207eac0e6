"""Databases on flash whose latency is imitated, one run for each FTL: throughput, running write
amplification and 99th percentiles while the database grows until the drive is full (2R, PVLDB 2020,
section 5.3, figures 12 and 13).

Every FTL has its own drive and database. The database is loaded without latency; then the drive is served
again with it, and the load runs until the file system has no room. The drive is not told which files were
deleted: the paper's board knew no trims.
"""

import csv
import math
import os
import re
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chart
from databases import NEEDS
from drive import Drive, FileSystem
from mariadb import PROGRAMS, MariaDb
from rocksdb import RocksDb
from system import Failed, expect, kill, need, run, say, start
from tenants import Tenants

# Microseconds of the imitated flash, per page of 4 KiB: one LUN of TLC (`ftlab list timings`) programs 340 pages
# a second, few enough for flash and not processors to limit a database on a small machine.
FLASH = {"read-us": 80, "program-us": 2926.5, "erase-us": 3000, "transfer-us": 0}

PAGE_BYTES = 4096

# Options of mkfs.ext4, which otherwise takes a fifth of a small drive. Without extents, space cannot be
# allocated without writing it, so the drive is full when the file system is. MySQL writes it too.
SMALL_EXT4 = ("-N", 1024, "-J", "size=4", "-O", "^resize_inode,^extent,^64bit", "-m", 0)

FULL = re.compile(r"is full|No space left|errno: 28|Disk full", re.IGNORECASE)

# A table grows by four extents of a megabyte: with less room a client may fail. With almost none, MariaDB waits
# for someone to free some.
FREE_AT_FAILURE, FREE_AT_END = 6 << 20, 1 << 20

# Points of a line in a figure.
POINTS = 24

COUNTERS = ["host", "moved", "erased", "read"]

# 2R-FIFO / 1R-Greedy, but write amplification as it is: (1R-Greedy, 2R-FIFO). The last 1% of TPC-C.
PUBLISHED = {
    "tpcc": {"throughput": 13512 / 7092, "throughput, end": 9912 / 2432, "WAF, end": (5, 1.7)},
    "linkbench": {"throughput": 2, "throughput, end": 2, "WAF": (2.1, 1.28), "WAF, end": (4.3, 1.8)},
    "ycsb": {"throughput": 5216 / 4685, "WAF": (2, 1.4)},
    "tenants": {},
}


def free_bytes(place: Path) -> int:
    """The room in a file system."""
    free = os.statvfs(place)
    return free.f_bavail * free.f_frsize


def ending(output: str, code: int, place: Path) -> str:
    """Why a client ended: its time was over, or the file system is full; any other failure is one."""
    if code == 0:
        return "time"
    is_full = free_bytes(place) < FREE_AT_FAILURE or FULL.search(output)
    expect(bool(is_full), output[-2000:])
    return "full"


class SysbenchReports(threading.Thread):
    """The intervals that a client reports: its transactions per second, and the 99th percentile in ms."""

    LINE = re.compile(r"tps: ([\d.]+) .*lat \(ms,99%\): ([\d.]+)")

    def __init__(self, client: subprocess.Popen) -> None:
        super().__init__(daemon=True)
        self.client, self.output, self.reports = client, [], []
        self.start()

    def run(self) -> None:
        for told in self.client.stdout:
            self.output.append(told)
            if found := self.LINE.search(told):
                self.reports.append((float(found[1]), float(found[2])))

    def take(self) -> list[tuple[float, float]]:
        """Those since the last call."""
        count = len(self.reports)
        taken, self.reports = self.reports[:count], self.reports[count:]
        return taken


class GrowingMariaDb(MariaDb):
    """A load on one server, by sysbench."""

    threads = 16
    waits = "transactions"
    short_sizes = ()
    pool, log = "24M", "16M"
    client, reports = None, None

    def _server(self) -> list[object]:
        # Files that a small drive has room for. io_uring on a loop device takes much of a processor.
        return [
            *super()._server(),
            "--innodb-data-file-path=ibdata1:8M:autoextend",
            "--innodb-temp-data-file-path=ibtmp1:1M:autoextend",
            "--innodb-autoextend-increment=1",
            "--innodb-use-native-aio=0",
            # Pages are written all the time, and not all at once when the log is full.
            "--innodb-max-dirty-pages-pct=60",
            "--innodb-max-dirty-pages-pct-lwm=1",
        ]

    def begin(self, seconds: float, interval: float) -> None:
        """Starts the load; it reports every `interval` seconds."""
        how = [f"--threads={self.threads}", f"--time={seconds:.0f}", "--percentile=99"]
        how += [f"--report-interval={interval:.0f}", "run"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.client = start("sysbench", *self._script(*how), **pipes)
        self.reports = SysbenchReports(self.client)

    def take(self, interval: float) -> tuple[float, float | None]:
        """Transactions since the last call, and the worst 99th percentile of an interval, in ms."""
        reports = self.reports.take()
        rates = [rate for rate, _ in reports]
        return sum(rates) * interval, max((p99 for _, p99 in reports), default=None)

    def has_ended(self, written: int) -> str:
        """Why the load has ended, nothing while it runs; `written` bytes since it began."""
        if self.client.poll() is None:
            return ""
        self.reports.join()
        return ending("".join(self.reports.output), self.client.returncode, self.place)

    def end(self) -> None:
        """Ends the load and the server, which cannot shut down cleanly on a full drive."""
        if self.client:
            kill(self.client)
        self.kill()


class Tpcc(GrowingMariaDb):
    name, unit = "tpcc", "transactions"
    title = "TPC-C on MariaDB"
    luns = 1
    sizes = ["--warehouses=8", "--items=2500", "--customers=150"]


class LinkBench(GrowingMariaDb):
    name, unit, waits = "linkbench", "requests", "requests"
    title = "A load like LinkBench on MariaDB"
    script = Path(__file__).with_name("linkbench.lua")
    threads, luns = 32, 1
    # Long rows, so that the database grows fast enough to fill a drive in minutes.
    sizes = ["--nodes=8000", "--links=7", "--node-bytes=1024", "--link-bytes=128"]


class FourTenants(Tenants):
    """Four servers; each has a quarter of the clients."""

    name, unit, waits = "tenants", "transactions", "transactions"
    title = "Four tenants, each TPC-C on MariaDB"
    luns = 2

    class Tenant(Tpcc):
        threads, pool, log = 4, "6M", "8M"
        sizes = ["--warehouses=2", "--items=2500", "--customers=150"]

    def __init__(self, place: Path, outside: Path, short: bool) -> None:
        super().__init__(place, outside, short)
        self.tenants = [self.Tenant(tenant.place, outside, short) for tenant in self.tenants]

    def begin(self, seconds: float, interval: float) -> None:
        for tenant in self.tenants:
            tenant.begin(seconds, interval)

    def take(self, interval: float) -> tuple[float, float | None]:
        told = [tenant.take(interval) for tenant in self.tenants]
        slowest = [p99 for _, p99 in told if p99 is not None]
        return sum(done for done, _ in told), max(slowest, default=None)

    def has_ended(self, written: int) -> str:
        ends = [tenant.has_ended(written) for tenant in self.tenants]
        return "full" if "full" in ends else ends[0]

    def end(self) -> None:
        for tenant in self.tenants:
            tenant.end()


class Ycsb(RocksDb):
    """Updates of records of 1,000 bytes, read before; keys by a scattered Zipf distribution with an exponent
    of 1. The database has its size from the beginning, and ends when ten times that has been written."""

    name, unit, waits = "ycsb", "updates", "page writes"
    title = "YCSB, updates only, on RocksDB"
    luns = 2
    share_of_drive, written_at_end = 0.55, 10
    # Of a record in a file, with its key.
    RECORD_BYTES = 1050
    drive_bytes = 0
    threads = 4
    keys = 0
    report = None

    def _sized(self, benchmark: str, *more: object) -> list[object]:
        file_bytes = 1 << 20
        return [
            f"--db={self.place}",
            f"--benchmarks={benchmark}",
            f"--num={self.keys}",
            "--key_size=24",
            "--value_size=1000",
            "--compression_type=none",
            f"--write_buffer_size={file_bytes}",
            f"--target_file_size_base={file_bytes}",
            f"--max_bytes_for_level_base={4 * file_bytes}",
            "--level_compaction_dynamic_level_bytes=true",
            f"--max_compaction_bytes={16 * file_bytes}",
            "--use_direct_io_for_flush_and_compaction=1",
            "--use_direct_reads=1",
            f"--cache_size={8 << 20}",
            *more,
        ]

    def create(self) -> None:
        self.keys = round(self.share_of_drive * self.drive_bytes / self.RECORD_BYTES)
        run("db_bench", *self._sized("fillseq"))

    def start(self) -> None:
        """Nothing: the client is the database."""

    def stop(self) -> None:
        """Nothing."""

    def begin(self, seconds: float, interval: float) -> None:
        self.report = self.outside / "report.csv"
        self.report.unlink(missing_ok=True)
        how = [
            "--use_existing_db=1",
            f"--threads={self.threads}",
            f"--duration={seconds:.0f}",
            f"--read_random_exp_range={math.log(self.keys):.3f}",
            f"--report_interval_seconds={interval:.0f}",
            f"--report_file={self.report}",
        ]
        log = (self.outside / "db_bench.log").open("w")
        self.load = start("db_bench", *self._sized("updaterandom", *how), stdout=log, stderr=log)
        self.seen = 0

    def take(self, interval: float) -> tuple[float, float | None]:
        rows = self.report.read_text().splitlines()[1:] if self.report.exists() else []
        # The last line may not be whole.
        rows = [row.split(",") for row in rows if re.fullmatch(r"\d+,\d+", row)]
        new, self.seen = rows[self.seen :], len(rows)
        return sum(float(rate) for _, rate in new) * interval, None

    def has_ended(self, written: int) -> str:
        if written >= self.written_at_end * self.keys * self.RECORD_BYTES:
            return "written"
        if self.load.poll() is None:
            return ""
        output = (self.outside / "db_bench.log").read_text(errors="replace")
        return ending(output, self.load.returncode, self.place)

    def end(self) -> None:
        self.kill()


LOADS = {kind.name: kind for kind in [Tpcc, LinkBench, Ycsb]}


def busy_us(counters: dict, luns: int) -> float:
    """Microseconds of LUNs that these operations take."""
    copy = FLASH["read-us"] + FLASH["program-us"]
    return (
        counters["host"] * FLASH["program-us"]
        + counters["moved"] * copy
        + counters["read"] * FLASH["read-us"]
        + counters["erased"] * FLASH["erase-us"] * luns
    )


def idle_seconds() -> float:
    """Seconds for which processors of this machine were idle."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return (int(fields[3]) + int(fields[4])) / 100


def used(place: Path) -> float:
    """The share of a file system that is used."""
    blocks = os.statvfs(place)
    return 1 - blocks.f_bfree / blocks.f_blocks


class Run:
    """One FTL: its drive, its database, and a sample for each interval."""

    def __init__(self, options, kind: type, ftl: str, stopping: threading.Event) -> None:
        self.options, self.kind, self.ftl, self.stopping = options, kind, ftl, stopping
        self.samples: list[dict] = []
        self.ended, self.used_first = "", 0.0
        self.interval = 1 if options.short else 5

    def __call__(self) -> None:
        options, kind = self.options, self.kind
        directory = options.directory(f"{kind.name}-{self.ftl.replace('/', '-')}")
        outside = directory / "outside"
        outside.mkdir()
        outside.chmod(0o777)
        drive = Drive(options.ftlab, directory, options.size, self.ftl, pages_per_block=64)
        with drive, FileSystem(drive, "ext4", discard=False) as system:
            database = kind(system.place / "db", outside, options.short)
            database.drive_bytes = drive.stats()["logical_pages"] * PAGE_BYTES
            try:
                system.make("--http", "127.0.0.1:0", how=SMALL_EXT4)
                database.create()
                database.stop()
                system.unmount()
                self._measure(drive, system, database)
            except Exception as error:
                # The others need not go on.
                self.stopping.set()
                for log in outside.glob("*.log"):
                    say(f"{log.name}: ...{log.read_text(errors='replace')[-2000:]}")
                raise Failed(f"{kind.name}, {self.ftl}: {error}") from error
            finally:
                database.end()

    def _measure(self, drive: Drive, system: FileSystem, database) -> None:
        timing = ",".join(f"{name}={value}" for name, value in FLASH.items())
        how = ["--emulate-latency", f"tlc:luns={self.kind.luns},{timing}"]
        system.mount("--http", "127.0.0.1:0", *how)
        drive.prefer()
        database.start()
        before, self.used_first = counters(drive), used(system.place)
        say(f"{self.kind.name}, {self.ftl}: created, {self.used_first:.0%} of the file system")
        begin = last = time.monotonic()
        idle, done = idle_seconds(), 0.0
        database.begin(5 if self.options.short else self.options.seconds, self.interval)
        while not (self.ended or self.stopping.wait(self.interval)):
            written = {name: count - before[name] for name, count in counters(drive).items()}
            now = time.monotonic()
            new, p99 = database.take(self.interval)
            done += new
            if self.kind.waits == "page writes":
                p99 = write_p99(drive, now - last)
            sample = {"seconds": now - begin, "done": done, "p99": p99} | written
            sample |= {"idle": idle_seconds() - idle, "used": used(system.place)}
            self.ended = database.has_ended(written["host"] * PAGE_BYTES)
            if not self.ended and free_bytes(system.place) < FREE_AT_END:
                self.ended = "full"
            # The last interval is not whole.
            if not self.ended or not self.samples:
                self.samples.append(sample)
                last = now
        say(f"{self.kind.name}, {self.ftl}: ended ({self.ended}) after {last - begin:.0f} s")

    def bins(self, host_pages: int, count: int) -> list[list[dict]]:
        """The samples up to that number of pages written, divided into at most `count` parts of equal writes, each with
        the sample before it."""
        parts, part = [], [dict.fromkeys(self.samples[0], 0)]
        for sample in self.samples:
            if sample["host"] > host_pages and parts:
                break
            part.append(sample)
            if sample["host"] >= (len(parts) + 1) * host_pages / count:
                parts.append(part)
                part = [sample]
        return [*parts, part] if len(part) > 1 else parts


def counters(drive: Drive) -> dict[str, int]:
    """Pages that the drive has written for the host, moved and read for it, and blocks erased."""
    status = drive.status()
    flash = status["drive"]["flash"]
    return {
        "host": flash["host_pages"],
        "moved": flash["relocated_pages"],
        "erased": flash["erased_blocks"],
        "read": status["host"]["reads"]["bytes"] // PAGE_BYTES,
    }


def write_p99(drive: Drive, seconds: float) -> float:
    """The mean of the drive's own 99th percentiles of its writes in each of the last seconds, in ms."""
    recent = [sample["write_p99_us"] for sample in drive.history()[-max(1, round(seconds)) :]]
    return sum(recent) / max(1, len(recent)) / 1e3


def figures(part: list[dict], luns: int) -> dict[str, float]:
    """What happened from the first of some samples to the last."""
    first, last = part[0], part[-1]
    grown = {name: last[name] - first[name] for name in ["seconds", "done", "idle", *COUNTERS]}
    seconds = grown["seconds"]
    percentiles = [sample["p99"] for sample in part[1:] if sample["p99"] is not None]
    return {
        "throughput": 60 * grown["done"] / seconds,
        "waf": 1 + grown["moved"] / max(1, grown["host"]),
        "p99": sum(percentiles) / max(1, len(percentiles)),
        "busy": busy_us(grown, luns) / (luns * seconds * 1e6),
        "idle": grown["idle"] / (os.cpu_count() * seconds),
    }


def results(kind: type, runs: list[Run]) -> tuple[list[dict], int]:
    """A row for each FTL, up to as many page writes as all of them reached, and that number."""
    host_pages = min(run.samples[-1]["host"] for run in runs)
    rows = []
    for run in runs:
        parts = run.bins(host_pages, 10)
        whole = figures([parts[0][0], *(sample for part in parts for sample in part[1:])], kind.luns)
        end = figures(parts[-1], kind.luns)
        rows.append(
            {
                "ftl": run.ftl,
                "throughput": round(whole["throughput"]),
                "throughput, end": round(end["throughput"]),
                "WAF": round(whole["waf"], 3),
                "WAF, end": round(end["waf"], 3),
                "p99, ms": round(whole["p99"], 1),
                "p99, end, ms": round(end["p99"], 1),
                "flash busy": round(whole["busy"], 2),
                "CPU idle": round(whole["idle"], 2),
                "used": f"{run.used_first:.0%} to {run.samples[-1]['used']:.0%}",
                "minutes": round(run.samples[-1]["seconds"] / 60, 1),
                "ended": run.ended,
            }
        )
    return rows, host_pages


def table(kind: type, rows: list[dict]) -> str:
    """The rows as Markdown, and 2R-FIFO / 1R-Greedy beside what is published."""
    of = {row["ftl"]: row for row in rows}
    lines = [list(map(str, rows[0])), ["---"] * len(rows[0])]
    lines += [[str(value) for value in row.values()] for row in rows]
    if "1r-greedy" in of and "2r-fifo" in of:
        ratios = ["2r-fifo / 1r-greedy"]
        published = ["published"]
        for name in list(rows[0])[1:7]:
            ratios.append(f"{of['2r-fifo'][name] / max(1e-9, of['1r-greedy'][name]):.2f}")
            value = PUBLISHED[kind.name].get(name, "")
            if isinstance(value, tuple):
                value = f"{value[1]} / {value[0]} = {value[1] / value[0]:.2f}"
            published.append(f"{value:.2f}" if isinstance(value, float) else str(value))
        lines += [ratios, published]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_samples(path: Path, runs: list[Run]) -> None:
    """Every sample, for other figures."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["ftl", *runs[0].samples[0]])
        writer.writeheader()
        for run in runs:
            writer.writerows({"ftl": run.ftl} | sample for sample in run.samples)


def draw(path: Path, kind: type, size: str, runs: list[Run]) -> None:
    """Throughput, running write amplification and 99th percentiles over what the host has written."""
    host_pages = min(run.samples[-1]["host"] for run in runs)
    lines = {"throughput": [], "waf": [], "p99": []}
    for run in runs:
        points = []
        for part in run.bins(host_pages, POINTS):
            if part[-1]["seconds"] > part[0]["seconds"]:
                middle = (part[0]["host"] + part[-1]["host"]) / 2 * PAGE_BYTES / (1 << 30)
                points.append((middle, figures(part, kind.luns)))
        for name, drawn in lines.items():
            drawn.append([(x, of[name]) for x, of in points])
    labels = [f"{kind.unit} a minute", "running WAF", f"p99 of {kind.waits}, ms"]
    panels = dict(zip(labels, lines.values(), strict=True))
    title = f"{kind.title}, on {size}"
    chart.draw(path, title, "written by the host, GiB", [run.ftl for run in runs], panels)


def measure(options, kind: type) -> dict:
    """One load under every FTL."""
    stopping = threading.Event()
    runs = [Run(options, kind, ftl, stopping) for ftl in options.ftls.split(",")]
    with ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run) for run in runs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
    rows, host_pages = results(kind, runs)
    say(table(kind, rows))
    if options.figure and not options.short:
        path = options.figure.with_stem(f"{options.figure.stem}-{kind.name}")
        draw(path, kind, options.size, runs)
        write_samples(path.with_suffix(".csv"), runs)
    return {"load": kind.name, "host GiB": round(host_pages * PAGE_BYTES / (1 << 30), 3), "runs": rows}


def main(options) -> list[dict]:
    """The programs `2r-fig-12` and `2r-fig-13`."""
    loads = {"2r-fig-13": [FourTenants]}.get(options.program, list(LOADS.values()))
    if options.load:
        unknown = set(options.load.split(",")) - {kind.name for kind in loads}
        expect(not unknown, f"--load has no {', '.join(unknown)}: it has {', '.join(LOADS)}")
        loads = [kind for kind in loads if kind.name in options.load.split(",")]
    need(*NEEDS, *PROGRAMS, "db_bench", root=True)
    if options.short:
        options.ftls, options.jobs = "1r-greedy,2r-fifo", 2
    if options.short and "FTLAB_TEST_ALL" not in os.environ:
        loads = loads[:1]
        options.ftls = "2r-fifo" if loads == [FourTenants] else options.ftls
    return [measure(options, kind) for kind in loads]
