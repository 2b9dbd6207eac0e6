#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ftlab_drive::fuzz::journal(bytes));
