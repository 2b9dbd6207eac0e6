//! Who asks for what: keys with popularities, sizes and ends of their lives.

use super::access::{Access, Accesses, Ask};
use super::parameters::CacheLibParameters;
use crate::parts::seed_of;
use ftlab_random::Ranks;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Bits of a hash that choose a size.
const SIZE_BITS: u32 = 12;
/// Binary places of the lives that a key has had.
const LIFE_PLACES: u32 = 44;

/// Requests for keys that are drawn by a Zipf distribution.
///
/// Key r (from 0) is asked for with a probability of about (r + 1)^-theta. Each has one life after the
/// other, all equally long, and begins at a point of its own: with its next life, it is another object, of
/// another size, that nobody has asked for before.
pub(super) struct Keys {
    random: Xoshiro256PlusPlus,
    ranks: Ranks,
    sizes: Sizes,
    /// Lives that a key has had, and has more with each request.
    lives: u64,
    lives_per_request: u64,
    /// Draws of 53 bits below these are sets, and sets or deletes.
    sets: u64,
    sets_and_deletes: u64,
    seed: u64,
}

impl Keys {
    /// `cache_bytes` is the size of the cache on flash; theta is not 1.
    pub(super) fn new(parameters: &CacheLibParameters, cache_bytes: f64, seed: u64) -> Self {
        let sizes = Sizes::new(parameters);
        let keys = (parameters.data * cache_bytes / sizes.mean).max(1.0);
        let unit = (1_u64 << 53) as f64;
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed_of(seed, 1)),
            ranks: Ranks::new(keys as u64, parameters.theta),
            sizes,
            lives: 0,
            lives_per_request: (parameters.churn / keys * (1_u64 << LIFE_PLACES) as f64) as u64,
            sets: (parameters.sets * unit) as u64,
            sets_and_deletes: ((parameters.sets + parameters.deletes) * unit) as u64,
            seed: seed_of(seed, 2),
        }
    }

    /// Keys at a time.
    pub(super) fn keys(&self) -> u64 {
        self.ranks.numbers()
    }

    /// The object that a key is now.
    #[inline]
    fn object(&self, rank: u64) -> u64 {
        let of_key = seed_of(self.seed, rank);
        let born = of_key >> (u64::BITS - LIFE_PLACES);
        let life = (self.lives + born) >> LIFE_PLACES;
        seed_of(of_key, life)
    }
}

impl Accesses for Keys {
    fn next(&mut self, out: &mut Vec<Access>) -> Result<bool, TraceError> {
        while out.len() < out.capacity() {
            let rank = self.ranks.draw(&mut self.random);
            let key = self.object(rank);
            let draw = self.random.next_u64() >> 11;
            let ask = if draw >= self.sets_and_deletes {
                Ask::Get
            } else if draw < self.sets {
                Ask::Set
            } else {
                Ask::Delete
            };
            out.push(Access { key, bytes: self.sizes.of(key), ask });
            self.lives = self.lives.wrapping_add(self.lives_per_request);
        }
        Ok(true)
    }
}

/// The sizes of objects: small ones are uniform between half and one and a half of their mean; what large
/// ones have beyond the largest small one is exponential.
struct Sizes {
    /// Draws of 32 bits below this are of small objects.
    small: u64,
    /// Sizes by the top bits of a hash, small and large.
    quantiles: [Vec<u32>; 2],
    mean: f64,
}

impl Sizes {
    fn new(parameters: &CacheLibParameters) -> Self {
        let CacheLibParameters { small, small_bytes, large_bytes, small_max, .. } = *parameters;
        let shares =
            (0..1 << SIZE_BITS).map(|index| (f64::from(index) + 0.5) / f64::from(1 << SIZE_BITS));
        let mean = f64::from(small_bytes);
        let smalls: Vec<u32> =
            shares.clone().map(|share| (mean * (0.5 + share)).round() as u32).collect();
        let beyond = f64::from(large_bytes - small_max);
        let large = |share: f64| small_max + 1 + (-beyond * (1.0 - share).ln()) as u32;
        let quantiles = [smalls, shares.map(large).collect()];
        let means = quantiles
            .each_ref()
            .map(|sizes| sizes.iter().copied().map(f64::from).sum::<f64>() / sizes.len() as f64);
        Self {
            small: (small * (1_u64 << 32) as f64) as u64,
            quantiles,
            mean: small * means[0] + (1.0 - small) * means[1],
        }
    }

    /// The size of an object in bytes, with its key.
    #[inline]
    fn of(&self, key: u64) -> u32 {
        // The top of the key is its bucket.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let class = usize::from((hash & 0xffff_ffff) >= self.small);
        self.quantiles[class][(hash >> (u64::BITS - SIZE_BITS)) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(parameters: &CacheLibParameters, cache_bytes: f64, count: usize) -> Vec<Access> {
        let mut out = Vec::with_capacity(count);
        Keys::new(parameters, cache_bytes, 5).next(&mut out).unwrap();
        out
    }

    #[test]
    fn sizes_and_requests_are_as_asked() {
        let parameters = CacheLibParameters {
            sets: 0.3,
            deletes: 0.1,
            theta: 0.0,
            small: 0.6,
            ..CacheLibParameters::default()
        };
        let drawn = accesses(&parameters, 1e10, 1 << 20);
        let share = |is: &dyn Fn(&Access) -> bool| {
            drawn.iter().filter(|access| is(access)).count() as f64 / drawn.len() as f64
        };
        // Five standard deviations are at most 0.0025.
        assert!((share(&|access| access.ask == Ask::Set) - 0.3).abs() < 0.0025);
        assert!((share(&|access| access.ask == Ask::Delete) - 0.1).abs() < 0.0025);
        assert!((share(&|access| access.bytes <= 640) - 0.6).abs() < 0.0025);
        let mean = |is: &dyn Fn(&Access) -> bool| {
            let sizes: Vec<_> = drawn.iter().filter(|access| is(access)).collect();
            sizes.iter().map(|access| f64::from(access.bytes)).sum::<f64>() / sizes.len() as f64
        };
        assert!((mean(&|access| access.bytes <= 640) / 250.0 - 1.0).abs() < 0.01);
        assert!((mean(&|access| access.bytes > 640) / 3600.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn as_many_new_objects_come_as_the_churn_says() {
        // All of a thousand keys are known after the first requests; what is new then, are new lives.
        let keys_of = |parameters: &CacheLibParameters| {
            1000.0 * Sizes::new(parameters).mean / parameters.data
        };
        for churn in [0.0, 0.01, 0.2] {
            let parameters =
                CacheLibParameters { churn, theta: 0.0, ..CacheLibParameters::default() };
            let drawn = accesses(&parameters, keys_of(&parameters), 220_000);
            let mut known: std::collections::BTreeSet<u64> =
                drawn[..20_000].iter().map(|access| access.key).collect();
            let new = drawn[20_000..].iter().filter(|access| known.insert(access.key)).count();
            // A life without a single request is not seen: exp(-1 / churn) of them at most.
            let expected = 200_000.0 * churn * (1.0 - (-1.0 / churn.max(1e-9)).exp());
            assert!((new as f64 - expected).abs() <= 0.02 * expected, "{churn}: {new}");
        }
    }
}
