//! Generators inside the value of a parameter, as `mix` and `join` take them.
//!
//! # Grammar
//! ```text
//! parts     = part ; part ; ...
//! part      = generator * amount                  uniform*0.3
//! generator = name | name(arguments)              zipf(theta=0.9)
//! arguments = key=value ; key=value ; ...         hotcold(writes=0.9;pages=0.1)
//! ```
//! It is `name:key=value,...` with the colon and commas replaced, because commas separate the outer
//! parameters. A value that is itself a list needs nothing more: an item without `=` belongs to the
//! value before it, as in `swap(sizes=0.5;0.5;at=1)`. Parts may hold parts, to a depth of 8.

use ftlab_spec::{Spec, SpecError, Value};
use ftlab_trace::excerpt;
use std::fmt;

const DEPTH_MAX: usize = 8;

/// Parameters with their values.
pub(super) type Values = Vec<(&'static str, String)>;

/// One generator and how much of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The generator with its parameters, as it is typed.
    pub spec: Spec,
    /// A share of the writes, or a length in drive writes.
    pub amount: f64,
}

/// One generator or more.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts(pub Vec<Part>);

impl Parts {
    /// The parameter `of` with this value, every parameter of every generator in it as `resolve` tells.
    pub(super) fn resolved(
        mut self,
        resolve: impl Fn(&Spec) -> Result<Values, SpecError>,
    ) -> Result<Values, SpecError> {
        for Part { spec, .. } in &mut self.0 {
            let values = resolve(spec)?.into_iter();
            spec.arguments = values.map(|(key, value)| (key.to_owned(), value)).collect();
        }
        Ok(vec![("of", self.to_string())])
    }
}

impl Value for Parts {
    fn expects() -> String {
        format!("a list of generators; {FORM}")
    }

    fn expects_for(text: &str) -> String {
        read(text).err().unwrap_or_else(Self::expects)
    }

    fn parse(text: &str) -> Option<Self> {
        read(text).ok()
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Part { spec, amount }) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ";" })?;
            f.write_str(&spec.name)?;
            for (index, (key, value)) in spec.arguments.iter().enumerate() {
                write!(f, "{}{key}={value}", if index == 0 { '(' } else { ';' })?;
            }
            f.write_str(if spec.arguments.is_empty() { "" } else { ")" })?;
            write!(f, "*{amount}")?;
        }
        Ok(())
    }
}

/// How it is to be typed.
const FORM: &str = "write NAME*NUMBER;NAME(key=value;key=value)*NUMBER, such as \
                    uniform*0.3;zipf(theta=0.9)*0.7";

/// Reads a list; the error names the part that is wrong and what is right, to follow "is not".
fn read(text: &str) -> Result<Parts, String> {
    let named = |index: usize, part: &str, wrong: String| {
        let number = index + 1;
        format!(
            "a list of generators: part {number}, {:?}, {wrong}; {FORM}",
            excerpt(part.as_bytes())
        )
    };
    let split = split_outside(text);
    let parts = split.items.iter().enumerate().map(|(index, part)| {
        let wrong = split.wrong.filter(|_| index + 1 == split.items.len());
        let read = wrong.map_or_else(|| read_part(part), |wrong| Err(wrong.to_owned()));
        read.map_err(|wrong| named(index, part, wrong))
    });
    parts.collect::<Result<_, _>>().map(Parts)
}

/// Reads a part; the error says what is wrong with it.
fn read_part(text: &str) -> Result<Part, String> {
    let (generator, amount) = text.rsplit_once('*').ok_or("has no *NUMBER after it")?;
    let number = amount.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    let amount =
        number.ok_or_else(|| format!("has {amount:?} after its *, not a number above 0"))?;
    let (name, arguments) = match generator.split_once('(') {
        None => (generator, None),
        Some((name, rest)) => {
            let arguments =
                rest.strip_suffix(')').ok_or("has something between its ) and its *")?;
            (name, Some(arguments))
        }
    };
    if name.is_empty() {
        return Err("has no name".into());
    }
    if let Some(sign) = name.chars().find(|sign| ":=*)".contains(*sign)) {
        return Err(format!("has a {sign:?} in its name; arguments are in parentheses"));
    }
    let mut spec = Spec::bare(name);
    if let Some(arguments) = arguments {
        read_arguments(arguments, &mut spec)?;
    }
    Ok(Part { spec, amount })
}

