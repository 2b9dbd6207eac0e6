//! `cachelib`: a cache on flash, such as CacheLib: small objects in buckets, large ones in regions.
//!
//! # Idea
//! A cache in memory passes what leaves it on to flash. There, objects of up to a few hundred bytes are in
//! BigHash, a table of buckets: to insert one, its bucket is written, so that these are random writes of
//! 4 KiB. Larger objects are in BlockCache, a log of regions that are written one after the other, from
//! beginning to end. On a drive, both share erase blocks, and the pages of the log, which live long, are moved
//! again and again for the sake of the buckets, which do not; with a stream for each (`nvme-fdp`) they need
//! not be.
//!
//! # Rule
//! The cache is the first `size` of the drive: metadata, BigHash (`soc`), BlockCache. Who asks is `keys`. A
//! get looks into memory (`dram`: least recently used), then on flash; what is found there is copied into
//! memory. After a miss, the object is set. A set puts the object into memory and deletes it from flash:
//! if BigHash has it, its bucket is written without it. What leaves memory is put on flash, unless it came from there, has
//! not changed and is still there.
//!
//! In a bucket (`big_hash`), the oldest objects make room. An object of BlockCache (`block_cache`) is
//! appended to a region in memory; when that is full, it is written in requests of 1 MiB, spread over the
//! time in which the next one fills. `clean` regions are kept free, and the first of the others to be evicted is
//! the one written (`fifo`) or read (`lru`) longest ago; objects of it may be written again
//! (`reinsert-hits`, `reinsert`).
//!
//! Streams are named: 0 is metadata, 1 small and 2 large objects.
//!
//! # Parameters
//! Shares of the drive or the cache, so that any drive will do. The region is given in bytes and should be small
//! compared with an erase block of a drive that is scaled down, as it is in production.
//!
//! # What is simplified
//! Requests are answered one after the other: there is no time, so neither objects expire nor does an
//! admission policy aim at a rate of writes; of these there is the random one (`admit`). One pair of engines;
//! no chained objects; BlockCache has one priority. In a bucket, 20 bits of a hash stand for
//! the key, so that one lookup in 80,000 finds what is not there; BigHash's filters only save reads, and have no
//! false positives here. What memory loses by slabs of fixed sizes is left out.
//!
//! # Reference
//! B. Berg et al., "The CacheLib Caching Engine: Design and Experiences at Scale", OSDI 2020; M. Allison et al.,
//! "Towards Efficient Flash Caches with Emerging NVMe Flexible Data Placement SSDs", EuroSys 2025; CacheLib's
//! guides "Configure HybridCache" and "FDP enabled cache".

mod access;
mod big_hash;
mod block_cache;
mod cache;
mod dram;
mod keys;
mod metadata;
mod parameters;
mod regions;
mod table;
mod trace;

use super::generator::{Bounds, End, GeneratorInfo, Make};
use super::parts::seed_of;
use super::requests::{Stepped, Steps};
use super::sequence::PageSequence;
use access::{Access, Accesses};
use big_hash::{BUCKET_BYTES, BigHash};
use block_cache::{BlockCache, Layout, Reinsertion};
use cache::{Cache, Counts, Small};
use dram::Dram;
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{RequestBatch, TraceError};
use keys::Keys;
use metadata::Metadata;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use trace::Trace;

pub use parameters::{CacheLibParameters, Eviction, TraceFormat};

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "cachelib",
    summary: "a cache on flash: small objects in buckets, large ones in regions, streams for each",
    source: "CacheLib (OSDI 2020), with streams as in EuroSys 2025",
    parameters: CacheLibParameters::describe,
    version: 1,
    end: End::Told(|spec| {
        let parameters = CacheLibParameters::from_spec(spec)?;
        check(&parameters, spec)?;
        Ok(Bounds {
            has_end: !parameters.file.as_str().is_empty() && !parameters.repeat,
            drive_bytes: None,
            writes: true,
        })
    }),
    make: Make::Parameters {
        resolve: CacheLibParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

/// Requests for objects that are answered in one step. What those of the next step will look at is fetched meanwhile, so
/// that the processor does not wait for memory: tables are larger than its caches.
const STEP_ACCESSES: usize = 64;

/// Objects at the end of memory that are fetched ahead: about one leaves for each request.
const LEAVING: usize = 2 * STEP_ACCESSES;

/// Requests without any write that are too many.
const IDLE_ACCESSES_MAX: u64 = 1 << 26;

/// The smallest object of a trace of which a bucket can be full; of smaller ones it holds as many.
const TRACED_BYTES_MIN: u32 = 45;

/// The streams.
const METADATA: u16 = 0;
const SMALL: u16 = 1;
const LARGE: u16 = 2;

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = CacheLibParameters::from_spec(spec)?;
    check(&parameters, spec)?;
    Ok(Box::new(Stepped::new(CacheLib::new(&parameters, space)?)))
}

