//! Generators against what they imitate, and against their own promises.

use crate::common::{Request, fixture, page_writes, shared};
use ftlab_trace::Space;
use ftlab_trace::{Op, OpenOptions, RequestBatch, RequestHasher, open};
use ftlab_workload::{GENERATORS, build, has_end, resolve};
use std::fmt::Write;

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

/// The first `count` requests of a generator, read in batches of `limit`.
fn requests(spec: &str, space: &Space, limit: usize, count: usize) -> Vec<Request> {
    let mut source = build(&spec.parse().unwrap(), space).unwrap();
    let mut batch = RequestBatch::with_limit(limit);
    let mut all = Vec::new();
    while all.len() < count && source.next_batch(&mut batch).unwrap() {
        assert!(!batch.is_empty() && batch.len() <= limit, "{spec}: {} of {limit}", batch.len());
        all.extend(batch.iter().map(|(op, lba, sectors)| (None, op, lba, sectors)));
    }
    all.truncate(count);
    all
}

#[test]
fn every_generator_is_deterministic_and_independent_of_batches() {
    for info in GENERATORS.iter().filter(|info| !["trace-like", "fio"].contains(&info.name)) {
        let space = Space { logical_pages: 60_000, page_bytes: 1536, seed: 5 };
        let whole = requests(info.name, &space, 3000, 9000);
        assert_eq!(whole.len(), 9000, "{} ends", info.name);
        let device_sectors = 60_000 * 3;
        for (_, op, lba, sectors) in &whole {
            let end = lba + u64::from(*sectors);
            assert!(end <= device_sectors && (*sectors > 0 || *op == Op::Flush), "{}", info.name);
        }
        for limit in [1, 7, 1024] {
            assert_eq!(requests(info.name, &space, limit, 9000), whole, "{} by {limit}", info.name);
        }
        let other = requests(info.name, &Space { seed: 6, ..space }, 3000, 9000);
        assert_ne!(other, whole, "{}: the seed does nothing", info.name);
        let metadata = build(&info.name.parse().unwrap(), &space).unwrap().metadata().clone();
        assert_eq!(metadata.device_bytes, Some(60_000 * 1536));
        assert_eq!(metadata.properties["seed"], "5");
    }
}

/// The hash of the first requests of a generator on a small drive: a change is a decision.
#[test]
fn database_generators_repeat_what_they_have_always_written() {
    let golden = include_str!("../data/golden_generators.txt");
    let space = Space { logical_pages: 1 << 16, page_bytes: 4096, seed: 1 };
    let specs = [
        "tpcc",
        "tpcc:schema=lookups",
        "tpcc:schema=sysbench",
        "tpcc:schema=sysbench,skew=off,old=0.37,batch=0.1,log=on,doublewrite=64",
        "linkbench",
        "linkbench:purge=on",
        "linkbench:start=0.3,page=4,doublewrite=128,old=0.37,batch=0.3,idle=0.2,purge=on",
        "ycsb:workload=a",
        "ycsb:workload=b",
        "ycsb:workload=d",
        "ycsb:workload=e",
        "ycsb:workload=f",
        "lsm",
        "lsm:data=0.3,wal=off,trim=off,ratio=4",
        "cachelib:region=1MiB",
        "cachelib:region=256KiB,eviction=lru,reinsert-hits=1,reinsert=0.1,trim=on,soc=0.3,restart=0.1,admit=0.5",
        "lmcache:chunk=1MiB",
        "lmcache:chunk=256KiB,tokens=100,prefix=300,turns=2,ttl=0.5,theta=0",
    ];
    let mut table = String::new();
    for spec in specs {
        let mut source = build(&spec.parse().unwrap(), &space).unwrap();
        let mut hasher = RequestHasher::new();
        let mut batch = RequestBatch::with_limit(1000);
        for _ in 0..200 {
            if !source.next_batch(&mut batch).unwrap() {
                break;
            }
            hasher.update(&batch);
        }
        writeln!(table, "{spec} {}", hasher.finish()).unwrap();
    }
    assert_eq!(table, golden, "the whole new table:\n{table}");
}

/// Share of the pages written up to each tenth of the page writes that are not written later.
fn frozen(pages: &[u64]) -> Vec<f64> {
    let mut lives = std::collections::BTreeMap::<u64, (usize, usize)>::new();
    for (now, page) in pages.iter().enumerate() {
        lives.entry(*page).or_insert((now, now)).1 = now;
    }
    let share = |tenth: usize| {
        let moment = pages.len() * tenth / 10;
        let written = lives.values().filter(|(first, _)| *first < moment).count();
        let frozen = lives.values().filter(|(_, last)| *last < moment).count();
        frozen as f64 / written as f64
    };
    (1..10).map(share).collect()
}

