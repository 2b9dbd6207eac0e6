//! How large the drive is.
//!
//! With L logical pages, B pages per block and over-provisioning `op` = (physical - logical) / logical,
//! the drive has K = ceil((1 + op) L / B) erase blocks; the over-provisioning that comes out is
//! (K B - L) / L.

use crate::SimError;
use crate::drive::{DriveOptions, DriveSummary, EarlyCollection, Logical, Physical};
use crate::option::told_by;
use ftlab_flash::{Geometry, PAGES_MAX};
use ftlab_ftl::page::DriveConfig;
use ftlab_spec::{ByteSize, Share};
use ftlab_trace::pages::page_sectors;

/// Erase blocks that a drive has at least, so that streams and reserve take little of its spare space.
const USUAL_BLOCKS_MIN: u32 = 512;
/// Pages of a block: no more and no fewer than these.
const USUAL_PAGES: std::ops::RangeInclusive<u32> = 8..=512;

/// Pages per block where nothing else is asked for: the largest power of two up to 512 that leaves at least
/// 512 blocks. Blocks of 2 MiB are usual (4 KiB pages, 1 GiB or more); smaller drives have smaller blocks, so
/// that they have room for every FTL.
pub fn usual_pages_per_block(logical_pages: u32) -> u32 {
    let most = (logical_pages / USUAL_BLOCKS_MIN).max(1);
    (1 << most.ilog2()).clamp(*USUAL_PAGES.start(), *USUAL_PAGES.end())
}

/// Where the logical size comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Asked,
    Device,
    HighestAddress,
    /// The files of fio's jobs.
    Jobs,
}

/// The logical size in bytes or pages, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) bytes: u128,
    pub(crate) origin: Origin,
}

impl DriveOptions {
    /// Refuses what is wrong whatever the workload is.
    pub(crate) fn check(&self) -> Result<(), SimError> {
        let blocks = match self.physical {
            Physical::Blocks(blocks) => blocks,
            Physical::OverProvisioning(_) => 1,
        };
        Geometry::new(blocks, self.pages_per_block.unwrap_or(2), self.page_bytes)?;
        page_sectors(self.page_bytes)?;
        self.early_limits(blocks, 2)?;
        let bytes = match self.logical {
            Logical::OfWorkload => return Ok(()),
            Logical::Bytes(size) => u128::from(size.0),
            Logical::Pages(pages) => u128::from(pages) * u128::from(self.page_bytes),
        };
        self.configure(Wanted { bytes, origin: Origin::Asked }).map(drop)
    }

    /// A drive that is made before anything is known of its workload; `logical` must be a size.
    pub fn drive_config(&self) -> Result<DriveConfig, SimError> {
        self.check()?;
        let bytes = match self.logical {
            Logical::OfWorkload => 0,
            Logical::Bytes(size) => u128::from(size.0),
            Logical::Pages(pages) => u128::from(pages) * u128::from(self.page_bytes),
        };
        self.configure(Wanted { bytes, origin: Origin::Asked }).map(|(config, _)| config)
    }

    /// The logical pages, where they are asked for.
    pub fn asked_pages(&self) -> Option<u64> {
        match self.logical {
            Logical::Pages(pages) => Some(pages),
            Logical::Bytes(size) => Some(size.0 / u64::from(self.page_bytes.max(1))),
            Logical::OfWorkload => None,
        }
    }

    /// The drive for a logical size that is known by now.
    pub(crate) fn configure(
        &self,
        wanted: Wanted,
    ) -> Result<(DriveConfig, DriveSummary), SimError> {
        let page_bytes = u128::from(self.page_bytes.max(1));
        let pages = match wanted.origin {
            Origin::HighestAddress | Origin::Jobs => wanted.bytes.div_ceil(page_bytes),
            Origin::Asked | Origin::Device => wanted.bytes / page_bytes,
        };
        let logical_pages = self.checked_pages(pages, wanted)?;
        let pages_per_block =
            self.pages_per_block.unwrap_or_else(|| usual_pages_per_block(logical_pages));
        let blocks = self.blocks(logical_pages, pages_per_block)?;
        let geometry = Geometry::new(blocks, pages_per_block, self.page_bytes)?;
        let (gc_start_blocks, early_valid_pages_max) =
            self.early_limits(blocks, pages_per_block)?;
        let plain = DriveConfig::new(geometry, logical_pages, self.reserve_blocks);
        let config =
            DriveConfig { gc_start_blocks, early_valid_pages_max, ..self.of_engine(plain) };
        Ok((config, self.summary(&config, wanted)))
    }

