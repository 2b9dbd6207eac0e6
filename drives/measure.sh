#!/bin/sh
# Measures what an NVMe drive writes to its flash under three workloads, for `ftlab fit`. EVERYTHING ON THE DRIVE IS LOST.
#
#     sudo sh drives/measure.sh /dev/nvme0n1 series
#
# Needs fio, nvme-cli and blkdiscard. The phases, and what each tells:
#   fill     the whole drive in sequence, once                  what it writes beside the host: parity, its map
#   uniform  random 4 KiB over the whole drive, three times     over-provisioning, and which FTL
#   zones    zones of 1 GiB, each trimmed and then written      how much it collects at once
set -eu

usage="usage: sudo sh measure.sh /dev/nvmeXnY DIRECTORY"
device=${1:?$usage}
directory=${2:?$usage}
zone=$((1 << 30))

fail() {
    echo "error: $*" >&2
    exit 1
}

for tool in fio nvme blkdiscard lsblk shuf; do
    command -v "$tool" > /dev/null || fail "$tool is missing; install fio, nvme-cli and util-linux"
done
[ -b "$device" ] || fail "$device is no block device; name a namespace such as /dev/nvme0n1"
[ "$(lsblk --nodeps --noheadings --output TYPE "$device" | tr -d ' ')" = disk ] ||
    fail "$device is not a whole disk; name a namespace such as /dev/nvme0n1"
mounted=$(lsblk --noheadings --output MOUNTPOINT "$device") || fail "lsblk cannot tell whether $device is mounted"
[ -z "$(echo "$mounted" | tr -d '[:space:]')" ] ||
    fail "$device, or a part of it, is mounted; unmount it first"
mkdir -p "$directory"
bytes=$(lsblk --bytes --nodeps --noheadings --output SIZE "$device" | tr -d ' ')

# Host and media bytes, of the first log that the drive has.
counters() {
    nvme fdp stats "$device" -e 1 2> /dev/null && return
    nvme smart-log "$device" && nvme ocp smart-add-log "$device" 2> /dev/null && return
    nvme intel smart-log-add "$device" 2> /dev/null || nvme micron vs-nand-stats "$device" 2> /dev/null
}
log=$(counters) || fail "no log of $device has a counter of the medium; docs/real-drives.md lists those that are known"

lsblk --nodeps --output NAME,MODEL,SERIAL,SIZE "$device"
echo "About $((6 * bytes / 1000000000)) GB will be written in all. Everything on $device will be lost."
printf 'Type the serial number to go ahead: '
read -r typed
serial=$(lsblk --nodeps --noheadings --output SERIAL "$device" | tr -d ' ')
[ -n "$serial" ] || fail "$device tells no serial number; nothing was written"
[ "$typed" = "$serial" ] || fail "that is not $serial; nothing was written"

# Not a format, which may erase other namespaces as well.
blkdiscard "$device"

# Runs a command, and appends the counters to a log meanwhile: 200 times a drive write or so.
phase() {
    name=$1 pause=$2
    shift 2
    : > "$directory/$name.log"
    counters >> "$directory/$name.log"
    "$@" &
    job=$!
    while kill -0 "$job" 2> /dev/null; do
        sleep "$pause"
        counters >> "$directory/$name.log" || true
    done
    wait "$job"
}

writes() {
    fio --filename="$device" --direct=1 --ioengine=libaio --output-format=terse --output=/dev/null "$@"
}

zones() {
    count=$((bytes / zone))
    for number in $(shuf --input-range="0-$((count - 1))" --repeat --head-count=$((2 * count))); do
        blkdiscard --offset $((number * zone)) --length "$zone" "$device"
        writes --name=zone --rw=write --bs=512k --iodepth=32 --offset=$((number * zone)) --size="$zone"
    done
}

phase fill 5 writes --name=fill --rw=write --bs=512k --iodepth=32
phase uniform 20 writes --name=uniform --rw=randwrite --bs=4k --iodepth=128 --numjobs=4 --group_reporting \
    --norandommap --randrepeat=0 --io_size=$((3 * bytes / 4))
blkdiscard "$device"
phase zones 5 zones

echo "Now tell which drive it is:"
echo "  ftlab fit $directory/fill.log 'fio --name=fill --rw=write --bs=512k' \\"
echo "      --and $directory/uniform.log uniform --and $directory/zones.log zones:size=1GiB \\"
echo "      --fill none,sequential,none --logical $bytes --save $directory/mine.toml --figure $directory/mine.svg"