#[test]
fn tpcc_grows_from_start_to_end_and_leaves_frozen_pages_behind() {
    let space = Space { logical_pages: 1 << 15, page_bytes: 4096, seed: 1 };
    let spec = "tpcc:start=0.2,end=0.8";
    let mut source = build(&spec.parse().unwrap(), &space).unwrap();
    let load: usize = source.metadata().properties["load_page_writes"].parse().unwrap();
    let pages = page_writes(source.as_mut(), usize::MAX);
    let share = |pages: &[u64]| {
        let distinct: std::collections::BTreeSet<_> = pages.iter().collect();
        distinct.len() as f64 / f64::from(1 << 15)
    };
    assert!((share(&pages[..load]) - 0.2).abs() < 0.01, "{}", share(&pages[..load]));
    assert!((share(&pages) - 0.8).abs() < 0.02, "{}", share(&pages));
    // It grows all the time.
    let tenths = (1..=10).map(|tenth| share(&pages[..load + (pages.len() - load) * tenth / 10]));
    let tenths: Vec<f64> = tenths.collect();
    assert!(tenths.windows(2).all(|pair| pair[1] > pair[0] + 0.01), "{tenths:?}");
    // The paper: more than 40% at the middle, more than 60% at four fifths, in its larger databases.
    let frozen = frozen(&pages[load..]);
    assert!(frozen[4] > 0.35 && frozen[7] > 0.45, "{frozen:?}");
    assert!(frozen[8] < 0.9, "{frozen:?}");
}

