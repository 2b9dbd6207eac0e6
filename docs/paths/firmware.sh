#!/bin/sh
# A firmware engineer: how long do reads wait for collections, and what would placement handles bring? One drive with a
# clock under mixed requests, with whole collections and with some in steps; then a tree of files whose levels name a
# handle each. Writes waits.html and handles.svg to the current directory; $1 is the logical size of the drive, $2 how
# often its size is read and written.
set -e
ftlab=${FTLAB:-ftlab} logical=${1:-2GiB} loops=${2:-28}

cat > mixed.fio <<FIO
[mixed]
filename=/dev/drive
rw=randrw
rwmixread=70
norandommap
random_distribution=zipf:0.9
ioengine=libaio
iodepth=16
loops=$loops
FIO

# Two LUNs of FEMU's chip; its blocks fit on a drive of this size.
$ftlab run mixed.fio --logical "$logical" --op 10% --fill random --ftl 1r-greedy,2r++ \
    --timing femu:channels=2,luns=1,unit=request,waits=on --report waits.html
$ftlab run mixed.fio --logical "$logical" --op 10% --fill random --ftl 1r-greedy,2r++ --gc incremental \
    --timing femu:channels=2,luns=1,unit=request

# Drives without handles ignore the streams. No trims: with them, deleted files free whole blocks, and nothing is moved.
$ftlab run lsm:streams=on,trim=off --logical "$logical" --op 7% --reserve 12 --drive-writes 12 \
    --ftl nvme-fdp,1r-greedy,sepbit --figure handles.svg
