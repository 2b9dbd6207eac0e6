//! Rows by whose configuration they run, and how many of each kind are as they should be.

use ftlab_experiments::sweep::{Basis, Comparison};
use serde::{Deserialize, Serialize};

/// How many rows of a kind were compared, and are as they should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Count {
    kind: String,
    compared: usize,
    agree: usize,
}

/// Whether a row agrees with the publication, or as a control does not; none if nothing was compared.
pub(super) fn is_as_it_should_be(line: &Comparison) -> Option<bool> {
    line.agrees.map(|agrees| agrees != (line.kind == Some(Basis::Control)))
}

/// The kind of a row that is compared, as a page has it.
pub(super) fn name(line: &Comparison) -> &'static str {
    line.kind.map_or("", Basis::name)
}

const KINDS: [Basis; 3] = [Basis::Stated, Basis::Reading, Basis::Control];

/// Rows of each kind; those of none are what a user expects, and count as readings.
pub(super) fn counts(lines: &[Comparison]) -> Vec<Count> {
    let counts = KINDS.into_iter().map(|kind| {
        let of_kind = lines.iter().filter(|line| line.kind.unwrap_or(Basis::Reading) == kind);
        let found: Vec<bool> = of_kind.filter_map(is_as_it_should_be).collect();
        let agree = found.iter().filter(|is| **is).count();
        Count { kind: kind.name().to_owned(), compared: found.len(), agree }
    });
    counts.collect()
}

/// The cells of the index, one for each kind.
pub(super) fn cells(counts: &[Count]) -> String {
    let cells = KINDS.iter().map(|kind| {
        let count = counts.iter().find(|count| count.kind == kind.name() && count.compared > 0);
        count.map_or_else(|| "  |".into(), |of| format!(" {} of {} |", of.agree, of.compared))
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: Option<Basis>, agrees: Option<bool>) -> Comparison {
        Comparison {
            what: String::new(),
            kind,
            published: String::new(),
            measured: String::new(),
            difference: None,
            tolerance: String::new(),
            agrees,
            source: String::new(),
            remark: String::new(),
        }
    }

    #[test]
    fn a_control_is_right_if_it_differs() {
        let lines = [
            line(Some(Basis::Stated), Some(true)),
            line(Some(Basis::Stated), Some(false)),
            line(Some(Basis::Control), Some(false)),
            line(Some(Basis::Control), Some(true)),
            line(None, Some(true)),
            line(Some(Basis::Reading), None),
        ];
        assert_eq!(cells(&counts(&lines)), " 1 of 2 | 1 of 1 | 1 of 2 |");
    }
}
