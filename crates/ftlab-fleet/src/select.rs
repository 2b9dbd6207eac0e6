//! Which volumes are run: a condition such as `written > 2 * footprint and footprint > 10GiB`.

use crate::volume::Volume;
use ftlab_spec::{ByteSize, did_you_mean};
use ftlab_volumes::Facts;
use std::fmt;
use std::str::FromStr;

/// A number of a volume: its name, what it is, and how it is read.
type Variable = (&'static str, &'static str, fn(&Known<'_>) -> f64);

/// What a condition looks at.
pub(crate) struct Known<'a> {
    pub(crate) volume: &'a Volume,
    pub(crate) facts: &'a Facts,
    /// Bytes that the host can address on its drive.
    pub(crate) capacity_bytes: u64,
    pub(crate) page_bytes: u32,
}

impl Known<'_> {
    fn bytes(&self, pages: u64) -> f64 {
        pages as f64 * f64::from(self.page_bytes)
    }
}

/// What a condition may name.
const VARIABLES: [Variable; 16] = [
    ("written", "bytes of the writes", |of| of.facts.written_bytes as f64),
    ("read", "bytes of the reads", |of| of.facts.read_bytes as f64),
    ("trimmed", "bytes of the trims", |of| of.facts.trimmed_bytes as f64),
    ("footprint", "bytes of the pages written", |of| of.bytes(of.facts.footprint_pages)),
    ("working_set", "bytes of the pages written or read", |of| {
        of.bytes(of.facts.working_set_pages)
    }),
    ("updated", "bytes of the pages written more than once", |of| of.bytes(of.facts.updated_pages)),
    ("capacity", "bytes of the drive", |of| of.capacity_bytes as f64),
    ("page_writes", "pages written, counted each time", |of| of.facts.page_writes as f64),
    ("writes", "write requests", |of| of.volume.requests[0] as f64),
    ("trims", "trim requests", |of| of.volume.requests[1] as f64),
    ("reads", "read requests", |of| of.volume.requests[3] as f64),
    ("requests", "requests of any kind", |of| of.volume.all_requests() as f64),
    ("top_10", "share of the page writes to a tenth of the pages written", |of| {
        of.facts.top_10_percent
    }),
    ("top_20", "share to a fifth of them", |of| of.facts.top_20_percent),
    ("sequential", "share of the writes that continue another", |of| of.facts.sequential),
    ("seconds", "from the first request to the last", |of| {
        of.volume.times_us.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e6)
    }),
];

/// A condition on volumes.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    text: String,
    condition: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    /// By its place in [`VARIABLES`].
    Variable(usize),
    Not(Box<Node>),
    Two(Operator, Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Plus,
    Minus,
    Times,
    Over,
}

impl Operator {
    /// What it is made of: numbers, or truths.
    fn takes_truths(self) -> bool {
        matches!(self, Self::Or | Self::And)
    }

    fn gives_truth(self) -> bool {
        !matches!(self, Self::Plus | Self::Minus | Self::Times | Self::Over)
    }
}

/// Operators by how strongly they bind, the weakest first.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("<", Operator::Less),
        (">", Operator::More),
        ("=", Operator::Equal),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Over)],
];

/// Every volume that writes.
const ALL: &str = "all";

impl Selection {
    /// Every volume that writes.
    pub fn all() -> Self {
        Self { text: ALL.into(), condition: Node::Number(1.0) }
    }

    /// Whether a volume is selected. One that writes nothing never is.
    pub(crate) fn has(&self, of: &Known<'_>) -> bool {
        of.facts.page_writes > 0 && (self.text == ALL || self.condition.value(of) != 0.0)
    }
}

impl Node {
    fn value(&self, of: &Known<'_>) -> f64 {
        let truth = |is_true: bool| f64::from(u8::from(is_true));
        match self {
            Self::Number(number) => *number,
            Self::Variable(place) => VARIABLES[*place].2(of),
            Self::Not(node) => truth(node.value(of) == 0.0),
            Self::Two(operator, one, other) => {
                let (one, other) = (one.value(of), other.value(of));
                match operator {
                    Operator::Or => truth(one != 0.0 || other != 0.0),
                    Operator::And => truth(one != 0.0 && other != 0.0),
                    Operator::Less => truth(one < other),
                    Operator::AtMost => truth(one <= other),
                    Operator::More => truth(one > other),
                    Operator::AtLeast => truth(one >= other),
                    Operator::Equal => truth(one.total_cmp(&other).is_eq()),
                    Operator::Plus => one + other,
                    Operator::Minus => one - other,
                    Operator::Times => one * other,
                    Operator::Over => one / other,
                }
            }
        }
    }

