//! Samples of a workload, and the drives that they are run on.
//!
//! A sampled drive has as many blocks as the whole one, and blocks of fewer pages. So all that FTLs reckon in blocks or
//! in shares stays as it is.

use super::curves::SampleSummary;
use ftlab_analysis::{Draw, PageWrites, Reach, Sample, Samples};
use ftlab_ftl::page::Hints;
use ftlab_sim::result::DriveSummary;
use ftlab_sim::{Experiment, Length, Logical, Physical, Requests, SimError, Workload};
use ftlab_spec::Spec;
use ftlab_trace::{Space, check_memory};
use std::sync::Arc;

/// Pages of a block that a larger sample has at least: our choice.
pub const PAGES_LEFT_MIN: u32 = 64;

/// Pages of a block of a larger sample for one of a smaller sample: our choice. With 2, errors of samples count more.
const LARGER: u32 = 4;

/// Pages that a smaller sample has at least: our choice.
pub const SAMPLE_PAGES_MIN: u32 = 8192;

/// Samples of each size, if nothing else is asked for.
pub const DRAWS_USUAL: u32 = 2;

/// Pages that a sample has at most: two bits of 32 have another purpose.
const SAMPLE_PAGES_MAX: u32 = 1 << 30;

/// Drive writes of a generator that are sampled for runs that last until they are steady: our choice.
const GENERATOR_DRIVE_WRITES: f64 = 24.0;

/// How much is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// One page in this many is in the larger samples, and one in four times as many in the smaller ones.
    pub one_in: u32,
    /// Samples of each size.
    pub draws: u32,
}

impl Sampling {
    /// Refuses what cannot be sampled, whatever the workload is.
    pub(super) fn check(base: &Experiment, ftls: &[&Spec]) -> Result<(), SimError> {
        let refuse = |what: String, remedy: &str| {
            Err(SimError::Unusable { what: format!("--sample with {what}"), remedy: remedy.into() })
        };
        let whole = "run the whole workload, without --sample";
        let given = [
            ("a clock (--timing)", base.timing.is_some()),
            ("flash that fails (--faults)", base.faults.is_some()),
            ("an SLC cache (--slc-cache)", base.drive.slc_cache.is_some()),
            ("a map on flash (--mapping)", !base.drive.mapping.are_full()),
        ];
        if let Some((what, _)) = given.iter().find(|(_, is_given)| *is_given) {
            return refuse(format!("{what}: samples tell write amplification alone"), whole);
        }
        for ftl in ftls {
            if base.policies.maps_blocks(ftl)? {
                return refuse(
                    format!("{ftl}: it maps whole blocks, and a sample has other blocks"),
                    "leave it out, or run without --sample",
                );
            }
            if ftl.name.split('/').next() == Some("mbf") {
                return refuse(
                    format!(
                        "{ftl}: its filters have a size of their own, whatever the pages of the drive"
                    ),
                    "leave it out, or run without --sample",
                );
            }
            if base.policies.hints(ftl)? == Hints::Streams {
                return refuse(
                    format!(
                        "{ftl}: it places by the streams of requests, and a sample has pages alone"
                    ),
                    "leave it out, or run without --sample",
                );
            }
        }
        if base.workload.is_read_once() {
            return refuse(
                format!(
                    "{}, which can be read once only: a sample takes two passes",
                    base.workload.name()
                ),
                "convert it to a file first: ftlab convert - trace.parquet",
            );
        }
        Ok(())
    }

    /// Pages of a block of the larger samples and of the smaller ones.
    fn pages_per_block(self, drive: &DriveSummary) -> Result<[u32; 2], SimError> {
        let larger = drive.pages_per_block / self.one_in.max(1);
        let smaller_pages = pages_of(drive, larger / LARGER);
        let name = format!("--sample 1/{}", self.one_in);
        if larger < PAGES_LEFT_MIN {
            let most = drive.pages_per_block / PAGES_LEFT_MIN;
            return Err(SimError::Unusable {
                what: format!(
                    "{name} leaves {larger} of the {} pages of a block, and {PAGES_LEFT_MIN} are the least",
                    drive.pages_per_block
                ),
                remedy: if most >= 2 {
                    format!("take --sample 1/{most} at most, or larger blocks (--pages-per-block)")
                } else {
                    "run without --sample, or with larger blocks (--pages-per-block)".into()
                },
            });
        }
        if smaller_pages < SAMPLE_PAGES_MIN {
            return Err(SimError::Unusable {
                what: format!(
                    "{name} leaves {smaller_pages} of the {} pages of the drive in its smaller sample, and \
                     {SAMPLE_PAGES_MIN} are the least",
                    drive.logical_pages
                ),
                remedy: "run without --sample: a small drive is run soon".into(),
            });
        }
        let larger_pages = pages_of(drive, larger);
        if larger_pages >= SAMPLE_PAGES_MAX {
            return Err(SimError::Unusable {
                what: format!(
                    "{name} leaves {larger_pages} pages, and fewer than 2^30 are possible"
                ),
                remedy: "take a smaller share".into(),
            });
        }
        Ok([larger, larger / LARGER])
    }
}

