# Runs in the guest (scripts/guest.sh): the kernel's NVMe/TCP host, nvme-cli, mke2fs, fio and the kernel's nbd module
# against `ftlab drive serve`. Every line is a step, told with the seconds since the guest booted; the first that fails
# ends it.
PS4='$(read -r seconds idle < /proc/uptime; echo "$seconds") + '
set -ex

wait_for() { # FILE TEXT
    for _ in $(seq 300); do
        if grep -q "$2" "$1"; then return 0; fi
        sleep 0.1
    done
    cat "$1"
    return 1
}

serve() {
    rm -f nqn log
    ftlab drive serve my.drive --nvme 127.0.0.1:4420 --nbd /tmp/nbd "$@" > log 2>&1 &
    server=$!
    wait_for log 'NBD at'
    wait_for log 'nvme connect'
    nqn=$(grep -o 'nqn[^ ]*$' log | head -n 1)
}

stop() {
    kill "$1" "$server"
    wait "$server" || true
    cat log
}

connect() {
    nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid=4420 --nqn="$nqn" --nr-io-queues=2 \
        --reconnect-delay=1 --ctrl-loss-tmo=60 "$@"
    for _ in $(seq 100); do
        if [ -b /dev/nvme0n1 ]; then return 0; fi
        sleep 0.1
    done
    return 1
}

ftlab drive create my.drive --size 256MiB --op 25% --ftl nvme-fdp:handles=4,persistent=1 --unit 1MiB
serve
nvme discover --transport=tcp --traddr=127.0.0.1 --trsvcid=4420 > found
grep "subnqn:  $nqn" found
connect

# What it is.
nvme list
nvme id-ctrl /dev/nvme0 > id
grep 'mn        : ftlab drive' id
grep 'ctratt    : 0x80011' id
nvme id-ns /dev/nvme0n1 > id
grep 'nsze    : 0x10000$' id
grep 'lbads:12 ' id
nvme ns-descs /dev/nvme0n1 | grep uuid
nvme list-ns /dev/nvme0 | grep '0x1$'
nvme get-property /dev/nvme0 --offset=8 | grep 20100
nvme effects-log /dev/nvme0 > /dev/null
nvme error-log /dev/nvme0 > /dev/null
nvme fw-log /dev/nvme0 > /dev/null
nvme endurance-log /dev/nvme0 --group-id=1 | grep avl_spare
nvme supported-log-pages /dev/nvme0 | grep -i 'LID 0x20'
nvme get-feature /dev/nvme0 --feature-id=6 | grep 'value:0x0*1$'
nvme sanitize-log /dev/nvme0 > /dev/null

# Placement handles.
nvme fdp configs /dev/nvme0 --endgrp-id=1 > configs
grep 'Number of Reclaim Unit Handles: 4' configs
grep 'Reclaim Unit Nominal Size: 1048576' configs
grep -c 'Initially Isolated' configs | grep '^3$'
grep -c 'Persistently Isolated' configs | grep '^1$'
nvme fdp usage /dev/nvme0 --endgrp-id=1 > usage
grep -c 'Host Specified' usage | grep '^4$'
nvme fdp status /dev/nvme0n1 > status
head -c 8192 /dev/urandom > two
nvme write /dev/nvme0n1 --start-block=100 --block-count=1 --data-size=8192 --data=two --dir-type=2 --dir-spec=3
nvme fdp status /dev/nvme0n1 > after
cat after
# Of the 256 pages of a unit, two are written.
grep -A 3 'Placement Identifier 3;' after | grep '(RUAMW): 254'
nvme read /dev/nvme0n1 --start-block=100 --block-count=1 --data-size=8192 --data=back
cmp two back
nvme compare /dev/nvme0n1 --start-block=100 --block-count=1 --data-size=8192 --data=two
# A handle that does not exist is an event, once that is enabled.
nvme fdp set-events /dev/nvme0n1 --placement-handle=0 --enable --event-types=3
nvme get-feature /dev/nvme0n1 --feature-id=0x1e --cdw11=0xff0000 --data-len=510 | grep '^0000: .*03 01'
nvme write /dev/nvme0n1 --start-block=102 --block-count=1 --data-size=8192 --data=two --dir-type=2 --dir-spec=9
nvme fdp events /dev/nvme0 --endgrp-id=1 --host-events | grep 'Invalid Placement Identifier'
# A handle moves on to a whole unit, and leaves one that is not full.
nvme fdp update /dev/nvme0n1 --pids=3
nvme fdp status /dev/nvme0n1 | grep -A 3 'Placement Identifier 3;' | grep '(RUAMW): 256'
nvme write /dev/nvme0n1 --start-block=104 --block-count=0 --data-size=4096 --data=two --dir-type=2 --dir-spec=3
nvme fdp status /dev/nvme0n1 | grep -A 3 'Placement Identifier 3;' | grep '(RUAMW): 255'
nvme fdp stats /dev/nvme0 --endgrp-id=1 > stats
cat stats
grep 'Host Bytes with Metadata Written (HBMW): 20480' stats

