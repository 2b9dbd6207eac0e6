//! Synthetic workloads: generators, one file each, one line per generator in [`GENERATORS`].
//!
//! Most generators are endless (the caller stops them) and write one aligned page per request.
//! Those that imitate databases have requests of other sizes, flushes and trims, and those whose
//! database grows end when it has. The sequence of all depends on parameters, the number of pages
//! and the seed, never on batch sizes.
#![forbid(unsafe_code)]

#[cfg(not(feature = "fio"))]
mod absent_fio;
mod arbiter;
pub mod areas;
pub mod cachelib;
mod clients;
mod database;
mod divided;
mod extents;
mod file_name;
pub mod fio;
mod generator;
pub mod hotcold;
pub mod iozone;
pub mod jesd219;
pub mod join;
pub mod linkbench;
pub mod lmcache;
pub mod lsm;
pub mod mix;
pub mod oltp;
mod page_source;
mod part;
pub mod parts;
mod requests;
mod sequence;
pub mod skew;
pub mod swap;
pub mod three_streams;
pub mod tpcc;
pub mod trace_like;
mod transactions;
pub mod uniform;
mod write_watch;
pub mod ycsb;
pub mod zipf;
pub mod zones;

use areas::Area;
use ftlab_spec::{Spec, SpecError};
use ftlab_trace::{
    Contents, OpenOptions, Space, TRIAL, TraceError, TraceSource, format, pages, trace_identity,
};
use generator::{End, Make};
use page_source::source_of;
use parts::{Part, Parts, seed_of};
use sequence::Sequence;
use std::collections::BTreeSet;
use std::path::Path;

pub use arbiter::Arbiter;
pub use clients::Clients;
pub use generator::GeneratorInfo;
pub use sequence::Work;
pub use trace_like::SideBySide;
pub use transactions::TransactionSource;
pub use write_watch::WriteWatch;

/// The parameter that names a file.
const FILE: &str = "file";

/// The version of the readers of traces.
const READERS: (&str, u32) = ("traces", format::VERSION);

/// Every generator.
pub static GENERATORS: &[GeneratorInfo] = &[
    uniform::GENERATOR,
    zipf::GENERATOR,
    hotcold::GENERATOR,
    skew::SKEW,
    skew::SKEWINC,
    skew::SKEWDEC,
    swap::GENERATOR,
    oltp::GENERATOR,
    tpcc::GENERATOR,
    linkbench::GENERATOR,
    ycsb::GENERATOR,
    lsm::GENERATOR,
    cachelib::GENERATOR,
    lmcache::GENERATOR,
    trace_like::GENERATOR,
    fio::GENERATOR,
    fio::RANDWRITE,
    three_streams::GENERATOR,
    zones::GENERATOR,
    iozone::GENERATOR,
    jesd219::GENERATOR,
    mix::GENERATOR,
    join::GENERATOR,
];

/// The generator that `spec` names, writing to `space`.
///
/// ```
/// use ftlab_trace::{RequestBatch, Space};
/// use ftlab_workload::build;
/// let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 1 };
/// let mut source = build(&"uniform".parse()?, &space)?;
/// let mut batch = RequestBatch::with_limit(10);
/// assert!(source.next_batch(&mut batch)?);
/// assert!(batch.len() == 10 && batch.lba.iter().all(|lba| lba % 8 == 0 && lba / 8 < 1000));
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn build(spec: &Spec, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    build_watched(spec, space, None)
}

/// The source for a reader that ends after a number of written pages: an error if that cannot be, or if none has been
/// written for too long.
pub fn build_to_write(spec: &Spec, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    build_watched(spec, space, watch_of(spec)?)
}

fn build_watched(
    spec: &Spec,
    space: &Space,
    watch: Option<WriteWatch>,
) -> Result<Box<dyn TraceSource>, TraceError> {
    source_of(spec.to_string(), build_sequence(spec, space)?, space, watch)
}

