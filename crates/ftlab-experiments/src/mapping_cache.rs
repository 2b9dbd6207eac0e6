//! How much memory the map of a drive needs, if the rest of it is on flash.
//!
//! One pass over the page writes and trims gives the hits of plain LRU in memory of every size, by stack distances.
//! What they are worth is simulated at some sizes, since translation pages are collected as well: every FTL with every
//! kind of map, and with the map in memory, over one decoding of the workload.

use crate::error::ExperimentsError;
use crate::parallel::{Stop, Until, when_it_fits};
use ftlab_analysis::StackDistances;
use ftlab_sim::format::{percent, significant};
use ftlab_sim::result::RunResult;
use ftlab_sim::{Experiment, Length, SimError};
use ftlab_spec::{ByteSize, Spec};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// The kinds of maps that are tried, and how they are named after their memory. Plain LRU is what the pass tells the
/// hits of.
const MAPS: [(&str, &str); 3] = [("dftl", ",protected=0"), ("s-ftl", ""), ("tpftl", "")];

/// Bytes of an entry of the first of them.
const ENTRY_BYTES: u64 = 8;

/// Sizes that are tried if none are given: the whole map, a half, a quarter, and so on.
const USUAL_SIZES: u32 = 8;

/// The translation pages that every one of these maps has room for.
const LEAST_PAGES: u64 = 2;

/// Points of the curve of hits for each doubling of memory.
const POINTS: u32 = 8;

/// Write amplification is as good as that with the map in memory if it is at most this many times of it.
const AS_GOOD: f64 = 1.05;

/// What is asked.
#[derive(Debug, Clone)]
pub struct MapQuestion {
    /// The workload, the drive and the FTLs.
    pub base: Experiment,
    /// Memory in bytes, in any order; usual ones if none are given.
    pub sizes: Vec<ByteSize>,
    /// The most that is to be amplified; about as much as with the map in memory if it is not given.
    pub target_waf: Option<f64>,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// The answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MapAdvice {
    /// The answer in words.
    pub answer: String,
    /// What it rests on.
    pub trust: String,
    /// What the host can address.
    pub logical_bytes: u64,
    /// Memory for all entries one by one, of 8 bytes each. On flash, translation pages have 4 bytes of each.
    pub all_bytes: u64,
    /// Pages to write and to trim that were looked up.
    pub look_ups: u64,
    /// The share of them that plain LRU finds in memory of every size.
    pub hits: Vec<HitPoint>,
    /// Write amplification by FTL and kind of map.
    pub curves: Vec<MapCurve>,
}

/// What plain LRU finds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HitPoint {
    /// Memory for entries.
    pub cache_bytes: u64,
    /// The share of look-ups.
    pub share: f64,
}

/// An FTL with a kind of map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MapCurve {
    /// The FTL.
    pub ftl: String,
    /// The kind of map.
    pub map: String,
    /// Write amplification with the map in memory.
    pub waf_in_memory: f64,
    /// With so much memory, in ascending order.
    pub points: Vec<MapPoint>,
    /// The least memory that was tried and is enough, if any was.
    pub needs_bytes: Option<u64>,
}

/// An FTL with a map in part in memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MapPoint {
    /// Memory for entries.
    pub cache_bytes: u64,
    /// The share of look-ups whose entry is there.
    pub hit_share: f64,
    /// Write amplification, translation pages included.
    pub waf: f64,
    /// Whether it has settled.
    pub is_steady: bool,
}

impl MapQuestion {
    /// Runs everything on `threads`.
    pub fn answer(&self, threads: usize) -> Result<MapAdvice, ExperimentsError> {
        let one = Experiment { threads: Some(threads), ..self.base.clone() };
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let prepared = when_it_fits(is_stopped, || one.prepare())?;
        let drive = prepared.config().drive.clone();
        drop(prepared);
        let all_bytes = ENTRY_BYTES * u64::from(drive.logical_pages);
        let sizes = self.sizes(all_bytes, u64::from(drive.page_bytes))?;
        let mut maps = vec!["full".to_owned()];
        for (map, rest) in MAPS {
            maps.extend(sizes.iter().map(|size| format!("{map}:cache={}{rest}", ByteSize(*size))));
        }
        let mut crossed = one.clone();
        crossed.drive.mapping = maps.join(",").parse().map_err(SimError::from)?;
        let result = when_it_fits(is_stopped, || crossed.run(&mut Until(&self.stop)))?;
        let distances = self.distances(&one, &result.runs, drive.logical_pages)?;
        let curves = self.curves(&result.runs, &sizes);
        Ok(MapAdvice {
            answer: self.in_words(&curves, all_bytes),
            trust: result.trust.line,
            logical_bytes: drive.logical_bytes,
            all_bytes,
            look_ups: distances.uses(),
            hits: hits(&distances, &sizes, all_bytes),
            curves,
        })
    }

