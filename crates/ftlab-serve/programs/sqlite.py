"""SQLite: transfers between accounts, with both kinds of journal, and kills under each."""

import contextlib
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

from databases import NEEDS, Database, live
from system import expect, kill, need, start

ACCOUNTS = 20_000


class Transfers(threading.Thread):
    """A process that transfers (`transfer_for_ever`), and the last transfer that it reported."""

    def __init__(self, file: Path) -> None:
        super().__init__(daemon=True)
        self.process = start(sys.executable, __file__, file, stdout=subprocess.PIPE)
        self.acknowledged = 0

    def run(self) -> None:
        for line in self.process.stdout:
            self.acknowledged = int(line)


def transfer_for_ever(file: Path) -> None:
    """Transfers between accounts; reports the number of each transaction when it is durable."""
    connection = connect(file)
    (number,) = connection.execute("SELECT max(number) FROM transfers").fetchone()
    while True:
        number += 1
        transfer(connection, number)
        print(number, flush=True)


def transfer(connection: sqlite3.Connection, number: int) -> None:
    """One transaction."""
    amount, pair = random.randrange(100), random.sample(range(ACCOUNTS), 2)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for account, change in zip(pair, [-amount, amount], strict=True):
            update = "UPDATE accounts SET balance = balance + ? WHERE id = ?"
            connection.execute(update, (change, account))
        connection.execute("INSERT INTO transfers VALUES (?, ?, ?)", (number, *pair))


def connect(file: Path) -> sqlite3.Connection:
    """A connection whose commits are durable, including the removal of its journal."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    return connection


class Sqlite(Database):
    """With a rollback journal."""

    name = "sqlite"
    drive_mib = 320
    growth_mib = 64

    journal = "delete"
    load = None

    @property
    def file(self) -> Path:
        return self.place / "bank.db"

    def create(self) -> None:
        self.place.mkdir()
        connection = connect(self.file)
        connection.execute(f"PRAGMA journal_mode = {self.journal}")
        connection.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INT, name TEXT)")
        connection.execute(
            "CREATE TABLE transfers (number INTEGER PRIMARY KEY, payer INT, payee INT)"
        )
        connection.execute("CREATE INDEX by_payer ON transfers (payer)")
        with connection:
            connection.execute("BEGIN")
            rows = ((account, 1000, "x" * 200) for account in range(ACCOUNTS))
            connection.executemany("INSERT INTO accounts VALUES (?, ?, ?)", rows)
            connection.execute("INSERT INTO transfers VALUES (0, 0, 0)")
        connection.close()

    def work(self, seconds: float) -> dict:
        self.begin_work()
        time.sleep(seconds)
        self.stop()
        return {"transactions per second": round(self.load.acknowledged / seconds, 1)}

    def begin_work(self) -> None:
        self.load = Transfers(self.file)
        self.load.start()

    def kill(self) -> None:
        if self.load:
            kill(self.load.process)
            self.load.join()

    def stop(self) -> None:
        self.kill()

    def verify(self) -> dict:
        with contextlib.closing(connect(self.file)) as connection:

            def ask(query: str) -> tuple:
                return connection.execute(query).fetchone()

            (answer,) = ask("PRAGMA integrity_check")
            (total,) = ask("SELECT sum(balance) FROM accounts")
            count, last = ask("SELECT count(*) - 1, max(number) FROM transfers")
        expect(answer == "ok", f"integrity_check: {answer}")
        expect(total == 1000 * ACCOUNTS, f"the accounts hold {total}, not {1000 * ACCOUNTS}")
        expect(count == last, f"{last} transfers, but {count} of them are there")
        acknowledged = self.load.acknowledged
        kept = acknowledged <= last <= acknowledged + 1
        expect(kept, f"{acknowledged} commits were acknowledged, but {last} are there")
        return {"acknowledged commits": acknowledged, "found": last}


class SqliteWal(Sqlite):
    """With a write-ahead log."""

    name = "sqlite-wal"
    journal = "wal"


def main(options) -> list[dict]:
    """The program `sqlite`."""
    need(*NEEDS, root=True)
    kills = 1 if options.short else 5
    return [live(options, kind, kills) for kind in [Sqlite, SqliteWal]]


if __name__ == "__main__":
    transfer_for_ever(Path(sys.argv[1]))
