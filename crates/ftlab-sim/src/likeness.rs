//! Whether a drive with a clock is like one that is built: its blocks, their share on each LUN, and how many there are.

use crate::SimError;
use crate::drive::DriveOptions;
use crate::format::{grouped, percent};
use crate::result::{Config, DriveSummary};
use crate::run_options::Experiment;
use ftlab_flash::Geometry;
use ftlab_host::Timing;
use ftlab_spec::{ByteSize, Spec};

/// Erase blocks below which a drive with a clock is small: free and open blocks then take much of its spare pages.
const BLOCKS_FEW: u32 = 256;

/// Share of the LUNs' busy time that erases take at most, where the blocks are like those of a drive.
const ERASES_MAX: f64 = 0.1;

impl Experiment {
    /// The drive, with the blocks that its flash brings where none are asked for.
    pub fn drive_on_its_flash(&self) -> Result<DriveOptions, SimError> {
        let timing = self.timing.as_ref().map(Timing::from_spec).transpose()?;
        let of_flash = timing.map(|timing| timing.pages_per_block(self.drive.page_bytes));
        let pages_per_block = self.drive.pages_per_block.or(of_flash);
        Ok(DriveOptions { pages_per_block, ..self.drive.clone() })
    }
}

/// A timing, and the drive that has it.
struct OnFlash<'a> {
    spec: Spec,
    timing: Timing,
    drive: &'a DriveSummary,
}

impl<'a> OnFlash<'a> {
    fn new(config: &'a Config) -> Option<Self> {
        let spec: Spec = config.timing.as_ref()?.timing.parse().ok()?;
        let timing = Timing::from_spec(&spec).ok()?;
        Some(Self { spec, timing, drive: &config.drive })
    }

    /// Pages of a block, and where they are: `16,384 pages (256 on each of 64 LUNs)`.
    fn block(&self) -> String {
        let (pages, luns) = (self.drive.pages_per_block, self.timing.luns_of_block());
        let of_each = if pages.is_multiple_of(luns) {
            grouped(u64::from(pages / luns))
        } else {
            format!("{:.1}", f64::from(pages) / f64::from(luns))
        };
        match luns {
            1 => format!("{} pages", grouped(pages.into())),
            _ => format!("{} pages ({of_each} on each of {luns} LUNs)", grouped(pages.into())),
        }
    }

    /// Whether its blocks are as small as those of the chip, or smaller.
    fn is_of_chip(&self) -> bool {
        self.drive.pages_per_block >= self.timing.pages_per_block(self.drive.page_bytes)
    }

    /// What makes blocks like those of the chip.
    fn larger_blocks(&self) -> String {
        let pages = self.timing.pages_per_block(self.drive.page_bytes);
        let logical = self.logical_for(pages);
        format!(
            "leave out --pages-per-block for those of {} ({} pages), on a drive that they fit on ({logical})",
            self.spec.name,
            grouped(pages.into()),
        )
    }

    /// The option for a drive with enough blocks of this many pages.
    fn logical_for(&self, pages_per_block: u32) -> String {
        let bytes = u64::from(pages_per_block) * u64::from(self.drive.page_bytes);
        let op_ratio = self.drive.op_ratio_asked.unwrap_or(self.drive.op_ratio);
        let flash = bytes as f64 * f64::from(BLOCKS_FEW) / (1.0 + op_ratio);
        let mib = (flash / f64::from(1 << 20)).ceil() as u64;
        let mib = if mib > 1024 { mib.next_multiple_of(1024) } else { mib };
        format!("--logical {}", ByteSize(mib << 20))
    }

    /// What makes a drive have enough blocks.
    fn more_blocks(&self) -> String {
        let fewer = if self.timing.luns_of_block() > 1 {
            format!(", fewer LUNs ({}:channels=1,luns=2)", self.spec.name)
        } else {
            String::new()
        };
        let larger = self.logical_for(self.drive.pages_per_block);
        format!("give a larger drive ({larger}){fewer}, or smaller blocks (--pages-per-block)")
    }

    fn few_blocks(&self) -> Option<String> {
        (self.drive.blocks < BLOCKS_FEW).then(|| {
            format!(
                "the drive has {} blocks of {}, fewer than {BLOCKS_FEW}, so that free and open blocks take much of its \
                 spare pages: {}",
                self.drive.blocks,
                self.block(),
                self.more_blocks()
            )
        })
    }

    fn idle_luns(&self) -> Option<String> {
        let DriveSummary { blocks, pages_per_block, page_bytes, .. } = *self.drive;
        let geometry = Geometry::new(blocks, pages_per_block, page_bytes).ok()?;
        let (idle, luns) = (self.timing.idle_luns(&geometry), self.timing.luns());
        (idle > 0).then(|| {
            format!(
                "no block reaches {idle} of {luns} LUNs, since there are {blocks} blocks of {} pages: {}, or give fewer \
                 LUNs ({}:channels=1,luns=2)",
                grouped(pages_per_block.into()),
                self.larger_blocks(),
                self.spec.name
            )
        })
    }

