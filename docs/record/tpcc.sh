#!/bin/sh
# TPC-C on MariaDB on ext4 on the device $1, from an empty device on, for $2 seconds: what
# docs/record.md records. As root; destroys what is on the device.
set -e
device=$1 seconds=$2 here=$(dirname "$(realpath "$0")")
data=$(mktemp --directory)
phase() { echo "$1" > "${FTLAB_PHASES:-/dev/null}"; }

phase mkfs
mkfs.ext4 -q -m 0 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$device"
mount -o discard "$device" "$data"
trap 'umount "$data"; rmdir "$data"' EXIT

phase init
chown mysql: "$data"
server="--no-defaults --datadir=$data/db --user=mysql --innodb-page-size=4k"
mariadb-install-db $server --auth-root-authentication-method=normal > /dev/null
# A pool of 32 MiB is a fifth of the database: pages leave it all the time.
mariadbd $server --socket="$data/socket" --skip-networking --skip-log-bin \
    --innodb-flush-method=O_DIRECT --innodb-buffer-pool-size=32M --innodb-log-file-size=16M \
    --innodb-flush-log-at-trx-commit=1 2> /dev/null &
client="--no-defaults --user=root --socket=$data/socket"
trap 'mariadb-admin $client shutdown; wait; umount "$data"; rmdir "$data"' EXIT
mariadb-admin $client --silent --connect-timeout=60 --wait=60 ping

phase load
mariadb $client --execute='CREATE DATABASE sbtest'
tpcc="sysbench $here/tpcc.lua --mysql-user=root --mysql-socket=$data/socket --warehouses=1"
$tpcc prepare

phase run
$tpcc --threads=4 --time="$seconds" --rand-seed=1 --percentile=99 run

phase shutdown