/// Reads what is in the parentheses of a part.
fn read_arguments(text: &str, spec: &mut Spec) -> Result<(), String> {
    let split = split_outside(text);
    if let Some(wrong) = split.wrong {
        return Err(wrong.into());
    }
    for item in split.items {
        let equals = item.find('=').filter(|at| !item[..*at].contains('('));
        if let Some(at) = equals {
            let (key, value) = (&item[..at], &item[at + 1..]);
            if key.is_empty() || value.is_empty() {
                return Err(format!("has {item:?} in its parentheses, not key=value"));
            }
            if spec.get(key).is_some() {
                return Err(format!("has {key} twice"));
            }
            spec.arguments.push((key.into(), value.into()));
        } else if let Some((_, value)) = spec.arguments.last_mut() {
            value.push(';');
            value.push_str(item);
        } else {
            return Err(format!("has {item:?} in its parentheses, not key=value"));
        }
    }
    Ok(())
}

/// A text that was split, to its end or until something was wrong with the last item.
struct Split<'a> {
    items: Vec<&'a str>,
    wrong: Option<&'static str>,
}

/// Splits at semicolons outside parentheses.
fn split_outside(text: &str) -> Split<'_> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0);
    let mut wrong = None;
    for (at, character) in text.char_indices() {
        match character {
            '(' if depth == DEPTH_MAX => wrong = Some("has parts in parts more than 8 deep"),
            '(' => depth += 1,
            ')' if depth == 0 => wrong = Some("has a ) without a ("),
            ')' => depth -= 1,
            ';' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if wrong.is_some() {
            break;
        }
    }
    items.push(&text[start..]);
    Split { items, wrong: wrong.or((depth > 0).then_some("has a ( without a )")) }
}

