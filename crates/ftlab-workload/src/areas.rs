//! Where a generator's hot and cold pages lie: what an oracle may be told before the first write.
//!
//! Areas stay for the whole sequence, and what is told of their shares of the writes is what holds at
//! its beginning:
//!
//! | generator | areas |
//! |---|---|
//! | `uniform` | one |
//! | `hotcold`, `skew` | the hot area and the rest |
//! | `jesd219` | its three areas |
//! | `skewinc`, `skewdec` | the largest hot area, which holds every page that is ever hot, and the rest |
//! | `swap` | its groups; what is swapped later is not told |
//! | `mix` | those of all parts, laid over each other |
//! | `join` | the same, with the writes of the first part |
//! | `zipf`, `oltp`, `ycsb`, `trace-like`, `three-streams` | none: their pages are scattered |
//! | `tpcc`, `linkbench`, `lsm` | none: what is hot moves |
//! | `cachelib`, `lmcache` | none: how much is written of their parts is known at the end only |
//! | `iozone` | with `hot=together` hot and cold pages and the rest, otherwise none |

use ftlab_trace::Space;

/// Pages in a row that are written alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// How many there are.
    pub pages: u64,
    /// Their share of the writes.
    pub writes: f64,
}

/// The areas of a generator, one after the other and filling the drive; none if it has none to tell.
pub(super) type Areas = Vec<Area>;

/// `hot_pages` at the start of the drive that take the share `writes`, and the rest.
pub(super) fn hot_and_cold(hot_pages: u64, writes: f64, space: &Space) -> Areas {
    let cold_pages = space.logical_pages - hot_pages;
    let cold = Area { pages: cold_pages, writes: 1.0 - writes };
    vec![Area { pages: hot_pages, writes }, cold]
}

/// The areas of several generators over one drive, each with a weight; empty if one of them has none.
pub(super) fn overlay(parts: &[Areas], weights: impl Iterator<Item = f64>) -> Areas {
    if parts.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let mut ends: Vec<u64> = parts.iter().flat_map(|areas| ends(areas)).collect();
    ends.sort_unstable();
    ends.dedup();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let mut overlaid: Vec<Area> =
        starts.zip(&ends).map(|(start, end)| Area { pages: end - start, writes: 0.0 }).collect();
    for (areas, weight) in parts.iter().zip(weights) {
        for (area, end) in overlaid.iter_mut().zip(&ends) {
            let over = self::ends(areas).zip(areas).find(|(last, _)| end <= last);
            let heat = over.map_or(0.0, |(_, over)| over.writes / over.pages as f64);
            area.writes += weight * heat * area.pages as f64;
        }
    }
    overlaid
}

/// The page after each area.
fn ends(areas: &[Area]) -> impl Iterator<Item = u64> {
    areas.iter().scan(0, |end, area| {
        *end += area.pages;
        Some(*end)
    })
}

#[cfg(test)]
mod tests {
    use crate::{areas, sequence};
    use ftlab_trace::Space;

    const SPACE: Space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };

    /// Pages and writes in thousandths of each area.
    fn told(spec: &str) -> Vec<(u64, u64)> {
        let areas = areas(&spec.parse().unwrap(), &SPACE).unwrap();
        areas.iter().map(|area| (area.pages, (area.writes * 1000.0).round() as u64)).collect()
    }

    #[test]
    fn every_generator_tells_what_it_knows() {
        for (spec, expected) in [
            ("uniform", vec![(1000, 1000)]),
            ("zipf", vec![]),
            ("hotcold:writes=0.8,pages=0.2", vec![(200, 800), (800, 200)]),
            ("jesd219", vec![(50, 500), (150, 300), (800, 200)]),
            ("skew:x=95", vec![(50, 950), (950, 50)]),
            ("iozone", vec![]),
            ("iozone:hot=together", vec![(35, 900), (315, 100), (650, 0)]),
            ("skewinc", vec![(300, 700), (700, 300)]),
            ("skewdec", vec![(300, 993), (700, 7)]),
            ("swap:sizes=0.3;0.7,rates=0.4;0.6", vec![(300, 400), (700, 600)]),
            ("mix:of=uniform*0.5;hotcold*0.5", vec![(100, 500), (900, 500)]),
            ("mix:of=hotcold*0.5;skew(x=80)*0.5", vec![(100, 650), (100, 206), (800, 144)]),
            ("mix:of=zipf*0.5;hotcold*0.5", vec![]),
            ("join:of=hotcold*1;skew(x=80)*1", vec![(100, 900), (100, 11), (800, 89)]),
        ] {
            assert_eq!(told(spec), expected, "{spec}");
        }
    }

    #[test]
    fn what_is_told_is_what_is_written_at_the_beginning() {
        for spec in [
            "hotcold:writes=0.7,pages=0.3",
            "skew:x=90",
            "iozone:hot=together,touched=0.5",
            "skewinc:over=1000",
            "skewdec:over=1000",
            "swap:sizes=0.2;0.3;0.5,rates=0.5;0.1;0.4,at=1000",
            "mix:of=hotcold*0.5;skew(x=80)*0.5",
            "join:of=hotcold*1000;skew(x=80)*1",
        ] {
            let spec = spec.parse().unwrap();
            let mut drawn = vec![0; 20_000];
            sequence(&spec, &SPACE).unwrap().fill(&mut drawn);
            let mut first = 0;
            for area in areas(&spec, &SPACE).unwrap() {
                let inside = |page: &&u64| (first..first + area.pages).contains(page);
                let share = drawn.iter().filter(inside).count() as f64 / 20_000.0;
                first += area.pages;
                // Five standard deviations are at most 0.018.
                assert!((share - area.writes).abs() < 0.018, "{spec}: {share}, {area:?}");
            }
            assert_eq!(first, 1000, "{spec}");
        }
    }
}
