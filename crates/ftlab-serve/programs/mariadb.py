"""MariaDB under TPC-C (docs/record/tpcc.lua)."""

import os
import subprocess
from pathlib import Path

from databases import NEEDS, Database, Ledger, live
from system import attempt, command, expect, kill, need, run, start, start_logged, wait_for

TPCC = Path(__file__).resolve().parents[3] / "docs/record/tpcc.lua"
PROGRAMS = [
    "mariadbd",
    "mariadb-install-db",
    "mariadb-admin",
    "mariadb",
    "mariadb-check",
    "sysbench",
]

# Clause 3.3.2 of TPC-C: each query must return nothing.
CONSISTENCY = {
    "1: a warehouse's total is that of its districts": """
        SELECT w_id FROM warehouse JOIN district ON d_w_id = w_id
        GROUP BY w_id, w_ytd HAVING w_ytd <> SUM(d_ytd)""",
    "2: a district's next order follows its last one": """
        SELECT d_w_id, d_id FROM district JOIN orders ON o_w_id = d_w_id AND o_d_id = d_id
        GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id - 1 <> MAX(o_id)""",
    "3: new orders have no gaps": """
        SELECT no_w_id, no_d_id FROM new_order
        GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)""",
    "4: orders have their lines": """
        SELECT o_w_id, o_d_id, o_id FROM orders
        LEFT JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        GROUP BY o_w_id, o_d_id, o_id, o_ol_cnt HAVING COUNT(ol_number) <> o_ol_cnt""",
}


class MariaDb(Database):
    name = "mariadb"
    drive_mib = 320
    growth_mib = 64
    # The load: a script of sysbench, its sizes, and the server's buffer pool and redo log.
    script, sizes = TPCC, ["--warehouses=1"]
    # What a short form loads in a few seconds, unless all of everything is tried.
    short_sizes = ["--items=2500", "--customers=150"]
    pool, log = "32M", "16M"

    server = None
    load = None
    ledger = None

    @property
    def socket(self) -> Path:
        return self.outside / f"{self.place.name}.sock"

    def _server(self) -> list[object]:
        # Not /tmp: a server that starts removes the temporary tables of others.
        temporary = self.outside / f"{self.place.name}-tmp"
        temporary.mkdir(exist_ok=True)
        return [
            "--no-defaults",
            f"--tmpdir={temporary}",
            f"--datadir={self.place}",
            "--user=root",
            "--innodb-page-size=4k",
            f"--innodb-log-file-size={self.log}",
        ]

    def _client(self) -> list[object]:
        return ["--no-defaults", "--user=root", f"--socket={self.socket}"]

    def _script(self, *arguments: object) -> list[object]:
        where = ["--mysql-user=root", f"--mysql-socket={self.socket}"]
        is_short = self.short and "FTLAB_TEST_ALL" not in os.environ
        fewer = self.short_sizes if is_short else []
        return [self.script, *where, *self.sizes, *fewer, *arguments]

    def create(self) -> None:
        how = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        run("mariadb-install-db", *self._server(), *how)
        self.start()
        run(
            "mariadb",
            *self._client(),
            f"--execute=CREATE DATABASE sbtest; USE sbtest; {Ledger.CREATE}",
        )
        run("sysbench", *self._script("prepare"))

    def start(self) -> None:
        how = [
            f"--socket={self.socket}",
            "--skip-networking",
            "--skip-log-bin",
            "--innodb-flush-method=O_DIRECT",
            f"--innodb-buffer-pool-size={self.pool}",
            "--innodb-flush-log-at-trx-commit=1",
        ]
        log = self.outside / f"{self.place.name}.log"
        self.server = start_logged(log, "mariadbd", *self._server(), *how)
        ping = [*self._client(), "ping"]
        wait_for("MariaDB", self.server, lambda: attempt("mariadb-admin", *ping))

    def begin_timed_work(self, seconds: float) -> subprocess.Popen:
        """Starts a load of this duration; its process reports the throughput."""
        how = ["--threads=4", f"--time={seconds:.0f}", "run"]
        return start(
            "sysbench", *self._script(*how), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def end_timed_work(self, load: subprocess.Popen) -> float:
        """Waits for it; transactions per second."""
        output, _ = load.communicate()
        expect(load.returncode == 0, output)
        rate = next(line for line in output.splitlines() if "transactions:" in line)
        return float(rate.split("(")[1].split()[0])

    def work(self, seconds: float) -> dict:
        return {"transactions per second": self.end_timed_work(self.begin_timed_work(seconds))}

    def begin_work(self) -> None:
        client = command(
            "mariadb", *self._client(), "--unbuffered", "--skip-column-names", "sbtest"
        )
        self.ledger = Ledger(client)
        self.ledger.start()
        self.load = self.begin_timed_work(3600)

    def kill(self) -> None:
        for process in [self.ledger and self.ledger.client, self.load, self.server]:
            if process:
                kill(process)

    def _query(self, query: str) -> str:
        return run(
            "mariadb", *self._client(), "--skip-column-names", f"--execute={query}", "sbtest"
        ).strip()

    def verify(self) -> dict:
        output = run("mariadb-check", *self._client(), "--extended", "--databases", "sbtest")
        wrong = [line for line in output.splitlines() if not line.endswith("OK")]
        expect(not wrong, "\n".join(wrong))
        for condition, query in CONSISTENCY.items():
            found = self._query(query)
            expect(not found, f"TPC-C, consistency condition {condition}: not for {found}")
        count, last = self._query("SELECT COUNT(*), COALESCE(MAX(number), 0) FROM ledger").split()
        expect(count == last, f"{last} commits, but {count} of them are there")
        self.ledger.expect_kept(int(last))
        return {"acknowledged commits": self.ledger.acknowledged, "found": int(last)}

    def stop(self) -> None:
        run("mariadb-admin", *self._client(), "shutdown")
        self.server.wait()


def main(options) -> list[dict]:
    """The program `mariadb`."""
    need(*NEEDS, *PROGRAMS, root=True)
    return [live(options, MariaDb)]
