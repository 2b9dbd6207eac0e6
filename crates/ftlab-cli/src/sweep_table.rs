//! The table of a sweep: a line for each cell, over its seeds.

use crate::error::CliError;
use crate::table::{csv_line, ruled};
use ftlab_experiments::sweep::{Metric, Over, Plan, Results, Selector, Spread, places, spread};
use ftlab_sim::format::significant;
use ftlab_trace::replace_file;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A column after the axes.
struct Column {
    metric: &'static str,
    heading: &'static str,
    /// Significant digits.
    digits: i32,
}

/// The columns after the axes, as far as the runs have the number.
const COLUMNS: [Column; 6] = [
    Column { metric: "steady-waf", heading: "steady\nWAF", digits: 5 },
    Column { metric: "waf", heading: "WAF of\nthe run", digits: 5 },
    Column { metric: "waf-last-tenth", heading: "WAF,\nlast 10%", digits: 5 },
    Column { metric: "victims-valid", heading: "victims\nvalid", digits: 3 },
    Column { metric: "cold-region", heading: "cold\nregion", digits: 3 },
    Column { metric: "response-mean", heading: "response\nms", digits: 4 },
];

/// A file that a table is written to, by its ending.
#[derive(Debug, Clone)]
pub(crate) struct TableFile {
    path: PathBuf,
    kind: TableKind,
}

#[derive(Debug, Clone, Copy)]
enum TableKind {
    Latex,
    Markdown,
    Csv,
}

impl FromStr for TableFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let kind = match path.extension().and_then(|extension| extension.to_str()) {
            Some("tex") => TableKind::Latex,
            Some("md") => TableKind::Markdown,
            Some("csv") => TableKind::Csv,
            _ => {
                return Err(format!(
                    "{text:?} ends in none of .tex (LaTeX), .md (Markdown) and .csv"
                ));
            }
        };
        Ok(Self { path, kind })
    }
}

impl TableFile {
    /// Its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `table` to it.
    pub(crate) fn write(&self, table: &SweepTable) -> Result<(), CliError> {
        let text = match self.kind {
            TableKind::Latex => table.latex(),
            TableKind::Markdown => table.markdown(),
            TableKind::Csv => table.csv(),
        };
        Ok(replace_file(&self.path, |file| file.write_all(text.as_bytes()))?)
    }
}

/// Every cell of a sweep that has a result.
pub(crate) struct SweepTable {
    axes: Vec<String>,
    columns: Vec<&'static Column>,
    rows: Vec<Row>,
}

struct Row {
    labels: Vec<String>,
    numbers: Vec<Option<Spread>>,
}

