//! Attributes of SATA drives, as smartctl prints them, and the statistics that it prints of them.
//!
//! Makers number their attributes as they like. It is smartctl's names, from its database of drives, that say what an
//! attribute counts, and in which unit: `Host_Writes_32MiB`, `NAND_Writes_1GiB`, `Flash_LBAs_Written`.

use super::asked::Counters;
use super::catalogue::{Meaning, Side, Unit};
use super::number::only;
use super::units;
use super::words::plain;
use std::borrow::Cow;

/// Bytes of a logical block of a SATA drive, if nothing else is said.
pub(super) const SECTOR: f64 = 512.0;

/// What the high half of an attribute counts whose low half has 56 bits.
const HIGH: f64 = 72_057_594_037_927_936.0;

const TOOL: &str = "SATA attribute";

/// Places from the flags to the raw value, in smartctl's full and brief tables.
const TO_RAW: usize = 7;
const TO_BRIEF_RAW: usize = 5;

#[derive(Debug, PartialEq)]
pub(super) struct Attribute<'a> {
    pub(super) id: u8,
    pub(super) name: &'a str,
    pub(super) raw: &'a str,
}

impl<'a> Attribute<'a> {
    /// The attribute on a line of smartctl's table, after whatever is before it.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (flag, places) = words.iter().enumerate().skip(2).find_map(|(at, word)| {
            let brief = is_brief_flag(word).then_some((at, TO_BRIEF_RAW));
            is_flag(word).then_some((at, TO_RAW)).or(brief)
        })?;
        let id = id(words[flag - 2])?;
        Some(Self { id, name: words[flag - 1], raw: words.get(flag + places)? })
    }

    /// The number of its raw value.
    pub(super) fn value(&self) -> Option<f64> {
        only(self.raw).filter(|number| number.is_whole).map(|number| number.value)
    }

    /// Whether it is a counter, by its name or by what the user said.
    pub(super) fn is_counter(&self, counters: &Counters) -> bool {
        let is_named = |side| counters.named(side, self.name, Some(self.id)).is_some();
        is_named(Side::Host) || is_named(Side::Media) || !meanings(self.name).is_empty()
    }

    /// Whether it is one that smartctl does not know, among those that may count what was written.
    pub(super) fn is_unnamed(&self) -> bool {
        self.id >= 225
            && self.name.starts_with("Unknown_")
            && self.value().is_some_and(|raw| raw > 0.0)
    }
}

fn id(word: &str) -> Option<u8> {
    match word.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn is_flag(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default();
    digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit())
}

fn is_brief_flag(word: &str) -> bool {
    (6..=7).contains(&word.len())
        && word.chars().zip("POSRCK+".chars()).all(|(c, letter)| c == letter || c == '-')
}

/// The statistic on a line of `smartctl -l devstat`, if it is that of written sectors: its number stands before its name.
pub(super) fn sectors_written(line: &str) -> Option<f64> {
    let (before, _) = line.split_once("Logical Sectors Written")?;
    let words: Vec<&str> = before.split_whitespace().collect();
    let page = words.iter().position(|word| *word == "0x01")?;
    let is_statistic = words.get(page + 1) == Some(&"0x018");
    words.get(page + 3).filter(|_| is_statistic)?.parse::<u64>().ok().map(|value| value as f64)
}

/// The meaning of that statistic, on a drive with such logical blocks.
pub(super) fn meaning_of_statistic(sector: f64) -> Meaning {
    let tool = Cow::Borrowed("SATA device statistics");
    Meaning { side: Side::Host, unit: Unit::Bytes(sector), tool, sum: None }
}

/// Bytes of a logical block, on the line of smartctl that says it.
pub(super) fn sector(line: &str) -> Option<f64> {
    let sizes = line.trim_start().strip_prefix("Sector Size")?;
    let (_, sizes) = sizes.split_once(':')?;
    sizes.split_whitespace().next()?.parse().ok()
}

/// What an attribute of this name counts, or a column of a table: nothing, or the bytes of a side. A count of host pages
/// is that of the host, and a part of that of the medium.
pub(super) fn meanings(name: &str) -> Vec<Meaning> {
    let plain = plain(name);
    let words: Vec<&str> = plain.split(' ').collect();
    let has = |of: &[&str]| words.iter().any(|word| of.contains(word));
    if has(&OTHERS) || words.iter().any(|word| word.starts_with("amp")) {
        return Vec::new();
    }
    if has(&["page"]) && has(&["program"]) {
        return pages(has(&["host"]));
    }
    let said = units::in_brackets(name).filter(|unit| matches!(unit, Unit::Bytes(_)));
    let unit = said.unwrap_or_else(|| unit(&words));
    let is_written = has(&WRITTEN);
    let is_counted = is_written || unit != Unit::Unknown;
    let side = if has(&MEDIA) && is_counted {
        Side::Media
    } else if (has(&["host", "user"]) && is_counted) || (has(&HOST) && is_written) {
        Side::Host
    } else {
        return Vec::new();
    };
    let (unit, sum) = part(&words, unit);
    vec![Meaning { side, unit, tool: Cow::Borrowed(TOOL), sum: sum.map(Cow::Owned) }]
}

