//! Cutting and reading the fields of a line, without allocation.

/// Fields between blanks.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        // Fields are a few bytes long, so that a plain loop beats a vectorised search.
        let start = self.rest.iter().position(|byte| !is_blank(*byte))?;
        let field = &self.rest[start..];
        let end = field.iter().position(|byte| is_blank(*byte)).unwrap_or(field.len());
        self.rest = &field[end..];
        Some(&field[..end])
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A whole number in decimal digits; `None` for anything else, or above 2^64 - 1.
#[inline]
pub fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    // Nineteen digits cannot overflow; only longer numbers need care.
    if text.len() > 19 {
        return std::str::from_utf8(text).ok().filter(|t| !t.starts_with('+'))?.parse().ok();
    }
    let mut number = 0u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// A decimal number with an optional fraction, times 10^`digits`, cut (not rounded) to a whole
/// number: `fixed_point(b"1.2345", 3)` is 1234. `None` for anything else, or above 2^64 - 1.
#[inline]
pub(super) fn fixed_point(text: &[u8], digits: usize) -> Option<u64> {
    let mut number = 0_u64;
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        rest = after;
    }
    let whole = text.len() - rest.len();
    let fraction = match rest {
        _ if whole == 0 => return None,
        [] => rest,
        [b'.', fraction @ ..] if !fraction.is_empty() => fraction,
        _ => return None,
    };
    // Nineteen digits cannot overflow; only longer numbers need care.
    if whole + digits > 19 {
        return long_fixed_point(&text[..whole], fraction, digits);
    }
    let (kept, cut) = fraction.split_at(fraction.len().min(digits));
    for byte in kept {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    for _ in kept.len()..digits {
        number *= 10;
    }
    cut.iter().all(u8::is_ascii_digit).then_some(number)
}

/// [`fixed_point`] of a number that may be too large.
#[cold]
fn long_fixed_point(whole: &[u8], fraction: &[u8], digits: usize) -> Option<u64> {
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut number = decimal(whole)?;
    for place in 0..digits {
        let digit = fraction.get(place).map_or(0, |byte| byte - b'0');
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// A whole number as programs write it: in decimal digits, or as in `0x1000`, `4096.0` or `4.096e3`; `None` for
/// anything else, or above 2^64 - 1.
#[inline]
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    decimal(text).or_else(|| odd_whole(text))
}

#[cold]
fn odd_whole(text: &[u8]) -> Option<u64> {
    let Some(digits) = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")) else {
        return scaled(text, 0, true);
    };
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, 16).ok()
}

/// A number with a fraction, an exponent or both, times 10^`power`: what is left after the point then is cut, or
/// is not there if the number has to be `exact`.
#[cold]
pub(super) fn scaled(text: &[u8], power: i32, exact: bool) -> Option<u64> {
    const EXPONENT_MAX: u32 = 400;
    let text = std::str::from_utf8(text).ok()?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 =
        exponent.parse().ok().filter(|exponent: &i32| exponent.unsigned_abs() <= EXPONENT_MAX)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.bytes().chain(fraction.bytes());
    if whole.is_empty() || !digits.clone().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits before the point, once it has moved.
    let kept = i32::try_from(whole.len()).ok()? + exponent + power;
    let mut number = 0_u64;
    let mut left = kept;
    for digit in digits.map(|byte| u64::from(byte - b'0')) {
        if left > 0 {
            number = number.checked_mul(10)?.checked_add(digit)?;
        } else if exact && digit > 0 {
            return None;
        }
        left -= 1;
    }
    while left > 0 && number > 0 {
        number = number.checked_mul(10)?;
        left -= 1;
    }
    Some(number)
}

/// The sectors that a range of bytes touches (`outward`) or covers whole; `None` where they do not
/// fit in the numbers of a request.
#[inline]
pub(super) fn sectors_of_bytes(offset: u64, bytes: u64, outward: bool) -> Option<(u64, u32)> {
    const SECTOR: u64 = crate::pages::SECTOR_BYTES;
    let end = offset.checked_add(bytes)?;
    let (first, end) = if outward {
        (offset / SECTOR, end.div_ceil(SECTOR))
    } else {
        (offset.div_ceil(SECTOR), end / SECTOR)
    };
    if bytes == 0 || end <= first {
        return Some((first, 0));
    }
    Some((first, u32::try_from(end - first).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_cut_at_blanks() {
        let fields: Vec<_> = Fields::new(b"  8,0\t1  x ").collect();
        assert_eq!(fields, [b"8,0".as_slice(), b"1", b"x"]);
        assert_eq!(Fields::new(b"  ").next(), None);
    }

    #[test]
    fn numbers_are_read_exactly_or_not_at_all() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(decimal(b"00000000000000000000007"), Some(7));
        for wrong in ["18446744073709551616", "", "-1", "+1", "1 ", "0x1", "+0000000000000000001"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_come_in_other_forms() {
        for (text, number) in [
            ("0x1000", 4096),
            ("0XffffffffffffffFF", u64::MAX),
            ("4096.0", 4096),
            ("4096.", 4096),
            ("4.096e3", 4096),
            ("4.096E+03", 4096),
            ("40960e-1", 4096),
            ("0e300", 0),
            ("0.0", 0),
            ("000000000000000000000000000007.000", 7),
        ] {
            assert_eq!(whole(text.as_bytes()), Some(number), "{text}");
        }
        for wrong in [
            "",
            "0x",
            "0x+1",
            "0x10000000000000000",
            "4096.5",
            "4.0965e3",
            "-1.0",
            ".5",
            "e3",
            "1e",
            "1e99",
            "4 096",
            "nan",
        ] {
            assert_eq!(whole(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(scaled(b"1.4561400000002049e9", 6, false), Some(1_456_140_000_000_204));
        assert_eq!(scaled(b"15e-7", 6, false), Some(1));
    }

    #[test]
    fn fractions_are_cut_to_the_unit() {
        assert_eq!(fixed_point(b"1.2345", 3), Some(1234));
        assert_eq!(fixed_point(b"1456140000.000204999", 6), Some(1_456_140_000_000_204));
        assert_eq!(fixed_point(b"7", 6), Some(7_000_000));
        for wrong in
            ["", "1.", ".5", "1.2.3", "1.x", "1.0000000x", "1e5", "-1.0", "18446744073709551615"]
        {
            assert_eq!(fixed_point(wrong.as_bytes(), 6), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn numbers_of_any_length_are_read_alike(whole in "[0-9]{1,22}", fraction in "[0-9]{1,25}", digits in 0_usize..10) {
            let text = format!("{whole}.{fraction}");
            let expected = long_fixed_point(whole.as_bytes(), fraction.as_bytes(), digits);
            prop_assert_eq!(fixed_point(text.as_bytes(), digits), expected);
        }
    }

    #[test]
    fn bytes_become_sectors_outward_or_inward() {
        assert_eq!(sectors_of_bytes(4096, 8192, true), Some((8, 16)));
        assert_eq!(sectors_of_bytes(100, 1000, true), Some((0, 3)));
        assert_eq!(sectors_of_bytes(100, 1000, false), Some((1, 1)));
        assert_eq!(sectors_of_bytes(100, 100, false), Some((1, 0)));
        assert_eq!(sectors_of_bytes(100, 0, true), Some((0, 0)));
        assert_eq!(sectors_of_bytes(u64::MAX, 1, true), None);
        assert_eq!(sectors_of_bytes(0, 1 << 41, true), None);
    }
}
