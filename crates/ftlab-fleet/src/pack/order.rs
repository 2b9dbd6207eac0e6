//! By what volumes are put together.

use crate::manifest::PlannedVolume;
use ftlab_random::draw_below;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::fmt;
use std::str::FromStr;

/// Draws of a random order, if nobody asks for another number.
const DRAWS: u32 = 10;
const DRAWS_MAX: u32 = 1000;

/// By what volumes are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Those whose pages are rewritten after about the same time.
    Lifetime,
    /// Those of about the same size.
    Size,
    /// At random, several times.
    Random {
        /// How often.
        draws: u32,
    },
    /// A drive for each, with its own share of the over-provisioning.
    Alone,
}

impl Order {
    /// Its name, without its draws.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lifetime => "lifetime",
            Self::Size => "size",
            Self::Random { .. } => "random",
            Self::Alone => "alone",
        }
    }

    /// How often it is drawn.
    pub(super) fn draws(self) -> u32 {
        if let Self::Random { draws } = self { draws } else { 1 }
    }

    /// These volumes in this order.
    pub(super) fn sort(self, selected: &[usize], all: &[PlannedVolume], draw: u32) -> Vec<usize> {
        let mut sorted = selected.to_vec();
        match self {
            Self::Lifetime => {
                sorted
                    .sort_by(|one, other| lifetime(&all[*one]).total_cmp(&lifetime(&all[*other])));
            }
            // Pages of every size divide the same bytes.
            Self::Size => sorted.sort_by_key(|number| all[*number].size.bytes(1 << 12)),
            Self::Random { .. } => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(draw) + 1);
                for end in (1..sorted.len()).rev() {
                    sorted.swap(end, draw_below(&mut random, end as u64 + 1) as usize);
                }
            }
            Self::Alone => {}
        }
        sorted
    }
}

/// Seconds from one write of a page to the next, in the median; infinite of a volume that writes no page twice.
fn lifetime(of: &PlannedVolume) -> f64 {
    let Some((facts, interval)) =
        of.facts.as_ref().and_then(|facts| Some((facts, facts.update_interval?)))
    else {
        return f64::INFINITY;
    };
    let (first, last) = of.volume.times_us.unwrap_or_default();
    let seconds = last.saturating_sub(first) as f64 / 1e6;
    interval as f64 * seconds / facts.page_writes.max(1) as f64
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random { draws } => write!(f, "random:draws={draws}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let draws = |draws: &str| draws.parse().ok().filter(|of| (1..=DRAWS_MAX).contains(of));
        match text {
            "lifetime" => Ok(Self::Lifetime),
            "size" => Ok(Self::Size),
            "random" => Ok(Self::Random { draws: DRAWS }),
            "alone" => Ok(Self::Alone),
            _ => text
                .strip_prefix("random:draws=")
                .and_then(draws)
                .map(|draws| Self::Random { draws })
                .ok_or_else(|| {
                    format!(
                        "{text:?} is not lifetime, size, alone, random or random:draws=N with N from 1 to {DRAWS_MAX}"
                    )
                }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Size;
    use crate::volume::Volume;
    use ftlab_volumes::Facts;

    fn volume(pages: u64, update_interval: Option<u64>) -> PlannedVolume {
        PlannedVolume {
            volume: Volume {
                times_us: Some((0, 2_000_000)),
                ..Volume::of_tests("v", [1, 0, 0, 0])
            },
            facts: Some(Facts { page_writes: 100, update_interval, ..Facts::default() }),
            size: Size::Pages(pages),
            size_from: String::new(),
            is_selected: true,
        }
    }

    #[test]
    fn orders_sort_and_draws_differ() {
        let all = [volume(3, None), volume(1, Some(50)), volume(2, Some(10))];
        let numbers = [0, 1, 2];
        assert_eq!(Order::Lifetime.sort(&numbers, &all, 0), [2, 1, 0]);
        assert!((lifetime(&all[1]) - 1.0).abs() < 1e-12 && lifetime(&all[0]).is_infinite());
        assert_eq!(Order::Size.sort(&numbers, &all, 0), [1, 2, 0]);
        assert_eq!(Order::Alone.sort(&[2, 0], &all, 0), [2, 0]);
        let many: Vec<_> = (0..3).cycle().take(30).collect();
        let random = Order::Random { draws: 2 };
        assert_eq!(random.sort(&many, &all, 0), random.sort(&many, &all, 0));
        assert_ne!(random.sort(&many, &all, 0), random.sort(&many, &all, 1));
    }

    #[test]
    fn orders_are_told_by_name() {
        for text in ["lifetime", "size", "alone", "random:draws=3"] {
            assert_eq!(text.parse::<Order>().unwrap().to_string(), text);
        }
        assert_eq!("random".parse(), Ok(Order::Random { draws: 10 }));
        for text in ["random:draws=0", "random:draws=1001", "age", ""] {
            assert!(text.parse::<Order>().unwrap_err().contains("lifetime, size"), "{text}");
        }
    }
}