/// What watches the generator that `spec` names, if it has no end; an error if it cannot write either.
fn watch_of(spec: &Spec) -> Result<Option<WriteWatch>, TraceError> {
    if has_end(spec)? {
        return Ok(None);
    }
    match generator(spec)?.end {
        End::Told(bounds) if !bounds(spec)?.writes => {
            Err(WriteWatch::never(&spec.to_string(), "it has no page writes at all"))
        }
        _ => Ok(Some(WriteWatch::default())),
    }
}

/// The sequence of the generator that `spec` names, on a drive that can be addressed.
fn build_sequence(spec: &Spec, space: &Space) -> Result<Sequence, TraceError> {
    let page_sectors = pages::page_sectors(space.page_bytes)?;
    let addressable = u64::MAX / pages::SECTOR_BYTES / u64::from(page_sectors);
    if !(1..=addressable).contains(&space.logical_pages) {
        return Err(TraceError::Unsupported {
            what: format!("a drive of {} pages", space.logical_pages),
            remedy: format!("give it 1 to {addressable} pages"),
        });
    }
    sequence(spec, space)
}

/// Every parameter of the generator that `spec` names with the value that it will have.
pub fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
    match generator(spec)?.make {
        Make::Parameters { resolve, .. } | Make::Areas { resolve, .. } => resolve(spec),
        Make::Parts { parts, .. } => parts(spec)?.resolved(resolve),
    }
}

/// Where the hot and cold pages of the generator that `spec` names lie, as far as they are known before
/// its first write: areas, one after the other, that fill the drive; empty if it has none to tell. What
/// each generator tells is in [`areas`](mod@areas).
///
/// ```
/// use ftlab_trace::Space;
/// use ftlab_workload::areas;
/// let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 1 };
/// let told = areas(&"hotcold:writes=0.9,pages=0.1".parse()?, &space)?;
/// assert_eq!((told[0].pages, told[0].writes), (100, 0.9));
/// assert!(areas(&"zipf".parse()?, &space)?.is_empty());
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    match generator(spec)?.make {
        Make::Parameters { areas, .. } => areas(spec, space),
        Make::Areas { plan, .. } => Ok(plan(spec, space)?.told),
        Make::Parts { parts, areas: combine, .. } => {
            let of_part = |part: &Part| areas(&part.spec, space);
            let parts = parts(spec)?.0.iter().map(of_part).collect::<Result<_, _>>()?;
            combine(spec, parts)
        }
    }
}

/// Whether the generator that `spec` names has an end.
pub fn has_end(spec: &Spec) -> Result<bool, TraceError> {
    match generator(spec)?.end {
        End::Never => Ok(false),
        End::Always => Ok(true),
        End::If(ends) => Ok(ends(spec)?),
        End::Told(bounds) => Ok(bounds(spec)?.has_end),
    }
}

/// The smallest drive for the generator that `spec` names, in bytes; `None` for most, which take whatever
/// drive there is.
pub fn drive_bytes(spec: &Spec) -> Result<Option<u64>, TraceError> {
    match generator(spec)?.end {
        End::Told(bounds) => Ok(bounds(spec)?.drive_bytes),
        End::Never | End::Always | End::If(_) => Ok(None),
    }
}

/// What tells the generator that `spec` names from any other, however it was typed: its version, every parameter, and
/// the content of files in place of their names.
///
/// ```
/// use ftlab_trace::Contents;
/// use ftlab_workload::identity;
/// let of = |spec: &str| identity(&spec.parse().unwrap(), &Contents::new()).unwrap();
/// assert_eq!(of("hotcold"), "hotcold 1 writes=0.9 pages=0.1");
/// assert_eq!(of("mix:of=hotcold*0.5;uniform*0.5"), of("mix:of=hotcold(pages=0.1)*0.50;uniform*0.5"));
/// ```
pub fn identity(spec: &Spec, contents: &Contents) -> Result<String, TraceError> {
    let info = generator(spec)?;
    let mut parts = vec![format!("{} {}", info.name, info.version)];
    match info.make {
        Make::Parts { parts: of, .. } => {
            for Part { spec, amount } in of(spec)?.0 {
                parts.push(format!("({})*{amount}", identity(&spec, contents)?));
            }
        }
        Make::Parameters { .. } if spec.name == fio::GENERATOR.name => {
            let jobs = fio::read(spec)?;
            parts.push(jobs.said());
            for name in jobs.replays() {
                parts.push(format!("replay ({})", identity_of_replay(name, contents)?));
            }
        }
        Make::Parameters { resolve, .. } | Make::Areas { resolve, .. } => {
            for (key, value) in resolve(spec)? {
                let value = match key {
                    FILE if !value.is_empty() => {
                        trace_identity(Path::new(&value), &OpenOptions::default(), contents)?
                    }
                    _ => value,
                };
                parts.push(format!("{key}={value}"));
            }
        }
    }
    Ok(parts.join(" "))
}

