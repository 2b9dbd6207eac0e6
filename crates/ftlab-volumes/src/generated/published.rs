//! What is published of the volumes of cloud block stores, as quantiles and means.

/// A share of the volumes, and what as many have at most.
type Quantile = (f64, f64);

/// GiB of the pages that a volume writes at least once. The volumes of Alibaba's traces of 2020, from the table of all
/// 1,000 that the authors of `SepBIT` (Wang et al., FAST 2022) published with their scripts: `ali_property.txt`.
pub(super) const FOOTPRINT_GIB: [Quantile; 9] = [
    (0.01, 0.002),
    (0.05, 0.168),
    (0.1, 0.212),
    (0.25, 0.48),
    (0.5, 1.7),
    (0.75, 7.73),
    (0.9, 85.3),
    (0.95, 126.0),
    (0.99, 440.0),
];

/// GiB up to the highest address of a volume, from the same table.
pub(super) const END_GIB: [Quantile; 5] =
    [(0.05, 18.2), (0.25, 28.0), (0.5, 40.0), (0.75, 98.1), (0.95, 300.0)];

/// How often a page of the footprint is written on average: 455.5 TiB to 26.3 TiB (Li et al., IISWC 2020, table I).
pub(super) const WRITES_PER_PAGE: f64 = 17.3;

/// Read requests for each write request: 5.06 to 15.17 thousand million (the same table).
pub(super) const READS_PER_WRITE: f64 = 0.33;

/// The value below which this share of the volumes is; logarithms lie on lines between quantiles.
pub(super) fn at(quantiles: &[Quantile], share: f64) -> f64 {
    let above = quantiles.iter().position(|(of, _)| *of >= share).unwrap_or(quantiles.len() - 1);
    let (first, last) = (quantiles[above.saturating_sub(1)], quantiles[above]);
    let width = last.0 - first.0;
    let place = if width > 0.0 { ((share - first.0) / width).clamp(0.0, 1.0) } else { 0.0 };
    (first.1.ln() + place * (last.1.ln() - first.1.ln())).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_on_the_published_quantiles_and_between_them() {
        for (share, value) in FOOTPRINT_GIB {
            assert!((at(&FOOTPRINT_GIB, share) / value - 1.0).abs() < 1e-12);
        }
        let between = at(&FOOTPRINT_GIB, 0.6);
        assert!(between > 1.7 && between < 7.73, "{between}");
        assert!(
            (at(&END_GIB, 0.0) - 18.2).abs() < 1e-9 && (at(&END_GIB, 1.0) - 300.0).abs() < 1e-9
        );
    }
}
