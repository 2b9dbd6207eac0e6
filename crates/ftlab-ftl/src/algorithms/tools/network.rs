//! A small neural network that tells classes apart: two hidden layers of rectified units, trained as the drive runs.
//!
//! All arithmetic is of 32-bit floats in a fixed order and without functions of the system's library, so that a
//! drive learns the same on every machine. Training is by Adam (Kingma and Ba, ICLR 2015) on the cross entropy.

use crate::algorithms::tools::random::Random;
use crate::state::state;

/// Samples after which weights change.
pub(crate) const BATCH: usize = 32;

/// How far a weight moves in a step.
const RATE: f32 = 0.003;

/// How slowly the means of gradients and of their squares follow them.
const MOMENTUM: f32 = 0.9;
const SQUARE_MOMENTUM: f32 = 0.999;

/// The outputs of `ROWS` inputs to `COLUMNS` units, and how training moved them.
#[derive(Debug, Clone)]
struct Weights<const ROWS: usize, const COLUMNS: usize> {
    values: [[f32; COLUMNS]; ROWS],
    gradients: [[f32; COLUMNS]; ROWS],
    means: [[f32; COLUMNS]; ROWS],
    squares: [[f32; COLUMNS]; ROWS],
}

// Gradients are 0 between batches.
state!([const ROWS: usize, const COLUMNS: usize] Weights<ROWS, COLUMNS> { values, means, squares } constant gradients);

impl<const ROWS: usize, const COLUMNS: usize> Weights<ROWS, COLUMNS> {
    /// Uniform, with the variance that keeps that of what passes (He et al., ICCV 2015).
    fn new(random: &mut Random) -> Self {
        const STEPS: usize = 1 << 20;
        let limit = (6.0 / ROWS as f32).sqrt();
        let mut draw = || limit * (2.0 * random.below(STEPS) as f32 / STEPS as f32 - 1.0);
        let zero = [[0.0; COLUMNS]; ROWS];
        let values = zero.map(|row| row.map(|_| draw()));
        Self { values, gradients: zero, means: zero, squares: zero }
    }

    fn zero() -> Self {
        let zero = [[0.0; COLUMNS]; ROWS];
        Self { values: zero, gradients: zero, means: zero, squares: zero }
    }

    /// Adam: one step against the mean gradient of a batch.
    fn step(&mut self, scale: f32, [first, second]: [f32; 2]) {
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let gradient = scale * std::mem::take(&mut self.gradients[row][column]);
                let mean = &mut self.means[row][column];
                *mean = MOMENTUM * *mean + (1.0 - MOMENTUM) * gradient;
                let square = &mut self.squares[row][column];
                *square = SQUARE_MOMENTUM * *square + (1.0 - SQUARE_MOMENTUM) * gradient * gradient;
                let step = *mean * first / ((*square * second).sqrt() + 1e-8);
                self.values[row][column] -= RATE * step;
            }
        }
    }
}

/// All units of one layer take all of the one before.
#[derive(Debug, Clone)]
struct Layer<const IN: usize, const OUT: usize> {
    weights: Weights<IN, OUT>,
    biases: Weights<1, OUT>,
}

state!([const IN: usize, const OUT: usize] Layer<IN, OUT> { weights, biases });

impl<const IN: usize, const OUT: usize> Layer<IN, OUT> {
    fn new(random: &mut Random) -> Self {
        Self { weights: Weights::new(random), biases: Weights::zero() }
    }

    #[inline]
    fn forward(&self, inputs: &[f32; IN]) -> [f32; OUT] {
        let mut outputs = self.biases.values[0];
        for (input, row) in inputs.iter().zip(&self.weights.values) {
            for (output, weight) in outputs.iter_mut().zip(row) {
                *output += input * weight;
            }
        }
        outputs
    }

    /// Adds to the gradients what the errors of the outputs say; the errors of the inputs.
    fn backward(&mut self, inputs: &[f32; IN], errors: &[f32; OUT]) -> [f32; IN] {
        for (input, row) in inputs.iter().zip(&mut self.weights.gradients) {
            for (gradient, error) in row.iter_mut().zip(errors) {
                *gradient += input * error;
            }
        }
        for (gradient, error) in self.biases.gradients[0].iter_mut().zip(errors) {
            *gradient += error;
        }
        std::array::from_fn(|row| dot(&self.weights.values[row], errors))
    }

