//! How `hazard` does in the cells of a set that a file names, against the best rival of each.

mod programs;

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::{PageBatch, registry};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const OPS: [u32; 4] = [3, 7, 15, 28];
const UNITS: [u32; 3] = [64, 256, 1024];

/// Those of a quick look.
const QUICK: [(u32, u32); 6] = [(3, 64), (3, 256), (7, 256), (7, 1024), (15, 64), (28, 1024)];

#[derive(Clone, Debug)]
struct Line {
    name: String,
    source: String,
    pages: u32,
    writes: usize,
    trims: bool,
    seed: u64,
    /// How much later than that it begins in a trace.
    later: usize,
}

/// By how many page writes traces begin later with the next `SEED`, and by how much programs have another one.
const LATER: usize = 250_000;
const SEED_APART: u64 = 10;

fn read(line: &Line, folder: &Path) -> Result<PageBatch, Box<dyn Error>> {
    let mut batch = if let Some(name) = line.source.strip_prefix("program:") {
        programs::program(name, line.pages, line.writes, line.seed)
            .ok_or_else(|| format!("no program {name}"))?
    } else {
        let (name, from) = line.source.split_once('+').unwrap_or((&line.source, "0"));
        let bytes = std::fs::read(folder.join(format!("{name}.u32")))?;
        let pages = bytes.as_chunks::<4>().0.iter().map(|bytes| Lpn(u32::from_le_bytes(*bytes)));
        let later = if name.starts_with("gen-") { 0 } else { line.later };
        let writes = pages.skip(from.parse::<usize>()? + later).take(line.writes).collect();
        PageBatch { writes, ..PageBatch::default() }
    };
    if !line.trims {
        batch.trims.clear();
    }
    if batch.writes.iter().any(|page| page.0 >= line.pages) {
        return Err(format!("{} writes beyond its {} pages", line.name, line.pages).into());
    }
    Ok(batch)
}

fn waf(ftl: &str, pages: u32, op: u32, unit: u32, batch: &PageBatch) -> Result<(f64, f64), String> {
    let physical = (u64::from(pages) * u64::from(100 + op)).div_ceil(100);
    let blocks = physical.div_ceil(unit.into()) as u32;
    let geometry = Geometry::new(blocks, unit, 4096).map_err(|e| e.to_string())?;
    let config = DriveConfig::new(geometry, pages, 4);
    let spec = ftl.parse().map_err(|e| format!("{ftl}: {e}"))?;
    let mut run = registry::build_boxed(&spec, config, NoPayload, ()).map_err(|e| e.to_string())?;
    let mut fill = PageBatch::default();
    fill.writes.extend((0..pages).map(Lpn));
    run.apply(&fill).map_err(|e| e.to_string())?;
    let start = run.counters();
    let begun = std::time::Instant::now();
    run.apply(batch).map_err(|e| e.to_string())?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok((run.counters().since(&start).waf().unwrap_or(1.0), seconds))
}

/// A drive and what is written to it: workload, over-provisioning and pages of a block.
type Cell = (String, u32, u32);

/// Cells in which the best does less move hardly anything, and are left out.
const STILL: f64 = 1.003;

/// What counts as lost, in write amplification.
const LOST: f64 = 1.05;

/// The results of a set: cell -> FTL -> write amplification.
fn results_of(set: &str, rows: &str) -> BTreeMap<Cell, BTreeMap<String, f64>> {
    let mut cells: BTreeMap<Cell, BTreeMap<String, f64>> = BTreeMap::new();
    for row in rows.lines() {
        let columns: Vec<_> = row.split('\t').collect();
        let [of, name, op, unit, ftl, value] = columns[..] else { continue };
        let waf = value.split(' ').next().and_then(|waf| waf.parse().ok());
        if let (true, Ok(op), Ok(unit), Some(waf)) = (of == set, op.parse(), unit.parse(), waf) {
            cells.entry((name.into(), op, unit)).or_default().insert(ftl.into(), waf);
        }
    }
    cells
}

