//! How many requests of each tenant a drive takes in turn.

use ftlab_spec::Value;
use std::fmt;

/// More than NVMe's weights, which have eight bits, can be.
const WEIGHT_MAX: u32 = 256;

/// Requests that a drive takes from the queue of each tenant before it turns to the next: `3/1`; or `equal`, one of
/// each. With `oldest`, it takes the request that has waited longest, whoever sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Weights {
    /// One of each.
    #[default]
    Equal,
    /// As many of each.
    Of(Vec<u32>),
    /// The oldest.
    Oldest,
}

impl Weights {
    /// Whether all are alike.
    pub fn is_equal(&self) -> bool {
        *self == Self::Equal
    }

    /// Those of the tenants, in their order, if they are served in turn; none if they are of more or fewer.
    pub fn of(&self, tenants: usize) -> Option<Vec<u32>> {
        match self {
            Self::Equal | Self::Oldest => Some(vec![1; tenants]),
            Self::Of(weights) => (weights.len() == tenants).then(|| weights.clone()),
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Oldest => f.write_str("oldest"),
            Self::Of(weights) => {
                let weights: Vec<_> = weights.iter().map(u32::to_string).collect();
                f.write_str(&weights.join("/"))
            }
        }
    }
}

impl Value for Weights {
    fn expects() -> String {
        format!(
            "equal, oldest, or whole numbers in 1..={WEIGHT_MAX}, one for each tenant, such as 3/1"
        )
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "equal" => return Some(Self::Equal),
            "oldest" => return Some(Self::Oldest),
            _ => {}
        }
        let weight =
            |part: &str| part.parse().ok().filter(|weight| (1..=WEIGHT_MAX).contains(weight));
        text.split('/').map(weight).collect::<Option<_>>().map(Self::Of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_for_each_tenant() {
        let weights = Weights::parse("3/1/256").unwrap();
        assert_eq!((weights.of(3), weights.of(2)), (Some(vec![3, 1, 256]), None));
        assert_eq!(weights.to_string(), "3/1/256");
        let equal = Weights::parse("equal").unwrap();
        assert_eq!((equal.of(2), equal.to_string().as_str()), (Some(vec![1, 1]), "equal"));
        let oldest = Weights::parse("oldest").unwrap();
        assert_eq!((oldest.of(3), oldest.to_string().as_str()), (Some(vec![1; 3]), "oldest"));
        for wrong in ["", "0/1", "257", "1/", "3:1", "a"] {
            assert_eq!(Weights::parse(wrong), None, "{wrong}");
        }
    }
}