/// Logical pages of a drive with the blocks of `drive`, of `pages_per_block` pages each.
fn pages_of(drive: &DriveSummary, pages_per_block: u32) -> u32 {
    let share = f64::from(pages_per_block) / f64::from(drive.pages_per_block);
    (f64::from(drive.logical_pages) * share).round() as u32
}

/// The samples of a workload.
pub(super) struct Sampled {
    sampling: Sampling,
    pages_per_block: [u32; 2],
    logical_pages: u32,
    /// Page writes of the workload that were sampled.
    writes: u64,
    /// Pages of its write requests, on average.
    pub(super) pages_per_request: f64,
    /// The larger ones, then the smaller ones.
    samples: Vec<Arc<Sample>>,
    /// Whether they are repeated.
    repeat: bool,
}

impl Sampled {
    /// Reads the workload twice.
    pub(super) fn draw(
        sampling: Sampling,
        base: &Experiment,
        drive: &DriveSummary,
    ) -> Result<Self, SimError> {
        let pages_per_block = sampling.pages_per_block(drive)?;
        let logical_pages = drive.logical_pages;
        let is_generator = base.workload.is_generator();
        let repeat = base.repeat && !is_generator;
        let counted = match base.length {
            Length::OfWorkload if is_generator && !base.workload.has_end()? => {
                Length::DriveWrites(ftlab_sim::GENERATOR_DRIVE_WRITES).writes(logical_pages.into())
            }
            Length::UntilSteady(most) if is_generator => {
                Length::DriveWrites(most.min(GENERATOR_DRIVE_WRITES)).writes(logical_pages.into())
            }
            Length::UntilSteady(_) => None,
            length => length.writes(logical_pages.into()),
        };
        let reach = Reach {
            logical_pages,
            page_bytes: drive.page_bytes,
            wrap: base.wrap,
            ignore_trims: base.ignore_trims,
            writes_max: counted.map(|writes| writes.saturating_add(base.warmup_writes)),
        };
        let space = Space {
            logical_pages: logical_pages.into(),
            page_bytes: drive.page_bytes,
            seed: base.seed,
        };
        let draws: Vec<Draw> = pages_per_block
            .iter()
            .flat_map(|pages| (0..sampling.draws).map(move |draw| (pages, draw)))
            .map(|(pages, draw)| Draw {
                pages: pages_of(drive, *pages),
                seed: base
                    .seed
                    .wrapping_mul(1 << 32)
                    .wrapping_add(u64::from(draw) << 16 | u64::from(*pages)),
            })
            .collect();
        let counts = PageWrites::count(base.workload.generate(&space)?.as_mut(), reach)?;
        let pages: u64 = draws.iter().map(|draw| u64::from(draw.pages)).sum();
        let share = pages as f64 / f64::from(logical_pages);
        let bytes = 16 * u64::from(logical_pages) + (4.0 * share * counts.writes() as f64) as u64;
        check_memory("a sample of the workload", bytes, "take a smaller --sample")?;
        let samples =
            Samples::draw(&counts, &draws).fill(base.workload.generate(&space)?.as_mut())?;
        Ok(Self {
            sampling,
            pages_per_block,
            logical_pages,
            writes: counts.writes(),
            pages_per_request: counts.pages_per_request(),
            samples: samples.into_iter().map(Arc::new).collect(),
            repeat,
        })
    }

    /// How many samples there are.
    pub(super) fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Pages of a block of the drive of a sample.
    pub(super) fn pages_per_block(&self, number: usize) -> u32 {
        self.pages_per_block[number / self.sampling.draws.max(1) as usize]
    }

    /// An experiment on the sample of this number, instead of the whole workload.
    pub(super) fn experiment(
        &self,
        whole: &Experiment,
        number: usize,
    ) -> Result<Experiment, SimError> {
        let mut drive = whole.drive.clone();
        drive.logical = Logical::Pages(self.logical_pages.into());
        let blocks = drive.drive_config()?.geometry.blocks();
        let sample = Arc::clone(&self.samples[number]);
        drive.logical = Logical::Pages(sample.pages.into());
        drive.pages_per_block = Some(self.pages_per_block(number));
        drive.physical = Physical::Blocks(blocks);
        let share = sample.writes as f64 / self.writes.max(1) as f64;
        let writes = |writes: u64| (writes as f64 * share).round() as u64;
        let length = match whole.length {
            Length::Writes(counted) => Length::Writes(writes(counted)),
            // All of the sample: it has as many drive writes.
            Length::DriveWrites(_) if !self.repeat => Length::OfWorkload,
            length => length,
        };
        Ok(Experiment {
            workload: Workload::Requests(Requests::new(whole.workload.name(), false, move || {
                Ok(Box::new(sample.open()))
            })),
            drive,
            length,
            repeat: self.repeat,
            warmup_writes: writes(whole.warmup_writes),
            wrap: false,
            ..whole.clone()
        })
    }

    pub(super) fn summary(&self) -> SampleSummary {
        let sampled: u64 = self.samples.iter().map(|sample| sample.writes).sum();
        SampleSummary {
            one_in: self.sampling.one_in,
            pages_per_block: self.pages_per_block,
            draws: self.sampling.draws,
            work: sampled as f64 / self.writes.max(1) as f64,
            pages_per_request: self.pages_per_request,
        }
    }
}
