//! Lists of generators, as `mix` and `join` take them: what is read prints back, and what is not read
//! is explained.
#![no_main]

use ftlab_spec::Value;
use ftlab_workload::parts::Parts;

libfuzzer_sys::fuzz_target!(|text: &str| {
    match Parts::parse(text) {
        Some(parts) => assert_eq!(Parts::parse(&parts.to_string()), Some(parts)),
        None => assert!(Parts::expects_for(text).contains("part ")),
    }
});
