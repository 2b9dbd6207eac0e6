//! `iozone`: x% of the writes to y% of the pages, as in FASTer's synthetic workloads.
//!
//! # Rule
//! A share `touched` of the drive is written, page by page in independent draws: x% of them go to the
//! hot pages, y% of those that are written, the others to the rest; within both every page is equally
//! likely. With `hot=scattered` all these pages lie anywhere on the drive, hot ones among cold ones; with
//! `hot=together` they are the start of the drive, the hot ones first.
//!
//! # What to know
//! The paper modified IOZone for four traces, from 90/10 to 60/40, each of about 4 million writes to 1.4
//! million pages of a drive of 8 GB. It does not say where the hot pages lie, and FTLs that merge whole
//! blocks depend on that. Nor can every trace have as many pages: at 90/10, 4 million writes leave 0.4
//! million for 1.26 million cold pages. So pages are drawn, and how many come depends on the length.
//!
//! # Reference
//! Lim, Lee and Moon, "FASTer FTL for Enterprise-Class Flash Memory SSDs", SNAPI 2010, section V.C.

use super::areas::Area;
use super::divided::{Division, Plan};
use super::generator::{End, GeneratorInfo, Make};
use ftlab_random::NUMBERS_MAX;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::{Space, TraceError};

ftlab_spec::choices! {
    /// Where hot pages lie.
    pub enum HotPages {
        /// Among cold ones, all over the drive.
        Scattered = "scattered",
        /// At the start of the drive.
        Together = "together",
    }
}

ftlab_spec::parameters! {
    /// How skewed the writes are, and where they go.
    pub struct IozoneParameters {
        /// Percentage of the writes that goes to the hot pages.
        x: f64 = 90.0, "x" in 0.0..=100.0, from "FASTer (SNAPI 2010), section V.C: 90, 80, 70 and 60";
        /// Percentage of the written pages that is hot.
        y: f64 = 10.0, "y" in 0.0..=100.0, from "FASTer (SNAPI 2010), section V.C: 10, 20, 30 and 40";
        /// Share of the pages of the drive that is written.
        touched: f64 = 0.35, "touched" in 0.0..=1.0, from "FASTer (SNAPI 2010), section V.C: 1.4 million of 8 GB";
        /// Where the hot pages lie.
        hot: HotPages = HotPages::Scattered, "hot", from "our reading: the paper is silent";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "iozone",
    summary: "x% of the writes to y% of the written pages, scattered or together",
    source: "FASTer (SNAPI 2010), section V.C",
    parameters: IozoneParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Areas { resolve: IozoneParameters::resolve, plan },
};

fn plan(spec: &Spec, space: &Space) -> Result<Plan, TraceError> {
    let IozoneParameters { x, y, touched, hot } = IozoneParameters::from_spec(spec)?;
    let pages = (touched * space.logical_pages as f64).round() as u64;
    if pages < 2 || space.logical_pages > NUMBERS_MAX {
        return Err(TraceError::Unsupported {
            what: format!("touched={touched} of a drive of {} pages", space.logical_pages),
            remedy: format!("touch 2 pages or more of a drive of at most {NUMBERS_MAX}"),
        });
    }
    let hot_pages = ((y / 100.0 * pages as f64).round() as u64).clamp(1, pages - 1);
    let area = |pages, percent| Area { pages, writes: percent / 100.0 };
    let mut areas = vec![area(hot_pages, x), area(pages - hot_pages, 100.0 - x)];
    areas.extend((pages < space.logical_pages).then(|| area(space.logical_pages - pages, 0.0)));
    let scattered = hot == HotPages::Scattered;
    let divisions = vec![(0, Division::hot_and_cold(&areas))];
    Ok(Plan { told: if scattered { Vec::new() } else { areas }, divisions, scattered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence;
    use std::collections::HashMap;

    const SPACE: Space = Space { logical_pages: 10_000, page_bytes: 2048, seed: 7 };

    /// Writes of each page that was written, the most written first.
    fn counts(spec: &str) -> Vec<(u64, u32)> {
        let mut drawn = vec![0; 400_000];
        sequence(&spec.parse().unwrap(), &SPACE).unwrap().fill(&mut drawn);
        let mut counts = HashMap::new();
        for page in drawn {
            *counts.entry(page).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(page, count)| (u32::MAX - count, *page));
        counts
    }

    #[test]
    fn shares_are_as_asked_wherever_the_pages_lie() {
        for (x, y) in [(90, 10), (80, 20), (70, 30), (60, 40)] {
            for hot in ["scattered", "together"] {
                let counts = counts(&format!("iozone:x={x},y={y},hot={hot}"));
                assert_eq!(counts.len(), 3500, "35% of the pages");
                let hottest = &counts[..35 * y];
                let writes: u32 = hottest.iter().map(|(_, count)| count).sum();
                let share = f64::from(writes) / 4e5;
                // 5 standard deviations are below 0.004; the hottest pages have a little more.
                assert!((share - f64::from(x) / 100.0).abs() < 0.006, "{x}/{y} {hot}: {share}");
            }
        }
    }

    #[test]
    fn hot_pages_lie_together_or_all_over_the_drive() {
        let together: Vec<u64> =
            counts("iozone:hot=together").iter().map(|(page, _)| *page).collect();
        assert!(together[..350].iter().all(|page| *page < 350));
        assert!(together.iter().all(|page| *page < 3500));
        let scattered = counts("iozone");
        let mut runs = [0; 10];
        scattered[..350].iter().for_each(|(page, _)| runs[*page as usize / 1000] += 1);
        // 35 of each thousand, with a standard deviation of 6.
        assert!(runs.iter().all(|hot| (10..65).contains(hot)), "{runs:?}");
    }

    #[test]
    fn a_drive_that_is_too_small_is_refused() {
        let space = Space { logical_pages: 4, ..SPACE };
        let error = sequence(&Spec::bare("iozone"), &space).err().unwrap().to_string();
        assert!(error.starts_with("touched=0.35 of a drive of 4 pages"), "{error}");
    }
}
