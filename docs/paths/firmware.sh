#!/bin/sh
# A firmware engineer: how long do reads wait for collections, and what would placement handles bring? One drive with a
# clock under mixed requests, with whole collections and with some in steps; then a tree of files whose levels name a
# handle each. Writes waits.html and handles.svg to the current directory; $1 is the logical size of the drive.
set -e
ftlab=${FTLAB:-ftlab} logical=${1:-2GiB}

cat > mixed.fio <<'FIO'
[mixed]
filename=/dev/drive
rw=randrw
rwmixread=70
norandommap
random_distribution=zipf:0.9
loops=2
FIO

# Two LUNs of FEMU's chip; its blocks fit on a drive of this size.
$ftlab run mixed.fio --logical "$logical" --op 10% --fill sequential --ftl 1r-greedy,2r++ \
    --timing femu:channels=2,luns=1,unit=request,queue-depth=16,waits=on --report waits.html
$ftlab run mixed.fio --logical "$logical" --op 10% --fill sequential --ftl 1r-greedy,2r++ --gc incremental \
    --timing femu:channels=2,luns=1,unit=request,queue-depth=16

# Drives without handles ignore the streams.
$ftlab run lsm:streams=on --logical "$logical" --op 7% --reserve 10 --drive-writes 4 --ftl nvme-fdp --ftl 1r-greedy \
    --ftl sepbit --figure handles.svg