    fn is_truth(&self) -> bool {
        match self {
            Self::Number(_) | Self::Variable(_) => false,
            Self::Not(_) => true,
            Self::Two(operator, ..) => operator.gives_truth(),
        }
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == ALL {
            return Ok(Self::all());
        }
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
        let wrong = |what: String| {
            format!(
                "{text:?}: {what}; a condition is written > 2 * footprint and footprint > 10GiB, or all"
            )
        };
        let condition = parser.level(0).map_err(wrong)?;
        if let Some(token) = parser.tokens.get(parser.at) {
            return Err(wrong(format!("{token:?} comes after its end")));
        }
        if !condition.is_truth() {
            return Err(wrong("it is a number, not a condition".into()));
        }
        Ok(Self { text: text.trim().to_owned(), condition })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Words, numbers and signs.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_word =
            |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '%');
        if letter.is_whitespace() {
            continue;
        }
        let mut token = letter.to_string();
        if is_word(&letter) {
            while let Some(next) = letters.next_if(is_word) {
                token.push(next);
            }
        } else if matches!(letter, '<' | '>') {
            token.extend(letters.next_if(|next| *next == '='));
        } else if letter == '=' {
            // Both = and == are understood.
            let _ = letters.next_if(|next| *next == '=');
        } else if !matches!(letter, '(' | ')' | '+' | '-' | '*' | '/') {
            return Err(format!(
                "{text:?}: {letter:?} is no sign of a condition; its signs are ( ) + - * / < <= > >= ="
            ));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

/// Parentheses and negations within each other at most.
const DEPTH_MAX: u32 = 64;

struct Parser {
    tokens: Vec<String>,
    at: usize,
    depth: u32,
}

impl Parser {
    /// What operators of this level and stronger ones make.
    fn level(&mut self, level: usize) -> Result<Node, String> {
        let Some(operators) = LEVELS.get(level) else { return self.single() };
        let mut node = self.level(level + 1)?;
        while let Some(token) = self.tokens.get(self.at) {
            let Some((name, operator)) = operators.iter().find(|(name, _)| name == token) else {
                break;
            };
            self.at += 1;
            let other = self.level(level + 1)?;
            for side in [&node, &other] {
                if side.is_truth() != operator.takes_truths() {
                    let what = if operator.takes_truths() { "conditions" } else { "numbers" };
                    return Err(format!("on both sides of {name:?} are {what}"));
                }
            }
            node = Node::Two(*operator, Box::new(node), Box::new(other));
        }
        Ok(node)
    }

    fn single(&mut self) -> Result<Node, String> {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err("it ends too early".into());
        };
        self.at += 1;
        match token.as_str() {
            "(" | "not" => {
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err(format!("it is nested more than {DEPTH_MAX} deep"));
                }
                let node = if token == "(" { self.in_parentheses() } else { self.negated() };
                self.depth -= 1;
                node
            }
            _ if token.starts_with(|letter: char| letter.is_ascii_digit()) => number(&token),
            _ => variable(&token),
        }
    }

    fn in_parentheses(&mut self) -> Result<Node, String> {
        let node = self.level(0)?;
        if self.tokens.get(self.at).map(String::as_str) != Some(")") {
            return Err("a parenthesis is not closed".into());
        }
        self.at += 1;
        Ok(node)
    }

    fn negated(&mut self) -> Result<Node, String> {
        let node = self.level(2)?;
        if !node.is_truth() {
            return Err("not is said of a condition".into());
        }
        Ok(Node::Not(Box::new(node)))
    }
}

/// A plain number, a percentage or a size.
fn number(token: &str) -> Result<Node, String> {
    let plain = token.parse::<f64>().ok().filter(|number| number.is_finite());
    let percentage = || Some(token.strip_suffix('%')?.parse::<f64>().ok()? / 100.0);
    let size = || token.parse::<ByteSize>().ok().map(|size| size.0 as f64);
    plain.or_else(percentage).or_else(size).map(Node::Number).ok_or_else(|| {
        format!("{token:?} is not a number, a percentage such as 20% or a size such as 10GiB")
    })
}

fn variable(token: &str) -> Result<Node, String> {
    let place = VARIABLES.iter().position(|(name, ..)| *name == token);
    place.map(Node::Variable).ok_or_else(|| {
        let names: Vec<_> = VARIABLES.iter().map(|(name, ..)| *name).collect();
        format!(
            "{token:?} is not known of a volume{}; known are {}",
            did_you_mean(token, &names),
            names.join(", ")
        )
    })
}

/// What a condition may name, and what each is.
pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    VARIABLES.iter().map(|(name, what, _)| (*name, *what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, written: u64, footprint: u64) -> bool {
        let facts = Facts {
            written_bytes: written,
            page_writes: 1,
            footprint_pages: footprint / 4096,
            ..Facts::default()
        };
        let volume = Volume::of_tests("7", [10, 0, 0, 5]);
        let known =
            Known { volume: &volume, facts: &facts, capacity_bytes: 1 << 30, page_bytes: 4096 };
        text.parse::<Selection>().unwrap().has(&known)
    }

    #[test]
    fn conditions_are_told_as_in_papers() {
        let usual = "written > 2 * footprint and footprint > 10GiB";
        assert!(has(usual, 30 << 30, 11 << 30));
        assert!(!has(usual, 20 << 30, 11 << 30));
        assert!(!has(usual, 30 << 30, 10 << 30));
        assert!(has("all", 1, 0));
        for (text, expected) in [
            ("writes + reads = 15 and not trims > 0", true),
            ("writes - reads * 2 == 0", true),
            ("(writes - reads) * 2 >= 11 or requests < 15", false),
            ("capacity / 1GiB <= 100%", true),
            ("not (written > 1 or written > 2)", true),
        ] {
            assert_eq!(has(text, 1, 0), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("written", "it is a number"),
            ("writen > 1", "did you mean \"written\""),
            ("written > 2x", "\"2x\" is not a number"),
            ("written >", "ends too early"),
            ("(written > 1", "not closed"),
            ("written > 1 > 2", "on both sides of \">\" are numbers"),
            ("written and 1 > 0", "on both sides of \"and\" are conditions"),
            ("written > 1 2", "\"2\" comes after its end"),
            ("written & 1", "'&' is no sign"),
            ("not 5", "not is said of a condition"),
        ] {
            let error = text.parse::<Selection>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = "(".repeat(100_000);
        assert!(deep.parse::<Selection>().unwrap_err().contains("64 deep"));
        assert_eq!(variables().count(), VARIABLES.len());
    }
}