/// The seed of the part with this number from 1; 0 is whoever combines them.
pub(super) fn seed_of(seed: u64, index: u64) -> u64 {
    // The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over both.
    let mut mixed = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Sums within this of 1 pass, so that thirds can be typed as 0.333; shares are then scaled to 1.
const SUM_TOLERANCE: f64 = 0.0011;

/// `shares` scaled to a sum of 1, if they are not negative and add up to about that.
pub(super) fn shares_of_one(
    of: &str,
    key: &str,
    text: &str,
    shares: &[f64],
) -> Result<Vec<f64>, SpecError> {
    let sum: f64 = shares.iter().sum();
    if shares.iter().all(|share| *share >= 0.0) && (sum - 1.0).abs() <= SUM_TOLERANCE {
        return Ok(shares.iter().map(|share| share / sum).collect());
    }
    Err(SpecError::BadValue {
        of: of.into(),
        key: key.into(),
        value: text.into(),
        expects: format!(
            "possible: the shares must not be negative and must add up to 1, not {sum:.4}"
        ),
    })
}

/// For all shares but the last, the 53-bit number below which a draw is of it or of one before.
pub(super) fn thresholds(shares: &[f64]) -> Vec<u64> {
    let mut sum = 0.0;
    let scale = (1u64 << 53) as f64;
    let before_last = &shares[..shares.len().saturating_sub(1)];
    before_last
        .iter()
        .map(|share| {
            sum += share;
            (sum * scale).round() as u64
        })
        .collect()
}

/// Which share a draw of 53 bits belongs to.
#[inline]
pub(super) fn pick(thresholds: &[u64], draw: u64) -> usize {
    thresholds.iter().map(|threshold| usize::from(draw >= *threshold)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use proptest::prelude::*;

    #[test]
    fn parts_parse_and_print_back() {
        for text in [
            "uniform*1",
            "uniform*0.3;zipf(theta=0.9)*0.7",
            "hotcold(writes=0.9;pages=0.1)*2;swap(sizes=0.5;0.5;at=1;2)*1",
            "join(of=uniform*1;zipf(theta=0.9;hash=old)*2)*0.5;uniform*0.5",
        ] {
            assert_eq!(Parts::parse(text).unwrap().to_string(), text);
        }
        let swap = Parts::parse("swap(sizes=0.5;0.5;at=1;2)*1").unwrap().0.remove(0).spec;
        assert_eq!((swap.get("sizes"), swap.get("at")), (Some("0.5;0.5"), Some("1;2")));
    }

    #[test]
    fn what_means_the_same_resolves_to_the_same() {
        let resolved = |spec: &str| resolve(&spec.parse().unwrap()).unwrap();
        let short = resolved("join:of=mix(of=zipf*1)*2;uniform*1.0");
        let long = "mix(of=zipf(theta=0.9;hash=new)*1)*2;uniform(map=off;reads=0)*1";
        assert_eq!(short, [("of", long.to_owned())]);
        assert_eq!(short, resolved(&format!("join:of={long}")));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_part() {
        let deep = format!("{}uniform*1{}", "mix(of=".repeat(9), ")*1".repeat(9));
        for (text, said) in [
            ("", "part 1, \"\", has no *NUMBER after it"),
            ("uniform", "part 1, \"uniform\", has no *NUMBER after it"),
            ("zipf(theta=1)", "has no *NUMBER after it"),
            ("uniform*1;", "part 2, \"\", has no *NUMBER after it"),
            ("uniform*", "has \"\" after its *, not a number above 0"),
            ("uniform*x", "has \"x\" after its *, not a number above 0"),
            ("uniform*0", "has \"0\" after its *"),
            ("uniform*-1", "has \"-1\" after its *"),
            ("uniform*nan", "has \"nan\" after its *"),
            ("*1", "part 1, \"*1\", has no name"),
            ("(a=1)*1", "has no name"),
            (
                "uniform*1;zipf(theta=1*1;uniform*1",
                "part 2, \"zipf(theta=1*1;uniform*1\", has a ( without a )",
            ),
            ("uniform*1;zipf)*1", "part 2, \"zipf)*1\", has a ) without a ("),
            ("zipf(a=1)x*1", "has something between its ) and its *"),
            ("zipf()*1", "has \"\" in its parentheses, not key=value"),
            ("zipf(0.9)*1", "has \"0.9\" in its parentheses, not key=value"),
            ("zipf(theta=)*1", "has \"theta=\" in its parentheses, not key=value"),
            ("zipf:theta=0.9*1", "has a ':' in its name; arguments are in parentheses"),
            ("zipf=0.9*1", "has a '=' in its name"),
            ("zipf(theta=1;theta=2)*1", "has theta twice"),
            (deep.as_str(), "has parts in parts more than 8 deep"),
        ] {
            assert_eq!(Parts::parse(text), None, "{text}");
            let error = Parts::expects_for(text);
            assert!(error.contains(said) && error.ends_with("zipf(theta=0.9)*0.7"), "{error}");
        }
    }

    /// A text of the signs that mean something here.
    fn rubbish() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop::sample::select(vec![
                "uniform", "zipf", "mix", "swap", "of=", "at=", "(", ")", ";", "*", "=", "1",
                "0.5", "é",
            ]),
            0..24,
        )
        .prop_map(|pieces| pieces.concat())
    }

    /// Lists of generators in generators.
    fn parts() -> impl Strategy<Value = Parts> {
        let key_values =
            prop::collection::btree_map("[a-z]{1,3}", "[a-z0-9.]{1,3}(;[0-9]{1,2}){0,2}", 0..3);
        let leaf = ("[a-z]{1,6}", key_values).prop_map(|(name, arguments)| Spec {
            name,
            arguments: arguments.into_iter().collect(),
        });
        let amount = prop::num::f64::NORMAL.prop_map(f64::abs).boxed();
        let list = move |spec: BoxedStrategy<Spec>| {
            let part = (spec, amount.clone()).prop_map(|(spec, amount)| Part { spec, amount });
            prop::collection::vec(part, 1..4).prop_map(Parts)
        };
        let in_lists = list.clone();
        let spec = leaf.prop_recursive(3, 16, 3, move |inner| {
            let arguments =
                in_lists(inner.boxed()).prop_map(|of| vec![("of".into(), of.to_string())]);
            arguments.prop_map(|arguments| Spec { name: "mix".into(), arguments })
        });
        list(spec.boxed())
    }

    proptest! {
        #[test]
        fn whatever_is_read_prints_back(text in rubbish()) {
            if let Some(parts) = Parts::parse(&text) {
                prop_assert_eq!(Parts::parse(&parts.to_string()), Some(parts));
            } else {
                prop_assert!(Parts::expects_for(&text).contains("part "));
            }
        }

        #[test]
        fn whatever_is_printed_is_read_back(parts in parts()) {
            prop_assert_eq!(Parts::parse(&parts.to_string()), Some(parts));
        }
    }
}
