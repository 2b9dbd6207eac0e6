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
pub(crate) fn decimal(text: &[u8]) -> Option<u64> {
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
/// number: `fixed_point(b"1.2345", 3)` is 1234.
#[inline]
pub(super) fn fixed_point(text: &[u8], digits: usize) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[] as &[u8]),
    };
    if point.is_some() && (fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let mut number = decimal(whole)?;
    for place in 0..digits {
        let digit = fraction.get(place).map_or(0, |byte| byte - b'0');
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
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
    fn fractions_are_cut_to_the_unit() {
        assert_eq!(fixed_point(b"1.2345", 3), Some(1234));
        assert_eq!(fixed_point(b"1456140000.000204999", 6), Some(1_456_140_000_000_204));
        assert_eq!(fixed_point(b"7", 6), Some(7_000_000));
        for wrong in ["1.", ".5", "1.2.3", "1e5", "-1.0", "18446744073709551615"] {
            assert_eq!(fixed_point(wrong.as_bytes(), 6), None, "{wrong}");
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
