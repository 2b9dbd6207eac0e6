//! The page of a fleet: its volumes in a table that is sorted by clicking a heading.

use crate::tables::{Cell, Heading, Row, Table};
use crate::text::script_json;
use crate::{BYTES_MAX, CHART_STYLE, ReportError};
use askama::Template;
use serde::Serialize;

/// What the page shows, as text.
#[derive(Debug, Clone, Default)]
pub struct FleetPage {
    /// What was asked.
    pub question: String,
    /// The answer, in a sentence or a few.
    pub answer: String,
    /// What it rests on, in one line.
    pub trust: String,
    /// Names and values of what was run.
    pub facts: Vec<(String, String)>,
    /// How write amplification is spread, as SVG, which is not escaped.
    pub figure: String,
    /// Headings of the table of FTLs, each with its meaning; that of the first column is left out.
    pub ftl_headings: Vec<(&'static str, &'static str)>,
    /// FTLs, each with its cells.
    pub ftls: Vec<(String, Vec<FleetCell>)>,
    /// Headings of the table of volumes after the name, each with its meaning.
    pub headings: Vec<(String, String)>,
    /// Volumes, each with its cells; only the first are shown if there is no room for all.
    pub volumes: Vec<(String, Vec<FleetCell>)>,
    /// What to keep in mind.
    pub caveats: Vec<String>,
    /// The command that was typed.
    pub command: String,
}

/// A text, and the number by which rows are sorted, if there is one.
pub type FleetCell = (String, Option<f64>);

#[derive(Template)]
#[template(path = "fleet.html")]
struct Page<'a> {
    question: &'a str,
    of: &'a FleetPage,
    ftls: Table,
    headings: &'a [(String, String)],
    volumes: Vec<Row>,
    /// Volumes that are not in the table.
    left_out: usize,
    data: String,
}

impl Page<'_> {
    const STYLE: &'static str = CHART_STYLE;

    const SCRIPTS: [&'static str; 3] = [
        include_str!("../assets/page.js"),
        include_str!("../assets/table.js"),
        include_str!("../assets/fleet.js"),
    ];
}

/// What the scripts of all pages look for.
#[derive(Serialize)]
struct Data {
    runs: [(); 0],
}

/// The page. Where not all volumes have room, it shows the first of them, and says how many are left out.
pub fn fleet_page(of: &FleetPage) -> Result<String, ReportError> {
    let mut shown = of.volumes.len();
    loop {
        let text = render(of, shown)?;
        if text.len() <= BYTES_MAX {
            return Ok(text);
        }
        if shown == 0 {
            return Err(ReportError::TooLarge { bytes: text.len() });
        }
        // Rows take most of the page; a few bytes more or less in them do not matter.
        shown = (shown * BYTES_MAX / text.len()).min(shown - 1);
    }
}

fn render(of: &FleetPage, shown: usize) -> Result<String, ReportError> {
    let row = |(name, cells): &(String, Vec<FleetCell>)| Row {
        ftl: name.clone(),
        cells: cells
            .iter()
            .map(|(text, number)| Cell { text: text.clone(), number: *number })
            .collect(),
    };
    let ftls = Table {
        headings: of
            .ftl_headings
            .iter()
            .map(|&(text, meaning)| Heading { text, meaning })
            .collect(),
        rows: of.ftls.iter().map(row).collect(),
    };
    let page = Page {
        question: &of.question,
        of,
        ftls,
        headings: &of.headings,
        volumes: of.volumes[..shown].iter().map(row).collect(),
        left_out: of.volumes.len() - shown,
        data: script_json(&Data { runs: [] })?,
    };
    Ok(page.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(volumes: usize) -> FleetPage {
        let volume = |number: usize| {
            let cells = vec![("1.5".to_owned(), Some(1.5)), ("<b>".to_owned(), None)];
            (format!("volume-{number}"), cells)
        };
        FleetPage {
            question: "How much do they write?".into(),
            headings: vec![("WAF".into(), "of pages".into()), ("why".into(), "why".into())],
            ftl_headings: vec![("WAF", "of all bytes")],
            ftls: vec![("2r++".into(), vec![("1.2".into(), Some(1.2))])],
            figure: "<svg></svg>".into(),
            volumes: (0..volumes).map(volume).collect(),
            ..FleetPage::default()
        }
    }

    #[test]
    fn volumes_are_sorted_by_numbers_and_names_are_escaped() {
        let text = fleet_page(&page(3)).unwrap();
        assert!(text.contains("<svg></svg>") && text.contains("data-number=\"1.5\""));
        assert!(!text.contains("<b>") && !text.contains("left out"), "{text}");
        assert_eq!(text.matches("class=\"sortable\"").count(), 2);
    }

    #[test]
    fn what_has_no_room_is_left_out_and_counted() {
        let text = fleet_page(&page(20_000)).unwrap();
        assert!(text.len() <= BYTES_MAX && text.len() > BYTES_MAX / 2);
        let shown = text.matches("volume-").count();
        assert!(text.contains(&format!("{} volumes are left out", 20_000 - shown)), "{shown}");
    }
}