    /// Those that were asked for, or the usual ones, in ascending order.
    fn sizes(&self, all_bytes: u64, page_bytes: u64) -> Result<Vec<u64>, SimError> {
        let least = LEAST_PAGES * page_bytes;
        let usual = (0..USUAL_SIZES).map(|times| (all_bytes >> times).max(least));
        let mut sizes: Vec<u64> = match self.sizes.as_slice() {
            [] => usual.collect(),
            asked => asked.iter().map(|size| size.0).collect(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        match sizes.last() {
            Some(most) if *most > all_bytes.max(least) => Err(SimError::Unusable {
                what: format!(
                    "memory of {} for the map, whose entries take {} of {ENTRY_BYTES} bytes each on this drive",
                    ByteSize(*most),
                    ByteSize(all_bytes)
                ),
                remedy: format!("give at most {}", ByteSize(all_bytes.max(least))),
            }),
            _ => Ok(sizes),
        }
    }

    /// Stack distances of the look-ups that the runs counted.
    fn distances(
        &self,
        one: &Experiment,
        runs: &[RunResult],
        logical_pages: u32,
    ) -> Result<StackDistances, ExperimentsError> {
        // All have written as much, and stopped at the same write.
        let writes = runs.first().map_or(0, |run| run.host_writes);
        let same = Experiment { length: Length::Writes(writes), ..one.clone() };
        let mut distances = StackDistances::new(logical_pages);
        let mut is_counted = false;
        same.prepare()?.see_pages(&mut Until(&self.stop), |batch, counts| {
            if counts && !is_counted {
                distances.begin();
                is_counted = true;
            }
            batch.for_each_page(|page| distances.add(page.0));
        })?;
        Ok(distances)
    }

    fn curves(&self, runs: &[RunResult], sizes: &[u64]) -> Vec<MapCurve> {
        let of_ftl = 1 + MAPS.len() * sizes.len();
        let mut curves = Vec::new();
        for (ftl, runs) in self.base.ftls.iter().map(Spec::to_string).zip(runs.chunks(of_ftl)) {
            let waf_in_memory = runs[0].headline_waf();
            let enough = self.target_waf.unwrap_or(AS_GOOD * waf_in_memory);
            for ((map, _), runs) in MAPS.iter().zip(runs[1..].chunks(sizes.len())) {
                let points = sizes.iter().zip(runs).map(|(size, run)| MapPoint {
                    cache_bytes: *size,
                    hit_share: run.map.as_ref().map_or(1.0, |of| of.write_hit_share),
                    waf: run.headline_waf(),
                    is_steady: run.steady_waf.is_some(),
                });
                let points: Vec<_> = points.collect();
                let needs = points.iter().find(|point| point.waf <= enough);
                curves.push(MapCurve {
                    ftl: ftl.clone(),
                    map: (*map).to_owned(),
                    waf_in_memory,
                    needs_bytes: needs.map(|point| point.cache_bytes),
                    points,
                });
            }
        }
        curves
    }

    /// What each FTL needs, with the kind of map that needs least.
    fn in_words(&self, curves: &[MapCurve], all_bytes: u64) -> String {
        let mut by_ftl: BTreeMap<usize, Vec<&MapCurve>> = BTreeMap::new();
        for (index, curve) in curves.iter().enumerate() {
            by_ftl.entry(index / MAPS.len()).or_default().push(curve);
        }
        let sentences = by_ftl.values().map(|curves| {
            let ftl = &curves[0].ftl;
            let in_memory = significant(curves[0].waf_in_memory, 4);
            let goal = match self.target_waf {
                Some(target) => format!("reaches {}", significant(target, 4)),
                None => format!("is within {} of a map in memory", percent(AS_GOOD - 1.0)),
            };
            let known = curves.iter().filter_map(|curve| Some((curve, curve.needs_bytes?)));
            match known.min_by_key(|(_, bytes)| *bytes) {
                Some((curve, bytes)) => {
                    let point = curve.points.iter().find(|point| point.cache_bytes == bytes);
                    let waf = point.map_or(f64::NAN, |point| point.waf);
                    format!(
                        "{ftl} with {} {goal} from {} on, {} of the {} for all entries: {} instead of {in_memory}.",
                        curve.map,
                        ByteSize(bytes),
                        percent(bytes as f64 / all_bytes as f64),
                        ByteSize(all_bytes),
                        significant(waf, 4)
                    )
                }
                None if self.target_waf.is_some_and(|target| curves[0].waf_in_memory > target) => format!(
                    "{ftl} has {in_memory} with all of the map in memory, so no memory for it {goal}; more \
                     over-provisioning (--op) or another FTL may."
                ),
                None => format!(
                    "{ftl} needs more memory than any of these; with the map in memory it has {in_memory}."
                ),
            }
        });
        sentences.collect::<Vec<_>>().join("\n")
    }
}

/// Hits at these sizes and between them.
fn hits(distances: &StackDistances, sizes: &[u64], all_bytes: u64) -> Vec<HitPoint> {
    let least = sizes.first().copied().unwrap_or(all_bytes).min(all_bytes);
    let octaves = (all_bytes as f64 / least as f64).log2().max(0.0);
    let steps = (octaves * f64::from(POINTS)).ceil() as u32;
    let between = (0..=steps)
        .map(|step| (least as f64 * (f64::from(step) / f64::from(POINTS)).exp2()) as u64);
    let mut all: Vec<u64> = between.chain(sizes.iter().copied()).chain([all_bytes]).collect();
    all.retain(|bytes| *bytes <= all_bytes);
    all.sort_unstable();
    all.dedup();
    let share =
        |bytes: u64| distances.hits(bytes / ENTRY_BYTES) as f64 / distances.uses().max(1) as f64;
    all.into_iter().map(|cache_bytes| HitPoint { cache_bytes, share: share(cache_bytes) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Logical, Workload};
    use ftlab_trace::OpenOptions;

    fn question(workload: &str) -> MapQuestion {
        let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
        let drive = DriveOptions {
            logical: Logical::Pages(4096),
            page_bytes: 512,
            pages_per_block: Some(16),
            reserve_blocks: 6,
            ..DriveOptions::default()
        };
        let ftls = ["1r-greedy", "2r++"].map(|ftl| ftl.parse().unwrap()).to_vec();
        let length = Length::DriveWrites(3.0);
        let base = Experiment { drive, length, ..Experiment::new(workload, ftls) };
        MapQuestion { base, sizes: Vec::new(), target_waf: None, stop: Stop::default() }
    }

    #[test]
    fn plain_lru_has_the_hits_that_stack_distances_tell() {
        for workload in ["hotcold", "zipf:theta=0.9"] {
            let advice = question(workload).answer(2).unwrap();
            assert_eq!((advice.all_bytes, advice.curves.len()), (32_768, 6));
            assert_eq!(advice.look_ups, 3 * 4096, "{workload}");
            let share = |bytes: u64| {
                let point = advice.hits.iter().find(|point| point.cache_bytes == bytes);
                point.unwrap().share
            };
            let of_lru = advice.curves.iter().filter(|curve| curve.map == "dftl");
            for point in of_lru.flat_map(|curve| &curve.points) {
                assert!((point.hit_share - share(point.cache_bytes)).abs() < 1e-12, "{point:?}");
            }
            assert!(advice.hits.is_sorted_by(|a, b| a.share <= b.share));
            assert!((share(32_768) - 1.0).abs() < 1e-12, "the fill has brought every page");
        }
    }

    #[test]
    fn all_of_the_map_is_enough_and_less_may_be() {
        let advice = question("hotcold").answer(2).unwrap();
        for curve in &advice.curves {
            let last = curve.points.last().unwrap();
            assert_eq!(last.cache_bytes, advice.all_bytes);
            assert!((last.waf - curve.waf_in_memory).abs() < 1e-9, "{curve:?}");
            assert!(curve.points[0].waf > curve.waf_in_memory);
            assert!(curve.needs_bytes.is_some_and(|bytes| bytes <= advice.all_bytes));
        }
        let least = "1r-greedy with s-ftl is within 5% of a map in memory from 16KiB on, 50% of the 32KiB for";
        assert!(advice.answer.contains(least), "{}", advice.answer);
        // Less than with the map in memory is not to be had, and a bit more is not with so little memory.
        let in_memory = advice.curves.last().unwrap().waf_in_memory;
        for (target, part) in [
            (
                1.01,
                "with all of the map in memory, so no memory for it reaches 1.010; more over-prov",
            ),
            (1.001 * in_memory, "2r++ needs more memory than any of these"),
        ] {
            let sizes = vec![ByteSize(1024)];
            let more = MapQuestion { target_waf: Some(target), sizes, ..question("hotcold") };
            let answer = more.answer(2).unwrap().answer;
            assert!(answer.contains(part), "{answer}");
        }
    }

    #[test]
    fn more_memory_than_all_entries_take_is_refused() {
        let large = MapQuestion { sizes: vec!["1TiB".parse().unwrap()], ..question("hotcold") };
        let error = large.answer(1).unwrap_err().to_string();
        assert!(error.contains("entries take 32KiB of 8 bytes each"), "{error}");
        assert!(error.contains("give at most 32KiB"), "{error}");
    }

    #[test]
    fn a_size_below_a_translation_page_is_refused() {
        let small = MapQuestion { sizes: vec![ByteSize(256)], ..question("hotcold") };
        let error = small.answer(1).unwrap_err().to_string();
        assert!(error.contains("at least one translation page of 512 bytes"), "{error}");
    }
}
