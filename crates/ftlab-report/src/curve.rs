//! A page around a curve: a question, its answer, evidence, the curve, its numbers and caveats.

use crate::ReportError;
use askama::Template;

/// What the page shows, as text.
#[derive(Debug, Clone, Default)]
pub struct CurvePage {
    /// What made it, such as advice.
    pub kind: String,
    /// What was asked.
    pub question: String,
    /// The answer, in a sentence or a few.
    pub answer: String,
    /// What it rests on, in one line; empty if that is not told.
    pub trust: String,
    /// The heading above the evidence.
    pub evidence_title: String,
    /// Names and values of what the answer follows from.
    pub evidence: Vec<(String, String)>,
    /// The heading above the curve.
    pub title: String,
    /// What the curve shows, for those who do not see it.
    pub label: String,
    /// The curve as SVG, which is not escaped.
    pub figure: String,
    /// What is in the table.
    pub caption: String,
    /// Headings of the table.
    pub headings: Vec<String>,
    /// Cells, one for each heading.
    pub rows: Vec<Vec<String>>,
    /// What to keep in mind.
    pub caveats: Vec<String>,
    /// The heading above the command.
    pub command_title: String,
    /// A command to go on with.
    pub command: Option<String>,
}

#[derive(Template)]
#[template(path = "curve.html")]
struct Page<'a> {
    question: &'a str,
    of: &'a CurvePage,
}

impl Page<'_> {
    const STYLE: &'static str = include_str!("../assets/style.css");

    const SCRIPTS: [&'static str; 0] = [];
}

/// The page; it has no scripts.
pub fn curve_page(of: &CurvePage) -> Result<String, ReportError> {
    Ok(Page { question: &of.question, of }.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_the_figure_is_not() {
        let advice = CurvePage {
            question: "How much for <b>.parquet?".into(),
            figure: "<svg></svg>".into(),
            rows: vec![vec!["2r++".into(), "1.3*".into()]],
            ..CurvePage::default()
        };
        let page = curve_page(&advice).unwrap();
        assert!(!page.contains("<b>") && page.contains("<svg></svg>"), "{page}");
        assert!(!page.contains("To keep in mind") && page.contains("1.3*"));
    }
}
