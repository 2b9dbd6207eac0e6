#!/bin/sh
# A Linux guest without KVM, in which the kernel's own clients talk to ftlab over the guest's loopback.
#
#     guest.sh make DIR                    makes DIR/vmlinuz and DIR/base.cpio of Debian's packages; as root
#     guest.sh run DIR SCRIPT PROGRAM...   boots, runs SCRIPT with the programs in its PATH, and ends as it does
#
# The guest has busybox, dash, nvme-cli, fio, util-linux's lsblk and blkdiscard, shuf, mke2fs, e2fsck and nbd-client, all
# of it in memory. busybox prefers its own applets, dash what is in /bin.
set -e

# In the order in which they need each other.
modules="crct10dif_common crc64 crct10dif_generic crc-t10dif crc64_rocksoft_generic crc64-rocksoft t10-pi nvme-core \
nvme-fabrics nvme-tcp configfs nvmet nvmet-tcp null_blk nbd crc32c_generic crc16 mbcache jbd2 ext4"

# Copies programs, and the libraries that they are linked with, into the tree $1.
add() {
    tree=$1
    shift
    for program; do
        cp "$program" "$tree/bin/"
        ldd "$program" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
            mkdir -p "$tree$(dirname "$library")"
            cp -L "$library" "$tree$library"
        done
    done
}

pack() {
    (cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null)
}

make_guest() {
    directory=$1
    mkdir -p "$directory"
    apt-get update
    apt-get install --yes --no-install-recommends \
        qemu-system-x86 nvme-cli fio e2fsprogs util-linux busybox-static nbd-client
    kernel=$(apt-cache depends linux-image-amd64 | grep -o 'linux-image-[0-9][^ ]*' | head -n 1)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download "$kernel" && dpkg --extract ./*.deb kernel)
    cp "$work"/kernel/boot/vmlinuz-* "$directory/vmlinuz"
    tree=$work/tree
    mkdir -p "$tree/bin" "$tree/modules" "$tree/proc" "$tree/sys" "$tree/dev" "$tree/tmp" "$tree/etc"
    for module in $modules; do
        cp "$(find "$work/kernel/lib/modules" -name "$module.ko")" "$tree/modules/"
    done
    for applet in $(busybox --list); do
        ln -s busybox "$tree/bin/$applet"
    done
    for program in busybox dash nvme fio lsblk shuf mke2fs e2fsck blkdiscard nbd-client; do
        rm -f "$tree/bin/$program"
        add "$tree" "$(PATH=$PATH:/sbin:/usr/sbin command -v "$program")"
    done
    cat > "$tree/init" <<END
#!/bin/busybox sh
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
mount -t tmpfs none /tmp
mount -t configfs none /sys/kernel/config 2>/dev/null
for module in $modules; do
    insmod /modules/\$module.ko \$(cat /modules/\$module.options 2>/dev/null)
done
mount -t configfs none /sys/kernel/config 2>/dev/null
ip link set lo up
cd /tmp
sh -e /script
echo "the guest ends with \$?"
poweroff -f
END
    chmod +x "$tree/init"
    echo nbds_max=1 > "$tree/modules/nbd.options"
    echo "nr_devices=1 memory_backed=1 gb=1 bs=4096" > "$tree/modules/null_blk.options"
    pack "$tree" > "$directory/base.cpio"
}

run_guest() {
    directory=$1 script=$2
    shift 2
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/tree/bin"
    add "$work/tree" "$@"
    # What only a debugger needs is most of a program of a test, and all of it would be copied at every boot.
    strip --strip-debug "$work/tree/bin/"* 2>/dev/null || true
    cp "$script" "$work/tree/script"
    pack "$work/tree" > "$work/more.cpio"
    cat "$directory/base.cpio" "$work/more.cpio" > "$work/all.cpio"
    timeout "${GUEST_SECONDS:-600}" qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 2G -nographic -no-reboot \
        -kernel "$directory/vmlinuz" -initrd "$work/all.cpio" \
        -append "console=ttyS0 quiet panic=-1 random.trust_cpu=on mitigations=off" </dev/null |
        sed -u 's/\r$//' | tee "$work/output"
    grep -q '^the guest ends with 0$' "$work/output"
}

case $1 in
make) make_guest "$2" ;;
run)
    shift
    run_guest "$@"
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
