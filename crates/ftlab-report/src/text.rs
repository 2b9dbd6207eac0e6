//! Names, numbers and data as they stand on a page.

use ftlab_sim::format::significant;
use ftlab_sim::result::Config;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::Path;

/// A generator as the user gave it, or the file name of a trace.
pub(crate) fn name_of(config: &Config) -> &str {
    let name = Path::new(&config.workload).file_name().and_then(OsStr::to_str);
    name.filter(|_| config.format.is_some()).unwrap_or(&config.workload)
}

/// Rounds to five digits: less than a pixel.
pub(crate) fn short(number: f64) -> f64 {
    significant(number, 5).parse().unwrap_or(number)
}

/// As JSON that can be embedded in a script element: nothing but `<` could end it.
pub(crate) fn script_json(data: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(data).map(|text| text.replace('<', "\\u003c"))
}

/// The first clause of an answer, which stands large, and the rest.
pub(crate) fn leading(answer: &str) -> (&str, &str) {
    let end = [". ", "; "].into_iter().filter_map(|end| answer.find(end)).min();
    end.map_or((answer, ""), |end| (answer[..=end].trim_end_matches(';'), &answer[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clause_leads() {
        assert_eq!(leading("It writes 1.5 pages."), ("It writes 1.5 pages.", ""));
        assert_eq!(leading("It needs 7.5%. So plan."), ("It needs 7.5%.", "So plan."));
        assert_eq!(leading("It writes 2; it rises. So."), ("It writes 2", "it rises. So."));
    }

    #[test]
    fn numbers_have_five_digits() {
        let texts = [1.234_567_8, 0.0, 0.012_345_678].map(|number| short(number).to_string());
        assert_eq!(texts, ["1.2346", "0", "0.012346"]);
    }
}
