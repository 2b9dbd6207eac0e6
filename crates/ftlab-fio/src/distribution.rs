//! `random_distribution`: which block comes next, before the random map has its say.

use ftlab_random::Taus88;
use ftlab_random::{SPREAD, Zipf};

/// Parts of a range, by how often they are drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Zones(pub(super) Vec<Zone>);

/// A part of the range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Zone {
    /// How many of 100 requests go there.
    pub(super) accesses: u32,
    /// How large it is: percent of the range, or bytes in `zoned_abs`.
    pub(super) size: u64,
}

impl Zones {
    /// Where the zone begins and ends that the number `drawn`, 1..=100, stands for.
    #[inline]
    pub(super) fn at(&self, drawn: u32) -> (u64, u64) {
        let (mut accesses, mut start) = (0, 0_u64);
        for zone in &self.0 {
            accesses += zone.accesses;
            let end = start.saturating_add(zone.size);
            if drawn <= accesses {
                return (start, end);
            }
            start = end;
        }
        (0, start)
    }
}

/// The distribution, as a job file names it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Distribution {
    /// Every block equally likely; the only one with a random map.
    #[default]
    Random,
    /// With this exponent, around this share of the range.
    Zipf { theta: f64, centre: Option<f64> },
    /// Of this h, around this share of the range.
    Pareto { h: f64, centre: Option<f64> },
    /// With this deviation in percent, around this share of the range.
    Normal { deviation: f64, centre: Option<f64> },
    /// Of reads, writes and trims, in percent of the range.
    Zoned([Zones; 3]),
    /// Of reads, writes and trims, in bytes.
    ZonedAbsolute([Zones; 3]),
}

impl Distribution {
    /// Whether it has numbers of its own.
    pub(super) fn is_skewed(&self) -> bool {
        matches!(self, Self::Zipf { .. } | Self::Pareto { .. } | Self::Normal { .. })
    }
}

/// A distribution with numbers of its own.
#[derive(Debug, Clone)]
pub(super) enum Skewed {
    Zipf(Zipf),
    Pareto(Pareto),
    Normal(Normal),
}

impl Skewed {
    /// Over `numbers` blocks; `None` for those that draw from the job's own numbers.
    pub(super) fn new(distribution: &Distribution, numbers: u64, seed: u32) -> Option<Self> {
        Some(match *distribution {
            Distribution::Zipf { theta, centre } => {
                Self::Zipf(Zipf::new(numbers, theta, centre, SPREAD, seed))
            }
            Distribution::Pareto { h, centre } => {
                Self::Pareto(Pareto::new(numbers, h, centre, seed))
            }
            Distribution::Normal { deviation, centre } => {
                Self::Normal(Normal::new(numbers, deviation, centre, seed))
            }
            _ => return None,
        })
    }

    /// The next block.
    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.draw(),
            Self::Pareto(pareto) => pareto.draw(),
            Self::Normal(normal) => normal.draw(),
        }
    }
}

/// A uniform number to the power log h / log(1 - h), spread over the range.
#[derive(Debug, Clone)]
pub(super) struct Pareto {
    random: Taus88,
    numbers: u64,
    power: f64,
    offset: u64,
}

impl Pareto {
    fn new(numbers: u64, h: f64, centre: Option<f64>, seed: u32) -> Self {
        let mut random = Taus88::from_fio_seed(seed);
        let first = u64::from(random.next_u32());
        let offset = centre.map_or(first, |centre| (numbers as f64 * centre) as u64);
        Self { random, numbers, power: h.ln() / (1.0 - h).ln(), offset }
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        let uniform = f64::from(self.random.next_u32()) / f64::from(u32::MAX);
        let rank = ((self.numbers - 1) as f64 * uniform.powf(self.power)) as u64;
        rank.wrapping_mul(SPREAD).wrapping_add(self.offset) % self.numbers
    }
}

/// The mean of twelve uniform numbers, shifted by a uniform deviation, and spread over the range.
#[derive(Debug, Clone)]
pub(super) struct Normal {
    random: Taus88,
    numbers: u64,
    deviation: u32,
    offset: u64,
}

impl Normal {
    fn new(numbers: u64, percent: f64, centre: Option<f64>, seed: u32) -> Self {
        let deviation = (numbers as f64 * percent / 100.0).ceil() as u32;
        let deviation = u64::from(deviation).min(numbers / 2) as u32;
        // A centre below the middle is negative, and wraps at 32 bits.
        let offset = centre.map_or(0, |centre| (numbers as f64 * (centre - 0.5)) as i64 as u32);
        let random = Taus88::from_fio_seed(seed);
        Self { random, numbers, deviation, offset: u64::from(offset) }
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        const TERMS: u64 = 12;
        let term = |random: &mut Taus88| u64::from(random.next_u32()) % (self.numbers + 1);
        let sum = (0..TERMS).map(|_| term(&mut self.random)).sum::<u64>();
        let mut mean = sum.div_ceil(TERMS);
        if self.deviation > 0 {
            let share = f64::from(self.random.next_u32()) / 4_294_967_296.0;
            let above = (f64::from(self.deviation) * share) as u32;
            let mut shift = i64::from(above.wrapping_sub(self.deviation / 2).cast_signed());
            while mean.wrapping_add_signed(shift) >= self.numbers && shift != 0 {
                shift /= 2;
            }
            mean = mean.wrapping_add_signed(shift);
        }
        mean.wrapping_mul(SPREAD).wrapping_add(self.offset) % self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_follow_each_other() {
        let zones = Zones(vec![
            Zone { accesses: 80, size: 20 },
            Zone { accesses: 10, size: 20 },
            Zone { accesses: 10, size: 60 },
        ]);
        let at = [1, 80, 81, 90, 91, 100].map(|drawn| zones.at(drawn));
        assert_eq!(at, [(0, 20), (0, 20), (20, 40), (20, 40), (40, 100), (40, 100)]);
    }

    #[test]
    fn all_stay_within_the_range() {
        for distribution in [
            Distribution::Zipf { theta: 1.2, centre: Some(0.3) },
            Distribution::Pareto { h: 0.2, centre: None },
            Distribution::Normal { deviation: 10.0, centre: Some(0.1) },
            Distribution::Normal { deviation: 99.0, centre: None },
        ] {
            for numbers in [1, 2, 1000] {
                let mut skewed = Skewed::new(&distribution, numbers, 7).unwrap();
                assert!((0..1000).all(|_| skewed.draw() < numbers), "{distribution:?}");
            }
        }
    }
}
