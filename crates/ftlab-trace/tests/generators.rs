//! Generators against what they imitate, and against their own promises.

mod common;

use common::{fixture, page_writes, shared};
use ftlab_trace::synthetic::{GENERATORS, Space, build};
use ftlab_trace::{OpenOptions, RequestBatch, open};

/// The logs were made by fio 3.33 with this, randrepeat=0 and norandommap=1, on 1 GiB.
const RANDSEED: u64 = 20_240_517;
const SPACE: Space = Space { logical_pages: 1 << 18, page_bytes: 4096, seed: RANDSEED };

fn generate(spec: &str, space: &Space, count: usize) -> Vec<u64> {
    page_writes(build(&spec.parse().unwrap(), space).unwrap().as_mut(), count)
}

#[test]
fn zipf_repeats_the_beginning_of_fios_logs() {
    for theta in ["0.5", "0.9", "1.1"] {
        let log = fixture(&format!("fio-zipf-{theta}.u32"));
        let mut log = open(&log, &OpenOptions::default()).unwrap();
        let log = page_writes(log.as_mut(), usize::MAX);
        assert_eq!(log.len(), 2000);
        assert_eq!(generate(&format!("zipf:theta={theta}"), &SPACE, 2000), log, "theta {theta}");
    }
}

#[test]
fn zipf_repeats_a_million_writes_of_fio() {
    for theta in ["0.5", "0.9", "1.1"] {
        let Some(path) = shared(&format!("traces/fio-zipf-{theta}.parquet")) else { return };
        let mut log = open(&path, &OpenOptions::default()).unwrap();
        let log = page_writes(log.as_mut(), usize::MAX);
        assert_eq!(log.len(), 1_000_000);
        let generated = generate(&format!("zipf:theta={theta}"), &SPACE, 1_000_000);
        let first_difference = log.iter().zip(&generated).position(|(a, b)| a != b);
        assert_eq!(first_difference, None, "theta {theta}");
    }
}

#[test]
fn every_generator_is_deterministic_aligned_and_independent_of_batches() {
    for info in GENERATORS {
        let space = Space { logical_pages: 1000, page_bytes: 1536, seed: 5 };
        let spec = info.name.parse().unwrap();
        let sequence = |limit: usize, space: &Space| {
            let mut source = build(&spec, space).unwrap();
            let mut batch = RequestBatch::with_limit(limit);
            let mut lbas = Vec::new();
            while lbas.len() < 3000 {
                assert!(source.next_batch(&mut batch).unwrap(), "{} ends", info.name);
                assert!(batch.sectors.iter().all(|sectors| *sectors == 3), "{}", info.name);
                lbas.extend_from_slice(&batch.lba);
            }
            lbas.truncate(3000);
            lbas
        };
        let whole = sequence(3000, &space);
        assert!(whole.iter().all(|lba| lba % 3 == 0 && lba / 3 < 1000), "{}", info.name);
        for limit in [1, 7, 1024] {
            assert_eq!(sequence(limit, &space), whole, "{} by {limit}", info.name);
        }
        let other = sequence(3000, &Space { seed: 6, ..space });
        assert_ne!(other, whole, "{}: the seed does nothing", info.name);
        let metadata = build(&spec, &space).unwrap().metadata().clone();
        assert_eq!(metadata.device_bytes, Some(1000 * 1536));
        assert_eq!(metadata.properties["seed"], "5");
    }
}

#[test]
fn impossible_drives_and_names_are_refused_with_advice() {
    let message =
        |spec: &str, space: Space| build(&spec.parse().unwrap(), &space).err().unwrap().to_string();
    let error = message("unifrom", SPACE);
    assert!(error.contains("did you mean \"uniform\"?"), "{error}");
    let error = message("uniform", Space { logical_pages: 0, ..SPACE });
    assert!(error.contains("give it 1 to "), "{error}");
    let error = message("uniform", Space { logical_pages: u64::MAX, ..SPACE });
    assert!(error.contains("give it 1 to "), "{error}");
    let error = message("uniform", Space { page_bytes: 1000, ..SPACE });
    assert!(error.contains("1000 bytes is not a multiple of 512"), "{error}");
    let error = message("hotcold:pages=2", SPACE);
    assert!(error.contains("pages=2 is not a number in 0.0..=1.0"), "{error}");
}
