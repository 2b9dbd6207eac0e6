"""PostgreSQL under pgbench (TPC-B)."""

from databases import NEEDS, Database, Ledger, live
from system import (
    attempt,
    command,
    expect,
    kill,
    kill_with_children,
    need,
    run,
    start,
    start_logged,
    wait_for,
)

USER = "postgres"
SETTINGS = {
    # A fraction of the database, so that pages are evicted all the time.
    "shared_buffers": "16MB",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "checkpoint_timeout": "30s",
    "listen_addresses": "",
    # In its own directory, so that a kill leaves nothing elsewhere.
    "dynamic_shared_memory_type": "mmap",
}


class PostgreSql(Database):
    name = "postgresql"
    drive_mib = 512
    growth_mib = 96

    server = None
    load = None
    ledger = None

    def _as_user(self, program: str, *arguments: object) -> list[str]:
        who = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        return command("setpriv", *who, *command(program, *arguments))

    def _connection(self) -> list[str]:
        return ["--host", str(self.outside), "--username", USER]

    def _run(self, program: str, *arguments: object) -> str:
        return run(program, *self._connection(), *arguments, cwd=self.outside)

    def create(self) -> None:
        scale = 2 if self.short else 18
        self.place.mkdir()
        run("chown", USER, self.place)
        run(
            *self._as_user(
                "initdb",
                "--pgdata",
                self.place,
                "--data-checksums",
                "--auth=trust",
                "--no-locale",
                f"--username={USER}",
            ),
            cwd=self.outside,
        )
        self.start()
        self._run("pgbench", "--initialize", "--quiet", f"--scale={scale}", "postgres")
        self._run("psql", "--command", Ledger.CREATE, "postgres")
        self._run("psql", "--command", "CREATE EXTENSION amcheck", "postgres")

    def start(self) -> None:
        settings = [f"-c{key}={value}" for key, value in SETTINGS.items()]
        settings.append(f"-cunix_socket_directories={self.outside}")
        server = self._as_user("postgres", "-D", self.place, *settings)
        self.server = start_logged(self.outside / "postgresql.log", *server, cwd=self.outside)
        ready = ["--host", self.outside, "--quiet"]
        wait_for("PostgreSQL", self.server, lambda: attempt("pg_isready", *ready))

    def work(self, seconds: float) -> dict:
        output = self._run(
            "pgbench", "--client=8", f"--time={seconds:.0f}", "--no-vacuum", "postgres"
        )
        rate = next(line for line in output.splitlines() if line.startswith("tps"))
        return {"transactions per second": float(rate.split()[2])}

    def begin_work(self) -> None:
        self.ledger = Ledger(command("psql", *self._connection(), "-qAt", "postgres"))
        self.ledger.start()
        arguments = ["--client=8", "--time=3600", "--no-vacuum", "postgres"]
        self.load = start("pgbench", *self._connection(), *arguments, cwd=self.outside)

    def kill(self) -> None:
        for process in [self.ledger and self.ledger.client, self.load]:
            if process:
                kill(process)
        if self.server:
            kill_with_children(self.server)

    def verify(self) -> dict:
        # Every heap and every index, and the invariants of TPC-B.
        self._run("pg_amcheck", "--heapallindexed", "--parent-check", "--database=postgres")
        sums = {
            table: self._query(f"SELECT coalesce(sum({column}), 0) FROM pgbench_{table}")
            for table, column in [
                ("accounts", "abalance"),
                ("tellers", "tbalance"),
                ("branches", "bbalance"),
                ("history", "delta"),
            ]
        }
        expect(len(set(sums.values())) == 1, f"the balances contradict each other: {sums}")
        self.ledger.expect_kept(self._query("SELECT coalesce(max(number), 0) FROM ledger"))
        count = self._query("SELECT count(*) FROM ledger")
        expect(count == self._query("SELECT max(number) FROM ledger"), "commits are missing")
        return {"acknowledged commits": self.ledger.acknowledged, "found": count}

    def _query(self, query: str) -> int:
        return int(self._run("psql", "-qAt", "--command", query, "postgres"))

    def stop(self) -> None:
        self._run("psql", "-qAt", "--command", "CHECKPOINT", "postgres")
        run(
            *self._as_user("pg_ctl", "-D", self.place, "--mode=fast", "-w", "stop"),
            cwd=self.outside,
        )
        self.server.wait()


def main(options) -> list[dict]:
    """The program `postgresql`."""
    need(*NEEDS, "initdb", "postgres", "pgbench", "psql", "pg_amcheck", "setpriv", root=True)
    return [live(options, PostgreSql)]
