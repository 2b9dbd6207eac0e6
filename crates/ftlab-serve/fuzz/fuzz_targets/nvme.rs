#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ftlab_serve::nvme::fuzz::fuzz(bytes));
