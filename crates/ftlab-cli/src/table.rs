//! The final table.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use ftlab_sim::ExperimentResult;
use ftlab_sim::format::{grouped, significant};
use ftlab_sim::result::RunResult;

const HEADINGS: [&str; 9] = [
    "FTL",
    "WAF",
    "last 10%",
    "relocations",
    "erases",
    "victims valid",
    "cold region",
    "ms / 1 M writes",
    "steady",
];

pub(crate) fn table(result: &ExperimentResult) -> String {
    let mut table = plain(&HEADINGS);
    for run in &result.runs {
        table.add_row(row(run).map(|(text, alignment)| Cell::new(text).set_alignment(alignment)));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n\n")
}

/// An empty table with these headings.
pub(crate) fn plain(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings);
    table
}

fn row(run: &RunResult) -> [(String, CellAlignment); 9] {
    let share = |share: Option<f64>| {
        share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
    };
    let ms_per_million = run.seconds * 1e9 / run.host_writes as f64;
    let mut texts = [
        run.ftl.clone(),
        significant(run.waf, 5),
        significant(run.waf_last_tenth, 5),
        grouped(run.relocations),
        grouped(run.erases),
        share(run.victim_utilisation.mean),
        share(run.cold_region_share),
        significant(ms_per_million, 4),
        if run.steady_state { "yes" } else { "no" }.to_owned(),
    ]
    .map(|text| (text, CellAlignment::Right));
    texts[0].1 = CellAlignment::Left;
    texts
}
