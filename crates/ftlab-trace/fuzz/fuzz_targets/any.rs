//! Every reader: that of the format which FTLAB_FUZZ_FORMAT names, or the one that the content shows.
#![no_main]

use std::sync::LazyLock;

static FORMAT: LazyLock<Option<String>> = LazyLock::new(ftlab_trace_fuzz::format);

// The parquet library may panic and is guarded: only panics that come out of the reader count, so
// the hook of libFuzzer, which aborts at every panic, is taken out.
libfuzzer_sys::fuzz_target!(init: drop(std::panic::take_hook()), |bytes: &[u8]| {
    ftlab_trace_fuzz::read(bytes, FORMAT.as_deref())
});