/// Words of attributes that count something else.
const OTHERS: [&str; 31] = [
    "read",
    "reads",
    "rd",
    "fail",
    "failure",
    "failures",
    "error",
    "errors",
    "err",
    "erase",
    "erased",
    "normalized",
    "trimmed",
    "deallocated",
    "throttle",
    "throttling",
    "commands",
    "percent",
    "perc",
    "left",
    "remain",
    "remaining",
    "protect",
    "exp",
    "timed",
    "temperature",
    "head",
    "health",
    "cycles",
    "fly",
    "rate",
];
const WRITTEN: [&str; 8] =
    ["writes", "written", "write", "wr", "prog", "prg", "program", "programmed"];
const MEDIA: [&str; 7] = ["nand", "flash", "media", "tlc", "slc", "qlc", "mlc"];
const HOST: [&str; 6] = ["device", "ssd", "lba", "lbas", "lifetime", "total"];

/// The unit in a name; bytes only if there is no larger one, as there is in `host_bytes_gb`.
fn unit(words: &[&str]) -> Unit {
    let of = |word: &&str| match *word {
        "lba" | "lbas" | "sector" | "sectors" => Some(Unit::Bytes(SECTOR)),
        "page" | "pages" => Some(Unit::Pages),
        word => units::bytes(word).map(Unit::Bytes),
    };
    let byte = Unit::Bytes(1.0);
    let mut found: Vec<Unit> = words.iter().filter_map(of).collect();
    if found.iter().any(|unit| *unit != byte) {
        found.retain(|unit| *unit != byte);
    }
    found.first().copied().unwrap_or(Unit::Unknown)
}

/// The unit of a part, and the name of its sum: of kinds of cells, and of the low and high bits of a number.
fn part(words: &[&str], unit: Unit) -> (Unit, Option<String>) {
    const PARTS: [&str; 6] = ["tlc", "slc", "qlc", "mlc", "low", "high"];
    let is_high = words.contains(&"high");
    let whole: Vec<&str> = words.iter().copied().filter(|word| !PARTS.contains(word)).collect();
    let unit = match unit {
        Unit::Bytes(bytes) if is_high => Unit::Bytes(bytes * HIGH),
        unit => unit,
    };
    (unit, (whole.len() < words.len()).then(|| whole.join(" ")))
}

