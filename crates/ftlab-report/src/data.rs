//! The data drawn by the scripts of the page, reduced so that the page stays small.

use crate::text::{name_of, script_json, short};
use crate::workload::Picture;
use ftlab_sim::ExperimentResult;
use ftlab_sim::colours::{Style, styles};
use ftlab_sim::result::{
    Bytes, FREE, Frame, Moves, Observed, RETIRED, ResponseSummary, RunResult, TimingResult,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Approximate size of all frames together, in bytes.
const FRAMES_BYTES: usize = 1_000_000;

/// Approximate number of points of all lines over time together.
const POINTS: usize = 24_000;

/// Maximum number of points of one line over time.
const LINE_POINTS: usize = 800;

/// Number of frames below which cells are merged instead.
const FRAMES_MIN: usize = 30;

/// Everything that is drawn.
#[derive(Debug, Serialize)]
pub(crate) struct Data<'a> {
    logical_pages: u32,
    pages_per_block: u32,
    blocks: u32,
    runs: Vec<Run<'a>>,
    workload: Option<Picture<'a>>,
}

#[derive(Debug, Serialize)]
struct Run<'a> {
    ftl: &'a str,
    /// The colour of the palette, and the pattern of lines.
    colour: usize,
    dash: usize,
    waf: f64,
    host_writes: u64,
    streams: Vec<Stream<'a>>,
    series: Series,
    moves: Option<Moves>,
    flash: Option<Flash>,
    /// Of the block at each percentile.
    erases: Option<&'a [u32]>,
    /// Operation -> its response times.
    kinds: BTreeMap<&'a str, Kind>,
}

/// Response times of requests of one operation, or of page writes.
#[derive(Debug, Serialize)]
struct Kind {
    /// Milliseconds, and the share of response times that were longer.
    tail: Vec<(f64, f64)>,
    /// The 99.9th percentile over time, in milliseconds, where it is known.
    p99_9: Option<Vec<Option<f64>>>,
}

#[derive(Debug, Serialize)]
struct Stream<'a> {
    name: &'a str,
    cold: bool,
}

/// Lines over time.
#[derive(Debug, Default, Serialize)]
struct Series {
    /// Host writes, in drive writes, at the end of each point's span.
    drive_writes: Vec<f64>,
    waf: Vec<f64>,
    cold_region: Option<Vec<f64>>,
    /// Milliseconds.
    response: Option<Vec<f64>>,
}

/// Frames, with no more cells than there is room for.
#[derive(Debug, Serialize)]
struct Flash {
    blocks_per_cell: u32,
    frames: Vec<Frame>,
}

impl<'a> Data<'a> {
    pub(crate) fn new(result: &'a ExperimentResult) -> Self {
        let drive = &result.config.drive;
        let runs = result.runs.len().max(1);
        let names: Vec<_> = result.runs.iter().map(|run| run.ftl.as_str()).collect();
        let points = (POINTS / runs).min(LINE_POINTS);
        let run = |(run, style): (&'a RunResult, Style)| Run {
            ftl: &run.ftl,
            colour: style.colour,
            dash: style.dash,
            waf: run.waf,
            host_writes: run.host_writes,
            streams: run
                .streams
                .iter()
                .map(|stream| Stream { name: &stream.name, cold: stream.cold })
                .collect(),
            series: series(result, run, points),
            moves: run.observed.as_ref().map(|observed| observed.moves),
            flash: run.observed.as_ref().map(|observed| flash(observed, FRAMES_BYTES / runs)),
            erases: run.observed.as_ref().map(|observed| observed.erase_percentiles.as_slice()),
            kinds: run.timing.as_ref().map(|time| kinds(time, points)).unwrap_or_default(),
        };
        let observed = result.workload.observed.as_ref();
        let picture = observed.map(|observed| {
            let name = name_of(&result.config);
            Picture::new(name, &observed.heat_map, &observed.skew, drive.page_bytes)
        });
        Self {
            workload: picture,
            logical_pages: drive.logical_pages,
            pages_per_block: drive.pages_per_block,
            blocks: drive.blocks,
            runs: result.runs.iter().zip(styles(&names)).map(run).collect(),
        }
    }

    /// As JSON that can be embedded in a script element.
    pub(crate) fn to_json(&self) -> Result<String, serde_json::Error> {
        script_json(self)
    }
}

fn milliseconds(nanoseconds: f64) -> f64 {
    short(nanoseconds / 1e6)
}

/// Merges intervals until there are no more than `points`.
fn series(result: &ExperimentResult, run: &RunResult, points: usize) -> Series {
    let intervals = run.running_waf.len();
    let together = intervals.div_ceil(points.max(1)).max(1);
    let mean = |values: &[f64]| {
        let means =
            values.chunks(together).map(|part| part.iter().sum::<f64>() / part.len() as f64);
        means.map(short).collect::<Vec<_>>()
    };
    let writes =
        result.config.interval_writes as f64 / f64::from(result.config.drive.logical_pages);
    let ends = (0..intervals).step_by(together).map(|first| (first + together).min(intervals));
    let last = |values: &[f64]| {
        values.chunks(together).filter_map(|part| part.last().copied()).map(short).collect()
    };
    let time = run.timing.as_ref();
    Series {
        drive_writes: ends.map(|end| short(end as f64 * writes)).collect(),
        waf: mean(&run.running_waf),
        cold_region: run.running_cold_region_share.as_deref().map(last),
        response: time.map(|time| {
            mean(&time.running_response_mean_ns).into_iter().map(milliseconds).collect()
        }),
    }
}

