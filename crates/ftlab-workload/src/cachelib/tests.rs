//! What the whole cache does, against what theory says.

use super::*;
use ftlab_random::zeta;
use ftlab_trace::Op;

/// 256 MiB.
const SPACE: Space = Space { logical_pages: PAGES, page_bytes: 4096, seed: 3 };
const PAGES: u64 = 1 << 16;
const BYTES: f64 = (PAGES * 4096) as f64;

fn parameters(text: &str) -> CacheLibParameters {
    CacheLibParameters::from_spec(&text.parse().unwrap()).unwrap()
}

/// Steps for 256 requests.
const STEPS: usize = 256 / STEP_ACCESSES;

/// The counts and the requests of `times` times 256 requests, after as many that are not counted.
fn run(text: &str, times: usize) -> (Counts, RequestBatch) {
    let steps = times * STEPS;
    let mut cache = CacheLib::new(&parameters(text), &SPACE).unwrap();
    let mut out = RequestBatch::new();
    for _ in 0..steps {
        cache.step(&mut out).unwrap();
    }
    let before = cache.counts();
    out.clear();
    for _ in 0..steps {
        cache.step(&mut out).unwrap();
    }
    let after = cache.counts();
    let counts = Counts {
        gets: after.gets - before.gets,
        dram_hits: after.dram_hits - before.dram_hits,
        flash_hits: after.flash_hits - before.flash_hits,
        small_inserts: after.small_inserts - before.small_inserts,
        small_removes: after.small_removes - before.small_removes,
        large_inserts: after.large_inserts - before.large_inserts,
    };
    (counts, out)
}

/// Of each stream, the requests and the pages of 4 KiB that they write.
fn writes(out: &RequestBatch, stream: u16) -> Vec<(u64, u64)> {
    let of_stream = out.iter().zip(&out.stream).filter(|(_, of)| **of == stream);
    of_stream.map(|((_, lba, sectors), _)| (lba / 8, u64::from(sectors) / 8)).collect()
}

#[test]
fn every_insert_of_a_small_object_writes_its_bucket_and_so_does_a_removal() {
    let text = "cachelib:region=1MiB,deletes=0.05,soc=0.3,data=1";
    let (counts, out) = run(text, 1500);
    let small = writes(&out, SMALL);
    assert_eq!(small.len() as u64, counts.small_inserts + counts.small_removes);
    assert!(counts.small_removes > 1000 && counts.large_inserts > 1000, "{counts:?}");
    let pages = PAGES as f64;
    let (first, end) = ((pages * 0.005) as u64, (pages * 0.005) as u64 + (pages * 0.3) as u64);
    assert!(small.iter().all(|(page, pages)| *pages == 1 && (first..end).contains(page)));
    // Objects have their buckets by a hash: all parts of the table are written alike.
    let mut tenths = [0_u32; 10];
    for (page, _) in &small {
        tenths[((page - first) * 10 / (end - first)) as usize] += 1;
    }
    let mean = small.len() as f64 / 10.0;
    assert!(tenths.iter().all(|count| (f64::from(*count) / mean - 1.0).abs() < 0.05), "{tenths:?}");
}

#[test]
fn regions_are_written_from_beginning_to_end_in_turn() {
    let (counts, out) = run("cachelib:region=2MiB", 3000);
    let large = writes(&out, LARGE);
    assert!(large.len() > 100, "{counts:?}");
    let first = large.iter().map(|(page, _)| *page).min().unwrap();
    for pair in large.windows(2) {
        let ((page, pages), (next, _)) = (pair[0], pair[1]);
        assert!(next == page + pages || next == first, "{next} after {page}");
    }
    assert!(large.iter().all(|(_, pages)| *pages <= 256));
    // As much as is put in is written, with what is left over at the ends of regions.
    let bytes = large.iter().map(|(_, pages)| pages * 4096).sum::<u64>() as f64;
    let expected = counts.large_inserts as f64 * (3600.0 + 32.0 + 256.0);
    assert!((bytes / expected - 1.0).abs() < 0.02, "{bytes} {expected}");
    assert_eq!(writes(&out, METADATA), []);
}

#[test]
fn the_least_recently_read_region_is_evicted_before_others() {
    let hits = |text: &str| {
        let (counts, _) = run(text, 4000);
        counts.flash_hits as f64 / (counts.gets - counts.dram_hits) as f64
    };
    let common = "cachelib:region=64KiB,soc=0,small=0,sets=0,dram=0.001,churn=0.02";
    let (fifo, lru) = (hits(common), hits(&format!("{common},eviction=lru")));
    let again = hits(&format!("{common},reinsert-hits=1"));
    assert!(lru > fifo + 0.001 && again > fifo + 0.01, "{fifo} {lru} {again}");
}

/// Solves for the time after which what is not used again has left: `held` objects of all are there.
fn characteristic_time(held: f64, there: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1e15_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt().max(low.midpoint(high).min(1.0));
        if there(middle) < held { low = middle } else { high = middle }
    }
    high
}

