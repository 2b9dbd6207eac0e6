//! Classes of pages from cold to hot, a stream for each.

use crate::stream::Stream;

const CLASSES: [&str; 8] =
    ["class 0", "class 1", "class 2", "class 3", "class 4", "class 5", "class 6", "class 7"];

/// The most classes that are told apart.
pub(crate) const CLASSES_MAX: u32 = CLASSES.len() as u32;

/// Streams of `count` classes from cold to hot, that take host writes and relocated pages alike.
pub(crate) fn classes(count: usize) -> Vec<Stream> {
    let classes = CLASSES.iter().take(count).enumerate();
    let stream = |(class, &name)| Stream { name, takes_relocations: true, cold: class == 0 };
    classes.map(stream).collect()
}

/// The binary logarithm of a number of at least 1, straight lines within an octave.
#[inline]
pub(crate) fn log2(number: f32) -> f32 {
    (number.max(1.0).to_bits() - 1.0_f32.to_bits()) as f32
        / (1_u32 << (f32::MANTISSA_DIGITS - 1)) as f32
}
