"""RocksDB under db_bench: keys overwritten at random (2R, PVLDB 2020, figure 12c, has YCSB)."""

from databases import NEEDS, Database, live
from system import expect, kill, need, run, start


class RocksDb(Database):
    name = "rocksdb"
    # Keys are overwritten. Space is needed for old versions of them, and for compactions, which write
    # the new files before they delete the old ones.
    growth_mib = 256
    grows = False

    load = None

    def _arguments(self, benchmarks: str, *more: object) -> list[object]:
        keys = 50_000 if self.short else 1_000_000
        return [
            f"--db={self.place}",
            f"--benchmarks={benchmarks}",
            f"--num={keys}",
            "--value_size=400",
            "--compression_type=none",
            "--write_buffer_size=8388608",
            "--seed=1",
            "--target_file_size_base=8388608",
            "--max_bytes_for_level_base=33554432",
            # Nine tenths of the data in the last level, and compactions that fit into the space for growth.
            "--level_compaction_dynamic_level_bytes=true",
            "--max_compaction_bytes=67108864",
            "--use_direct_io_for_flush_and_compaction=1",
            "--use_direct_reads=1",
            "--cache_size=16777216",
            "--level0_slowdown_writes_trigger=4",
            "--level0_stop_writes_trigger=8",
            "--soft_pending_compaction_bytes_limit=67108864",
            "--hard_pending_compaction_bytes_limit=134217728",
            *more,
        ]

    def create(self) -> None:
        run("db_bench", *self._arguments("fillrandom"))

    def work(self, seconds: float) -> dict:
        more = [
            "--use_existing_db=1",
            f"--duration={seconds:.0f}",
            "--threads=2",
            "--seed=2",
            # The file system needs seconds to discard deleted files.
            "--benchmark_write_rate_limit=8388608",
        ]
        output = run("db_bench", *self._arguments("overwrite", *more))
        line = next(line for line in output.splitlines() if line.startswith("overwrite"))
        return {"writes per second": int(line.split(" ops/sec")[0].split()[-1])}

    def begin_work(self) -> None:
        # Each write is durable before the next one, as its log is synced.
        more = ["--use_existing_db=1", "--duration=3600", "--threads=2", "--sync=1", "--seed=3"]
        self.load = start("db_bench", *self._arguments("overwrite", *more))

    def kill(self) -> None:
        if self.load:
            kill(self.load)

    def verify(self) -> dict:
        consistent = run("ldb", f"--db={self.place}", "checkconsistency")
        expect("OK" in consistent, consistent)
        more = ["--use_existing_db=1", "--threads=1"]
        output = run("db_bench", *self._arguments("verifychecksum,readseq", *more))
        line = next(line for line in output.splitlines() if line.startswith("readseq"))
        expect("verifychecksum" in output, output)
        return {"checked": line.split(":")[0] + " and all checksums"}


def main(options) -> list[dict]:
    """The program `rocksdb`."""
    need(*NEEDS, "db_bench", "ldb", root=True)
    return [live(options, RocksDb)]