/// H. Che et al., "Hierarchical Web Caching Systems", JSAC 2002: an object is in a cache if it
/// has been asked for within a time that is the same for all.
#[test]
fn memory_hits_as_ches_approximation_says() {
    for theta in [0.6, 0.9, 1.2] {
        let text = format!("cachelib:region=1MiB,theta={theta},churn=0,sets=0,data=0.2,dram=0.01");
        let mut parameters = parameters(&text);
        parameters.small = 1.0;
        let mut cache = CacheLib::new(&parameters, &SPACE).unwrap();
        let mut out = RequestBatch::new();
        for step in 0..6000 {
            if step == 3000 {
                cache.cache.counts = Counts::default();
            }
            out.clear();
            cache.step(&mut out).unwrap();
        }
        let keys = 0.2 * BYTES / 250.0;
        let held = 0.01 * BYTES / (250.0 + 40.0);
        let zeta = zeta(keys as u64, theta);
        let chances: Vec<f64> =
            (1..=keys as u64).map(|rank| (rank as f64).powf(-theta) / zeta).collect();
        let there = |time: f64| chances.iter().map(|p| 1.0 - (-p * time).exp()).sum::<f64>();
        let time = characteristic_time(held, there);
        let expected: f64 = chances.iter().map(|p| p * (1.0 - (-p * time).exp())).sum();
        let counts = cache.counts();
        let hits = counts.dram_hits as f64 / counts.gets as f64;
        // The distribution is Gray's approximation of Zipf's.
        assert!((hits - expected).abs() < 0.01, "theta {theta}: {hits}, expected {expected}");
    }
}

/// A FIFO cache: an object leaves a time after it came, whether it is asked for or not (N. Gast and B. Van
/// Houdt, "Transient and steady-state regime of a family of list-based cache replacement algorithms",
/// SIGMETRICS 2015, section 4: the same as for random replacement).
#[test]
fn regions_in_turn_hit_as_a_fifo_cache_does() {
    let text = "cachelib:region=64KiB,soc=0,metadata=0,small=0,sets=0,churn=0,dram=0.00001,data=2";
    let (counts, _) = run(text, 4000);
    let keys = 2.0 * BYTES / 3600.0;
    let zeta = zeta(keys as u64, 0.9);
    let chances: Vec<f64> = (1..=keys as u64).map(|rank| (rank as f64).powf(-0.9) / zeta).collect();
    // Half a unit of 512 bytes is lost with each object, and half an object with each region.
    let regions = BYTES / 65_536.0 - 1.5;
    let held = regions * (65_536.0 - 1800.0) / (3600.0 + 32.0 + 256.0);
    let there = |time: f64| chances.iter().map(|p| p * time / (1.0 + p * time)).sum::<f64>();
    let time = characteristic_time(held, there);
    let expected: f64 = chances.iter().map(|p| p * p * time / (1.0 + p * time)).sum();
    let hits = counts.flash_hits as f64 / (counts.gets - counts.dram_hits) as f64;
    assert!((hits - expected).abs() < 0.015, "{hits}, expected {expected}");
}

#[test]
fn metadata_is_written_when_the_cache_restarts() {
    let (_, out) = run("cachelib:region=1MiB,restart=0.05,metadata=0.01", 1500);
    let pages = |stream| writes(&out, stream).iter().map(|(_, pages)| pages).sum::<u64>() as f64;
    let share = pages(METADATA) / (pages(SMALL) + pages(LARGE));
    assert!((share / (0.01 / 0.05) - 1.0).abs() < 0.25, "{share}");
    assert!(writes(&out, METADATA).iter().all(|(page, pages)| page + pages <= PAGES / 100));
}

#[test]
fn trims_are_of_evicted_regions_and_nothing_is_written_again_before() {
    let mut cache =
        CacheLib::new(&parameters("cachelib:region=1MiB,soc=0,trim=on,clean=3"), &SPACE).unwrap();
    let mut live = std::collections::BTreeSet::new();
    let mut out = RequestBatch::new();
    let mut trims = 0;
    for _ in 0..4000 * STEPS {
        out.clear();
        cache.step(&mut out).unwrap();
        for (op, lba, sectors) in out.iter() {
            for page in lba / 8..(lba + u64::from(sectors)) / 8 {
                match op {
                    Op::Write => assert!(live.insert(page), "page {page}"),
                    _ => assert!(live.remove(&page), "page {page}"),
                }
            }
            trims += u64::from(op == Op::Trim);
        }
    }
    assert!(trims > 100, "{trims}");
}

#[test]
fn streams_are_named_unless_they_are_off() {
    let mut cache = CacheLib::new(&parameters("cachelib:region=1MiB,streams=off"), &SPACE).unwrap();
    let mut out = RequestBatch::new();
    while out.len() < 1000 {
        cache.step(&mut out).unwrap();
    }
    assert!(out.stream.is_empty());
}

#[test]
fn what_does_not_go_together_is_refused_with_advice() {
    let refused = |text: &str| build(&text.parse().unwrap(), &SPACE).err().unwrap().to_string();
    for (text, said) in [
        ("cachelib:region=1GiB", "cachelib with 0 regions of 1GiB"),
        ("cachelib:region=1GiB", "lower region, metadata or soc, or give a larger drive"),
        ("cachelib:region=1000", "a multiple of 4 KiB from 64KiB to 1GiB"),
        ("cachelib:region=x", "a size such as 16MiB"),
        ("cachelib:theta=1", "use 0.99"),
        ("cachelib:small-bytes=500", "give 426 at most"),
        ("cachelib:large-bytes=640", "larger than small-max=640"),
        ("cachelib:sets=0.75,deletes=0.5", "give 0.25 at most"),
        ("cachelib:small-max=5000", "1..=4054"),
    ] {
        let error = refused(text);
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_cache_whose_memory_holds_everything_is_refused_and_does_not_go_on_for_ever() {
    let text = "cachelib:region=1MiB,data=0.01,dram=0.5,churn=0";
    let mut cache = CacheLib::new(&parameters(text), &SPACE).unwrap();
    let mut out = RequestBatch::new();
    let error = loop {
        if let Err(error) = cache.step(&mut out) {
            break error.to_string();
        }
        assert!(out.is_empty());
    };
    assert!(error.contains("lower dram, or raise data, churn or copies"), "{error}");
}
