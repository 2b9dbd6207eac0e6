//! Lists of FTLs as they are typed.

use ftlab_ftl::registry::resolve;
use ftlab_spec::Spec;
use std::str::FromStr;

/// What one word names: `2r++`, or `1r-greedy,2r-fifo:blk-util=0.4`.
///
/// Commas separate both FTLs and their parameters: `key=value` belongs to the FTL before it, and so does a parameter of
/// this FTL that is on or off.
#[derive(Debug, Clone)]
pub(crate) struct Ftls(Vec<Spec>);

impl Ftls {
    /// The FTLs of all these lists.
    pub(crate) fn all(lists: &[Self]) -> Vec<Spec> {
        lists.iter().flat_map(|list| list.0.clone()).collect()
    }
}

impl FromStr for Ftls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words: Vec<String> = Vec::new();
        for part in text.split(',') {
            if part.is_empty() {
                return Err(format!(
                    "{text:?} has a comma too many; a list is 1r-greedy,2r-fifo:blk-util=0.4"
                ));
            }
            match words.last_mut() {
                Some(last) if !begins_an_ftl(part, last) => {
                    if !last.contains(':') {
                        return Err(format!(
                            "{part} is a parameter, and a colon precedes the first: {last}:{part}"
                        ));
                    }
                    last.extend([",", part]);
                }
                _ => words.push(part.to_owned()),
            }
        }
        let specs = words.iter().map(|word| word.parse().map_err(|error| format!("{error}")));
        specs.collect::<Result<_, String>>().map(Self)
    }
}

/// Whether `part` names an FTL; if not, it is a parameter of that in `before`.
fn begins_an_ftl(part: &str, before: &str) -> bool {
    match part.find([':', '=']) {
        Some(at) => part[at..].starts_with(':'),
        None => !before.contains(':') || !is_switch(part, before),
    }
}

/// Whether the FTL in `before` has a parameter of this name that is on or off.
fn is_switch(name: &str, before: &str) -> bool {
    let spec = format!("{before},{name}").parse::<Spec>();
    spec.is_ok_and(|spec| resolve(&spec).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let Ftls(specs) = text.parse().unwrap();
        specs.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn commas_separate_ftls_and_parameters_belong_to_the_one_before() {
        for (text, list) in [
            ("2r++", vec!["2r++"]),
            ("1r-greedy,2r++", vec!["1r-greedy", "2r++"]),
            ("sep-gc/greedy,2r++", vec!["sep-gc/greedy", "2r++"]),
            ("2r-fifo:blk-util=0.4,1r-greedy", vec!["2r-fifo:blk-util=0.4", "1r-greedy"]),
            (
                "2r-fifo:blk-util=0.4,fallback=greedy,2r++:blk-util=0.3,sepbit",
                vec!["2r-fifo:blk-util=0.4,fallback=greedy", "2r++:blk-util=0.3", "sepbit"],
            ),
            (
                "wolf:q=3,allocation=sqrt,sep-gc/greedy",
                vec!["wolf:q=3,allocation=sqrt", "sep-gc/greedy"],
            ),
            // A value may have a colon of its own.
            ("x:a=1,of=y:b=2,z", vec!["x:a=1,of=y:b=2", "z"]),
        ] {
            assert_eq!(split(text), list, "{text}");
        }
    }

    #[test]
    fn a_name_after_parameters_is_one_of_them_only_if_the_ftl_has_it() {
        assert_eq!(split("2r-fifo:blk-util=0.4,unknown"), ["2r-fifo:blk-util=0.4", "unknown"]);
        assert_eq!(split("wolf:q=3,victims-per-lun,2r++"), ["wolf:q=3,victims-per-lun=on", "2r++"]);
        assert_eq!(split("wolf,2r++"), ["wolf", "2r++"]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_what_to_type() {
        for (text, part) in [
            ("1r-greedy,blk-util=0.4", "1r-greedy:blk-util=0.4"),
            ("1r-greedy,,2r++", "a comma too many"),
            ("1r-greedy,", "a comma too many"),
            (":a=1", "the name is missing"),
            ("2r++:a=1,a=2", "a is given twice"),
        ] {
            let message = text.parse::<Ftls>().unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