    fn erases(&self, share: f64) -> Option<String> {
        (share > ERASES_MAX).then(|| {
            let remedy = if self.is_of_chip() {
                format!("the blocks of {} are no larger; block-pages sets others", self.spec)
            } else {
                self.larger_blocks()
            };
            format!(
                "erases take {} of the time that LUNs are busy, more than {}, with blocks of {}: {remedy}",
                percent(share),
                percent(ERASES_MAX),
                self.block()
            )
        })
    }
}

/// What is unlike a drive that is built, each a sentence without its full stop: of blocks and LUNs, and after a run also
/// of erases, which took this share of the time that LUNs were busy.
pub fn doubts(config: &Config, share_of_erases: Option<f64>) -> Vec<String> {
    let Some(on_flash) = OnFlash::new(config) else { return Vec::new() };
    let erases = share_of_erases.and_then(|share| on_flash.erases(share));
    [on_flash.few_blocks(), on_flash.idle_luns(), erases].into_iter().flatten().collect()
}

/// An error of a drive that has too few blocks, with what the flash has to do with it.
pub(crate) fn refused(error: SimError, config: &Config) -> SimError {
    let few = OnFlash::new(config).filter(|of| of.drive.blocks < BLOCKS_FEW);
    match (few, &error) {
        (Some(on_flash), SimError::Build(_)) => SimError::Unusable {
            what: format!(
                "{error}; with --timing {} the drive has {} blocks of {}",
                on_flash.spec,
                on_flash.drive.blocks,
                on_flash.block()
            ),
            remedy: on_flash.more_blocks(),
        },
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fill, Length, Logical, Workload};
    use ftlab_trace::OpenOptions;

    fn experiment(timing: &str, logical: &str, pages_per_block: Option<u32>) -> Experiment {
        let workload = Workload::parse("hotcold", OpenOptions::default()).unwrap();
        let logical = Logical::Bytes(logical.parse().unwrap());
        Experiment {
            drive: DriveOptions { logical, pages_per_block, ..DriveOptions::default() },
            fill: Fill::Random,
            length: Length::DriveWrites(1.0),
            timing: Some(timing.parse().unwrap()),
            threads: Some(1),
            ..Experiment::new(workload, vec!["1r-greedy".parse().unwrap()])
        }
    }

    #[test]
    fn a_timing_brings_its_blocks_unless_others_are_given() {
        let pages_of = |of: &Experiment| of.prepare().unwrap().config().drive.pages_per_block;
        let pages = |timing, given| pages_of(&experiment(timing, "64MiB", given));
        assert_eq!(pages("slc", None), 64);
        assert_eq!(pages("slc:luns=2,block-pages=48", None), 96);
        assert_eq!(pages("slc", Some(32)), 32);
        let mut plain = experiment("slc", "64MiB", None);
        plain.timing = None;
        assert_eq!(pages_of(&plain), 32);
    }

    #[test]
    fn what_is_unlike_a_drive_is_told_with_value_limit_and_remedy() {
        let run = |timing, given| {
            let result = experiment(timing, "32MiB", given).run(&mut ()).unwrap();
            result.runs[0].doubts.clone()
        };
        let like = "femu:channels=2,luns=1,block-pages=16,erase-us=100";
        assert_eq!(run("femu:channels=1,luns=1,erase-us=400", Some(32)), Vec::<String>::new());
        let few = run(like, Some(64));
        assert_eq!(few.len(), 1, "{few:?}");
        assert!(
            few[0].contains("has 141 blocks of 64 pages (32 on each of 2 LUNs), fewer than 256")
        );
        assert!(
            few[0].contains("--logical 59MiB), fewer LUNs (femu:channels=1,luns=2)"),
            "{few:?}"
        );
        let small = run("femu:channels=4,luns=4", Some(8));
        assert!(small[0].starts_with("no block reaches 8 of 16 LUNs"), "{small:?}");
        assert!(small[1].contains("blocks of 8 pages (0.5 on each of 16 LUNs)"), "{small:?}");
        assert!(small[1].contains("those of femu (4,096 pages)"), "{small:?}");
        let own = run("slc:erase-us=3000,block-pages=32", None);
        assert!(own[0].contains("block-pages sets others"), "{own:?}");
    }

    #[test]
    fn a_drive_that_the_blocks_do_not_fit_on_is_refused_with_the_remedy() {
        let error = experiment("femu", "256MiB", None).run(&mut ()).unwrap_err().to_string();
        for part in [
            "with --timing femu the drive has 5 blocks of 16,384 pages (256 on each of 64 LUNs)",
            "--logical 15GiB",
            "fewer LUNs",
            "--pages-per-block",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
