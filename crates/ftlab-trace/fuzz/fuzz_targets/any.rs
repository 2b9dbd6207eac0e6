//! See the library.
#![no_main]

// The parquet library may panic and is guarded: only panics that come out of the reader count, so
// the hook of libFuzzer, which aborts at every panic, is taken out.
libfuzzer_sys::fuzz_target!(init: drop(std::panic::take_hook()), |bytes: &[u8]| {
    ftlab_trace_fuzz::read(bytes, None)
});
