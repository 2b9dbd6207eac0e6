//! See the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ftlab_trace_fuzz::read(bytes, Some("csv:map=ts:s=1;op=2;off=3;len:KiB=4;volume=5;op:*=W")));
