//! Numbers after Zipf, without error: k of 1..=n with a probability of k^-theta over the sum of all.
//!
//! # Rule
//! Rejection-inversion: a point below the integral H of x^-theta is drawn and taken back to x; the candidate is the
//! nearest whole number k. Above k the curve is cut to a step of width 1 and of the area k^-theta, so the point counts if
//! it is within the last k^-theta below H(k + 1/2); otherwise another is drawn. The first step begins where exactly its
//! own area is left, so that 1 is never rejected. Most points near k count whatever theta is, which one comparison of
//! x with k tells.
//!
//! H and its inverse are written with logarithms, so that theta = 1, where H is the logarithm, is not apart from what is
//! near it.
//!
//! # Reference
//! W. Hörmann and G. Derflinger, Rejection-Inversion to Generate Variates from Monotone Discrete Distributions, ACM
//! TOMACS 6(3), 1996, section 4.

use super::draw::draw_share;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Draws numbers of 1..=n.
#[derive(Debug, Clone)]
pub struct Rejection {
    theta: f64,
    numbers: f64,
    /// H where the first step begins.
    low: f64,
    /// H at n + 1/2.
    high: f64,
    /// A number counts at once if it is no further than this above its point.
    near: f64,
}

impl Rejection {
    /// Of 1..=`numbers`, at least one and at most 2^52; `theta` is at least 0.
    pub fn new(numbers: u64, theta: f64) -> Self {
        let mut rejection = Self { theta, numbers: numbers as f64, low: 0.0, high: 0.0, near: 0.0 };
        rejection.low = rejection.integral(1.5) - 1.0;
        rejection.high = rejection.integral(rejection.numbers + 0.5);
        rejection.near = 2.0 - rejection.inverse(rejection.integral(2.5) - rejection.weight(2.0));
        rejection
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let uniform = draw_share(random);
            let point = self.high + uniform * (self.low - self.high);
            let x = self.inverse(point);
            let number = x.round().clamp(1.0, self.numbers);
            let counts = number - x <= self.near
                || point >= self.integral(number + 0.5) - self.weight(number);
            if counts {
                return number as u64;
            }
        }
    }

    /// x^-theta.
    fn weight(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// The integral of x^-theta from 1 on: (x^(1 - theta) - 1) / (1 - theta), or the logarithm of x.
    #[inline]
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.theta) * log;
        if power.abs() > SMALL { power.exp_m1() / power * log } else { (1.0 + power / 2.0) * log }
    }

    /// The x at which the integral is `area`.
    #[inline]
    fn inverse(&self, area: f64) -> f64 {
        // Rounding may take an area below that of 0.
        let power = ((1.0 - self.theta) * area).max(-1.0);
        let log = if power.abs() > SMALL {
            power.ln_1p() / power * area
        } else {
            (1.0 - power / 2.0) * area
        };
        log.exp()
    }
}

/// Below this, two terms of a series are as good as the function.
const SMALL: f64 = 1e-8;

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    /// Chi-square of a million draws against the law, over the first ranks one by one and the others in bins of about
    /// as many draws; and the degrees of freedom.
    fn chi_square(numbers: u64, theta: f64, seed: u64) -> (f64, f64) {
        const DRAWS: u32 = 1_000_000;
        let weight = |k: u64| (k as f64).powf(-theta);
        let sum: f64 = (1..=numbers).map(weight).sum();
        let (mut bins, mut of) = (vec![0.0], Vec::with_capacity(numbers as usize));
        for number in 1..=numbers {
            if bins.last().is_some_and(|expected| *expected >= 1000.0) {
                bins.push(0.0);
            }
            of.push(bins.len() - 1);
            *bins.last_mut().unwrap() += f64::from(DRAWS) * weight(number) / sum;
        }
        let rejection = Rejection::new(numbers, theta);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut counts = vec![0_u32; bins.len()];
        for _ in 0..DRAWS {
            counts[of[rejection.draw(&mut random) as usize - 1]] += 1;
        }
        let of_bin =
            |(count, expected): (&u32, &f64)| (f64::from(*count) - expected).powi(2) / expected;
        (counts.iter().zip(&bins).map(of_bin).sum(), (bins.len() - 1) as f64)
    }

    #[test]
    fn draws_follow_the_law_for_every_exponent() {
        for (theta, numbers) in [
            (0.0, 1000),
            (0.01, 1000),
            (0.5, 1000),
            (0.9, 1000),
            (0.99, 100_000),
            (1.0, 1000),
            (1.0, 100_000),
            (1.000_000_001, 1000),
            (1.2, 1000),
            (1.2, 100_000),
            (2.0, 1000),
            (3.0, 20),
            (1.0, 2),
        ] {
            let (chi_square, freedom) = chi_square(numbers, theta, 7);
            // Five standard deviations above the mean.
            let most = freedom + 5.0 * (2.0 * freedom).sqrt();
            assert!(chi_square < most, "theta {theta}, {numbers}: {chi_square} with {freedom}");
        }
    }

    #[test]
    fn all_that_is_drawn_is_inside() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for numbers in [1, 2, 3, 1 << 20, 1 << 40, 1 << 52] {
            for theta in [0.0, 0.3, 1.0, 1.2, 10.0] {
                let rejection = Rejection::new(numbers, theta);
                let is_inside = |drawn: u64| (1..=numbers).contains(&drawn);
                assert!(
                    (0..2000).all(|_| is_inside(rejection.draw(&mut random))),
                    "{numbers} {theta}"
                );
            }
        }
    }
}
