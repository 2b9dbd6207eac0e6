//! Values of facts.

/// What a fact says.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// A number.
    Real(f64),
    /// A word, and the number by which rows are sorted.
    Text {
        /// The word.
        text: String,
        /// The number.
        rank: f64,
    },
    /// Of each interval, a number or none.
    Series(Vec<Option<f64>>),
}

impl Value {
    /// As a number; what has none, such as a series, is not a number.
    pub fn number(&self) -> f64 {
        match self {
            Self::Count(count) => *count as f64,
            Self::Real(number) | Self::Text { rank: number, .. } => *number,
            Self::Series(_) => f64::NAN,
        }
    }

    /// As text that reads back: exact, without units.
    pub fn exact(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text { text, .. } => text.clone(),
            Self::Series(_) => String::new(),
        }
    }
}

/// A column of a file by what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Words, and hashes.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Real,
    /// Numbers, some of which may be missing.
    Optional,
}

/// A field that holds the value of a fact.
pub trait Measured {
    /// The value, if there is one.
    fn measured(&self) -> Option<Value>;
}

macro_rules! counts {
    ($($type:ty),+) => {$(
        impl Measured for $type {
            fn measured(&self) -> Option<Value> {
                Some(Value::Count(u64::from(*self)))
            }
        }
    )+};
}
counts!(u16, u32, u64);

impl Measured for f64 {
    fn measured(&self) -> Option<Value> {
        Some(Value::Real(*self))
    }
}

impl Measured for String {
    fn measured(&self) -> Option<Value> {
        Some(Value::Text { text: self.clone(), rank: f64::NAN })
    }
}

impl<T: Measured> Measured for Option<T> {
    fn measured(&self) -> Option<Value> {
        self.as_ref().and_then(Measured::measured)
    }
}

impl<T: Measured> Measured for Vec<T> {
    fn measured(&self) -> Option<Value> {
        let numbers = self.iter().map(|of| of.measured().map(|value| value.number()));
        Some(Value::Series(numbers.collect()))
    }
}