/// Pages that were programmed for the host, or for all else.
fn pages(is_host: bool) -> Vec<Meaning> {
    let of = |side, sum: Option<&'static str>| Meaning {
        side,
        unit: Unit::Pages,
        tool: Cow::Borrowed(TOOL),
        sum: sum.map(Cow::Borrowed),
    };
    let part = of(Side::Media, Some("programmed pages"));
    if is_host { vec![part, of(Side::Host, None)] } else { vec![part] }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::{GIB, MIB};
    use super::*;

    #[test]
    fn the_raw_value_is_found_in_every_table() {
        for line in [
            "241 Host_Writes_32MiB       0x0032   100   100   000    Old_age   Always       -       3679299",
            "241 Host_Writes_32MiB       -O--CK   100   100   000    -    3679299",
            "0xf1 Host_Writes_32MiB       0x0032   0x64  0x64  0x00   Old_age   Always       -  3679299",
            "Mon 12:00 241 Host_Writes_32MiB 0x0032 100 100 --- Old_age Offline FAILING_NOW 3679299",
        ] {
            let expected = Attribute { id: 241, name: "Host_Writes_32MiB", raw: "3679299" };
            assert_eq!(Attribute::of(line), Some(expected), "{line}");
        }
        for line in
            ["", "ID# ATTRIBUTE_NAME FLAG", "241 x 0x0032 100", "300 x 0x0032 1 1 1 a b c 4"]
        {
            assert_eq!(Attribute::of(line), None, "{line}");
        }
    }

    #[test]
    fn names_say_whose_bytes_they_are_and_how_many() {
        let of = |name: &str| {
            let meanings = meanings(name);
            meanings.first().map(|meaning| (meaning.side, meaning.unit))
        };
        let (host, media, bytes) = (Side::Host, Side::Media, |n: f64| Unit::Bytes(n));
        for (name, side, unit) in [
            ("Total_LBAs_Written", host, bytes(512.0)),
            ("Total_Host_LBA_Written", host, bytes(512.0)),
            ("Host_Writes_32MiB", host, bytes(32.0 * MIB)),
            ("Host_Writes_GiB", host, bytes(GIB)),
            ("Host_Writes_MiB", host, bytes(MIB)),
            ("Lifetime_Writes_GiB", host, bytes(GIB)),
            ("Total_Writes_GB", host, bytes(1e9)),
            ("Sectors_Written_to_SSD", host, bytes(512.0)),
            ("Device_Sectors_Written", host, bytes(512.0)),
            ("Host_Writes", host, Unit::Unknown),
            ("NAND_Writes_32MiB", media, bytes(32.0 * MIB)),
            ("NAND_Writes_1GiB", media, bytes(GIB)),
            ("Flash_Writes_GiB", media, bytes(GIB)),
            ("Total_NAND_Prog_Ct_GiB", media, bytes(GIB)),
            ("Lifetime_NAND_Prg_GiB", media, bytes(GIB)),
            ("Lifetime_Nand_Gb", media, bytes(1e9)),
            ("NAND_GB_Written_TLC", media, bytes(1e9)),
            ("NAND_GiB_Written", media, bytes(GIB)),
            ("Flash_Writes_LBAs", media, bytes(512.0)),
            ("NAND_Write_Sector_Cnt", media, bytes(512.0)),
            ("Sectors_Written_to_NAND", media, bytes(512.0)),
            ("Total_NAND_Written", media, Unit::Unknown),
            ("Total_Media_Writes", media, Unit::Unknown),
            ("FTL_Program_Page_Count", media, Unit::Pages),
            ("Bckgnd_Program_Page_Cnt", media, Unit::Pages),
            ("host_gib", host, bytes(GIB)),
            ("LBAs written (4KiB)", host, bytes(4096.0)),
            ("host_bytes_gb", host, bytes(1e9)),
            ("media_pages", media, Unit::Pages),
        ] {
            assert_eq!(of(name), Some((side, unit)), "{name}");
        }
        for name in [
            "Total_LBAs_Read",
            "Host_Reads_32MiB",
            "NAND_Reads_Sectors",
            "Write_Error_Rate",
            "Program_Fail_Count",
            "Total_Write/Erase_Count",
            "Lifetime_Write_AmpFctr",
            "Write_Throttling",
            "Power_Cycle_Count",
            "Flash_LBAs_Written_Exp",
            "Write_Head",
            "High_Fly_Writes",
            "Media_Wearout_Indicator",
            "Data_Log_Write_Count",
            "Number_Of_Write_Ct",
            "Sectors_Read_from_SSD",
            "Total_Erase_Count",
            "NAND_Temperature",
            "Workld_Media_Wear_Indic",
            "SSD_Life_Left",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn parts_are_of_one_sum() {
        let sum = |name: &str| meanings(name)[0].sum.clone();
        assert_eq!(sum("TLC_Writes_32MiB"), sum("SLC_Writes_32MiB"));
        assert_eq!(sum("NAND_GB_Written_TLC"), sum("NAND_GB_Written_SLC"));
        assert_eq!(sum("Flash_Writes_LBAs_Low"), sum("Flash_Writes_LBAs_High"));
        assert_eq!(sum("Host_Program_Page_Count"), sum("FTL_Program_Page_Count"));
        assert!(sum("TLC_Writes_32MiB").is_some() && sum("NAND_Writes_32MiB").is_none());
        assert_eq!(meanings("Host_Program_Page_Count").len(), 2);
    }

    #[test]
    fn statistics_tell_sectors_before_their_name() {
        let line = "0x01  0x018  6      7535204406  ---  Logical Sectors Written [3.85 TB]";
        assert_eq!(sectors_written(line), Some(7_535_204_406.0));
        assert_eq!(sectors_written("0x01  0x028  6   5  ---  Logical Sectors Read"), None);
        assert_eq!(sectors_written("0x01  0x018  6   -  ---  Logical Sectors Written"), None);
        assert_eq!(
            sector("Sector Sizes:     4096 bytes logical, 4096 bytes physical"),
            Some(4096.0)
        );
        assert_eq!(sector("Sector Size:      512 bytes logical/physical"), Some(512.0));
    }
}
