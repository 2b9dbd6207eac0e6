//! The scoreboard as text: Markdown for people, CSV for whatever comes next.

use super::cell::{Cell, Outcome};
use super::score::{Score, Scoreboard, WorkloadScore};
use ftlab_sim::fact::{Fact, Shown};
use ftlab_sim::format::{bytes, percent, significant};
use ftlab_sim::result::{RunResult, shown};
use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

/// Two tables: FTLs from best to worst, and the same by workload. If there are maps on flash, each row names its own.
pub fn markdown(board: &Scoreboard) -> String {
    let [heading, rule] =
        if board.has_maps() { ["| FTL | map |", "|---|---|"] } else { ["| FTL |", "|---|"] };
    let mut text = format!(
        "{heading} relative | best cell | worst cell | metadata | ns per write | cells |\n\
         {rule}---:|---:|---:|---:|---:|---:|\n"
    );
    for score in &board.scores {
        let [best, worst] = score.relative_range;
        let _ = writeln!(
            text,
            "{} {} | {} | {} | {} | {} | {} |",
            named(score),
            significant(score.relative, 3),
            significant(best, 3),
            significant(worst, 3),
            bytes(score.metadata_bytes_max),
            significant(score.nanoseconds_per_host_write, 3),
            score.cells
        );
    }
    text + "\n" + &by_workload(board, heading, rule)
}

/// The first columns of a row.
fn named(score: &Score) -> String {
    let map = score.mapping.as_ref().map_or_else(String::new, |map| format!(" `{map}` |"));
    format!("| `{}` |{map}", score.ftl)
}

/// Relative to the baseline followed by the mean write amplification, a column for each workload.
fn by_workload(board: &Scoreboard, heading: &str, rule: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for workload in board.scores.iter().flat_map(|score| &score.workloads) {
        if !names.contains(&workload.workload.as_str()) {
            names.push(&workload.workload);
        }
    }
    let headings: Vec<_> = names.iter().map(|name| short(name)).collect();
    let mut text =
        format!("{heading} {} |\n{rule}{}\n", headings.join(" | "), "---:|".repeat(names.len()));
    for score in &board.scores {
        let of = |name: &&str| {
            let found = score.workloads.iter().find(|workload| workload.workload == **name);
            found.map_or_else(
                || "-".to_owned(),
                |found| format!("{} ({})", significant(found.relative, 3), wafs(found)),
            )
        };
        let columns: Vec<_> = names.iter().map(of).collect();
        let _ = writeln!(text, "{} {} |", named(score), columns.join(" | "));
    }
    text
}

/// The mean write amplification: the steady value first, if some cells have one, and that of whole runs beside it.
fn wafs(score: &WorkloadScore) -> String {
    let waf = significant(score.waf_mean, 4);
    if score.steady_cells == 0 {
        return waf;
    }
    format!("{waf} steady; runs {}", significant(score.run_waf_mean, 4))
}

/// A workload without its directory and ending.
pub fn short(workload: &str) -> String {
    let stem = Path::new(workload).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match stem {
        Some(stem) if Path::new(workload).is_file() => stem,
        _ => workload.to_owned(),
    }
}

/// The facts that are shown in the file, with their names, in order.
static COLUMNS: LazyLock<Vec<(&'static str, &'static Fact<RunResult>)>> = LazyLock::new(|| {
    shown(|shown| match *shown {
        Shown::Compared { at, name } => Some((at, name)),
        _ => None,
    })
});

/// One line for every cell.
pub fn csv(outcomes: &[Outcome]) -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    // Only comparisons of maps on flash have their column.
    let has_maps = outcomes.iter().any(|outcome| outcome.cell.mapping.is_some());
    let of_map = if has_maps { "mapping," } else { "" };
    let names = names.join(",");
    let mut text = format!("workload,fill,op,pages_per_block,{of_map}ftl,{names},error\n");
    for Outcome { cell, run } in outcomes {
        let Cell { workload, fill, op_ratio, pages_per_block, mapping, ftl } = cell;
        let mut place = vec![
            quoted(workload),
            fill.clone(),
            percent(*op_ratio),
            pages_per_block.map_or_else(|| "usual".to_owned(), |pages| pages.to_string()),
        ];
        place.extend(has_maps.then(|| quoted(mapping.as_deref().unwrap_or_default())));
        place.push(quoted(ftl));
        let rest = match run {
            Ok(run) => COLUMNS.iter().map(|(_, fact)| exact(fact, run) + ",").collect(),
            Err(reason) => format!("{}{}", ",".repeat(COLUMNS.len()), quoted(reason)),
        };
        let _ = writeln!(text, "{},{rest}", place.join(","));
    }
    text
}

/// The value of a fact; empty if there is none.
fn exact(fact: &Fact<RunResult>, run: &RunResult) -> String {
    fact.of(run).map_or_else(String::new, |value| value.exact())
}

/// A field of a CSV file, in quotes if it has to be (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::score::tests::outcomes;
    use super::*;

    #[test]
    fn every_line_of_the_csv_has_all_columns() {
        let mut outcomes = outcomes(&[("a:b=1,c=2", "x", 1.5), ("b", "x", 2.0)]);
        outcomes.push(Outcome { run: Err("\"no\", it said".into()), ..outcomes[1].clone() });
        let text = csv(&outcomes);
        let mut lines = text.lines();
        let columns = lines.next().unwrap().split(',').count();
        assert_eq!(lines.next().unwrap().matches(',').count(), columns, "one is within quotes");
        assert_eq!(lines.next().unwrap().matches(',').count(), columns - 1);
        assert!(lines.next().unwrap().ends_with("\"\"\"no\"\", it said\""));
    }

    #[test]
    fn tables_have_a_row_for_every_ftl_from_best_to_worst() {
        let board =
            Scoreboard::new(&outcomes(&[("a", "x", 1.997), ("b", "x", 1.497)]), &["a".into()]);
        let text = markdown(&board);
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), 4);
        assert!(rows[0].starts_with("| `b` | 0.500 | 0.500 | 0.500 | "), "{}", rows[0]);
        assert_eq!(rows[3], "| `a` | 1.00 (1.997) |");
    }
}
