//! Units in the names of counters.

use super::catalogue::{GIB, MIB, Meaning, Unit};
use super::words::brackets;

/// Bytes of a unit from which on numbers may have fractions with three digits.
pub(super) const LARGE: f64 = 1000.0;

/// Words in the names of rates.
const RATES: [&str; 9] =
    ["per", "rate", "bps", "kbps", "mbps", "gbps", "bandwidth", "throughput", "speed"];

/// Bytes of a unit such as `gb`, `32mib` or `bytes`.
pub(super) fn bytes(word: &str) -> Option<f64> {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &word[..word.len() - unit.len()];
    let count =
        if digits.is_empty() { 1 } else { digits.parse::<u32>().ok().filter(|n| *n > 0)? };
    let bytes = match unit {
        "b" if !digits.is_empty() => 1.0,
        "bytes" | "byte" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "pb" => 1e15,
        "kib" => 1024.0,
        "mib" => MIB,
        "gib" => GIB,
        "tib" => 1024.0 * GIB,
        "pib" => MIB * GIB,
        _ => return None,
    };
    Some(f64::from(count) * bytes)
}

/// The unit in the brackets that a name ends with: that of `host_bytes (GB)`. Abbreviations such as `(HBMW)` are none.
pub(super) fn in_brackets(name: &str) -> Option<Unit> {
    let inner = brackets(name)?.to_lowercase().replace([' ', ',', '\u{a0}'], "");
    let unit = inner.strip_prefix("in").unwrap_or(&inner);
    match unit.strip_suffix('s').unwrap_or(unit) {
        "b" => Some(Unit::Bytes(1.0)),
        "page" => Some(Unit::Pages),
        "sector" | "block" | "lba" => Some(Unit::Unknown),
        _ => bytes(unit).map(Unit::Bytes),
    }
}

/// What a counter means whose name may say another unit in brackets.
pub(super) fn as_named(name: &str, meaning: Meaning) -> Meaning {
    match in_brackets(name) {
        Some(unit) => Meaning { unit, ..meaning },
        None => meaning,
    }
}

/// Whether a name is that of a rate, such as `MB/s`, and of no total.
pub(super) fn is_rate(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_end = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    let is_second = |rest: &str| {
        is_end(rest) || rest.strip_prefix("ec").is_some_and(|rest| is_end(rest) || rest == "ond")
    };
    let per_second = name.split("/s").skip(1).any(is_second);
    per_second || super::words::words(&name).iter().any(|word| RATES.contains(&word.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_and_abbreviations_are_none() {
        let of = |name| in_brackets(name);
        for (name, bytes) in [
            ("host_bytes (GB)", 1e9),
            ("LBAs written (4KiB)", 4096.0),
            ("x [MiB]", MIB),
            ("x (in TB)", 1e12),
            ("x (512,000 bytes)", 512_000.0),
            ("x (B)", 1.0),
        ] {
            assert_eq!(of(name), Some(Unit::Bytes(bytes)), "{name}");
        }
        for name in
            ["(HBMW)", "x (HBMW)", "NAND Writes (Bytes Written)", "x (GB) y", "x", "x (0GB)"]
        {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn rates_are_told_from_totals() {
        for name in ["host write MB/s", "nand_gb_per_hour", "Write Rate", "host MB/sec", "(GB/s)"] {
            assert!(is_rate(name), "{name}");
        }
        for name in ["host_bytes", "reads/sectors", "Total_Persistent", "operated"] {
            assert!(!is_rate(name), "{name}");
        }
    }
}
