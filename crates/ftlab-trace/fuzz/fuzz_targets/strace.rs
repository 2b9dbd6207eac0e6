//! See the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ftlab_trace_fuzz::read(bytes, Some("strace")));
