//! What a result means, in one sentence.

use crate::format::{percent, percent_tenths, significant};
use crate::judged::{are_steady, compared_wafs};
use crate::result::{Config, ExperimentResult, RunResult};
use crate::{Fill, Verdict};

/// Write amplifications closer than this are level: another seed moves them by as much.
const LEVEL: f64 = 0.005;

/// A run, and the write amplification that is told of it.
#[derive(Clone, Copy)]
struct Told<'a> {
    run: &'a RunResult,
    waf: f64,
}

/// One sentence on a result: on the steady state if all runs came to one, on the whole runs if not.
pub fn sentence(result: &ExperimentResult) -> String {
    let all: Vec<&RunResult> = result.runs.iter().collect();
    let is_steady = are_steady(&all);
    let wafs = compared_wafs(&all);
    let mut runs: Vec<_> = all.into_iter().zip(wafs).map(|(run, waf)| Told { run, waf }).collect();
    runs.sort_by(|a, b| a.waf.total_cmp(&b.waf));
    let (Some(best), Some(worst)) = (runs.first(), runs.last()) else {
        return "Nothing was run.".into();
    };
    if runs.iter().all(|of| of.run.erases == 0) {
        return nothing_collected(result, best.run);
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
    if is_steady {
        return format!("In the steady state, {sentence}.");
    }
    sentence + &lately(&runs) + &unsettled(result, &runs) + "."
}

/// What is unlike a drive that is built, each once, as a sentence: with the name of its FTL where others differ.
pub fn doubts(result: &ExperimentResult) -> Vec<String> {
    each_once(&doubts_of(result))
}

/// FTLs and what is unlike a drive that is built.
pub fn doubts_of(result: &ExperimentResult) -> Vec<(String, String)> {
    let of = |run: &RunResult| -> Vec<_> {
        run.doubts.iter().map(|doubt| (run.ftl.clone(), doubt.clone())).collect()
    };
    result.runs.iter().flat_map(of).collect()
}

/// The doubts of FTLs: those that several have once, without a name.
pub fn each_once(doubts: &[(String, String)]) -> Vec<String> {
    let count = |of: &str| doubts.iter().filter(|(_, doubt)| doubt == of).count();
    let sentence = |text: &str| {
        let mut letters = text.chars();
        let first =
            letters.next().map_or_else(String::new, |first| first.to_uppercase().to_string());
        first + letters.as_str() + "."
    };
    let mut all: Vec<String> = Vec::new();
    for (ftl, doubt) in doubts {
        let text = match count(doubt) {
            1 => format!("{ftl}: {doubt}."),
            _ => sentence(doubt),
        };
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

fn nothing_collected(result: &ExperimentResult, run: &RunResult) -> String {
    let Config { drive, fill, writes_max, .. } = &result.config;
    let logical_pages = f64::from(drive.logical_pages);
    // Writes of all the flash leave no free block, whichever pages they go to.
    let flash = 1.0 + drive.op_ratio;
    let is_empty_at_first = *fill == Fill::None.to_string();
    let written = result.workload.page_writes as f64 / logical_pages;
    let is_cut = writes_max.is_some_and(|writes| writes <= run.host_writes);
    let mut remedies = vec![if is_cut {
        format!("write more (--drive-writes {})", flash.ceil())
    } else {
        "take a longer trace".to_owned()
    }];
    if is_empty_at_first && written + 1.0 >= flash {
        remedies.push("fill the drive first (--fill random)".to_owned());
    }
    if drive.op_ratio > 1.0 {
        remedies.push("simulate less flash (--op 10%)".to_owned());
    }
    let filled = if is_empty_at_first { "" } else { " after the fill" };
    format!(
        "Nothing was collected, because free blocks were left: the workload wrote {} drive sizes\
         {filled}, and the flash holds {}: {}.",
        significant(written, 3),
        significant(flash, 3),
        remedies.join(", or ")
    )
}

fn alone(of: &Told<'_>) -> String {
    let run = of.run;
    let per_host_page = format!("{} writes {}", run.ftl, pages(of.waf));
    if has_merges(run) {
        let merges = (run.full_merges + run.partial_merges + run.switch_merges) as f64;
        return format!(
            "{per_host_page}: it merges a block every {} host writes, and copies {} pages each time",
            significant(run.host_writes as f64 / merges, 3),
            significant(run.merge_copies as f64 / merges, 3)
        );
    }
    match run.victim_valid_share.mean {
        Some(valid) if run.relocations > 0 => format!(
            "{per_host_page}: the blocks that it collects are still {} valid on average, and those \
             pages have to be moved",
            short_percent(valid)
        ),
        _ => format!("{per_host_page}: no block that it collects holds a valid page any more"),
    }
}

fn compared(runs: &[Told<'_>], worst: &Told<'_>) -> String {
    let best = &runs[0];
    let level: Vec<Told<'_>> = runs.iter().copied().take_while(|of| is_level(best, of)).collect();
    let less = short_percent((worst.waf - best.waf) / worst.waf);
    let (verb, their) = if level.len() > 1 { ("write", "their") } else { ("writes", "its") };
    let about = if level.len() > 1 { "about " } else { "" };
    let comparison = format!(
        "{} {verb} {about}{}, {less} less than {} ({})",
        list(&level),
        pages(best.waf),
        worst.run.ftl,
        significant(worst.waf, 4)
    );
    match (best.run.victim_valid_share.mean, worst.run.victim_valid_share.mean) {
        // What is valid in a log block says little: each page of it may cost a merge.
        (Some(low), Some(high))
            if high - low >= 0.01 && !has_merges(best.run) && !has_merges(worst.run) =>
        {
            format!(
                "{comparison}: {their} victims are {} valid on average, not {}",
                short_percent(low),
                short_percent(high)
            )
        }
        _ => comparison,
    }
}

/// Says so if another FTL has come to be better than the best on the whole.
fn lately(runs: &[Told<'_>]) -> String {
    let best = runs[0].run;
    let tenths = runs.iter().map(|of| of.run);
    match tenths.min_by(|a, b| a.waf_last_tenth.total_cmp(&b.waf_last_tenth)) {
        Some(now) if now.waf_last_tenth < best.waf_last_tenth * (1.0 - LEVEL) => format!(
            "; over the last tenth of the writes {} does better ({}, not {})",
            now.ftl,
            significant(now.waf_last_tenth, 4),
            significant(best.waf_last_tenth, 4)
        ),
        _ => String::new(),
    }
}

/// What is not to be concluded from this run: it is too short, or a longer one would have another result.
fn unsettled(result: &ExperimentResult, runs: &[Told<'_>]) -> String {
    let of = |told: &Told<'_>| told.run.settling;
    if runs.iter().all(|told| of(told).verdict == Verdict::TooShort) {
        return too_short(result, runs);
    }
    let mut parts = Vec::new();
    let mut bounded: Vec<(&str, String)> = Vec::new();
    for told in runs {
        let (name, settling) = (told.run.ftl.as_str(), of(told));
        if let Some(waf) = told.run.steady_waf {
            parts.push(format!("; {name} is steady at {}", significant(waf, 4)));
        } else if let Some(bound) = settling.bound() {
            bounded.push((name, bound));
        } else if let Some(short) = of_needed(settling.drive_writes()) {
            parts.push(format!("; {name} is not steady: {short}"));
        }
    }
    let [written, _] = of(&runs[0]).drive_writes().map(|drives| significant(drives, 2));
    match &bounded[..] {
        [] => {}
        [(name, bound)] => {
            parts.push(format!("; {name} is not steady after {written} drive writes: {bound}"));
        }
        several => {
            let told = several.iter().map(|(name, bound)| format!("{name} ({bound})"));
            let names = enumerated(&told.collect::<Vec<_>>());
            parts.push(format!("; not steady after {written} drive writes are {names}"));
        }
    }
    parts.concat()
}

/// Says how short it is, and how it gets longer.
fn too_short(result: &ExperimentResult, runs: &[Told<'_>]) -> String {
    let pages = f64::from(result.config.drive.logical_pages);
    let written = runs[0].run.host_writes as f64 / pages;
    let needed = runs.iter().map(|told| told.run.settling.drive_writes()[1]).fold(0.0, f64::max);
    let Some(short) = of_needed([written, needed]) else { return String::new() };
    format!("; not steady: {short}{}", longer(&result.config, runs[0].run.host_writes, needed))
}

/// "3.0 of 8.0 drive writes or more"; none of results of earlier versions, which do not tell how many are needed.
fn of_needed([written, needed]: [f64; 2]) -> Option<String> {
    let [written, least] = [written, needed].map(|drives| significant(drives, 2));
    (needed > 0.0).then(|| format!("{written} of {least} drive writes or more"))
}

/// How a run becomes long enough for `needed` drive writes: what ended it after `written` page writes has to end it
/// later.
fn longer(config: &Config, written: u64, needed: f64) -> String {
    let is_trace = config.format.is_some() && !config.repeat;
    let is_cut = config.writes_max.is_some_and(|writes| writes <= written);
    let until = if config.until_steady { "" } else { "--until steady " };
    match (is_cut, is_trace) {
        (true, true) => format!(
            " (--drive-writes {} or more ends it later, and --repeat runs a trace again that ends before)",
            needed.ceil()
        ),
        (true, false) => format!(" (--drive-writes {} or more ends it later)", needed.ceil()),
        (false, true) => format!(" ({until}--repeat runs the trace again)"),
        (false, false) => String::new(),
    }
}

fn has_merges(run: &RunResult) -> bool {
    run.full_merges + run.partial_merges + run.switch_merges > 0
}

fn is_level(a: &Told<'_>, b: &Told<'_>) -> bool {
    (a.waf - b.waf).abs() <= LEVEL * a.waf.min(b.waf)
}

fn pages(waf: f64) -> String {
    format!("{} flash pages per host page", significant(waf, 4))
}

fn list(runs: &[Told<'_>]) -> String {
    let names: Vec<_> = runs.iter().map(|of| of.run.ftl.clone()).collect();
    enumerated(&names)
}

/// "a, b and c".
fn enumerated(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Whole percents where there is more than one; not quite all is never shown as all.
fn short_percent(share: f64) -> String {
    match share {
        _ if share < 0.01 => percent(share),
        _ if share <= 0.99 || share >= 1.0 => format!("{:.0}%", 100.0 * share),
        _ => percent_tenths(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Settling;
    use crate::{DriveOptions, Experiment, Length, Logical, Physical, Workload};

    /// After 25 drive writes, or 3 if they are too few.
    fn settling(verdict: Verdict) -> Settling {
        let rounds = if verdict == Verdict::TooShort { 12 } else { 100 };
        Settling { verdict, rounds, needed_rounds: 32, ..Settling::default() }
    }

    /// A real result, to be changed.
    fn result(ftls: &[(&str, f64, f64)]) -> ExperimentResult {
        let workload = Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
        let experiment = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(4096),
                pages_per_block: Some(32),
                ..DriveOptions::default()
            },
            length: Length::DriveWrites(4.0),
            ..Experiment::new(workload, vec!["1r-greedy".parse().unwrap()])
        };
        let mut result = experiment.run(&mut ()).unwrap();
        let run = result.runs[0].clone();
        result.runs = ftls
            .iter()
            .map(|(ftl, waf, valid)| {
                let mut run = RunResult { ftl: (*ftl).into(), waf: *waf, ..run.clone() };
                run.settling = settling(Verdict::Steady);
                run.steady_waf = Some(*waf);
                run.victim_valid_share.mean = Some(*valid);
                run
            })
            .collect();
        result
    }

    #[test]
    fn the_best_is_compared_with_the_worst() {
        let result =
            result(&[("1r-greedy", 2.1034, 0.52), ("2r-fifo", 1.5, 0.3), ("2r++", 1.31, 0.234)]);
        assert_eq!(
            sentence(&result),
            "In the steady state, 2r++ writes 1.310 flash pages per host page, 38% less than 1r-greedy (2.103): its victims \
             are 23% valid on average, not 52%."
        );
    }

    #[test]
    fn ties_are_level() {
        let both = result(&[("2r-fifo", 3.0, 0.5), ("2r++", 3.003, 0.5)]);
        assert_eq!(
            sentence(&both),
            "In the steady state, 2r-fifo and 2r++ are level: they write 3.000 to 3.003 flash pages per host page."
        );
        let two = result(&[("2r-fifo", 3.0, 0.5), ("2r++", 3.003, 0.5), ("fifo", 4.0, 0.5)]);
        assert_eq!(
            sentence(&two),
            "In the steady state, 2r-fifo and 2r++ write about 3.000 flash pages per host page, 25% less than fifo (4.000)."
        );
    }

    #[test]
    fn whoever_is_better_by_now_is_named() {
        let mut result = result(&[("1r-greedy", 1.262, 0.24), ("2r++", 1.271, 0.25)]);
        result.runs[0].waf_last_tenth = 1.41;
        (result.runs[0].settling, result.runs[0].steady_waf) = (settling(Verdict::TooShort), None);
        result.runs[1].waf_last_tenth = 1.364;
        let text = sentence(&result);
        let expected = "; over the last tenth of the writes 2r++ does better (1.364, not 1.410); 1r-greedy is not \
                        steady: 3.0 of 8.0 drive writes or more; 2r++ is steady at 1.271.";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn a_single_run_is_explained_by_its_victims() {
        let mut one = result(&[("2r++", 3.0, 0.667)]);
        assert!(sentence(&one).contains("are still 67% valid on average"), "{}", sentence(&one));
        one.runs[0].relocations = 0;
        one.runs[0].steady_waf = None;
        one.runs[0].settling = Settling {
            at_least: Some(2.9),
            change_per_drive_write: 0.0201,
            ..settling(Verdict::Rising)
        };
        let text = sentence(&one);
        assert!(text.contains("no block that it collects holds a valid page"), "{text}");
        let rising = "; 2r++ is not steady after 25 drive writes: at least 2.90, still rising 2.0% a drive write.";
        assert!(text.ends_with(rising), "{text}");
    }

    #[test]
    fn several_that_are_not_steady_share_a_sentence() {
        let mut both = result(&[("1r-greedy", 3.0, 0.6), ("2r++", 2.0, 0.5)]);
        for (run, verdict) in both.runs.iter_mut().zip([Verdict::Rising, Verdict::Unsettled]) {
            run.steady_waf = None;
            run.settling = Settling { at_least: Some(1.9), ..settling(verdict) };
        }
        both.runs[0].settling.change_per_drive_write = 0.0201;
        let text = sentence(&both);
        let expected = "; not steady after 25 drive writes are 2r++ (at least 1.90) and 1r-greedy (at least 1.90, still \
                        rising 2.0% a drive write).";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn merges_are_explained_by_their_number() {
        let mut runs = result(&[("fast", 9.0, 0.1), ("page", 2.0, 0.5)]);
        (runs.runs[0].host_writes, runs.runs[0].merge_copies) = (1000, 8000);
        runs.runs[0].full_merges = 125;
        let text = sentence(&runs);
        assert!(!text.contains("victims"), "{text}");
        runs.runs.truncate(1);
        let text = sentence(&runs);
        let expected = "it merges a block every 8.00 host writes, and copies 64.0 pages each time";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn not_quite_all_is_not_all() {
        let shares = [0.004, 0.234, 0.989, 0.9912, 0.999, 0.9999, 1.0].map(short_percent);
        assert_eq!(shares, ["0.4%", "23%", "99%", "99.1%", "99.9%", "99.9%", "100%"]);
    }

    fn sparse(fill: Fill, op: f64, length: Length) -> ExperimentResult {
        let workload = Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
        let experiment = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(4096),
                pages_per_block: Some(32),
                physical: Physical::OverProvisioning(ftlab_spec::Share(op)),
                ..DriveOptions::default()
            },
            fill,
            length,
            ..Experiment::new(workload, vec!["2r++".parse().unwrap()])
        };
        experiment.run(&mut ()).unwrap()
    }

    #[test]
    fn where_nothing_was_collected_the_advice_works() {
        let text = sentence(&sparse(Fill::None, 0.25, Length::DriveWrites(0.5)));
        assert_eq!(
            text,
            "Nothing was collected, because free blocks were left: the workload wrote 0.500 drive \
             sizes, and the flash holds 1.25: write more (--drive-writes 2), or fill the drive first \
             (--fill random)."
        );
        assert!(sparse(Fill::None, 0.25, Length::DriveWrites(2.0)).runs[0].erases > 0);
        assert!(sparse(Fill::Random, 0.25, Length::DriveWrites(0.5)).runs[0].erases > 0);

        let text = sentence(&sparse(Fill::Random, 40.0, Length::DriveWrites(20.0)));
        assert!(text.contains("wrote 20.0 drive sizes after the fill, and the flash holds 41.0"));
        let advice = ": write more (--drive-writes 41), or simulate less flash (--op 10%).";
        assert!(text.ends_with(advice), "{text}");
        assert!(sparse(Fill::Random, 40.0, Length::DriveWrites(41.0)).runs[0].erases > 0);
        assert!(sparse(Fill::Random, 0.1, Length::DriveWrites(20.0)).runs[0].erases > 0);
    }

    #[test]
    fn results_of_earlier_versions_do_not_say_how_much_is_needed() {
        let mut old = result(&[("1r-greedy", 3.0, 0.6), ("2r++", 2.0, 0.5)]);
        for run in &mut old.runs {
            run.steady_waf = None;
            run.settling = Settling { needed_rounds: 0, ..settling(Verdict::TooShort) };
        }
        let text = sentence(&old);
        assert!(!text.contains("not steady") && !text.contains("drive writes"), "{text}");
        old.runs[0].settling.verdict = Verdict::Rising;
        let text = sentence(&old);
        assert!(!text.contains("of 0"), "{text}");
    }

    #[test]
    fn a_run_that_was_cut_is_told_to_end_later() {
        let mut short = result(&[("1r-greedy", 3.0, 0.6)]);
        (short.runs[0].settling, short.runs[0].steady_waf) = (settling(Verdict::TooShort), None);
        let later = " (--drive-writes 8 or more ends it later).";
        assert!(sentence(&short).ends_with(later), "{}", sentence(&short));
        short.config.format = Some("csv".into());
        let later = " ends it later, and --repeat runs a trace again that ends before).";
        assert!(sentence(&short).ends_with(later), "{}", sentence(&short));
        short.config.writes_max = None;
        let again = " (--until steady --repeat runs the trace again).";
        assert!(sentence(&short).ends_with(again), "{}", sentence(&short));
    }

    #[test]
    fn a_trace_that_ended_cannot_be_told_to_write_more() {
        let mut none = sparse(Fill::None, 0.25, Length::DriveWrites(0.5));
        none.config.writes_max = None;
        let text = sentence(&none);
        assert!(text.contains(": take a longer trace, or fill the drive first"), "{text}");
    }
}