# All else that has blocks.
nvme copy /dev/nvme0n1 --sdlba=200 --blocks=1 --slbs=100
nvme compare /dev/nvme0n1 --start-block=200 --block-count=1 --data-size=8192 --data=two
nvme verify /dev/nvme0n1 --start-block=100 --block-count=1
nvme write-zeroes /dev/nvme0n1 --start-block=100 --block-count=1 --deac
head -c 8192 /dev/zero > none
nvme compare /dev/nvme0n1 --start-block=100 --block-count=1 --data-size=8192 --data=none
nvme write-uncor /dev/nvme0n1 --start-block=300 --block-count=1
if nvme read /dev/nvme0n1 --start-block=300 --block-count=1 --data-size=8192 --data=back; then false; fi
nvme dsm /dev/nvme0n1 --ad --slbs=200 --blocks=2
nvme compare /dev/nvme0n1 --start-block=200 --block-count=1 --data-size=8192 --data=none
nvme flush /dev/nvme0n1

# A file system, and what fio verifies, over a kill. sync ends with writes to the device that no flush follows, and a
# kill loses what was not flushed, as a power cut of the drive alone would.
/bin/mke2fs -q -t ext4 /dev/nvme0n1
mkdir -p mnt
mount -t ext4 -o discard /dev/nvme0n1 mnt
fio --name=j --directory=mnt --size=8m --rw=randwrite --bs=4k --ioengine=psync --verify=crc32c --do_verify=1 \
    --end_fsync=1 --minimal > /dev/null
head -c 3000000 /dev/urandom > mnt/random
cp mnt/random random
sync
nvme flush /dev/nvme0n1
kill -9 "$server"
sleep 2
serve
cmp mnt/random random
rm mnt/j.*
umount mnt
e2fsck -f -n /dev/nvme0n1
/bin/blkdiscard -f /dev/nvme0n1
dd if=/dev/nvme0n1 bs=1M count=8 iflag=direct 2>/dev/null | cmp -n 8388608 - /dev/zero

# Health after that.
nvme smart-log /dev/nvme0 > smart
cat smart
grep 'critical_warning.*: 0' smart
grep 'available_spare[[:space:]]*: 100%' smart
grep 'unsafe_shutdowns.*: 1' smart
nvme ocp smart-add-log /dev/nvme0 > ocp
grep 'Physical media units written' ocp
nvme format /dev/nvme0n1 --ses=1 --force
nvme sanitize /dev/nvme0 --sanact=2
nvme sanitize-log /dev/nvme0 | grep -i 'sstat.*0x1'

# With digests, deeper queues, and the passthrough that FDP programs use.
nvme disconnect --nqn="$nqn"
connect --hdr-digest --data-digest
fio --name=j --filename=/dev/nvme0n1 --size=8m --rw=randwrite --bs=4k-256k --ioengine=libaio --iodepth=16 --direct=1 \
    --verify=crc32c --do_verify=1 --minimal > /dev/null
fio --name=p --filename=/dev/ng0n1 --size=4m --rw=randwrite --bs=4k --ioengine=io_uring_cmd --cmd_type=nvme \
    --iodepth=16 --verify=crc32c --do_verify=1 --minimal > /dev/null
nvme disconnect --nqn="$nqn"

# The same drive with the kernel's nbd module.
/bin/nbd-client -unix /tmp/nbd /dev/nbd0 -b 4096
/bin/mke2fs -q -t ext4 /dev/nbd0
mount -t ext4 /dev/nbd0 mnt
cp random mnt/random
umount mnt
e2fsck -f -n /dev/nbd0
/bin/nbd-client -d /dev/nbd0
stop -INT
ftlab drive check my.drive

# Several namespaces, and hosts that are not welcome.
serve --endurance 10 --namespaces 3 --allow-host nqn.2014-08.org.nvmexpress:uuid:a
if nvme connect -t tcp -a 127.0.0.1 -s 4420 -n "$nqn" --hostnqn=nqn.2014-08.org.nvmexpress:uuid:b; then false; fi
connect --hostnqn=nqn.2014-08.org.nvmexpress:uuid:a
for _ in $(seq 100); do
    if [ -b /dev/nvme0n3 ]; then break; fi
    sleep 0.1
done
nvme endurance-log /dev/nvme0 --group-id=1 | grep -i 'endurance_estimate.*: [1-9]'
nvme fdp status /dev/nvme0n3 | grep 'Reclaim Unit Handle Identifier 3'
nvme disconnect --nqn="$nqn"
stop -INT
