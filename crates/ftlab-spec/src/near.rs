//! Names that may have been meant, and names to choose from.

use std::fmt;

/// Names that are proposed at most.
const PROPOSED_MAX: usize = 3;
/// How much like a name, in 0..=1, what was typed has to be for it to be proposed.
const LIKE: f64 = 0.8;
/// How much less like a name than like the nearest one it may be.
const LESS: f64 = 0.1;
/// How much nearer than a whole name a pair has to be to come before it.
const NEARER: f64 = 0.06;

/// The names of things of which some have names of their own, and others are pairs `first/second`. Shown
/// as the former, an example of a pair and a line for each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamesAndPairs {
    /// Every name that is no pair.
    pub names: Vec<String>,
    /// What the two parts of a pair are called, in the plural, and the names of each.
    pub parts: [(&'static str, Vec<String>); 2],
}

impl NamesAndPairs {
    /// [`did_you_mean`], where pairs are proposed only if one is clearly nearer than every other name.
    pub(crate) fn near(&self, name: &str) -> String {
        let mut near: Vec<_> =
            self.names.iter().filter_map(|known| nearness(name, known)).collect();
        let [(_, firsts), (_, seconds)] = &self.parts;
        let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |last| (first, last)));
        let pairs: Vec<_> = pairs
            .filter_map(|(first, second)| nearness(name, &format!("{first}/{second}")))
            .map(|(near, pair)| (near - NEARER, pair))
            .collect();
        let nearest =
            |near: &[(f64, String)]| near.iter().map(|(near, _)| *near).fold(0.0, f64::max);
        if nearest(&pairs) > nearest(&near) {
            near.extend(pairs);
        }
        proposal(near)
    }
}

impl fmt::Display for NamesAndPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(first, firsts), (second, seconds)] = &self.parts;
        f.write_str(&self.names.join(", "))?;
        f.write_str("\n    or a pair of these")?;
        if let (Some(first), Some(second)) = (firsts.first(), seconds.first()) {
            write!(f, ", such as {first}/{second}")?;
        }
        let (firsts, seconds) = (firsts.join(", "), seconds.join(", "));
        write!(f, "\n    {first}: {firsts}\n    {second}: {seconds}")
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
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
            let known = NamesAndPairs { names: names("1r-greedy 2r-greedy sepbit"), parts };
            format!("{}; known: {known}", known.near(name))
        };
        assert_eq!(
            unknown("2r-gredy"),
            " (did you mean \"2r-greedy\" or \"1r-greedy\"?); known: 1r-greedy, \
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
