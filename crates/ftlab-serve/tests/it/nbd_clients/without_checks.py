"""Asks a server of 16 MiB for what libnbd would never let through, and expects clean errors."""

import errno
import sys

import nbd

SIZE = 16 << 20


def connect(structured=True):
    handle = nbd.NBD()
    handle.set_strict_mode(0)
    handle.set_request_structured_replies(structured)
    handle.connect_unix(sys.argv[1])
    return handle


def fails(expected, ask):
    try:
        ask()
    except nbd.Error as error:
        assert error.errnum == expected, (error.errno, error.string)
    else:
        raise AssertionError("a request that cannot be succeeded")


for structured in (True, False):
    handle = connect(structured)
    assert handle.get_size() == SIZE
    assert handle.get_block_size(nbd.SIZE_PREFERRED) == 4096
    fails(errno.EINVAL, lambda: handle.pread(4096, SIZE - 4095))
    fails(errno.EINVAL, lambda: handle.pread(1, 1 << 62))
    fails(errno.EINVAL, lambda: handle.pread(1, (1 << 64) - 1))
    fails(errno.ENOSPC, lambda: handle.pwrite(bytes(4096), SIZE - 4095))
    fails(errno.ENOSPC, lambda: handle.zero(4096, SIZE))
    fails(errno.EINVAL, lambda: handle.trim(1 << 31, 4096))
    fails(errno.EINVAL, lambda: handle.trim(0, 0))
    fails(errno.EINVAL, lambda: handle.pread(0, 0))
    fails(errno.EINVAL, lambda: handle.pread((32 << 20) + 1, 0))
    fails(errno.EINVAL, lambda: handle.pwrite(bytes((32 << 20) + 1), 0))
    fails(errno.EINVAL, lambda: handle.cache(4096, 0))
    fails(errno.EINVAL, lambda: handle.pwrite(b"x", 0, 1 << 9))
    fails(errno.ENOTSUP, lambda: handle.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_NO_HOLE))
    # Any offset and length works.
    handle.pwrite(b"unaligned", 4093, nbd.CMD_FLAG_FUA)
    assert handle.pread(11, 4092) == b"\0unaligned\0"
    handle.zero(5, 4095)
    handle.flush()
    assert handle.pread(11, 4092) == b"\0un\0\0\0\0\0ed\0"
    handle.trim(4096, 4093)
    assert handle.pread(11, 4092) == bytes(11)
    handle.shutdown()

# A flush covers what completed on another connection.
one, other = connect(), connect()
one.pwrite(b"one", 0)
other.flush()
assert other.pread(3, 0) == b"one"