impl SweepTable {
    /// The cells of `plan`, as far as there are results.
    pub(crate) fn new(plan: &Plan, results: &Results) -> Self {
        let axes: Vec<_> = plan.varying_axes().into_iter().filter(|axis| *axis != "seed").collect();
        let places = places(plan, &Selector::default());
        let has = |metric: &str| {
            let number = |point| Metric::find(metric).ok()?.of(results.get(point)?);
            plan.points.iter().any(|point| number(&point.run).is_some())
        };
        let columns: Vec<_> = COLUMNS.iter().filter(|column| has(column.metric)).collect();
        let rows = places.into_iter().map(|place| Row {
            labels: axes.iter().map(|axis| place.label(axis).unwrap_or("-").to_owned()).collect(),
            numbers: columns
                .iter()
                .map(|column| spread(plan, results, column.metric, place))
                .collect(),
        });
        let rows = rows.filter(|row| row.numbers.iter().any(Option::is_some)).collect();
        Self { axes: axes.into_iter().map(str::to_owned).collect(), columns, rows }
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// As it is printed, with a line that says what follows "±"; empty without results.
    pub(crate) fn terminal(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let headings = self.axes.iter().cloned();
        let headings: Vec<_> =
            headings.chain(self.columns.iter().map(|column| column.heading.to_owned())).collect();
        let rows = self.rows.iter().map(|row| self.cells(row, " ± "));
        format!("{}{}\n", ruled(&headings, rows), self.legend())
    }

    fn cells(&self, row: &Row, between: &str) -> Vec<String> {
        let numbers = self.columns.iter().zip(&row.numbers);
        let numbers = numbers.map(|(column, number)| match number {
            None => "-".to_owned(),
            Some(Spread { mean, deviation: None, .. }) => significant(*mean, column.digits),
            Some(Spread { mean, deviation: Some(deviation), .. }) => {
                significant(*mean, column.digits) + between + &significant(*deviation, 2)
            }
        });
        row.labels.iter().cloned().chain(numbers).collect()
    }

    /// What the deviations are taken over.
    fn legend(&self) -> String {
        let numbers = self.rows.iter().flat_map(|row| &row.numbers).flatten();
        let kinds: BTreeSet<Over> = numbers.map(|number| number.over).collect();
        let of_seeds = kinds.iter().filter_map(|over| match over {
            Over::Seeds(seeds) => Some(*seeds),
            Over::One | Over::Windows => None,
        });
        let mut parts = Vec::new();
        let (least, most) = (of_seeds.clone().min(), of_seeds.max());
        if let Some((least, most)) = least.zip(most) {
            let seeds =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            parts.push(format!("±: standard deviation over {seeds} seeds"));
        }
        if kinds.contains(&Over::Windows) {
            parts.push("±: of one seed, standard deviation of the mean over windows of the run (bootstrap)".into());
        }
        if kinds.iter().all(|over| *over == Over::One) {
            parts.push("one seed; seeds = [1, 2, 3] in the file adds standard deviations".into());
        } else if kinds.contains(&Over::One) {
            parts.push("without ±: one seed".into());
        }
        parts.join("\n") + "\n"
    }

    fn headings(&self) -> Vec<String> {
        let columns = self.columns.iter().map(|column| column.heading.replace('\n', " "));
        self.axes.iter().cloned().chain(columns).collect()
    }

    /// For LaTeX, with the package booktabs.
    fn latex(&self) -> String {
        let alignment = "l".repeat(self.axes.len()) + &"r".repeat(self.columns.len());
        let line = |cells: Vec<String>| {
            let cells: Vec<_> = cells.iter().map(|cell| in_latex(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let rows: String = self.rows.iter().map(|row| line(self.cells(row, " ± "))).collect();
        let legend = self.legend().trim_end().replace('\n', "\n% ");
        format!(
            "% \\usepackage{{booktabs}}\n% {legend}\n\\begin{{tabular}}{{{alignment}}}\n\\toprule\n{}\\midrule\n{rows}\
             \\bottomrule\n\\end{{tabular}}\n",
            line(self.headings())
        )
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let alignment = "---|".repeat(self.axes.len()) + &"---:|".repeat(self.columns.len());
        let rows: String = self.rows.iter().map(|row| line(&self.cells(row, " ± "))).collect();
        format!("{}|{alignment}\n{rows}\n{}", line(&self.headings()), self.legend())
    }

    /// With all digits; of each number its deviation, and what this is taken over.
    fn csv(&self) -> String {
        let of_column = |column: &&Column| {
            ["", " deviation", " over"].map(|suffix| format!("{}{suffix}", column.metric))
        };
        let headings = self.axes.iter().cloned().chain(self.columns.iter().flat_map(of_column));
        let of_number = |number: &Option<Spread>| match number {
            None => [const { String::new() }; 3],
            Some(Spread { mean, deviation, over }) => {
                let deviation = deviation.map_or_else(String::new, |number| number.to_string());
                [mean.to_string(), deviation, over.name()]
            }
        };
        let rows = self.rows.iter().map(|row| {
            csv_line(row.labels.iter().cloned().chain(row.numbers.iter().flat_map(of_number)))
        });
        csv_line(headings) + &rows.collect::<String>()
    }
}

/// Text as LaTeX takes it.
fn in_latex(text: &str) -> String {
    let of_letter = |letter: char| match letter {
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '±' => "$\\pm$".to_owned(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{letter}"),
        _ => letter.to_string(),
    };
    text.chars().map(of_letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SweepTable {
        let number = |mean, deviation, over| Some(Spread { mean, deviation, over });
        let row = |ftl: &str, numbers| Row { labels: vec![ftl.into(), "7%".into()], numbers };
        SweepTable {
            axes: vec!["ftl".into(), "op".into()],
            columns: vec![&COLUMNS[1], &COLUMNS[3]],
            rows: vec![
                row(
                    "a_b",
                    vec![
                        number(1.5, Some(0.25), Over::Seeds(3)),
                        number(0.5, Some(0.125), Over::Seeds(3)),
                    ],
                ),
                row(
                    "c",
                    vec![number(2.0, Some(0.5), Over::Windows), number(0.25, None, Over::One)],
                ),
            ],
        }
    }

    #[test]
    fn latex_has_rules_and_escapes() {
        let text = table().latex();
        for part in [
            "\\begin{tabular}{llrr}\n\\toprule\nftl & op & WAF of the run & victims valid \\\\\n\\midrule\n",
            "a\\_b & 7\\% & ",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(
            text.contains("$\\pm$ ") && text.ends_with("\\bottomrule\n\\end{tabular}\n"),
            "{text}"
        );
    }

    #[test]
    fn csv_has_deviations_in_columns_of_their_own() {
        assert_eq!(
            table().csv(),
            "ftl,op,waf,waf deviation,waf over,victims-valid,victims-valid deviation,victims-valid over\n\
             a_b,7%,1.5,0.25,3 seeds,0.5,0.125,3 seeds\n\
             c,7%,2,0.5,windows,0.25,,one seed\n"
        );
    }

    #[test]
    fn markdown_aligns_numbers_and_says_what_they_are() {
        let text = table().markdown();
        assert!(
            text.starts_with(
                "| ftl | op | WAF of the run | victims valid |\n|---|---|---:|---:|\n| a_b | 7% | "
            ),
            "{text}"
        );
        for part in ["over 3 seeds", "windows of the run", "without ±: one seed"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn the_ending_says_what_is_written() {
        assert!("t.tex".parse::<TableFile>().is_ok());
        let error = "t.pdf".parse::<TableFile>().unwrap_err();
        assert!(error.contains("\"t.pdf\"") && error.contains(".md"), "{error}");
    }
}
