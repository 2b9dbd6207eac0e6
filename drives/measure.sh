#!/bin/sh
# Measures what an NVMe drive writes to its flash under four workloads, for `ftlab fit`. EVERYTHING ON THE DRIVE IS LOST.
#
#     sudo sh drives/measure.sh /dev/nvme0n1 series
#     sudo sh drives/measure.sh /dev/nvme0n1 series 256      with zones of 256 MiB, not 1024; for small drives
#
# Needs fio, nvme-cli and util-linux. The phases, and what each tells:
#   fill     the whole drive in sequence, once                  what it writes beside the host: parity, its map
#   uniform  random 4 KiB over the whole drive, three times     over-provisioning
#   skewed   the same, 80% of it to a fifth of the drive        which FTL
#   zones    zones, each trimmed and then written, twice        how much it collects at once
# Before skewed writes, the drive is trimmed and filled again (refill). A phase ends with SETTLE (70) idle seconds.
set -eu

usage="usage: sudo sh measure.sh /dev/nvmeXnY DIRECTORY [MIB_OF_A_ZONE]"
device=${1:?$usage}
directory=${2:?$usage}
zone_mib=${3:-1024}

fail() {
    echo "error: $*" >&2
    exit 1
}

[ "$zone_mib" -gt 0 ] 2> /dev/null || fail "zones of $zone_mib MiB; give a whole number of MiB from 1 on"
zone=$((zone_mib << 20))
skew=zoned:80/20:20/80

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

# A sixteenth of the drive, in whole MiB. The two logs of a sample are read while nothing is written, or they would differ.
piece=$(((bytes / 16 >> 20) << 20))
if [ "$piece" -eq 0 ] || [ "$zone" -gt "$bytes" ]; then
    fail "$device has $bytes bytes, too few for 16 MiB or a zone of $zone_mib MiB; give smaller zones, or a larger drive"
fi

# Host and media bytes, of a log that the drive has. A drive notes as an error each question for one that it has not.
counters() {
    case $log in
    fdp) nvme fdp stats "$device" -e 1 ;;
    ocp) nvme smart-log "$device" && nvme ocp smart-add-log "$device" ;;
    intel) nvme smart-log "$device" && nvme intel smart-log-add "$device" ;;
    micron) nvme smart-log "$device" && nvme micron vs-nand-stats "$device" ;;
    none) false ;;
    esac
}
for log in fdp ocp intel micron none; do
    if counters > /dev/null 2>&1; then break; fi
done
[ "$log" != none ] ||
    fail "no log of $device has a counter of the medium; docs/real-drives.md lists those that are known"

lsblk --nodeps --output NAME,MODEL,SERIAL,SIZE "$device"
echo "About $((10 * bytes / 1000000000)) GB will be written in all. Everything on $device will be lost."
printf 'Type the serial number to go ahead: '
read -r typed
serial=$(lsblk --nodeps --noheadings --output SERIAL "$device" | tr -d ' ')
[ -n "$serial" ] || fail "$device tells no serial number; nothing was written"
[ "$typed" = "$serial" ] || fail "that is not $serial; nothing was written"

# blkdiscard refuses a drive with a file system if it may ask at a terminal.
exec < /dev/null

# Not a format, which may erase other namespaces as well.
blkdiscard "$device"

sample() {
    counters >> "$directory/$phase.log" 2> /dev/null || echo "a sample of $phase failed" >&2
}

# Starts a log.
begin() {
    phase=$1
    echo "$phase"
    : > "$directory/$phase.log"
    sample
}

# Some drives refresh their counters once a minute.
finish() {
    sleep "${SETTLE:-70}"
    sample
}

writes() {
    fio --name="$phase" --filename="$device" --direct=1 --ioengine=libaio --output-format=terse --output=/dev/null "$@"
    sample
}

fill_in_order() {
    offset=0
    while [ $((bytes - offset)) -ge "$piece" ]; do
        writes --rw=write --bs=512k --iodepth=32 --offset="$offset" --size="$piece"
        offset=$((offset + piece))
    done
    [ "$offset" -eq "$bytes" ] || writes --rw=write --bs=512k --iodepth=32 --offset="$offset"
}

# Three times the drive. Each of the four jobs writes whole data units of 512,000 bytes, in which the drive counts.
write_at_random() {
    for _ in $(seq 48); do
        writes --rw=randwrite --bs=4k --iodepth=128 --numjobs=4 --group_reporting --norandommap --randrepeat=0 \
            --io_size=$((piece / 2048000 * 512000)) "$@"
    done
}

begin fill
fill_in_order
finish

begin uniform
write_at_random
finish

blkdiscard "$device"
begin refill
fill_in_order
finish
begin skewed
write_at_random --random_distribution="$skew"
finish

blkdiscard "$device"
begin zones
count=$((bytes / zone))
for number in $(shuf --input-range="0-$((count - 1))" --repeat --head-count=$((2 * count))); do
    blkdiscard --offset $((number * zone)) --length "$zone" "$device"
    writes --rw=write --bs=512k --iodepth=32 --offset=$((number * zone)) --size="$zone"
done
finish

echo "Now tell which drive it is:"
echo "  ftlab fit $directory/fill.log 'fio --name=fill --rw=write --bs=512k' \\"
echo "      --and $directory/uniform.log uniform --and $directory/zones.log zones:size=${zone_mib}MiB \\"
echo "      --and $directory/skewed.log 'fio --name=skewed --rw=randwrite --bs=4k --norandommap --randrepeat=0 --time_based --runtime=1d --random_distribution=$skew' \\"
echo "      --fill none,sequential,none,sequential --skip 0,0,0,1 --logical $bytes --save $directory/mine.toml --figure $directory/mine.svg"
