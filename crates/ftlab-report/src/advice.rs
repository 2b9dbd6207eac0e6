//! The page of an advice: evidence, answer, curve and caveats.

use crate::ReportError;
use askama::Template;

/// What the page shows, as text.
#[derive(Debug, Clone, Default)]
pub struct AdvicePage {
    /// What was asked.
    pub question: String,
    /// The answer, in a sentence or a few.
    pub answer: String,
    /// Names and values of what the workload says.
    pub evidence: Vec<(String, String)>,
    /// The curve as SVG, which is not escaped.
    pub figure: String,
    /// Headings of the table.
    pub headings: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// What to keep in mind.
    pub caveats: Vec<String>,
    /// A command that shows the recommended drive at work.
    pub command: Option<String>,
}

#[derive(Template)]
#[template(path = "advice.html")]
struct Page<'a> {
    version: &'static str,
    question: &'a str,
    advice: &'a AdvicePage,
}

impl Page<'_> {
    const STYLE: &'static str = include_str!("../assets/style.css");

    const SCRIPTS: [&'static str; 0] = [];
}

/// The page that shows `advice`; it has no scripts.
pub fn advice_page(advice: &AdvicePage) -> Result<String, ReportError> {
    Ok(Page { version: env!("CARGO_PKG_VERSION"), question: &advice.question, advice }.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_the_figure_is_not() {
        let advice = AdvicePage {
            question: "How much for <b>.parquet?".into(),
            figure: "<svg></svg>".into(),
            rows: vec![vec!["2r++".into(), "1.3*".into()]],
            ..AdvicePage::default()
        };
        let page = advice_page(&advice).unwrap();
        assert!(!page.contains("<b>") && page.contains("<svg></svg>"), "{page}");
        assert!(!page.contains("To keep in mind") && page.contains("1.3*"));
    }
}