/// What tells apart what a job of fio replays, if it can be told.
fn identity_of_replay(name: &str, contents: &Contents) -> Result<String, TraceError> {
    if Path::new(name).exists() {
        return trace_identity(Path::new(name), &OpenOptions::default(), contents);
    }
    // Whoever opens it says what is wrong with it.
    name.parse().map_or_else(|_| Ok(name.to_owned()), |spec| identity(&spec, contents))
}

/// The versions of everything that decides the requests of the generator that `spec` names: its own, those of its
/// parts, and that of the readers of traces if it reads one.
///
/// ```
/// use ftlab_workload::versions;
/// assert_eq!(versions(&"mix:of=uniform*0.5;zipf*0.5".parse()?)?, [("mix", 1), ("uniform", 1), ("zipf", 1)]);
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn versions(spec: &Spec) -> Result<Vec<(&'static str, u32)>, TraceError> {
    let info = generator(spec)?;
    let mut all = vec![(info.name, info.version)];
    let reads_file = spec.get(FILE).is_some_and(|file| !file.is_empty());
    if let Make::Parts { parts, .. } = info.make {
        for part in parts(spec)?.0 {
            all.extend(versions(&part.spec)?);
        }
    } else if spec.name != fio::GENERATOR.name {
        all.extend(reads_file.then_some(READERS));
    } else {
        for name in fio::read(spec)?.replays() {
            let generator = name.parse().ok().filter(|_| !Path::new(name).exists());
            all.extend(generator.map_or_else(|| Ok(vec![READERS]), |spec| versions(&spec))?);
        }
    }
    let mut known = BTreeSet::new();
    all.retain(|version| known.insert(*version));
    Ok(all)
}

/// Refuses parameters that are wrong whatever the drive will be.
pub fn check(spec: &Spec) -> Result<(), TraceError> {
    match generator(spec)?.end {
        // Whether it fits the drive is known when that is.
        End::Told(bounds) => bounds(spec).map(drop),
        End::Never | End::Always | End::If(_) => build(spec, &TRIAL).map(drop),
    }
}

fn generator(spec: &Spec) -> Result<&'static GeneratorInfo, SpecError> {
    GENERATORS.iter().find(|info| info.name == spec.name).ok_or_else(|| {
        let known = GENERATORS.iter().map(|info| info.name.to_owned()).collect();
        SpecError::UnknownName { kind: "generator", name: spec.name.clone(), known }
    })
}

/// The bare sequence of the generator that `spec` names.
fn sequence(spec: &Spec, space: &Space) -> Result<Sequence, TraceError> {
    match generator(spec)?.make {
        Make::Parameters { build, .. } => build(spec, space),
        Make::Areas { plan, .. } => Ok(plan(spec, space)?.sequence(space)),
        Make::Parts { parts, build, .. } => {
            let parts = sequences(&parts(spec)?, space)?;
            build(spec, space, parts)
        }
    }
}

/// The sequences of all parts over the whole drive, each with a seed of its own.
fn sequences(parts: &Parts, space: &Space) -> Result<Vec<Sequence>, TraceError> {
    let seeds = (1..).map(|index| seed_of(space.seed, index));
    let of_part = |(part, seed): (&Part, u64)| {
        if has_end(&part.spec)? {
            return Err(TraceError::Unsupported {
                what: format!("{} as a part: it ends", part.spec),
                remedy: "combine generators without an end, or run it by itself".into(),
            });
        }
        sequence(&part.spec, &Space { seed, ..*space })
    };
    parts.0.iter().zip(seeds).map(of_part).collect()
}