    fn checked_pages(&self, pages: u128, wanted: Wanted) -> Result<u32, SimError> {
        if pages == 0 {
            return Err(SimError::Unusable {
                what: format!(
                    "a drive of {} bytes has no whole page of {} bytes",
                    wanted.bytes, self.page_bytes
                ),
                remedy: "give a larger --logical, or --logical-pages".into(),
            });
        }
        u32::try_from(pages).ok().filter(|pages| *pages < PAGES_MAX).ok_or_else(|| {
            let mut larger = (13..=20).map(|power| 1_u64 << power);
            let fits = |page: &u64| wanted.bytes.div_ceil((*page).into()) < PAGES_MAX.into();
            let larger = larger.find(fits).map_or(String::new(), |page| {
                format!("larger pages (--page-size {}) or ", ByteSize(page))
            });
            SimError::Unusable {
                what: format!(
                    "a drive of {} bytes has {pages} pages of {} bytes, and at most {} are possible",
                    wanted.bytes,
                    self.page_bytes,
                    PAGES_MAX - 1
                ),
                remedy: format!(
                    "use {larger}a smaller drive (--logical, or --drive for a model); where the \
                     addresses of a trace are scattered, --logical with --wrap"
                ),
            }
        })
    }

    fn blocks(&self, logical_pages: u32, pages_per_block: u32) -> Result<u32, SimError> {
        let share = match self.physical {
            Physical::Blocks(blocks) => return Ok(blocks),
            Physical::OverProvisioning(share) => share.0,
        };
        let block_pages = f64::from(pages_per_block.max(1));
        let blocks = ceil(f64::from(logical_pages) * (1.0 + share) / block_pages);
        if blocks * block_pages > f64::from(PAGES_MAX) {
            return Err(SimError::Unusable {
                what: format!(
                    "{logical_pages} logical pages and {} of over-provisioning make {blocks} blocks \
                     of {} pages, more than {PAGES_MAX} pages",
                    Share(share),
                    pages_per_block
                ),
                remedy: "use larger pages (--page-size) or a smaller drive (--logical, --op)"
                    .into(),
            });
        }
        Ok(blocks as u32)
    }

    /// Free blocks below which, and valid pages up to which, blocks are collected ahead of need.
    fn early_limits(&self, blocks: u32, pages_per_block: u32) -> Result<(u32, u32), SimError> {
        let Some(EarlyCollection { gc_start, gc_min_invalid }) = self.early else {
            return Ok((0, 0));
        };
        let shares = [("--gc-start", gc_start), ("--gc-min-invalid", gc_min_invalid)];
        if let Some((option, share)) = shares.into_iter().find(|(_, share)| share.0 > 1.0) {
            return Err(SimError::Unusable {
                what: format!("{option} {share} is more than the whole"),
                remedy: "give a share such as 25% or 0.25".into(),
            });
        }
        let pages_per_block = f64::from(pages_per_block);
        let valid_max = -ceil(-(1.0 - gc_min_invalid.0) * pages_per_block);
        // A block without an invalid page is never worth collecting.
        let valid_max = valid_max.min(pages_per_block - 1.0);
        Ok((ceil(gc_start.0 * f64::from(blocks)) as u32, valid_max as u32))
    }

    fn summary(&self, config: &DriveConfig, wanted: Wanted) -> DriveSummary {
        let page_bytes = u64::from(self.page_bytes);
        let logical_bytes = u64::from(config.logical_pages) * page_bytes;
        let physical_pages = u64::from(config.geometry.pages());
        let logical_pages = u64::from(config.logical_pages);
        let spare_pages = physical_pages as f64 - logical_pages as f64;
        DriveSummary {
            page_bytes: self.page_bytes,
            pages_per_block: config.geometry.pages_per_block(),
            blocks: config.geometry.blocks(),
            logical_pages: config.logical_pages,
            logical_bytes,
            physical_bytes: physical_pages * page_bytes,
            size_from: match wanted.origin {
                Origin::Asked => "asked",
                Origin::Device => "device of the trace",
                Origin::HighestAddress => "highest address of the trace",
                Origin::Jobs => "files of the jobs",
            }
            .into(),
            rounded_bytes: (i128::from(logical_bytes) - wanted.bytes.cast_signed()) as i64,
            op_ratio_asked: match self.physical {
                Physical::OverProvisioning(share) => Some(share.0),
                Physical::Blocks(_) => None,
            },
            op_ratio: spare_pages / logical_pages as f64,
            spare_factor: spare_pages / physical_pages as f64,
            reserve_blocks: self.reserve_blocks,
            gc_start_blocks: config.gc_start_blocks,
            early_valid_pages_max: config.early_valid_pages_max,
            gc: self.gc.to_string(),
            free_block: self.wear.free_block.to_string(),
            wear_threshold: self.wear.threshold,
            options: told_by(self),
        }
    }
}

