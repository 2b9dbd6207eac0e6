# The kernel's NVMe/TCP controller over memory, in the guest.
set -e
target=/sys/kernel/config/nvmet
mkdir $target/subsystems/ours
echo 1 > $target/subsystems/ours/attr_allow_any_host
mkdir $target/subsystems/ours/namespaces/1
echo /dev/nullb0 > $target/subsystems/ours/namespaces/1/device_path
echo 1 > $target/subsystems/ours/namespaces/1/enable
mkdir $target/ports/1
echo tcp > $target/ports/1/addr_trtype
echo ipv4 > $target/ports/1/addr_adrfam
echo 127.0.0.1 > $target/ports/1/addr_traddr
echo 4421 > $target/ports/1/addr_trsvcid
ln -s $target/subsystems/ours $target/ports/1/subsystems/ours
