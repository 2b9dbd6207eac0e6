//! Tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ftlab_sim::ExperimentResult;
use ftlab_sim::format::{bytes, grouped, percent_tenths, significant};
use ftlab_sim::result::RunResult;

/// On two lines, so that the table stays narrow.
const HEADINGS: [&str; 11] = [
    "FTL",
    "WAF",
    "WAF,\nlast 10%",
    "relocations",
    "erases",
    "victims\nvalid",
    "cold\nregion",
    "metadata",
    "ns per\nwrite",
    "ns per\nmove",
    "steady\nstate",
];

/// Behind the relocations, if anything was merged.
const MERGE_HEADING: &str = "merge\ncopies";
const MERGE_COLUMN: usize = 4;

/// A line above, one below the headings, one at the end.
const LINES: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// The final table of a run.
pub(crate) fn table(result: &ExperimentResult) -> String {
    let mut headings = HEADINGS.map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<String>> = result.runs.iter().map(row).collect();
    if result.runs.iter().any(|run| run.merge_copies > 0) {
        headings.insert(MERGE_COLUMN, MERGE_HEADING.to_owned());
        for (row, run) in rows.iter_mut().zip(&result.runs) {
            let copies = run.merge_copies;
            row.insert(MERGE_COLUMN, if copies > 0 { grouped(copies) } else { "-".into() });
        }
    }
    ruled(&headings, rows)
}

/// A table whose first column is text and whose others are numbers.
pub(crate) fn ruled<R: AsRef<[String]>>(
    headings: &[String],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table.load_style(LINES);
    // Cells that are broken in two are harder to read than lines that the terminal breaks.
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings);
    for row in rows {
        table.add_row(row.as_ref().iter().map(Cell::new));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let is_name = index == 0;
        column.set_padding(if is_name { (0, 0) } else { (2, 0) });
        let alignment = if is_name { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
    }
    format!("{table}\n\n")
}

fn row(run: &RunResult) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent_tenths);
    vec![
        run.ftl.clone(),
        significant(run.waf, 5),
        significant(run.waf_last_tenth, 5),
        grouped(run.relocations),
        grouped(run.erases),
        share(run.victim_valid_share.mean),
        share(run.cold_region_share),
        bytes(run.memory.metadata_bytes),
        significant(run.nanoseconds_per_host_write, 3),
        run.nanoseconds_per_relocation.map_or_else(|| "-".to_owned(), |time| significant(time, 3)),
        if run.steady_state { "yes" } else { "no" }.to_owned(),
    ]
}
