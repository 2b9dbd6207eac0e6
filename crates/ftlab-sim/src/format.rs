//! Numbers as people read them.

pub use ftlab_spec::grouped;

/// A number with `digits` significant digits, without an exponent.
pub fn significant(number: f64, digits: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number:.0}");
    }
    let before_point = number.abs().log10().floor() as i32 + 1;
    format!("{number:.*}", usize::try_from(digits - before_point).unwrap_or(0))
}

/// A share as a percentage with at most two decimals, such as `12.5%`.
pub fn percent(share: f64) -> String {
    format!("{}%", (share * 1e4).round() / 1e2)
}

/// A share as a percentage with one decimal; not quite all is never shown as all.
pub fn percent_tenths(share: f64) -> String {
    let tenths = (1000.0 * share).round();
    format!("{:.1}%", if share < 1.0 { tenths.min(999.0) } else { tenths } / 10.0)
}

/// Bytes in a binary unit with four digits at most, such as `1.074 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = [("TiB", 1_u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let Some((unit, unit_bytes)) = units.into_iter().find(|(_, size)| bytes >= *size) else {
        return format!("{bytes} B");
    };
    if bytes.is_multiple_of(unit_bytes) {
        return format!("{} {unit}", bytes / unit_bytes);
    }
    format!("{} {unit}", significant(bytes as f64 / unit_bytes as f64, 4))
}

/// Bytes in a decimal unit with four digits at most, such as `7.68 TB`: sizes as drives are sold.
pub fn decimal(bytes: u64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let Some((unit, size)) = units.into_iter().find(|(_, size)| bytes as f64 >= *size) else {
        return format!("{bytes} B");
    };
    let text = significant(bytes as f64 / size, 4);
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short} {unit}")
}

/// Bytes in a binary unit if they are a whole number of KiB, and in a decimal one otherwise: as people type them.
pub fn whole(own: u64) -> String {
    if own.is_multiple_of(1024) { bytes(own) } else { decimal(own) }
}

/// An FTL, and its map where that is told, such as `2r++ with dftl:cache=2MiB`.
pub fn with_map(ftl: &str, mapping: Option<&str>) -> String {
    mapping.map_or_else(|| ftl.to_owned(), |mapping| format!("{ftl} with {mapping}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        let texts = [4.821_491, 12.345_678, 0.012_345_67, 123_456.7].map(|n| significant(n, 4));
        assert_eq!(texts, ["4.821", "12.35", "0.01235", "123457"]);
        assert_eq!([0.125, 0.1, 1.0 / 3.0].map(percent), ["12.5%", "10%", "33.33%"]);
        let texts = [0.0, 0.4807, 0.9994, 0.9997, 1.0].map(percent_tenths);
        assert_eq!(texts, ["0.0%", "48.1%", "99.9%", "99.9%", "100.0%"]);
        assert_eq!(
            [100, 4096, 1 << 30, 1_181_116_006].map(bytes),
            ["100 B", "4 KiB", "1 GiB", "1.100 GiB"]
        );
        assert_eq!(
            [100, 960_000_000_000, 7_680_000_000_000, 3_750_000_000, 1000].map(decimal),
            ["100 B", "960 GB", "7.68 TB", "3.75 GB", "1 kB"]
        );
    }
}
