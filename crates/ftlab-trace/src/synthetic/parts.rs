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

use super::areas::Area;
use super::{PageSequence, Space, areas, sequence};
use crate::TraceError;
use ftlab_spec::{Spec, SpecError, Value};
use std::fmt;

const DEPTH_MAX: usize = 8;

/// One generator and how much of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The generator.
    pub spec: Spec,
    /// A share of the writes, or a length in drive writes.
    pub amount: f64,
}

/// One generator or more.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts(pub Vec<Part>);

impl Value for Parts {
    fn expects() -> String {
        "a list NAME*NUMBER;NAME(key=value;key=value)*NUMBER of generators, such as \
         uniform*0.3;zipf(theta=0.9)*0.7"
            .into()
    }

    fn parse(text: &str) -> Option<Self> {
        split_outside(text, ';')?.into_iter().map(parse_part).collect::<Option<_>>().map(Self)
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

fn parse_part(text: &str) -> Option<Part> {
    let (generator, amount) = text.rsplit_once('*')?;
    let amount = amount.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0)?;
    let Some((name, rest)) = generator.split_once('(') else {
        let is_name = !generator.is_empty() && !generator.contains([')', '=', '*']);
        return is_name.then(|| Part { spec: Spec::bare(generator), amount });
    };
    let mut spec = Spec::bare(name);
    for item in split_outside(rest.strip_suffix(')')?, ';')? {
        let equals = item.find('=').filter(|at| !item[..*at].contains('('));
        if let Some(at) = equals {
            let key = &item[..at];
            if spec.get(key).is_some() {
                return None;
            }
            spec.arguments.push((key.into(), item[at + 1..].into()));
        } else {
            let (_, value) = spec.arguments.last_mut()?;
            value.push(';');
            value.push_str(item);
        }
    }
    (!name.is_empty()).then_some(Part { spec, amount })
}

/// Splits at separators outside parentheses; `None` where these do not match or lie too deep.
fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if character == separator && depth == 0 => {
                items.push(&text[start..at]);
                start = at + separator.len_utf8();
            }
            _ => {}
        }
        if depth > DEPTH_MAX {
            return None;
        }
    }
    items.push(&text[start..]);
    (depth == 0).then_some(items)
}

/// The sequences of all parts over the whole drive, each with a seed of its own.
pub(super) fn sequences(
    parts: &Parts,
    space: &Space,
) -> Result<Vec<Box<dyn PageSequence>>, TraceError> {
    let seeds = (1..).map(|index| seed_of(space.seed, index));
    parts
        .0
        .iter()
        .zip(seeds)
        .map(|(part, seed)| sequence(&part.spec, &Space { seed, ..*space }))
        .collect()
}

/// Where the hot and cold pages of every part lie.
pub(super) fn areas_of_parts(parts: &Parts, space: &Space) -> Result<Vec<Vec<Area>>, TraceError> {
    parts.0.iter().map(|part| areas(&part.spec, space)).collect()
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
    fn what_is_not_a_list_of_parts_is_refused() {
        let deep = format!("{}uniform*1{}", "mix(of=".repeat(9), ")*1".repeat(9));
        for text in [
            "",
            "uniform",
            "uniform*",
            "*1",
            "uniform*x",
            "uniform*0",
            "uniform*-1",
            "uniform*nan",
            "zipf(theta=1*1",
            "zipf)*1",
            "zipf(theta=1)",
            "zipf()*1",
            "zipf(0.9)*1",
            "(a=1)*1",
            "uniform*1;",
            "zipf(theta=1;theta=2)*1",
            "zipf(a=1)x*1",
            deep.as_str(),
        ] {
            assert_eq!(Parts::parse(text), None, "{text}");
        }
    }
}
