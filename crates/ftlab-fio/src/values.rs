//! Values as fio writes them: sizes, times, and one for each of reads, writes and trims.

use super::distribution::{Zone, Zones};

/// What is wrong with a value, or with an option, and what to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) reason: String,
    pub(super) remedy: String,
}

impl Fault {
    pub(super) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into() }
    }

    /// A value that is none.
    pub(super) fn value(text: &str, expects: &str) -> Self {
        Self::new(format!("{text:?} is not {expects}"), "correct it")
    }
}

/// Bytes, or percent of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(u32),
}

/// What a kilobyte is: with `kb_base=1024`, fio's default, k and kb are 1024 and kib is 1000; with 1000
/// it is the other way round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KbBase(pub(super) bool);

impl KbBase {
    /// `kb_base`.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        match text {
            "1000" => Ok(Self(false)),
            "1024" => Ok(Self(true)),
            _ => Err(Fault::value(text, "1000 or 1024")),
        }
    }

    /// The sizes in `text` whose unit says something else here than everywhere: 4KiB, which is 4000 bytes.
    pub(super) fn odd_sizes(self, text: &str) -> Vec<(String, u64)> {
        let parts = text.split([',', ':', '-', '/', '+', '=']).map(str::trim);
        let odd = parts.filter(|part| self.0 && part.to_ascii_lowercase().ends_with("ib"));
        odd.filter_map(|part| Some((part.to_owned(), self.bytes(part).ok()?))).collect()
    }

    fn of_suffix(self, suffix: &str) -> Option<u64> {
        let suffix = suffix.to_ascii_lowercase();
        let mut letters = suffix.chars();
        let Some(first) = letters.next() else { return Some(1) };
        let power = "bkmgtp".find(first)? as u32;
        let other = match letters.as_str() {
            "" => false,
            "i" | "b" if power > 0 => false,
            "ib" if power > 0 => true,
            _ => return None,
        };
        Some(if self.0 == other { 1000_u64 } else { 1024 }.pow(power))
    }

    /// Bytes, such as 4k or 0x1000.
    pub(super) fn bytes(self, text: &str) -> Result<u64, Fault> {
        let wrong = || Fault::value(text, "a number of bytes, such as 4096, 4k or 1g");
        let (number, suffix) = split_number(text.trim()).ok_or_else(wrong)?;
        let unit = self.of_suffix(suffix).ok_or_else(wrong)?;
        number.checked_mul(unit).filter(|bytes| i64::try_from(*bytes).is_ok()).ok_or_else(wrong)
    }

    /// Bytes or percent, such as 50%.
    pub(super) fn amount(self, text: &str) -> Result<Amount, Fault> {
        match text.trim().strip_suffix('%') {
            None => self.bytes(text).map(Amount::Bytes),
            Some(number) => match number.parse() {
                Ok(percent @ 0..=100) => Ok(Amount::Percent(percent)),
                _ => Err(Fault::value(text, "a percentage in 0%..100%")),
            },
        }
    }
}

/// The digits at the beginning, and the rest.
fn split_number(text: &str) -> Option<(u64, &str)> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
    Some((u64::from_str_radix(&digits[..end], radix).ok()?, &digits[end..]))
}

/// A whole number, with the suffixes of bytes, as fio reads every number.
pub(super) fn number(text: &str) -> Result<u64, Fault> {
    KbBase(true).bytes(text).map_err(|_| Fault::value(text, "a whole number"))
}

/// A whole number within bounds.
pub(super) fn number_in(text: &str, least: u64, most: u64) -> Result<u64, Fault> {
    match number(text) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(Fault::value(text, &format!("a whole number in {least}..={most}"))),
    }
}

/// A switch; no value means on.
pub(super) fn switch(text: Option<&str>) -> Result<bool, Fault> {
    match text {
        None => Ok(true),
        Some(text) => Ok(number_in(text, 0, 1)? == 1),
    }
}