    fn step(&mut self, scale: f32, corrections: [f32; 2]) {
        self.weights.step(scale, corrections);
        self.biases.step(scale, corrections);
    }
}

/// A classifier of `IN` features into `OUT` classes.
#[derive(Debug, Clone)]
pub(crate) struct Network<const IN: usize, const HIDDEN: usize, const OUT: usize> {
    first: Layer<IN, HIDDEN>,
    second: Layer<HIDDEN, HIDDEN>,
    last: Layer<HIDDEN, OUT>,
    /// Feature -> its mean, and 1 / its standard deviation.
    scale: [(f32, f32); IN],
    /// The powers of the momenta so far.
    powers: [f32; 2],
    random: Random,
}

state!([const IN: usize, const HIDDEN: usize, const OUT: usize] Network<IN, HIDDEN, OUT> {
    first, second, last, scale, powers, random
});

/// The sum of products, in four sums that the processor can keep side by side.
#[inline]
fn dot<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f32 {
    let mut sums = [0.0; 4];
    let (a_fours, a_rest) = a.as_chunks::<4>();
    let (b_fours, b_rest) = b.as_chunks::<4>();
    for (a, b) in a_fours.iter().zip(b_fours) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// A binary logarithm becomes a number, by straight lines within an octave.
#[inline]
fn exp2(exponent: f32) -> f32 {
    let bits = (exponent.clamp(-100.0, 100.0) + 127.0) * (1_u32 << 23) as f32;
    f32::from_bits(bits as u32)
}

impl<const IN: usize, const HIDDEN: usize, const OUT: usize> Network<IN, HIDDEN, OUT> {
    pub(crate) fn new() -> Self {
        let mut random = Random::new(1);
        Self {
            first: Layer::new(&mut random),
            second: Layer::new(&mut random),
            last: Layer::new(&mut random),
            scale: [(0.0, 1.0); IN],
            powers: [1.0; 2],
            random,
        }
    }

    #[inline]
    fn scaled(&self, features: &[f32; IN]) -> [f32; IN] {
        std::array::from_fn(|index| {
            let (mean, factor) = self.scale[index];
            (features[index] - mean) * factor
        })
    }

    /// The class that the features speak for.
    #[inline]
    pub(crate) fn classify(&self, features: &[f32; IN]) -> usize {
        let rectify = |units: [f32; HIDDEN]| units.map(|unit| unit.max(0.0));
        let first = rectify(self.first.forward(&self.scaled(features)));
        let outputs = self.last.forward(&rectify(self.second.forward(&first)));
        let mut best = 0;
        for class in 1..OUT {
            if outputs[class] > outputs[best] {
                best = class;
            }
        }
        best
    }

    /// Goes over the samples, features and the class they belong to, `epochs` times in random order. Features are
    /// scaled by the samples from now on.
    pub(crate) fn train(&mut self, samples: &[([f32; IN], usize)], epochs: u32) {
        if samples.is_empty() {
            return;
        }
        self.scale = std::array::from_fn(|index| deviation(samples, index));
        let mut order: Vec<u32> = (0..samples.len() as u32).collect();
        for _ in 0..epochs {
            for last in (1..order.len()).rev() {
                order.swap(last, self.random.below(last + 1));
            }
            for batch in order.chunks(BATCH) {
                for &index in batch {
                    let (features, class) = samples[index as usize];
                    self.learn(&features, class);
                }
                self.step(batch.len());
            }
        }
    }

    /// Adds one sample to the gradients.
    fn learn(&mut self, features: &[f32; IN], class: usize) {
        let inputs = self.scaled(features);
        let first = self.first.forward(&inputs).map(|unit| unit.max(0.0));
        let second = self.second.forward(&first).map(|unit| unit.max(0.0));
        let outputs = self.last.forward(&second);
        let highest = outputs.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let odds = outputs.map(|output| exp2((output - highest) * std::f32::consts::LOG2_E));
        let sum: f32 = odds.iter().sum();
        let mut errors = odds.map(|odd| odd / sum);
        errors[class] -= 1.0;
        let errors = self.last.backward(&second, &errors);
        let errors = self.second.backward(&first, &passed(&errors, &second));
        self.first.backward(&inputs, &passed(&errors, &first));
    }

    fn step(&mut self, samples: usize) {
        self.powers[0] *= MOMENTUM;
        self.powers[1] *= SQUARE_MOMENTUM;
        let corrections = self.powers.map(|power| 1.0 / (1.0 - power));
        let scale = 1.0 / samples as f32;
        self.first.step(scale, corrections);
        self.second.step(scale, corrections);
        self.last.step(scale, corrections);
    }

    /// Bytes of the weights that classifying needs.
    pub(crate) const fn weight_bytes() -> u64 {
        4 * (HIDDEN * (IN + 1) + HIDDEN * (HIDDEN + 1) + OUT * (HIDDEN + 1) + 2 * IN) as u64
    }
}

/// The errors of rectified units: none where they are off.
fn passed<const N: usize>(errors: &[f32; N], units: &[f32; N]) -> [f32; N] {
    std::array::from_fn(|index| if units[index] > 0.0 { errors[index] } else { 0.0 })
}

/// The mean of a feature, and 1 / its standard deviation; 0 if it is always the same.
fn deviation<const IN: usize>(samples: &[([f32; IN], usize)], index: usize) -> (f32, f32) {
    let values = samples.iter().map(|(features, _)| f64::from(features[index]));
    let count = samples.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    let factor = if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 };
    (mean as f32, factor as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_and_others_near() {
        assert_eq!(
            [-3.0, 0.0, 5.0].map(|x| exp2(x).to_bits()),
            [0.125_f32, 1.0, 32.0].map(f32::to_bits)
        );
        for step in -200_i16..200 {
            let exponent = f32::from(step) / 7.0;
            let ratio = exp2(exponent) / exponent.exp2();
            assert!((0.999..1.07).contains(&ratio), "{exponent}: {ratio}");
        }
        assert!(exp2(-1e9) > 0.0 && exp2(-1e9) < 1e-29);
    }

    #[test]
    fn a_step_goes_against_the_gradient() {
        // One sample at a time, by differences of the loss.
        let mut network = Network::<2, 4, 3>::new();
        let features = [0.7, -0.4];
        let loss = |network: &Network<2, 4, 3>| {
            let rectify = |units: [f32; 4]| units.map(|unit| unit.max(0.0));
            let first = rectify(network.first.forward(&features));
            let outputs = network.last.forward(&rectify(network.second.forward(&first)));
            let outputs = outputs.map(f64::from);
            outputs.iter().map(|output| output.exp()).sum::<f64>().ln() - outputs[1]
        };
        let before = network.clone();
        network.learn(&features, 1);
        for row in 0..4 {
            for column in 0..4 {
                let mut moved = before.clone();
                moved.second.weights.values[row][column] += 1e-2;
                let difference = (loss(&moved) - loss(&before)) / 1e-2;
                let gradient = f64::from(network.second.weights.gradients[row][column]);
                assert!((difference - gradient).abs() < 0.05, "{difference}, {gradient}");
            }
        }
        network.step(1);
        assert!(loss(&network) < loss(&before));
    }

    #[test]
    fn it_learns_what_no_straight_line_divides() {
        let mut random = Random::new(7);
        let mut sample = || {
            let point = [0, 1].map(|_| random.below(1000) as f32 - 500.0);
            (point, usize::from((point[0] > 0.0) != (point[1] > 0.0)))
        };
        let samples: Vec<_> = (0..1000).map(|_| sample()).collect();
        let others: Vec<_> = (0..1000).map(|_| sample()).collect();
        let mut network = Network::<2, 16, 2>::new();
        network.train(&samples, 30);
        let right = others.iter().filter(|(point, class)| network.classify(point) == *class);
        let right = right.count();
        assert!(right > 930, "{right} of 1000");
    }
}
