#!/bin/sh
# A database engineer: how much over-provisioning does this database need on a drive that can be bought? Records SQLite
# under load, weighs the trace, and asks. Writes sqlite.parquet and advice.html into the current directory; $1 is the
# number of transactions, what follows are more options of advise. docs/over-provisioning.md has the same for PostgreSQL
# on a device of its own.
set -e
ftlab=${FTLAB:-ftlab} transactions=${1:-20000} database=$PWD/database/accounts.db
[ $# = 0 ] || shift
mkdir -p database

cat > load.sh <<'LOAD'
{
    echo 'PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 256;'
    # Synchronised at checkpoints: the same writes, in seconds.
    echo 'PRAGMA synchronous = NORMAL;'
    echo 'CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, filler TEXT);'
    echo "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
          INSERT INTO account SELECT i, 0, hex(randomblob(50)) FROM n;"
    awk -v n="$2" 'BEGIN {
        srand(1)
        for (i = 0; i < n; i++) {
            # Four of five transfers are between a tenth of the accounts.
            few = rand() < 0.8 ? 4000 : 40000
            printf "BEGIN; UPDATE account SET balance = balance - 1 WHERE id = %d;", 1 + int(rand() * few)
            printf " UPDATE account SET balance = balance + 1 WHERE id = %d; COMMIT;\n", 1 + int(rand() * few)
        }
    }'
} | sqlite3 "$1" > /dev/null
LOAD

# Every write of every file below the directory; as root, --device records what reaches a disk.
$ftlab record --dir database --out sqlite.parquet -- sh load.sh "$database" "$transactions"
$ftlab inspect sqlite.parquet
# A drive that can be bought, full of databases like this one; "7.68TB, 28%" and the like say what it is sold with.
$ftlab advise sqlite.parquet --target-waf 1.5 --drive "7.68TB, 7%" --report advice.html "$@"
