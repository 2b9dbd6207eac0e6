//! Chunks, prefixes and eviction.

use super::*;
use ftlab_trace::Op;
use std::collections::BTreeSet;

/// 1 GiB.
const SPACE: Space = Space { logical_pages: 1 << 18, page_bytes: 4096, seed: 3 };

fn lmcache(text: &str) -> LmCache {
    let parameters = LmCacheParameters::from_spec(&text.parse().unwrap()).unwrap();
    LmCache::new(&parameters, &SPACE).unwrap()
}

/// Pages written by stream, and whatever else there is, after `steps` steps and as many before that.
fn written(text: &str, steps: usize) -> [u64; 4] {
    let mut cache = lmcache(text);
    let mut pages = [0; 4];
    let mut out = RequestBatch::new();
    for step in 0..2 * steps {
        out.clear();
        cache.step(&mut out).unwrap();
        for ((op, _, sectors), stream) in out.iter().zip(&out.stream) {
            if step >= steps && op == Op::Write {
                pages[usize::from(*stream)] += u64::from(sectors) / 8;
            }
        }
    }
    pages
}

#[test]
fn nothing_is_written_twice_before_it_is_trimmed_and_the_cache_never_grows_too_large() {
    for text in [
        "lmcache:chunk=1MiB",
        "lmcache:chunk=3MiB,tokens=100,ttl=0.3",
        "lmcache:chunk=256KiB,prefix=0",
    ] {
        let mut cache = lmcache(text);
        let mut live = BTreeSet::new();
        let mut out = RequestBatch::new();
        let mut trims = 0;
        for _ in 0..3000 {
            out.clear();
            cache.step(&mut out).unwrap();
            assert_eq!(out.stream.len(), out.len());
            for (op, lba, sectors) in out.iter() {
                for page in lba / 8..(lba + u64::from(sectors)) / 8 {
                    match op {
                        Op::Write => assert!(live.insert(page), "{text}: page {page}"),
                        _ => assert!(live.remove(&page), "{text}: page {page}"),
                    }
                }
                trims += u64::from(op == Op::Trim);
            }
            let (_, pages) = cache.chunks.held();
            assert!(pages == live.len() as u64 && pages <= (1 << 18) * 9 / 10, "{text}");
        }
        assert!(trims > 100, "{text}: {trims}");
    }
}

#[test]
fn prefixes_that_are_in_the_cache_are_not_written_again() {
    let rare = written("lmcache:chunk=256KiB,prefixes=50,theta=0.2", 4000);
    let shared = written("lmcache:chunk=256KiB,prefixes=0.02", 4000);
    assert!(shared[1] * 10 < rare[1], "{shared:?} {rare:?}");
    assert_eq!(written("lmcache:chunk=256KiB,prefix=0", 1000)[1], 0);
    assert_eq!(written("lmcache:chunk=256KiB,unfull=off", 1000)[3], 0);
}

/// Where all fits, each token is written once, in chunks, of which each turn adds what it is long.
#[test]
fn a_cache_that_is_large_enough_writes_what_turns_add() {
    let text = "lmcache:chunk=64KiB,prefix=0,unfull=off,conversations=0.001,turn=512,turns=3";
    let pages = written(text, 3000)[2] as f64;
    // A chunk of 256 tokens has 16 pages; half a chunk of each conversation is never full.
    let expected = 3000.0 * (512.5 - 128.0 / 3.0) / 256.0 * 16.0;
    assert!((pages / expected - 1.0).abs() < 0.06, "{pages} {expected}");
}

#[test]
fn what_is_not_used_for_its_time_to_live_is_deleted() {
    let held = |text: &str| {
        let mut cache = lmcache(text);
        let mut out = RequestBatch::new();
        for _ in 0..5000 {
            out.clear();
            cache.step(&mut out).unwrap();
        }
        cache.chunks.held().1 as f64 / f64::from(1 << 18)
    };
    assert!(held("lmcache:chunk=512KiB") > 0.89);
    // Nothing is used again: what is there was written within the time.
    let once = "lmcache:chunk=512KiB,prefix=0,turns=1,ttl=0.25";
    assert!((held(once) / (0.25 * 0.9) - 1.0).abs() < 0.02, "{}", held(once));
}

#[test]
fn what_does_not_fit_is_refused_with_advice() {
    for (text, said) in [
        ("lmcache:chunk=1GiB", "room for 0.9 chunks of 1GiB; it needs 4: lower chunk"),
        ("lmcache:chunk=1KiB", "within 64KiB to 1GiB"),
        ("lmcache:theta=1", "use 0.99"),
    ] {
        let error = build(&text.parse().unwrap(), &SPACE).err().unwrap().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}