#[test]
fn linkbench_writes_large_pages_twice_and_grows() {
    let space = Space { logical_pages: 1 << 15, page_bytes: 4096, seed: 1 };
    let all =
        requests("linkbench:start=0.3,end=0.5,page=4,doublewrite=128", &space, 1000, usize::MAX);
    let writes = || all.iter().filter(|(_, op, ..)| *op == Op::Write);
    // Behind the double-write area, every page has 16 KiB.
    let pages: Vec<_> = writes().filter(|(.., sectors)| *sectors == 32).collect();
    let twice: u64 = writes()
        .filter(|(.., lba, sectors)| *sectors > 32 && *sectors % 32 == 0 && lba % 32 == 0)
        .map(|(.., sectors)| u64::from(*sectors))
        .sum();
    let once = pages.len() as u64 * 32;
    assert!(
        twice > once,
        "{twice} sectors in large requests, {once} in pages: the load comes on top"
    );
    let highest = writes().map(|(.., lba, sectors)| lba + u64::from(*sectors)).max().unwrap();
    let share = highest as f64 / f64::from(8 << 15);
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

#[test]
fn linkbench_grows_faster_and_freezes_where_nothing_is_purged() {
    let space = Space { logical_pages: 1 << 15, page_bytes: 4096, seed: 1 };
    let [kept, purged] = ["off", "on"].map(|purge| {
        let spec = format!("linkbench:start=0.1,end=0.2,doublewrite=64,purge={purge}");
        let pages =
            page_writes(build(&spec.parse().unwrap(), &space).unwrap().as_mut(), usize::MAX);
        let highest = *pages.iter().max().unwrap() as f64 / f64::from(1 << 15);
        assert!((highest - 0.2).abs() < 0.01, "{purge}: {highest}");
        (pages.len(), frozen(&pages))
    });
    assert!(purged.0 > 5 * kept.0, "{} and {} page writes", purged.0, kept.0);
    // The paper: more than 40% at the middle, more than 60% at four fifths.
    assert!(kept.1[4] > 0.4 && purged.1[4] < 0.3, "{:?} and {:?}", kept.1, purged.1);
}

#[test]
fn linkbench_loads_its_rows_through_the_pool() {
    let space = Space { logical_pages: 1 << 16, page_bytes: 4096, seed: 1 };
    let load = requests("linkbench:start=0.3,requests=off", &space, 1000, usize::MAX);
    assert_eq!(requests("linkbench:start=0.3", &space, 1000, load.len()), load);
    let mut source = build(&"linkbench:start=0.3,requests=off".parse().unwrap(), &space).unwrap();
    let pages = page_writes(source.as_mut(), usize::MAX);
    let distinct: std::collections::BTreeSet<_> = pages.iter().collect();
    let share = distinct.len() as f64 / f64::from(1 << 16);
    // What the pool still has, and extents that are not full, are missing.
    assert!((0.24..0.3).contains(&share), "{share}");
    // Twice, and pages in whose tables rows come in any order more often.
    let times = pages.len() as f64 / distinct.len() as f64;
    assert!((2.5..20.0).contains(&times), "{times}");
}

#[test]
fn ycsb_grows_where_records_are_inserted_only() {
    let space = Space { logical_pages: 1 << 13, page_bytes: 4096, seed: 1 };
    for (workload, grows) in [("a", false), ("b", false), ("d", true), ("e", true), ("f", false)] {
        let spec = format!("ycsb:workload={workload},start=0.5,end=0.6");
        let mut source = build(&spec.parse().unwrap(), &space).unwrap();
        let highest = page_writes(source.as_mut(), 100_000).into_iter().max().unwrap();
        let share = highest as f64 / f64::from(1 << 13);
        let expected = if grows { 0.6 } else { 0.5 };
        assert!((share - expected).abs() < 0.02, "{workload}: {share}");
    }
    let error = build(&"ycsb:workload=c".parse().unwrap(), &space).err().unwrap().to_string();
    assert!(error.contains("take a, b, d, e or f"), "{error}");
}

#[test]
fn generators_tell_whether_they_end_without_being_made() {
    // None of these could be made: the drive is not known, nor is there a trace.
    let ends = |spec: &str| has_end(&spec.parse().unwrap()).map_err(|error| error.to_string());
    let always = ["tpcc", "linkbench", "trace-like"];
    for generator in GENERATORS.iter().filter(|generator| generator.name != "fio") {
        assert_eq!(
            ends(generator.name),
            Ok(always.contains(&generator.name)),
            "{}",
            generator.name
        );
    }
    for (workload, expected) in [("a", false), ("b", false), ("d", true), ("e", true), ("f", false)]
    {
        assert_eq!(ends(&format!("ycsb:workload={workload}")), Ok(expected), "{workload}");
    }
    assert!(ends("ycsb:workload=g").unwrap_err().contains("workload=g is not one of"));
}

#[test]
fn the_setup_of_a_database_is_listed_within_the_parameters_of_its_generator() {
    let keys = |spec: &str| -> String {
        let values = resolve(&spec.parse().unwrap()).unwrap();
        let pairs: Vec<_> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(" ")
    };
    assert_eq!(
        keys("tpcc:group=3"),
        "start=0.1 end=1 added=on schema=tpcc skew=on idle=0 buffer=0.1 old=0 batch=0 page=1 log=off \
         log-size=0.1 doublewrite=0 group=3"
    );
    assert_eq!(
        keys("linkbench:old=0.37"),
        "start=0.07 end=1 idle=0 buffer=0.1 old=0.37 batch=0 page=1 log=on log-size=0.06 \
         doublewrite=512 group=1 purge=off requests=on"
    );
    assert_eq!(
        keys("ycsb"),
        "workload=a theta=0.99 record=1100 start=0.8 end=1 idle=0 buffer=0.1 old=0 batch=0 page=1 \
         log=off log-size=0.1 doublewrite=0 group=1"
    );
}

#[test]
fn what_ends_is_no_part_of_a_mix() {
    let error = build(&"mix:of=tpcc*0.5;uniform*0.5".parse().unwrap(), &SPACE).err().unwrap();
    assert!(error.to_string().contains("it ends"), "{error}");
    assert_eq!(generate("mix:of=lsm*0.5;uniform*0.5", &SPACE, 1000).len(), 1000);
}

#[test]
fn databases_of_unusual_setups_write_within_the_drive() {
    let space = Space { logical_pages: 1 << 16, page_bytes: 4096, seed: 3 };
    let setups = [
        "page=1,start=0.5",
        "page=64,start=0.7,doublewrite=64",
        "start=0.9,idle=0.8",
        "buffer=0,start=0.3",
        "buffer=10,start=0.1,old=0.5",
        "batch=0.0001,start=0.3,old=0.9",
        "batch=0.9,buffer=0.001,start=0.3,doublewrite=7",
        "old=0.95,buffer=0.01,start=0.3,group=100",
    ];
    for name in ["tpcc", "linkbench", "ycsb"] {
        for setup in setups {
            let spec = format!("{name}:{setup}");
            let all = requests(&spec, &space, 1000, 100_000);
            let end = all.iter().map(|(.., lba, sectors)| lba + u64::from(*sectors)).max();
            assert!(
                all.len() > 10 && end.unwrap() <= space.logical_pages * 8,
                "{spec}: {} to {end:?}",
                all.len()
            );
        }
    }
    let large = Space { logical_pages: 1 << 33, ..space };
    let spec = "ycsb:start=1,buffer=10,page=4".parse().unwrap();
    let error = build(&spec, &large).err().unwrap().to_string();
    assert!(error.contains("buffer pool") && error.contains("lower buffer"), "{error}");
}

#[test]
fn databases_that_do_not_fit_are_refused_with_advice() {
    let space = Space { logical_pages: 2000, page_bytes: 4096, seed: 1 };
    for spec in ["tpcc", "tpcc:start=0.9,end=0.5", "linkbench:doublewrite=4096", "ycsb:start=0.01"]
    {
        let error = build(&spec.parse().unwrap(), &space).err().unwrap().to_string();
        assert!(
            error.contains("a database that needs") && error.contains("raise"),
            "{spec}: {error}"
        );
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
