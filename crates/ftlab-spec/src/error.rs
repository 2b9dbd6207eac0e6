//! What can be wrong with a name or a value that a user typed.

use thiserror::Error;

/// What the two parts of a pair `first/second` are called, in the plural, and the names of each.
type Parts = [(&'static str, Vec<String>); 2];

/// A name or value that cannot be used; the message says what to type instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// The text is not `name:key=value,...`.
    #[error("{text:?} is not of the form name:key=value,key=value ({reason})")]
    Syntax {
        /// What was typed.
        text: String,
        /// Which part is wrong.
        reason: String,
    },
    /// No such FTL, generator or format.
    #[error("unknown {kind} {name:?}{}; known: {}", did_you_mean(name, known), known.join(", "))]
    UnknownName {
        /// What was looked up, such as "FTL".
        kind: &'static str,
        /// What was typed.
        name: String,
        /// Every name there is.
        known: Vec<String>,
    },
    /// No such FTL, where a name may also be a pair of parts: `first/second`.
    #[error(
        "unknown {kind} {name:?}{}; known: {}{}",
        did_you_mean_whole_or_pair(name, known, parts),
        known.join(", "),
        pairs_of(parts)
    )]
    UnknownPair {
        /// What was looked up, such as "FTL".
        kind: &'static str,
        /// What was typed.
        name: String,
        /// Every name that is no pair.
        known: Vec<String>,
        /// What the two parts of a pair are called, in the plural, and the names of each.
        parts: Box<Parts>,
    },
    /// The thing exists and does not have this parameter.
    #[error("{of} has no parameter {key:?}{}; {}", did_you_mean(key, known), has(known))]
    UnknownParameter {
        /// Whose parameter.
        of: String,
        /// What was typed.
        key: String,
        /// Every parameter it has.
        known: Vec<String>,
    },
    /// A parameter is given twice.
    #[error("{of}: {key} is given twice; give it once")]
    Repeated {
        /// Whose parameter.
        of: String,
        /// Which one.
        key: String,
    },
    /// A value does not parse or is out of range.
    #[error("{of}: {key}={value} is not {expects}")]
    BadValue {
        /// Whose parameter.
        of: String,
        /// Which one.
        key: String,
        /// What was typed.
        value: String,
        /// What would be right.
        expects: String,
    },
    /// A size, share or count that does not parse.
    #[error("{text:?} is not {expects}")]
    Quantity {
        /// What was typed.
        text: String,
        /// What would be right.
        expects: &'static str,
    },
}

/// Names that are proposed at most.
const PROPOSED_MAX: usize = 3;
/// How much like a name, in 0..=1, what was typed has to be for it to be proposed.
const LIKE: f64 = 0.8;
/// How much less like a name than like the nearest one it may be.
const LESS: f64 = 0.1;
/// How much nearer than a whole name a pair has to be to come before it.
const NEARER: f64 = 0.06;

/// Up to three of the `known` names that are most like `name`, the nearest first, as an insertion
/// ` (did you mean "a" or "b"?)`; empty if none is.
///
/// ```
/// let near = ftlab_spec::did_you_mean("skewin", &["zipf", "skew", "skewinc"]);
/// assert_eq!(near, " (did you mean \"skewinc\" or \"skew\"?)");
/// ```
pub fn did_you_mean<T: AsRef<str>>(name: &str, known: &[T]) -> String {
    proposal(known.iter().filter_map(|known| nearness(name, known.as_ref())).collect())
}

/// The same where a name may also be a pair; those lie further away.
fn did_you_mean_whole_or_pair(name: &str, known: &[String], parts: &Parts) -> String {
    let whole = known.iter().filter_map(|known| nearness(name, known));
    let [(_, firsts), (_, seconds)] = parts;
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)));
    let pairs = pairs.filter_map(|(first, second)| {
        let (near, pair) = nearness(name, &format!("{first}/{second}"))?;
        Some((near - NEARER, pair))
    });
    proposal(whole.chain(pairs).collect())
}

/// How much `name` is like `known`, if it is, and that name.
fn nearness(name: &str, known: &str) -> Option<(f64, String)> {
    let near = strsim::jaro_winkler(name, known);
    (near > LIKE).then(|| (near, known.to_owned()))
}

fn proposal(mut near: Vec<(f64, String)>) -> String {
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some(&(nearest, _)) = near.first() else { return String::new() };
    near.retain(|(near, _)| *near >= nearest - LESS);
    let names: Vec<_> =
        near.iter().take(PROPOSED_MAX).map(|(_, name)| format!("{name:?}")).collect();
    format!(" (did you mean {}?)", either(&names))
}

/// "a", "a or b", "a, b or c".
fn either(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
    }
}
/// How pairs are named, to follow the names that are none: an example, and a line for each part.
fn pairs_of([(first, firsts), (second, seconds)]: &Parts) -> String {
    let example = firsts.first().zip(seconds.first());
    let example = example.map_or_else(String::new, |(a, b)| format!(", such as {a}/{b}"));
    let (firsts_listed, seconds_listed) = (firsts.join(", "), seconds.join(", "));
    format!(
        "\n    or a pair of these{example}\n    {first}: {firsts_listed}\n    {second}: {seconds_listed}"
    )
}

fn has(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_the_nearest() {
        let error = SpecError::UnknownName {
            kind: "FTL",
            name: "2r-fif".into(),
            known: names("1r-greedy 2r-fifo"),
        };
        assert_eq!(
            error.to_string(),
            "unknown FTL \"2r-fif\" (did you mean \"2r-fifo\"?); known: 1r-greedy, 2r-fifo"
        );
    }

    #[test]
    fn up_to_three_names_are_proposed_the_nearest_first() {
        for (name, expected) in [
            ("zipp", " (did you mean \"zipf\"?)"),
            ("skewin", " (did you mean \"skewinc\" or \"skew\"?)"),
            ("skewxx", " (did you mean \"skew\", \"skewinc\" or \"skewdec\"?)"),
            ("qqq", ""),
        ] {
            let known = ["zipf", "skew", "skewinc", "skewdec", "skewed-out"];
            assert_eq!(did_you_mean(name, &known), expected, "{name}");
        }
    }

    #[test]
    fn where_names_may_be_pairs_each_part_has_a_line() {
        let unknown = |name: &str| {
            let parts =
                [("placements", names("single sep-gc")), ("victim rules", names("greedy fifo"))];
            let (known, parts) = (names("1r-greedy 2r-greedy sepbit"), Box::new(parts));
            SpecError::UnknownPair { kind: "FTL", name: name.into(), known, parts }.to_string()
        };
        assert_eq!(
            unknown("2r-gredy"),
            "unknown FTL \"2r-gredy\" (did you mean \"2r-greedy\" or \"1r-greedy\"?); known: 1r-greedy, \
             2r-greedy, sepbit\n    or a pair of these, such as single/greedy\n    placements: single, sep-gc\n    \
             victim rules: greedy, fifo"
        );
        for (name, expected) in [
            ("greedy", "(did you mean \"1r-greedy\" or \"2r-greedy\"?)"),
            ("sep-gc", "(did you mean \"sep-gc/fifo\" or \"sep-gc/greedy\"?)"),
            ("sepgc-greedy", "(did you mean \"sep-gc/greedy\""),
        ] {
            let message = unknown(name);
            assert!(message.contains(expected), "{message}");
        }
    }
}
