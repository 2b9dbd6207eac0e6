//! The counters that tools print: whose bytes they count, in which unit, and in which form the number is printed.
//!
//! Names and units are those of the tools' sources and manuals, of the NVMe specification (SMART, endurance group and
//! FDP statistics logs) and of OCP's Datacenter NVMe SSD specification (log page C0).

use super::words::{plain, without_brackets};
use std::borrow::Cow;

/// Whose bytes a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Host,
    Media,
}

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// Bytes, this many for each count.
    Bytes(f64),
    /// Pages of flash, of a size that only the maker knows.
    Pages,
    /// Not documented, or different from tool to tool.
    Unknown,
}

/// How the number after a name is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A number.
    One,
    /// The high and the low 64 bits, or one number.
    Halves,
    /// The last of several numbers.
    Last,
    /// A normalised value and a raw one: the vendor log CA that Intel began.
    Normalized,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    pub(super) side: Side,
    pub(super) unit: Unit,
    /// The log that it is of.
    pub(super) tool: Cow<'static, str>,
    /// Counters with the same are parts of one number.
    pub(super) sum: Option<Cow<'static, str>>,
}

/// A counter that has one name.
#[derive(Debug)]
pub(super) struct Entry {
    /// In [plain](super::words::plain) words.
    pub(super) name: &'static str,
    pub(super) form: Form,
    side: Side,
    unit: Unit,
    tool: &'static str,
    sum: Option<&'static str>,
}

/// Bytes of a data unit of NVMe's SMART log.
const DATA_UNIT: f64 = 512_000.0;

/// Bytes of a data unit of NVMe's endurance group log.
const ENDURANCE_UNIT: f64 = 1e9;

pub(super) const MIB: f64 = 1_048_576.0;

pub(super) const GIB: f64 = 1024.0 * MIB;

/// Bytes of a unit of the vendor log CA.
const VENDOR_UNIT: f64 = 32.0 * MIB;

/// 2^64: what the high half of a number counts.
pub(super) const HIGH: f64 = 18_446_744_073_709_551_616.0;

const SMART: &str = "NVMe SMART log";
const ENDURANCE: &str = "NVMe endurance group log";
const FDP: &str = "NVMe FDP statistics";
const OCP: &str = "OCP SMART log C0";
const VENDOR: &str = "vendor SMART log CA";
const WDC: &str = "WDC logs";

const fn host(name: &'static str, form: Form, unit: Unit, tool: &'static str) -> Entry {
    Entry { name, form, side: Side::Host, unit, tool, sum: None }
}

const fn media(name: &'static str, form: Form, unit: Unit, tool: &'static str) -> Entry {
    Entry { name, form, side: Side::Media, unit, tool, sum: None }
}

/// A part of a sum, in bytes.
const fn part(name: &'static str, tool: &'static str, sum: &'static str) -> Entry {
    Entry { name, form: Form::One, side: Side::Media, unit: Unit::Bytes(1.0), tool, sum: Some(sum) }
}

/// Names of columns, which are known in lines as well.
const OWN: &str = "table";

/// All counters whose names say what they are. Attributes of SATA drives have names that follow a rule instead.
const ENTRIES: &[Entry] = &[
    host("host bytes with metadata written", Form::One, Unit::Bytes(1.0), FDP),
    media("media bytes with metadata written", Form::One, Unit::Bytes(1.0), FDP),
    host("host bytes", Form::One, Unit::Bytes(1.0), OWN),
    media("media bytes", Form::One, Unit::Bytes(1.0), OWN),
    host("hbmw", Form::One, Unit::Bytes(1.0), FDP),
    media("mbmw", Form::One, Unit::Bytes(1.0), FDP),
    host("data units written", Form::One, Unit::Bytes(DATA_UNIT), SMART),
    host("data units 512 000 byte written", Form::One, Unit::Bytes(DATA_UNIT), SMART),
    host("host data written", Form::One, Unit::Unknown, "nvme sfx status"),
    media("media units written", Form::One, Unit::Bytes(ENDURANCE_UNIT), ENDURANCE),
    media("physical media units written", Form::Halves, Unit::Bytes(1.0), OCP),
    part("physical media units written tlc", OCP, "physical media units written"),
    part("physical media units written slc", OCP, "physical media units written"),
    part("physical media units bytes tlc", WDC, "physical media units bytes"),
    part("physical media units bytes slc", WDC, "physical media units bytes"),
    part("nand writes tlc", WDC, "nand writes"),
    part("nand writes slc", WDC, "nand writes"),
    part("tlc units written", WDC, "units written"),
    part("slc units written", WDC, "units written"),
    media("nand bytes written", Form::Normalized, Unit::Bytes(VENDOR_UNIT), VENDOR),
    host("host bytes written", Form::Normalized, Unit::Bytes(VENDOR_UNIT), VENDOR),
    media("nand bytes written raw", Form::One, Unit::Bytes(VENDOR_UNIT), VENDOR),
    host("host bytes written raw", Form::One, Unit::Bytes(VENDOR_UNIT), VENDOR),
    media("nand writes bytes written", Form::One, Unit::Bytes(1.0), "Micron log D0"),
    media(
        "physical nand bytes written",
        Form::Last,
        Unit::Bytes(1.0),
        "Seagate extended SMART log",
    ),
    host("physical host bytes written", Form::Last, Unit::Bytes(1.0), "Seagate extended SMART log"),
    media("lifetime writes to flash in mb", Form::One, Unit::Bytes(1e6), "IBM SMART log"),
    host("lifetime writes from host in mb", Form::One, Unit::Bytes(1e6), "IBM SMART log"),
    host(
        "total host write in gib since device born",
        Form::One,
        Unit::Bytes(GIB),
        "Memblaze SMART log",
    ),
    media("lifetime nand writes", Form::One, Unit::Unknown, "vendor log"),
    host("lifetime user writes", Form::One, Unit::Unknown, "vendor log"),
    media("lifetime phy pages written count", Form::Last, Unit::Pages, "vendor SMART log CA"),
    host("lifetime data units written", Form::Last, Unit::Unknown, "vendor SMART log CA"),
    media("nand write blocks", Form::One, Unit::Unknown, "WDC log C1"),
    host("host write blocks", Form::One, Unit::Unknown, "WDC log C1"),
];