/// Microseconds; a bare number is of `unit_us`.
pub(super) fn time_us(text: &str, unit_us: u64) -> Result<u64, Fault> {
    let wrong = || Fault::value(text, "a time, such as 30s, 500ms or 2m");
    let (number, suffix) = split_number(text.trim()).ok_or_else(wrong)?;
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "" => unit_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).ok_or_else(wrong)
}

/// Values for reads, writes and trims, separated by commas: the last one that is given holds for the
/// rest, and an empty one leaves its own as it was.
pub(super) fn three<T: Clone>(
    text: &str,
    values: &mut [T; 3],
    parse: impl Fn(&str) -> Result<T, Fault>,
) -> Result<(), Fault> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(Fault::value(text, "at most three values: of reads, writes and trims"));
    }
    for (index, value) in values.iter_mut().enumerate() {
        let part = parts.get(index).or(parts.last()).map_or("", |part| part.trim());
        if !part.is_empty() {
            *value = parse(part)?;
        }
    }
    Ok(())
}

/// `first/second:first/second:...`, the second `None` where it is missing.
fn pairs(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let pairs = text.split(':').map(str::trim).take_while(|pair| !pair.is_empty());
    pairs.map(|pair| match pair.split_once('/') {
        Some((first, second)) => (first, Some(second.trim()).filter(|second| !second.is_empty())),
        None => (pair, None),
    })
}

/// Percent, of which 0 means that it is missing; fio takes more than 100 for 100.
fn percent(text: &str) -> Result<Option<u32>, Fault> {
    let percent = number_in(text, 0, 100)? as u32;
    Ok((percent > 0).then_some(percent))
}

/// Divides what is missing of 100 among those without a percentage, in whole percent.
fn fill_up(what: &str, given: &[Option<u32>]) -> Result<Vec<u32>, Fault> {
    let sum: u32 = given.iter().flatten().sum();
    if sum > 100 {
        return Err(Fault::new(
            format!("the percentages of {what} are {sum} together"),
            "let them be 100 at most",
        ));
    }
    let missing = given.iter().filter(|percent| percent.is_none()).count() as u32;
    let rest = (100 - sum).checked_div(missing).unwrap_or(0);
    Ok(given.iter().map(|percent| percent.unwrap_or(rest)).collect())
}

/// Sizes of `bssplit` for one direction, with how many of 100 requests have each; the rarest first.
pub(super) fn size_split(text: &str, base: KbBase) -> Result<Vec<(u64, u32)>, Fault> {
    let (mut sizes, mut percents) = (Vec::new(), Vec::new());
    for (size, share) in pairs(text) {
        sizes.push(base.bytes(size)?);
        percents.push(share.map(percent).transpose()?.flatten());
    }
    let percents = fill_up("bssplit", &percents)?;
    let mut split: Vec<_> = sizes.into_iter().zip(percents).collect();
    split.sort_by_key(|(_, percent)| *percent);
    Ok(split)
}

/// Zones of one direction, `accesses/size:...`, their sizes in percent or in bytes.
pub(super) fn zones(text: &str, base: KbBase, is_absolute: bool) -> Result<Zones, Fault> {
    let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
    for (share, size) in pairs(text) {
        accesses.push(number_in(share, 0, 100)? as u32);
        sizes.push(size);
    }
    let sum: u32 = accesses.iter().sum();
    if sum != 100 {
        return Err(Fault::new(
            format!("the accesses of the zones in {text:?} are {sum}% together"),
            "let them be 100",
        ));
    }
    let sizes: Vec<u64> = if is_absolute {
        let bytes = |size: Option<&str>| size.map_or(Ok(0), |size| base.bytes(size));
        sizes.into_iter().map(bytes).collect::<Result<_, _>>()?
    } else {
        let given = |size: Option<&str>| size.map(percent).transpose().map(Option::flatten);
        let given: Vec<_> = sizes.into_iter().map(given).collect::<Result<_, _>>()?;
        fill_up("the zones", &given)?.into_iter().map(u64::from).collect()
    };
    let zone = |(accesses, size)| Zone { accesses, size };
    Ok(Zones(accesses.into_iter().zip(sizes).map(zone).collect()))
}

