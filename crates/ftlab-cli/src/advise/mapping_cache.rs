//! `ftlab advise --mapping-cache`: how much memory the map of a drive needs.

use super::{AdviseArgs, base};
use crate::error::{CliError, Results};
use crate::figure::{check, write_mapping_cache};
use crate::ftls::Ftls;
use crate::output::{print, print_json, say};
use crate::progress::with_spinner;
use crate::table::ruled;
use ftlab_experiments::Stop;
use ftlab_experiments::mapping_cache::{MapAdvice, MapQuestion};
use ftlab_sim::format::{percent, significant};
use ftlab_sim::{DriveOptions, Physical, Threads};
use ftlab_spec::ByteSize;

/// What is tried, if nothing else is asked for: greedy collection, and an FTL that moves fewer pages.
const USUAL_FTLS: [&str; 2] = ["1r-greedy", "2r++"];

pub(super) fn advise(args: &AdviseArgs, sizes: &[ByteSize]) -> Result<(), CliError> {
    args.figure.as_deref().map(check).transpose()?;
    let question = question(args, sizes)?;
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    let what = "running every FTL with every map";
    let advice = with_spinner(args.quiet, what, || question.answer(threads))?;
    let text = format!("{}{}\n{}\n", table(&advice), advice.answer, advice.trust);
    let mut results = Results::default();
    if args.json {
        say(&text);
        results.note(print_json(&advice));
    } else {
        results.note(print(&text));
    }
    if let Some(path) = &args.figure {
        results.note(write_mapping_cache(&advice, args.size, path));
    }
    results.all()
}

fn question(args: &AdviseArgs, sizes: &[ByteSize]) -> Result<MapQuestion, CliError> {
    let asked = &args.drive;
    let mut drive = asked.drive.apply(DriveOptions::default())?;
    match asked.op.as_slice() {
        [] => {}
        [op] => drive.physical = Physical::OverProvisioning(*op),
        _ => return Err(CliError::usage("--mapping-cache is about one drive; give one --op")),
    }
    let ftls = match Ftls::all(&args.ftl) {
        ftls if ftls.is_empty() => {
            USUAL_FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?
        }
        ftls => ftls,
    };
    let lasts = (asked.writes, asked.once);
    let base = asked.run.apply(base(&args.workload, &args.reading, drive, ftls, lasts)?)?;
    let target_waf = args.target.target_waf;
    Ok(MapQuestion { base, sizes: sizes.to_vec(), target_waf, stop: Stop::default() })
}

/// A row for each size of memory: hits of plain LRU, and what every FTL amplifies.
fn table(advice: &MapAdvice) -> String {
    let mut headings = vec!["memory".to_owned(), "hits of\nLRU".to_owned()];
    headings.extend(advice.curves.iter().map(|curve| format!("{}\n{}", curve.ftl, curve.map)));
    let sizes = advice.curves.first().map_or(&[][..], |curve| curve.points.as_slice());
    let rows = sizes.iter().enumerate().map(|(index, of)| {
        let hits = advice.hits.iter().find(|point| point.cache_bytes == of.cache_bytes);
        let mut row = vec![
            ByteSize(of.cache_bytes).to_string(),
            hits.map_or_else(|| "-".to_owned(), |point| percent(point.share)),
        ];
        row.extend(advice.curves.iter().map(|curve| significant(curve.points[index].waf, 4)));
        row
    });
    let mut in_memory = ["all", "100%"].map(str::to_owned).to_vec();
    in_memory.extend(advice.curves.iter().map(|curve| significant(curve.waf_in_memory, 4)));
    ruled(&headings, rows.chain([in_memory]).collect::<Vec<_>>())
}
