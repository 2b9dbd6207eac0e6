//! Generators: one file each, one line per generator in [`GENERATORS`].
//!
//! Most generators are endless (the caller stops them) and write one aligned page per request.
//! Those that imitate databases have requests of other sizes, flushes and trims, and those whose
//! database grows end when it has. The sequence of all depends on parameters, the number of pages
//! and the seed, never on batch sizes.

pub mod areas;
mod database;
pub mod hotcold;
pub mod iozone;
pub mod join;
pub mod linkbench;
pub mod lsm;
pub mod mix;
pub mod oltp;
pub mod parts;
mod permutation;
mod ranks;
mod requests;
pub mod skew;
pub mod skewdec;
pub mod skewinc;
pub mod swap;
mod taus88;
pub mod tpcc;
pub mod trace_like;
pub mod uniform;
pub mod ycsb;
pub mod zipf;

use crate::{Op, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource, pages};
use areas::{Area, Areas};
use ftlab_spec::{Parameter, Spec, SpecError};

/// What a generator writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Pages of the drive.
    pub logical_pages: u64,
    /// Bytes of a page, a multiple of 512.
    pub page_bytes: u32,
    /// Same seed, same sequence.
    pub seed: u64,
}

type Build = fn(&Spec, &Space) -> Result<Box<dyn PageSequence>, TraceError>;

type Resolve = fn(&Spec) -> Result<Vec<(&'static str, String)>, SpecError>;

/// One generator: how it is called, described and built.
pub struct GeneratorInfo {
    /// The name to type.
    pub name: &'static str,
    /// What it writes, in one line.
    pub summary: &'static str,
    /// Where it is described.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// All parameters of a spec with the values that they will have, as given or by default.
    resolve: Resolve,
    /// Builds the sequence of pages.
    build: Build,
    /// Where its hot and cold pages lie.
    areas: Areas,
}

/// Every generator.
pub static GENERATORS: &[GeneratorInfo] = &[
    uniform::GENERATOR,
    zipf::GENERATOR,
    hotcold::GENERATOR,
    skew::GENERATOR,
    skewinc::GENERATOR,
    skewdec::GENERATOR,
    swap::GENERATOR,
    oltp::GENERATOR,
    tpcc::GENERATOR,
    linkbench::GENERATOR,
    ycsb::GENERATOR,
    lsm::GENERATOR,
    trace_like::GENERATOR,
    iozone::GENERATOR,
    mix::GENERATOR,
    join::GENERATOR,
];

/// A sequence of page writes.
pub(crate) trait PageSequence: Send {
    /// Overwrites `pages` with the next page numbers of the sequence, which has no end.
    fn fill(&mut self, pages: &mut [u64]);

    /// Fills `batch`, which is empty, with the next requests: one page each, unless the generator has
    /// requests of its own. False at the end.
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError> {
        batch.lba.resize(batch.limit(), 0);
        batch.op.resize(batch.limit(), Op::Write);
        batch.sectors.resize(batch.limit(), page_sectors);
        self.fill(&mut batch.lba);
        for lba in &mut batch.lba {
            *lba *= u64::from(page_sectors);
        }
        Ok(true)
    }

    /// Whether [`next_requests`](Self::next_requests) ends.
    fn has_end(&self) -> bool {
        false
    }

    /// What else is worth knowing of this sequence, by name.
    fn properties(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The generator that `spec` names, writing to `space`.
///
/// ```
/// use ftlab_trace::{RequestBatch, synthetic::{Space, build}};
/// let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 1 };
/// let mut source = build(&"uniform".parse()?, &space)?;
/// let mut batch = RequestBatch::with_limit(10);
/// assert!(source.next_batch(&mut batch)?);
/// assert!(batch.len() == 10 && batch.lba.iter().all(|lba| lba % 8 == 0 && lba / 8 < 1000));
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn build(spec: &Spec, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    let page_sectors = pages::page_sectors(space.page_bytes)?;
    let addressable = u64::MAX / pages::SECTOR_BYTES / u64::from(page_sectors);
    if !(1..=addressable).contains(&space.logical_pages) {
        return Err(TraceError::Unsupported {
            what: format!("a drive of {} pages", space.logical_pages),
            remedy: format!("give it 1 to {addressable} pages"),
        });
    }
    let sequence = sequence(spec, space)?;
    let mut metadata = TraceMetadata { format: spec.to_string(), ..TraceMetadata::default() };
    metadata.device_bytes = Some(space.logical_pages * u64::from(space.page_bytes));
    metadata.properties.insert("generator".into(), spec.to_string());
    metadata.properties.insert("seed".into(), space.seed.to_string());
    let properties = sequence.properties().into_iter();
    metadata.properties.extend(properties.map(|(name, value)| (name.to_owned(), value)));
    Ok(Box::new(PageSource { sequence, page_sectors, metadata, skipped: Skipped::default() }))
}

/// Every parameter of the generator that `spec` names with the value that it will have.
pub fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
    (generator(spec)?.resolve)(spec)
}

/// Where the hot and cold pages of the generator that `spec` names lie, as far as they are known before
/// its first write: areas behind each other that fill the drive; empty if it has none to tell. What
/// each generator tells is in [`areas`](mod@areas).
///
/// ```
/// use ftlab_trace::synthetic::{Space, areas};
/// let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 1 };
/// let told = areas(&"hotcold:writes=0.9,pages=0.1".parse()?, &space)?;
/// assert_eq!((told[0].pages, told[0].writes), (100, 0.9));
/// assert!(areas(&"zipf".parse()?, &space)?.is_empty());
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    (generator(spec)?.areas)(spec, space)
}

/// A drive on which parameters can be tried before the size of the real one is known: 1 GiB.
pub const TRIAL: Space = Space { logical_pages: 1 << 18, page_bytes: 4096, seed: 0 };

/// Whether the generator that `spec` names has an end.
pub fn has_end(spec: &Spec) -> Result<bool, TraceError> {
    Ok(sequence(spec, &TRIAL)?.has_end())
}

fn generator(spec: &Spec) -> Result<&'static GeneratorInfo, SpecError> {
    GENERATORS.iter().find(|info| info.name == spec.name).ok_or_else(|| {
        let known = GENERATORS.iter().map(|info| info.name.to_owned()).collect();
        SpecError::UnknownName { kind: "generator", name: spec.name.clone(), known }
    })
}

/// The bare sequence of the generator that `spec` names.
fn sequence(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    (generator(spec)?.build)(spec, space)
}

/// A sequence of pages as a source of requests.
struct PageSource {
    sequence: Box<dyn PageSequence>,
    page_sectors: u32,
    metadata: TraceMetadata,
    skipped: Skipped,
}

impl TraceSource for PageSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        self.sequence.next_requests(batch, self.page_sectors)
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}