/// Placement identifiers: numbers and ranges, `0,2-4`; ascending.
pub(super) fn placements(text: &str) -> Result<Vec<u16>, Fault> {
    const MOST: usize = 128;
    let wrong =
        || Fault::value(text, "a list of at most 128 identifiers of 0..=65535, such as 0,2-4");
    let mut identifiers = Vec::new();
    for part in text.split(',').map(str::trim).take_while(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u16>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last || identifiers.len() + usize::from(last - first) >= MOST {
            return Err(wrong());
        }
        identifiers.extend(first..=last);
    }
    identifiers.sort_unstable();
    if identifiers.is_empty() { Err(wrong()) } else { Ok(identifiers) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_fios() {
        let base = KbBase(true);
        for (text, bytes) in
            [("512", 512), ("4k", 4096), ("4KB", 4096), ("1ki", 1024), ("1kib", 1000), ("0x10", 16)]
        {
            assert_eq!(base.bytes(text), Ok(bytes), "{text}");
        }
        assert_eq!(KbBase(false).bytes("1m"), Ok(1_000_000));
        assert_eq!(KbBase(false).bytes("1MiB"), Ok(1 << 20));
        for wrong in ["", "k", "4q", "-1", "4kk", "99999999999p", "(4*1024)"] {
            assert!(base.bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(base.amount("50%"), Ok(Amount::Percent(50)));
        assert!(base.amount("101%").is_err());
    }

    #[test]
    fn times_have_units() {
        let times = ["30", "30s", "500ms", "2m", "7us"].map(|text| time_us(text, 1_000_000));
        assert_eq!(times, [30_000_000, 30_000_000, 500_000, 120_000_000, 7].map(Ok));
        assert!(time_us("1w", 1).is_err());
    }

    #[test]
    fn three_values_are_given_from_the_front() {
        let given = |text: &str| {
            let mut values = [1, 2, 3];
            three(text, &mut values, number).map(|()| values)
        };
        assert_eq!(given("9"), Ok([9, 9, 9]));
        assert_eq!(given("8,9"), Ok([8, 9, 9]));
        assert_eq!(given(",9"), Ok([1, 9, 9]));
        assert_eq!(given("9,"), Ok([9, 2, 3]));
        assert!(given("1,2,3,4").is_err());
    }

    #[test]
    fn splits_are_filled_up_and_sorted() {
        let split = |text| size_split(text, KbBase(true));
        assert_eq!(split("4k/10:64k/50:32k/40").unwrap(), [(4096, 10), (32768, 40), (65536, 50)]);
        assert_eq!(split("4k/50:8k:16k").unwrap(), [(8192, 25), (16384, 25), (4096, 50)]);
        assert_eq!(split("4k").unwrap(), [(4096, 100)]);
        assert!(split("4k/60:8k/60").is_err());
    }

    #[test]
    fn zones_need_all_accesses() {
        let of = |text, absolute| zones(text, KbBase(true), absolute);
        assert_eq!(of("60/10:30/20:10/", false).unwrap().0[2], Zone { accesses: 10, size: 70 });
        assert_eq!(of("95/50g:5/100g", true).unwrap().0[0], Zone { accesses: 95, size: 50 << 30 });
        assert!(of("60/10:30/20", false).is_err());
    }

    #[test]
    fn placements_are_listed_ascending() {
        assert_eq!(placements("5,0-2"), Ok(vec![0, 1, 2, 5]));
        for wrong in ["", "x", "3-1", "0-200", "70000"] {
            assert!(placements(wrong).is_err(), "{wrong}");
        }
    }
}
