#!/bin/sh
# pgbench on PostgreSQL on ext4 on the device $1, from an empty device on, for $2 seconds. To be recorded as root:
# ftlab record --device DEVICE --stream 'db/pg_wal/=1' --stream 'db/base/=2' --out t.parquet -- pgbench.sh DEVICE 600
# Destroys what is on the device.
set -e
device=$1 seconds=$2 programs=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
mnt=$(mktemp --directory)
trap 'umount "$mnt" 2> /dev/null; rmdir "$mnt"' EXIT
chmod 755 "$mnt"
mkfs.ext4 -q -m 0 "$device"
mount -o discard "$device" "$mnt"
as() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$mnt" PATH="$programs:$PATH" "$@"; }
chown postgres: "$mnt"
as initdb --pgdata="$mnt/db" --auth=trust --wal-segsize=4 > /dev/null
# Buffers are a tenth of the database, and checkpoints are frequent: pages are written many times.
as pg_ctl --pgdata="$mnt/db" --silent --wait --log=/dev/null start --options="-c listen_addresses= \
    -c unix_socket_directories=$mnt -c shared_buffers=32MB -c max_wal_size=64MB -c checkpoint_timeout=30s"
trap 'as pg_ctl --pgdata="$mnt/db" --silent --wait stop; sync; umount "$mnt"; rmdir "$mnt"' EXIT
as pgbench --host="$mnt" --initialize --scale=20 --quiet postgres 2> /dev/null
echo run > "${FTLAB_PHASES:-/dev/null}"
as pgbench --host="$mnt" --client=4 --time="$seconds" --no-vacuum --random-seed=1 postgres
sync