/// The next whole number, not taken in by the rounding of a decimal share: 1.1 x 100 / 10 is 11.
fn ceil(number: f64) -> f64 {
    let nearest = number.round();
    if (number - nearest).abs() <= 1e-12 * number.abs() { nearest } else { number.ceil() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configure(options: &DriveOptions, pages: u32) -> Result<DriveSummary, String> {
        let bytes = u128::from(pages) * u128::from(options.page_bytes);
        let wanted = Wanted { bytes, origin: Origin::Asked };
        options.configure(wanted).map(|(_, summary)| summary).map_err(|error| error.to_string())
    }

    fn with_op(text: &str, pages_per_block: u32) -> DriveOptions {
        let physical = Physical::OverProvisioning(text.parse().unwrap());
        DriveOptions { pages_per_block: Some(pages_per_block), physical, ..DriveOptions::default() }
    }

    #[test]
    fn pages_that_are_large_enough_are_proposed() {
        for (bytes, page_bytes, proposed) in
            [(1 << 44, 4096, "8KiB"), (1 << 46, 4096, "32KiB"), (1 << 46, 16_384, "32KiB")]
        {
            let options = DriveOptions { page_bytes, ..DriveOptions::default() };
            let wanted = Wanted { bytes, origin: Origin::Asked };
            let error = options.configure(wanted).unwrap_err().to_string();
            let remedy = format!("use larger pages (--page-size {proposed}) or a smaller drive");
            assert!(error.contains(&remedy), "{error}");
            let pages =
                format!("has {} pages of {page_bytes} bytes", bytes / u128::from(page_bytes));
            assert!(error.contains(&pages), "{error}");
        }
    }

    #[test]
    fn blocks_are_rounded_up_once() {
        for (op, pages, pages_per_block, blocks) in [
            ("10%", 65_536, 128, 564),
            ("12.5%", 65_536, 128, 576),
            ("10%", 100, 10, 11),
            ("7%", 100, 1, 107),
            ("30%", 1000, 10, 130),
            ("10%", 101, 10, 12),
            ("0%", 100, 10, 10),
        ] {
            let config = configure(&with_op(op, pages_per_block.max(2)), pages);
            if pages_per_block >= 2 {
                assert_eq!(config.unwrap().blocks, blocks, "{op} of {pages}");
            }
        }
        let summary = configure(&with_op("12.5%", 128), 65_536).unwrap();
        assert!((summary.op_ratio - 0.125).abs() < 1e-12);
        assert!((summary.spare_factor - 1.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn bytes_asked_for_are_rounded_down_and_addresses_up() {
        let options = DriveOptions::default();
        for (origin, pages, rounded) in
            [(Origin::Asked, 2, -1), (Origin::Device, 2, -1), (Origin::HighestAddress, 3, 4095)]
        {
            let (config, summary) = options.configure(Wanted { bytes: 8193, origin }).unwrap();
            assert_eq!((config.logical_pages, summary.rounded_bytes), (pages, rounded));
        }
    }

    #[test]
    fn impossible_sizes_name_the_numbers_and_the_remedy() {
        let options = DriveOptions::default();
        let wanted = |bytes| Wanted { bytes, origin: Origin::Asked };
        let error = options.configure(wanted(100)).unwrap_err().to_string();
        assert!(error.contains("100 bytes has no whole page of 4096"), "{error}");
        let error = options.configure(wanted(1 << 60)).unwrap_err().to_string();
        assert!(
            error.contains("possible; use a smaller drive (--logical, or --drive for a model)"),
            "{error}"
        );
        let error = options.configure(wanted(4096 * 4_200_000_000)).unwrap_err().to_string();
        assert!(error.contains("10% of over-provisioning"), "{error}");
    }

    #[test]
    fn early_collection_becomes_whole_blocks_and_pages() {
        let early = |gc_start: f64, gc_min_invalid: f64| {
            let early = EarlyCollection {
                gc_start: Share(gc_start),
                gc_min_invalid: Share(gc_min_invalid),
            };
            DriveOptions { early: Some(early), ..with_op("12.5%", 128) }.early_limits(576, 128)
        };
        assert_eq!(early(0.25, 0.125).unwrap(), (144, 112));
        assert_eq!(early(0.1, 0.1).unwrap(), (58, 115));
        assert_eq!(early(0.1, 0.0).unwrap(), (58, 127));
        assert!(early(1.5, 0.1).is_err());
    }
}