/// Refuses parameters that do not go together.
fn check(parameters: &CacheLibParameters, spec: &Spec) -> Result<(), SpecError> {
    let CacheLibParameters { small_max, small_bytes, large_bytes, .. } = *parameters;
    let bad = |key: &str, value: String, expects: String| {
        Err(SpecError::BadValue { of: spec.name.clone(), key: key.into(), value, expects })
    };
    if (parameters.theta - 1.0).abs() < f64::EPSILON {
        let expects = "possible: 1/(1 - theta) has no value there; use 0.99, and say so";
        return bad("theta", "1".into(), expects.into());
    }
    if u64::from(small_bytes) * 3 > u64::from(small_max) * 2 {
        let most = u64::from(small_max) * 2 / 3;
        let expects = format!(
            "possible: small objects of up to one and a half of it are larger than small-max={small_max}; give {most} at most"
        );
        return bad("small-bytes", small_bytes.to_string(), expects);
    }
    if large_bytes <= small_max {
        let expects = format!("possible: large objects are larger than small-max={small_max}");
        return bad("large-bytes", large_bytes.to_string(), expects);
    }
    if parameters.sets + parameters.deletes > 1.0 {
        let most = 1.0 - parameters.sets;
        let expects =
            format!("possible: it and sets are shares of the requests; give {most} at most");
        return bad("deletes", parameters.deletes.to_string(), expects);
    }
    let region = parameters.region;
    if !(1 << 16..=1 << 30).contains(&region.0) || !region.0.is_multiple_of(4096) {
        let expects = "a multiple of 4 KiB from 64KiB to 1GiB";
        return bad("region", region.to_string(), expects.into());
    }
    Ok(())
}

/// A cache and who asks it.
struct CacheLib {
    accesses: Box<dyn Accesses>,
    cache: Cache,
    /// Those to be answered, and those of the next step.
    present: Vec<Access>,
    next: Vec<Access>,
    /// Requests since something was written, or memory held more than ever before; and that most.
    idle_accesses: u64,
    dram_bytes_max: u64,
    properties: Vec<(&'static str, String)>,
}

/// Where the parts of a cache lie, in sectors from the beginning of the drive.
struct Parts {
    metadata: u64,
    buckets: u64,
    regions: u32,
    bytes: f64,
}

impl Parts {
    fn new(parameters: &CacheLibParameters, space: &Space) -> Result<Self, TraceError> {
        let drive_bytes = space.logical_pages * u64::from(space.page_bytes);
        let bytes = (drive_bytes as f64 * parameters.size) as u64;
        let whole = |share: f64| (bytes as f64 * share) as u64 / u64::from(BUCKET_BYTES);
        let (metadata, buckets) = (whole(parameters.metadata), whole(parameters.soc));
        let region_bytes = parameters.region.0;
        let regions = (bytes - (metadata + buckets) * u64::from(BUCKET_BYTES)) / region_bytes;
        // Beside the clean and the open ones there are two at least.
        let needed = u64::from(parameters.clean) + 3;
        if regions < needed {
            return Err(TraceError::Unsupported {
                what: format!("cachelib with {regions} regions of {}", parameters.region),
                remedy: format!(
                    "it needs {needed}: lower region, metadata or soc, or give a larger drive"
                ),
            });
        }
        let regions = u32::try_from(regions).map_err(|_| TraceError::Unsupported {
            what: format!("cachelib with {regions} regions of {}", parameters.region),
            remedy: "give larger regions, 4,294,967,295 at most".into(),
        })?;
        Ok(Self { metadata, buckets, regions, bytes: bytes as f64 })
    }
}

impl CacheLib {
    fn new(parameters: &CacheLibParameters, space: &Space) -> Result<Self, TraceError> {
        let parts = Parts::new(parameters, space)?;
        let mut properties = vec![
            ("soc_buckets", parts.buckets.to_string()),
            ("loc_regions", parts.regions.to_string()),
        ];
        let is_trace = !parameters.file.as_str().is_empty();
        let accesses: Box<dyn Accesses> = if is_trace {
            Box::new(Trace::open(parameters, space.seed)?)
        } else {
            let keys = Keys::new(parameters, parts.bytes, space.seed);
            properties.push(("objects", keys.keys().to_string()));
            Box::new(keys)
        };
        // Half the mean is the smallest small object that is generated.
        let smallest =
            if is_trace { TRACED_BYTES_MIN } else { (parameters.small_bytes / 2).max(1) };
        let cache = cache(parameters, &parts, smallest, is_trace, space.seed);
        let [present, next] = [(); 2].map(|()| Vec::with_capacity(STEP_ACCESSES));
        let (idle_accesses, dram_bytes_max) = (0, 0);
        Ok(Self { accesses, cache, present, next, idle_accesses, dram_bytes_max, properties })
    }