/// Of each `hazard` the geometric mean of (WAF - 1 + 0.003) over that of the best rival, and the cells that it loses.
fn print_summary(cells: &BTreeMap<Cell, BTreeMap<String, f64>>, ftls: &[String]) {
    for ftl in ftls.iter().filter(|ftl| ftl.starts_with("hazard")) {
        let (mut logs, mut count, mut still, mut lost) = (0.0, 0, 0, Vec::new());
        for (cell, wafs) in cells {
            let rivals = wafs.iter().filter(|(name, _)| !name.starts_with("hazard"));
            let best = rivals.min_by(|a, b| a.1.total_cmp(b.1));
            let (Some((rival, best)), Some(waf)) = (best, wafs.get(ftl)) else { continue };
            if best.min(*waf) < STILL {
                still += 1;
                continue;
            }
            logs += f64::ln((waf - 1.0 + 0.003) / (best - 1.0 + 0.003));
            count += 1;
            if *waf > LOST * best {
                lost.push((waf / best, format!("{cell:?}: {waf:.3}, {rival} {best:.3}")));
            }
        }
        let mean = f64::exp(logs / f64::from(count.max(1)));
        println!(
            "{ftl}: {mean:.3} of the best rival in {count} cells; {still} that do not move; lost:"
        );
        lost.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, text) in lost {
            println!("  {text}");
        }
    }
}

/// `hazard` as it is named in results.
fn tagged(ftl: &str, tag: &str) -> String {
    if ftl.starts_with("hazard") { format!("{ftl}@{tag}") } else { ftl.into() }
}

/// A number from the environment.
fn setting(name: &str, otherwise: usize) -> Result<usize, Box<dyn Error>> {
    Ok(std::env::var(name).map_or(Ok(otherwise), |text| text.parse())?)
}

/// Arguments: SETS SET PAGES RESULTS TAG FTL... What RESULTS has is not run again; rows of `hazard` carry the tag.
fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.len() < 6 {
        return Err("arguments: SETS SET PAGES RESULTS TAG FTL...".into());
    }
    let (sets, set, traces, results, tag) = (&args[0], &args[1], &args[2], &args[3], &args[4]);
    let only = std::env::var("ONLY").unwrap_or_default();
    let threads = setting("THREADS", 2)?;
    let (seed, longer) = (setting("SEED", 0)?, setting("LONGER", 1)?);
    let quick = std::env::var("QUICK").is_ok();
    let ftls = &args[5..];
    let mut lines = Vec::new();
    for text in std::fs::read_to_string(sets)?.lines() {
        let words: Vec<_> = text.split_whitespace().collect();
        if words.len() == 7 && words[0] == set && words[1].contains(&only) {
            lines.push(Line {
                name: words[1].into(),
                source: words[2].into(),
                pages: words[3].parse()?,
                writes: words[4].parse::<usize>()? * longer,
                trims: words[5] == "trims",
                seed: words[6].parse::<u64>()? + SEED_APART * seed as u64,
                later: LATER * seed,
            });
        }
    }
    let mut had: BTreeMap<String, String> = BTreeMap::new();
    for row in std::fs::read_to_string(results).unwrap_or_default().lines() {
        let (key, value) = row.rsplit_once('\t').unwrap_or((row, ""));
        had.insert(key.into(), value.into());
    }
    let file = std::fs::OpenOptions::new().create(true).append(true).open(results)?;
    let out = Mutex::new(file);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(at) else { break };
                    let mut batch = None;
                    for op in OPS {
                        for unit in UNITS {
                            if quick && !QUICK.contains(&(op, unit)) {
                                continue;
                            }
                            for ftl in ftls {
                                let named = tagged(ftl, tag);
                                let key = format!("{set}\t{}\t{op}\t{unit}\t{named}", line.name);
                                if had.contains_key(&key) {
                                    continue;
                                }
                                if batch.is_none() {
                                    match read(line, Path::new(traces)) {
                                        Ok(read) => batch = Some(read),
                                        Err(error) => {
                                            eprintln!("{}: {error}", line.name);
                                            return;
                                        }
                                    }
                                }
                                let Some(batch) = &batch else { return };
                                let mut row = String::new();
                                match waf(ftl, line.pages, op, unit, batch) {
                                    Ok((waf, seconds)) => {
                                        let _ = writeln!(row, "{key}\t{waf:.5} {seconds:.3}");
                                    }
                                    Err(error) => {
                                        let _ = writeln!(row, "{key}\t- {error}");
                                    }
                                }
                                let _ = out.lock().map(|mut out| out.write_all(row.as_bytes()));
                            }
                        }
                    }
                }
            });
        }
    });
    let ftls: Vec<_> = ftls.iter().map(|ftl| tagged(ftl, tag)).collect();
    print_summary(&results_of(set, &std::fs::read_to_string(results)?), &ftls);
    Ok(())
}