/// The operations whose response times are shown, in order.
pub(crate) const KINDS: [&str; 4] = ["read", "write", "trim", "flush"];

/// Response times by operation, those of which some took time.
fn kinds(time: &TimingResult, points: usize) -> BTreeMap<&'static str, Kind> {
    let Some(requests) = &time.requests else {
        let kind = Kind { tail: tail(&time.response_ns), p99_9: None };
        return BTreeMap::from([("write", kind)]);
    };
    let of = |name| {
        let times = requests.operations.get(name).filter(|times| times.response_ns.max > 0)?;
        let p99_9 = times.running_p99_9_ns.as_ref().map(|running| longest(running, points));
        Some((name, Kind { tail: tail(&times.response_ns), p99_9 }))
    };
    KINDS.into_iter().filter_map(of).collect()
}

fn tail(times: &ResponseSummary) -> Vec<(f64, f64)> {
    let points = times.tail.iter();
    points.map(|(ns, longer)| (milliseconds(*ns as f64), short(*longer))).collect()
}

/// The longest of intervals that are merged until there are no more than `points`.
fn longest(running: &[Option<u64>], points: usize) -> Vec<Option<f64>> {
    let together = running.len().div_ceil(points.max(1)).max(1);
    let longest = running.chunks(together).map(|part| part.iter().copied().flatten().max());
    longest.map(|ns| ns.map(|ns| milliseconds(ns as f64))).collect()
}

/// Drops frames, and then merges neighbouring cells, until all take no more than `bytes`.
fn flash(observed: &Observed, bytes: usize) -> Flash {
    let size = |frame: &Frame| {
        let bins: usize = frame.blocks_by_valid_share.iter().map(Vec::len).sum();
        4 * frame.region.0.len() + 3 * bins + 300
    };
    let mut kept =
        Flash { blocks_per_cell: observed.blocks_per_cell, frames: observed.frames.clone() };
    while kept.frames.iter().map(size).sum::<usize>() > bytes {
        if kept.frames.len() > FRAMES_MIN {
            leave_out(&mut kept.frames);
        } else if kept.frames.iter().any(|frame| frame.region.0.len() > 1) {
            kept.frames.iter_mut().for_each(merge);
            kept.blocks_per_cell *= 2;
        } else {
            break;
        }
    }
    kept
}

/// Drops every other frame, but keeps the first and the last.
fn leave_out(frames: &mut Vec<Frame>) {
    let last = frames.len() - 1;
    let mut index = 0;
    frames.retain(|_| {
        index += 1;
        (index - 1) % 2 == 0 || index - 1 == last
    });
}

/// Merges two neighbouring cells.
fn merge(frame: &mut Frame) {
    let mean = |bytes: &Bytes| {
        let pairs = bytes.0.chunks(2);
        let sums =
            pairs.map(|pair| (pair.iter().map(|byte| u16::from(*byte)).sum::<u16>(), pair.len()));
        Bytes(sums.map(|(sum, cells)| (sum / cells as u16) as u8).collect())
    };
    let in_use = |region: &&u8| ![FREE, RETIRED].contains(*region);
    let regions =
        frame.region.0.chunks(2).map(|pair| *pair.iter().find(in_use).unwrap_or(&pair[0]));
    frame.region = Bytes(regions.collect());
    frame.valid = mean(&frame.valid);
    frame.cold = mean(&frame.cold);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(cells: &[(u8, u8, u8)]) -> Frame {
        Frame {
            host_writes: 0,
            region: Bytes(cells.iter().map(|cell| cell.0).collect()),
            valid: Bytes(cells.iter().map(|cell| cell.1).collect()),
            cold: Bytes(cells.iter().map(|cell| cell.2).collect()),
            blocks_by_valid_share: vec![vec![0; 20]; 2],
            cold_percentiles: Bytes(vec![0; 101]),
        }
    }

    #[test]
    fn neighbouring_cells_become_one() {
        let mut frame =
            frame(&[(FREE, 0, 0), (1, 101, 50), (0, 255, 0), (1, 255, 255), (RETIRED, 7, 9)]);
        merge(&mut frame);
        assert_eq!(frame.region.0, [1, 0, RETIRED]);
        assert_eq!((frame.valid.0, frame.cold.0), (vec![50, 255, 7], vec![25, 127, 9]));
    }

    #[test]
    fn frames_fit_whatever_the_drive() {
        let cells = vec![(0, 9, 9); 4096];
        let frames: Vec<Frame> =
            (0..61).map(|host_writes| Frame { host_writes, ..frame(&cells) }).collect();
        let observed = Observed { blocks_per_cell: 3, frames, ..Observed::default() };
        for bytes in [2_000_000, 400_000, 16_000] {
            let kept = flash(&observed, bytes);
            assert!(serde_json::to_string(&kept).unwrap().len() <= bytes, "{bytes}");
            let ends = [kept.frames[0].host_writes, kept.frames.last().unwrap().host_writes];
            assert_eq!(ends, [0, 60]);
            let cells = kept.frames[0].region.0.len() as u32;
            assert_eq!(cells * kept.blocks_per_cell, 3 * 4096);
        }
    }
}