    /// Refuses to go on for ever without a write, because memory holds all that is asked for.
    fn check_progress(&mut self, out: &RequestBatch) -> Result<(), TraceError> {
        let held = self.cache.dram.bytes();
        if !out.is_empty() || held > self.dram_bytes_max {
            self.idle_accesses = 0;
            self.dram_bytes_max = self.dram_bytes_max.max(held);
            return Ok(());
        }
        self.idle_accesses += self.present.len() as u64;
        if self.idle_accesses < IDLE_ACCESSES_MAX {
            return Ok(());
        }
        Err(TraceError::Unsupported {
            what: format!(
                "cachelib, which has written nothing for {} requests,",
                self.idle_accesses
            ),
            remedy:
                "memory holds all that they ask for: lower dram, or raise data, churn or copies"
                    .into(),
        })
    }

    #[cfg(test)]
    fn counts(&self) -> Counts {
        self.cache.counts
    }
}

/// An empty cache.
fn cache(
    parameters: &CacheLibParameters,
    parts: &Parts,
    smallest: u32,
    sizes_change: bool,
    seed: u64,
) -> Cache {
    let random = |index| Xoshiro256PlusPlus::seed_from_u64(seed_of(seed, index));
    let sectors = u64::from(BUCKET_BYTES) / SECTOR_BYTES;
    let stream = |number: u16| parameters.streams.then_some(number);
    let small = (parts.buckets > 0).then(|| Small {
        table: BigHash::new(parts.buckets, smallest),
        first_sector: parts.metadata * sectors,
        stream: stream(SMALL),
    });
    let layout = Layout {
        first_sector: (parts.metadata + parts.buckets) * sectors,
        sector_bytes: SECTOR_BYTES,
        regions: parts.regions,
        region_bytes: parameters.region.0,
        clean: parameters.clean,
        eviction: parameters.eviction,
        reinsertion: Reinsertion {
            hits: parameters.reinsert_hits,
            share: (parameters.reinsert * (1_u64 << 32) as f64) as u64,
        },
        trims: parameters.trim,
        stream: stream(LARGE),
    };
    Cache {
        dram: Dram::new((parameters.dram * parts.bytes) as u64),
        small,
        large: BlockCache::new(layout, random(3)),
        metadata: Metadata {
            first_sector: 0,
            sectors: parts.metadata * sectors,
            interval_sectors: (parameters.restart * parts.bytes) as u64 / SECTOR_BYTES,
            written_sectors: 0,
            stream: stream(METADATA),
        },
        small_bytes_max: parameters.small_max,
        sizes_change,
        admitted: (parameters.admit * (1_u64 << 53) as f64) as u64,
        random: random(4),
        counts: Counts::default(),
    }
}

impl Steps for CacheLib {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        std::mem::swap(&mut self.present, &mut self.next);
        self.next.clear();
        let has_next = self.accesses.next(&mut self.next)?;
        if self.present.is_empty() {
            self.next.iter().for_each(|access| self.cache.prefetch(access));
            return Ok(has_next);
        }
        for (index, access) in self.present.iter().enumerate() {
            if let Some(next) = self.next.get(index) {
                self.cache.prefetch(next);
            }
            self.cache.prefetch_leaving(LEAVING);
            let first = out.len();
            self.cache.answer(access, out);
            self.cache.metadata.follow(first, out);
        }
        self.check_progress(out)?;
        Ok(true)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.properties.clone()
    }
}

#[cfg(test)]
mod tests;
