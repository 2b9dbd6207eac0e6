//! Sizes in bytes and shares.

use crate::SpecError;
use std::fmt;
use std::str::FromStr;

/// A size in bytes: `8GiB` and `8G` are 8 x 2^30, `8GB` is 8 x 10^9, `4096` is 4,096.
///
/// Printed in the largest binary unit that divides it, so that what is printed parses back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

const BINARY: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl FromStr for ByteSize {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::Quantity {
            text: text.into(),
            expects: "a size such as 8GiB (2^30 bytes each; 8G is the same), 8GB (10^9) or 4096",
        };
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit_bytes: u64 = match unit.trim() {
            "" | "B" => 1,
            "K" | "KiB" | "k" => 1 << 10,
            "M" | "MiB" => 1 << 20,
            "G" | "GiB" => 1 << 30,
            "T" | "TiB" => 1 << 40,
            "KB" | "kB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => return Err(wrong()),
        };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(unit_bytes).map(Self).ok_or_else(wrong);
        }
        let bytes = number.parse::<f64>().map_err(|_| wrong())? * unit_bytes as f64;
        if bytes.fract() == 0.0 && bytes < 9.0e15 { Ok(Self(bytes as u64)) } else { Err(wrong()) }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, unit_bytes) = BINARY
            .into_iter()
            .find(|(_, unit_bytes)| self.0 != 0 && self.0.is_multiple_of(*unit_bytes))
            .unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / unit_bytes)
    }
}

/// A count as it is typed: `1000000`, `1M` or `1.5k`, where k, M and G are 10^3, 10^6 and 10^9; `None` for anything
/// else.
pub(crate) fn whole_number(text: &str) -> Option<u128> {
    let (number, unit): (_, u128) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1_000),
        (at, 'M') => (&text[..at], 1_000_000),
        (at, 'G') => (&text[..at], 1_000_000_000),
        _ => return text.parse().ok(),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let has_decimals =
        decimals.bytes().all(|digit| digit.is_ascii_digit()) && !number.ends_with('.');
    let scale = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    // Without a digit before the point this is no number.
    let digits = whole.parse::<u128>().ok()?.checked_mul(scale)?;
    let tail = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
    let scaled = digits.checked_add(tail)?.checked_mul(unit)?;
    (has_decimals && scaled.is_multiple_of(scale)).then(|| scaled / scale)
}

/// A share of something, typed as `10%` or `0.1`, at least 0 and below `1000%`; above 1 as a percentage only.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let percent = text.strip_suffix('%');
        let number: Option<f64> = percent.unwrap_or(text).parse().ok();
        match (number, percent) {
            (Some(number), Some(_)) if (0.0..1000.0).contains(&number) => Ok(Self(number / 100.0)),
            (Some(number), None) if (0.0..=1.0).contains(&number) => Ok(Self(number)),
            // 28 is meant as 28%, and would be 2800%.
            (Some(number), None) if (1.0..1000.0).contains(&number) => {
                Err(SpecError::Percent { text: text.into() })
            }
            _ => Err(SpecError::Quantity {
                text: text.into(),
                expects: "a share such as 10% or 0.1, at least 0 and below 1000%",
            }),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Ten digits hide the rounding of `x / 100.0 * 100.0` and nothing that a user can type.
        let percent = (self.0 * 1e12).round() / 1e10;
        write!(f, "{percent}%")
    }
}

/// A whole number with commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_say_which_unit_they_mean() {
        for (text, bytes) in [
            ("8GiB", 8 << 30),
            ("8G", 8 << 30),
            ("8GB", 8_000_000_000),
            ("4096", 4096),
            ("1.5KiB", 1536),
        ] {
            assert_eq!(text.parse::<ByteSize>().unwrap().0, bytes, "{text}");
        }
        for text in ["", "GiB", "8 Gigs", "8gib", "0.3B", "-1", "99999999999TiB", "nan"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_exactly() {
        for text in ["8GiB", "4KiB", "8000000000B", "7629KiB", "0B"] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(size.to_string().parse::<ByteSize>().unwrap(), size, "{text}");
        }
        assert_eq!(ByteSize(8_000_000_000).to_string(), "7812500KiB");
    }

    #[test]
    fn shares_accept_percent_and_fraction() {
        assert!((("10%".parse::<Share>().unwrap().0) - 0.1).abs() < 1e-15);
        assert_eq!("0.125".parse::<Share>().unwrap().to_string(), "12.5%");
        assert_eq!("7%".parse::<Share>().unwrap().to_string(), "7%");
        assert_eq!("150%".parse::<Share>().unwrap().to_string(), "150%");
        let error = "28".parse::<Share>().unwrap_err().to_string();
        assert!(error.ends_with("did you mean 28%?"), "{error}");
        assert!("-1%".parse::<Share>().is_err());
    }
}
