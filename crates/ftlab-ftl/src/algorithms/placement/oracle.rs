//! `oracle`: hot pages are those that are known to be.
//!
//! # Idea
//! What a test of hotness could bring at best, if it were always right.
//!
//! # Rule
//! Pages in the hot area of the workload are hot, all others cold, from the first write to the last.
//! Host writes and relocated pages are judged alike.
//!
//! # Parameters
//! `hot`: ranges of the address space as shares of it, such as `0..0.1`, or `0.1` for the same, or
//! `0..0.1+0.5..0.6`. With `auto` the workload tells: hot are its groups that are written more often
//! per page than the mean.
//!
//! # Where the paper is silent
//! On SKEWINC and SKEWDEC the area changes and the study's oracle is static: what it knows then is not
//! said. Here it is told the largest area, which holds every page that is ever hot.
//!
//! # Reference
//! Lee and Kim, "An Empirical Study of Hot/Cold Data Separation Policies in Solid State Drives (SSDs)",
//! SYSTOR 2013, section 4.2.

use crate::Metadata;
use crate::algorithms::tools::hotness::Hotness;
use crate::page::entry::{DriveShape, FitContext, OracleGroup, PlacementEntry};
use crate::state::state;
use ftlab_flash::Lpn;
use ftlab_spec::{OrAuto, SpecError, Value};
use std::fmt;
use std::ops::Range;

/// Ranges of the address space, as shares of it, rising and apart from each other.
#[derive(Debug, Clone, PartialEq)]
pub struct HotArea(Vec<Range<f64>>);

impl HotArea {
    /// The groups that are written more often per page than the mean; `None` if there is none.
    fn of_groups(groups: &[OracleGroup]) -> Option<Self> {
        let mut ranges: Vec<Range<f64>> = Vec::new();
        let mut first = 0.0;
        for group in groups {
            let end = first + group.pages;
            if group.heat() > 1.0 {
                match ranges.last_mut() {
                    Some(last) if last.end >= first => last.end = end,
                    _ => ranges.push(first..end),
                }
            }
            first = end;
        }
        (!ranges.is_empty()).then_some(Self(ranges))
    }
}

impl Value for HotArea {
    fn expects() -> String {
        "ranges of the address space in 0..1, such as 0..0.1, or 0..0.1+0.5..0.6".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let range = |text: &str| {
            let (first, end) = text.split_once("..").unwrap_or(("0", text));
            Some(<f64 as Value>::parse(first)?..<f64 as Value>::parse(end)?)
        };
        let ranges: Vec<_> = text.split('+').map(range).collect::<Option<_>>()?;
        let rises = ranges.iter().flat_map(|range| [range.start, range.end]).is_sorted();
        let fits =
            rises && ranges.iter().all(|r| 0.0 <= r.start && r.start < r.end && r.end <= 1.0);
        fits.then_some(Self(ranges))
    }
}

impl fmt::Display for HotArea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Range { start, end }) in self.0.iter().enumerate() {
            write!(f, "{}{start}..{end}", if index > 0 { "+" } else { "" })?;
        }
        Ok(())
    }
}

ftlab_spec::parameters! {
    /// What the oracle knows.
    pub struct OracleParameters {
        /// The hot area; auto: what the generator says of itself.
        hot: OrAuto<HotArea> = OrAuto::Auto, "hot", from "Lee and Kim (SYSTOR 2013), section 4.2";
    }
}

/// Knows the hot pages.
pub struct Oracle {
    /// First page of each hot range and first page after it, rising.
    bounds: Vec<u32>,
}

state!(Oracle {} constant bounds);

impl PlacementEntry for Oracle {
    type Parameters = OracleParameters;
    const NAME: &'static str = "oracle";
    const SUMMARY: &'static str = "hot pages, known beforehand, have an open block of their own";
    const SOURCE: &'static str = "Lee and Kim (SYSTOR 2013), section 4.2";

    fn fit(parameters: &mut OracleParameters, context: &FitContext) -> Result<(), SpecError> {
        if let OrAuto::Auto = parameters.hot {
            let groups = context.ask_oracle("hot", "0..0.1")?;
            let area = HotArea::of_groups(groups).ok_or_else(|| {
                let expects = "possible: the workload writes all its groups of pages alike; say \
                               yourself which are hot, as in hot=0..0.1";
                context.refuse("hot", &"auto", expects.into())
            })?;
            parameters.hot = OrAuto::Given(area);
        }
        Ok(())
    }

    fn new(parameters: &OracleParameters, shape: DriveShape) -> Self {
        let ranges = parameters.hot.given().map_or(&[][..], |area| &area.0[..]);
        let page = |share: f64| (share * f64::from(shape.logical_pages)).round() as u32;
        Self { bounds: ranges.iter().flat_map(|r| [page(r.start), page(r.end)]).collect() }
    }
}

impl Hotness for Oracle {
    #[inline]
    fn record(&mut self, _lpn: Lpn) {}

    #[inline]
    fn is_hot(&self, lpn: Lpn) -> bool {
        // After an odd number of bounds is inside a range.
        self.bounds.partition_point(|&bound| bound <= lpn.0) % 2 == 1
    }

    fn metadata(&self) -> Metadata {
        Metadata::fixed(4 * self.bounds.len() as u64)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.bounds[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: DriveShape =
        DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1000, reserve_blocks: 4 };

    fn hot_pages(area: HotArea) -> Vec<u32> {
        let oracle = Oracle::new(&OracleParameters { hot: OrAuto::Given(area) }, SHAPE);
        (0..1000).filter(|&page| oracle.is_hot(Lpn(page))).collect()
    }

    #[test]
    fn areas_parse_and_print() {
        for (text, printed) in
            [("0.1", "0..0.1"), ("0..0.1", "0..0.1"), ("0.1..0.2+0.5..1", "0.1..0.2+0.5..1")]
        {
            assert_eq!(HotArea::parse(text).unwrap().to_string(), printed);
        }
        for wrong in ["", "0", "1.1", "0.2..0.1", "0.1..0.3+0.2..0.4", "0..0.1+", "a", "-1..0.5"] {
            assert_eq!(HotArea::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn pages_in_a_range_are_hot() {
        let hot = hot_pages(HotArea::parse("0..0.002+0.998..1").unwrap());
        assert_eq!(hot, [0, 1, 998, 999]);
    }

    #[test]
    fn groups_above_the_mean_are_hot() {
        let groups = |groups: &[(f64, f64)]| {
            let group = |&(pages, writes)| OracleGroup { pages, writes };
            HotArea::of_groups(&groups.iter().map(group).collect::<Vec<_>>())
        };
        let area = groups(&[(0.1, 0.05), (0.001, 0.3), (0.001, 0.6), (0.898, 0.05)]).unwrap();
        assert_eq!(hot_pages(area), [100, 101]);
        assert_eq!(groups(&[(0.5, 0.5), (0.5, 0.5)]), None);
    }
}
