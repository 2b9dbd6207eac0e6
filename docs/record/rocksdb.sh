#!/bin/sh
# RocksDB on a device of its own, for docs/rocksdb.md: makes a file system on $1, loads a database, and updates it. To be
# recorded: ftlab record --device DEVICE --stream '*.sst=1' --stream '*.log=2' --out t.parquet -- rocksdb.sh DEVICE
set -e
device=$1 keys=${2:-200000} mnt=$(mktemp -d)
trap 'umount "$mnt" 2> /dev/null; rmdir "$mnt"' EXIT
mkfs.ext4 -q "$device"
mount -o discard "$device" "$mnt"
bench() {
    db_bench --db="$mnt/db" --num="$keys" --value_size=400 --compression_type=none --seed=1 --stats_level=0 \
        --write_buffer_size=4194304 --target_file_size_base=4194304 --max_bytes_for_level_base=16777216 "$@" > /dev/null 2>&1
}
bench --benchmarks=fillrandom
echo run > "$FTLAB_PHASES"
# Every fourth update waits until its log is on the drive.
bench --use_existing_db=1 --benchmarks=overwrite,overwrite,overwrite
bench --use_existing_db=1 --benchmarks=overwrite --sync=1 --num=20000
sync
