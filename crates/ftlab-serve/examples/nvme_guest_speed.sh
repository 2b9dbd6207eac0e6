# Runs in the guest (make bench-guest): the kernel's host with `ftlab drive serve --nvme`, and with the kernel's own server
# over null_blk. 4 KiB at random, 32 at once, rounds of both alternating; one line of IOPS for each run.
# shellcheck source=crates/ftlab-serve/tests/nvmet.sh
. /bin/nvmet.sh
ftlab drive create my.drive --size 256MiB --op 25% --ftl 2r-fifo > log
ftlab drive serve my.drive --nvme 127.0.0.1:4420 > log 2>&1 &
server=$!
until grep -q 'nvme connect' log; do sleep 0.1; done
nvme connect -t tcp -a 127.0.0.1 -s 4420 -n "$(grep -o 'nqn[^ ]*$' log | head -n 1)" --nr-io-queues=2
nvme connect -t tcp -a 127.0.0.1 -s 4421 -n ours --nr-io-queues=2
until [ -b /dev/nvme0n1 ] && [ -b /dev/nvme1n1 ]; do sleep 0.1; done
measure() { # NAME DEVICE RW FIELD
    iops=$(fio --name=j --filename="$2" --size=128m --rw="$3" --bs=4k --ioengine=libaio --iodepth=32 --direct=1 \
        --time_based --ramp_time=1 --runtime=3 --output-format=terse --terse-version=3 | cut -d ';' -f "$4")
    echo "IOPS $1 $3 $iops"
}
for round in 1 2 3 4 5; do
    for run in "randwrite 49" "randread 8"; do
        # shellcheck disable=SC2086 # the kind of request, and the field of its IOPS
        measure ftlab /dev/nvme0n1 $run
        # shellcheck disable=SC2086
        measure nvmet /dev/nvme1n1 $run
    done
done
nvme disconnect-all
kill -INT "$server"
wait "$server"
