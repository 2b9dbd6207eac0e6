//! What a result means, in one sentence.

use crate::format::{percent, significant};
use crate::result::{ExperimentResult, RunResult};

/// Write amplifications closer than this are level: another seed moves them by as much.
const LEVEL: f64 = 0.005;

/// One sentence on a result.
pub fn sentence(result: &ExperimentResult) -> String {
    let mut runs: Vec<&RunResult> = result.runs.iter().collect();
    runs.sort_by(|a, b| a.waf.total_cmp(&b.waf));
    let (Some(best), Some(worst)) = (runs.first(), runs.last()) else {
        return "Nothing was run.".into();
    };
    if runs.iter().all(|run| run.erases == 0) {
        return nothing_collected(result, best);
    }
    let sentence = if runs.len() == 1 {
        alone(best)
    } else if is_level(best, worst) {
        let names = list(&runs);
        let (low, high) = (significant(best.waf, 4), significant(worst.waf, 4));
        let range = if low == high { low } else { format!("{low} to {high}") };
        format!("{names} are level: they write {range} flash pages per host page")
    } else {
        compared(&runs, worst)
    };
    sentence + settled(result, &runs) + "."
}

fn nothing_collected(result: &ExperimentResult, run: &RunResult) -> String {
    let drives = run.host_writes as f64 / f64::from(result.config.drive.logical_pages);
    format!(
        "Nothing was collected, because the workload wrote only {} drive sizes and free blocks were \
         left: write more (--drive-writes 4), fill the drive first (--fill random), or simulate a \
         smaller one (--logical).",
        significant(drives, 3)
    )
}

fn alone(run: &RunResult) -> String {
    let per_host_page = format!("{} writes {}", run.ftl, pages(run.waf));
    match run.victim_utilisation.mean {
        Some(valid) if run.relocations > 0 => format!(
            "{per_host_page}: the blocks that it collects are still {} valid on average, and those \
             pages have to be moved",
            short_percent(valid)
        ),
        _ => format!("{per_host_page}: no block that it collects holds a valid page any more"),
    }
}

fn compared(runs: &[&RunResult], worst: &RunResult) -> String {
    let best = runs[0];
    let level: Vec<&RunResult> =
        runs.iter().copied().take_while(|run| is_level(best, run)).collect();
    let less = short_percent((worst.waf - best.waf) / worst.waf);
    let (verb, their) = if level.len() > 1 { ("write", "their") } else { ("writes", "its") };
    let about = if level.len() > 1 { "about " } else { "" };
    let comparison = format!(
        "{} {verb} {about}{}, {less} less than {} ({})",
        list(&level),
        pages(best.waf),
        worst.ftl,
        significant(worst.waf, 4)
    );
    match (best.victim_utilisation.mean, worst.victim_utilisation.mean) {
        (Some(low), Some(high)) if high - low >= 0.01 => format!(
            "{comparison}: {their} victims are {} valid on average, not {}",
            short_percent(low),
            short_percent(high)
        ),
        _ => comparison,
    }
}

fn settled(result: &ExperimentResult, runs: &[&RunResult]) -> &'static str {
    let steady = runs.iter().filter(|run| run.steady_state).count();
    let drive_writes = runs[0].host_writes as f64 / f64::from(result.config.drive.logical_pages);
    if steady == runs.len() {
        ""
    } else if drive_writes < 1.25 {
        "; with less than 1.25 drive writes it is too early to say whether that has settled"
    } else if steady == 0 {
        "; this has not settled yet"
    } else {
        "; not all of them have settled yet"
    }
}

fn is_level(a: &RunResult, b: &RunResult) -> bool {
    (a.waf - b.waf).abs() <= LEVEL * a.waf.min(b.waf)
}

fn pages(waf: f64) -> String {
    format!("{} flash pages per host page", significant(waf, 4))
}

fn list(runs: &[&RunResult]) -> String {
    match runs {
        [] => String::new(),
        [one] => one.ftl.clone(),
        [rest @ .., last] => {
            let rest: Vec<_> = rest.iter().map(|run| run.ftl.as_str()).collect();
            format!("{} and {}", rest.join(", "), last.ftl)
        }
    }
}

/// Whole percents where there is more than one.
fn short_percent(share: f64) -> String {
    if share >= 0.01 { format!("{:.0}%", 100.0 * share) } else { percent(share) }
}