/// A log whose lines mean something else than in others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// No heading so far, in a file in which data units may be those of two logs.
    Doubtful,
    /// Any other.
    Other,
    /// The endurance group log, with data units of its own.
    Endurance,
    /// Memblaze's older log, in MiB.
    Memblaze,
}

impl Section {
    /// The log that a heading begins.
    pub(super) fn begun_by(line: &str) -> Option<Self> {
        let line = line.to_ascii_lowercase();
        let has = |part| line.contains(part);
        if has("endurance group log") {
            Some(Self::Endurance)
        } else if has("since last factory reset") || has("since device born") {
            Some(Self::Memblaze)
        } else {
            let others = ["smart log", "health information", "smart cloud", "fdp statistics"];
            others.into_iter().any(has).then_some(Self::Other)
        }
    }
}

pub(super) fn entries() -> &'static [Entry] {
    ENTRIES
}

/// The counter of this name, however its words are joined, and whatever unit is in brackets after it.
pub(super) fn entry(name: &str) -> Option<&'static Entry> {
    let of = |name: String| ENTRIES.iter().find(|entry| entry.name == name);
    let bare = without_brackets(name);
    of(plain(name)).or_else(|| if bare.len() < name.len() { of(plain(bare)) } else { None })
}

/// What the high or the low half of a counter means, such as `NAND Bytes Written Lo`.
pub(super) fn half(name: &str) -> Option<Meaning> {
    let (whole, half) = name.rsplit_once([' ', '_'])?;
    let factor = match half.to_ascii_lowercase().as_str() {
        "hi" | "high" => HIGH,
        "lo" | "low" => 1.0,
        _ => return None,
    };
    let entry = entry(whole)?;
    let meaning = match entry.form {
        Form::Normalized => entry.of_wdc(),
        _ => entry.meaning(Section::Other),
    };
    let Unit::Bytes(bytes) = meaning.unit else { return None };
    let sum = Some(Cow::Owned(plain(whole)));
    Some(Meaning { unit: Unit::Bytes(bytes * factor), sum, ..meaning })
}

impl Entry {
    /// What it means in a log.
    pub(super) fn meaning(&self, section: Section) -> Meaning {
        let is = |name: &str| self.name == name;
        let (unit, tool) = match section {
            Section::Endurance if is("data units written") => {
                (Unit::Bytes(ENDURANCE_UNIT), ENDURANCE)
            }
            Section::Doubtful if is("data units written") => (Unit::Unknown, "NVMe log"),
            Section::Memblaze if self.form == Form::Normalized => {
                (Unit::Bytes(MIB), "Memblaze SMART log")
            }
            _ => (self.unit, self.tool),
        };
        let (side, sum) = (self.side, self.sum.map(Cow::Borrowed));
        Meaning { side, unit, tool: Cow::Borrowed(tool), sum }
    }

    /// What it means where its number stands alone, without the normalised value that shows whose log it is.
    pub(super) fn alone(&self, section: Section) -> Meaning {
        let meaning = self.meaning(section);
        match self.form {
            Form::Normalized => Meaning { unit: Unit::Unknown, ..meaning },
            _ => meaning,
        }
    }

    /// What WDC's log CA means by the same name: bytes, in two halves.
    pub(super) fn of_wdc(&self) -> Meaning {
        let meaning = self.meaning(Section::Other);
        Meaning { unit: Unit::Bytes(1.0), tool: Cow::Borrowed("WDC log CA"), ..meaning }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_there_once() {
        for entry in ENTRIES {
            assert_eq!(entry.name, plain(entry.name));
            let same = ENTRIES.iter().filter(|other| other.name == entry.name);
            assert_eq!(same.count(), 1, "{}", entry.name);
            let parts =
                ENTRIES.iter().filter(|other| entry.sum.is_some() && other.sum == entry.sum);
            assert_ne!(parts.count(), 1, "{} is the only part of its sum", entry.name);
        }
    }
}
