//! The atlas: drives that can be bought, as series of their counters have told, or as their makers state them.
//!
//! Each is a file in `drives/`, as `ftlab fit --save` writes it. What simulations take is before its first table.

use ftlab_ftl::page::GcSchedule;
use ftlab_spec::{Share, Spec, SpecError};
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;

/// The file of a drive: its name and its text.
type File = (&'static str, &'static str);

/// Names drives, whose files are `drives/NAME.toml`.
macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../drives/", $name, ".toml")))),+]
    };
}

/// All of them.
const FILES: &[File] = files![
    "fdp-a",
    "fdp-b",
    "kioxia-cm7-r",
    "micron-7450-max",
    "micron-7450-pro",
    "samsung-pm9a3",
    "sk-hynix-pe8110",
    "solidigm-p5520",
];

/// A drive of the atlas, or of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct AtlasDrive {
    /// What `--drive` takes.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Its class as it is typed: capacity, over-provisioning and unit.
    pub class: String,
    /// The FTL that is nearest to its own.
    pub ftl: Spec,
    /// Free units that host writes may not take.
    pub reserve: u32,
    /// When it collects.
    pub gc: GcSchedule,
    /// What it writes beside the host's pages and those that it moves, as a share of them.
    pub overhead: Share,
    /// What is known of it, as TOML.
    pub text: String,
}

/// Every drive of the atlas, by name.
pub fn atlas() -> &'static [AtlasDrive] {
    static ATLAS: OnceLock<Vec<AtlasDrive>> = OnceLock::new();
    ATLAS.get_or_init(|| {
        // A test reads them all.
        FILES.iter().filter_map(|(name, text)| AtlasDrive::parse(name, text).ok()).collect()
    })
}

/// The drive that `text` names, or whose file it is a path to, which ends in `.toml`; `None` if it is neither.
pub(crate) fn known_drive(text: &str) -> Option<Result<&'static AtlasDrive, SpecError>> {
    if let Some(drive) = atlas().iter().find(|drive| drive.name == text) {
        return Some(Ok(drive));
    }
    let path = Path::new(text);
    path.extension().filter(|extension| *extension == "toml")?;
    let read = std::fs::read_to_string(path).map_err(|error| wrong(text, &error.to_string()));
    let drive = read.and_then(|own| AtlasDrive::parse(text, &own));
    // A command names one or two, for as long as it runs.
    Some(drive.map(|drive| &*Box::leak(Box::new(drive))))
}

fn wrong(name: &str, reason: &str) -> SpecError {
    SpecError::NoDrive { file: name.to_owned(), reason: reason.to_owned() }
}

impl AtlasDrive {
    /// The drive whose file has this text.
    fn parse(name: &str, text: &str) -> Result<Self, SpecError> {
        let value = |key: &str| value(text, key);
        let needed = |key: &str| {
            value(key).ok_or_else(|| wrong(name, &format!("it has no line {key} = ...")))
        };
        let of_spec = |error: SpecError| wrong(name, &error.to_string());
        let reserve = value("reserve").unwrap_or("4");
        Ok(Self {
            name: name.to_owned(),
            title: needed("title")?.to_owned(),
            class: needed("drive")?.to_owned(),
            ftl: needed("ftl")?.parse().map_err(of_spec)?,
            reserve: reserve
                .parse()
                .map_err(|_| wrong(name, &format!("reserve {reserve} is no number of units")))?,
            gc: GcSchedule::from_str(value("gc").unwrap_or("foreground")).map_err(of_spec)?,
            overhead: value("overhead").unwrap_or("0%").parse().map_err(of_spec)?,
            text: text.to_owned(),
        })
    }

    /// Over-provisioning that its fit does not exclude, from the least to the most.
    pub fn op_bounds(&self) -> Option<[Share; 2]> {
        let bounds: Vec<String> = self.listed("op")?;
        let shares: Vec<Share> = bounds.iter().filter_map(|own| own.parse().ok()).collect();
        <[Share; 2]>::try_from(shares).ok()
    }

    /// Bytes of a unit that its fit does not exclude, from the least to the most.
    pub fn unit_bounds(&self) -> Option<[u64; 2]> {
        self.listed("unit").and_then(|bounds: Vec<u64>| <[u64; 2]>::try_from(bounds).ok())
    }

    /// FTLs that its fit cannot tell from its own; `None` if its file does not say.
    pub fn as_good(&self) -> Option<Vec<Spec>> {
        let named: Vec<String> = self.listed("as-good")?;
        Some(named.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// A list that its fit has under a key; such lists of TOML are also lists of JSON.
    fn listed<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<Vec<T>> {
        serde_json::from_str(self.told("fit", key)?).ok()
    }

    /// What is said of numbers that it was fitted to, if counters do not tell them.
    pub fn by_pace(&self) -> String {
        let error = self.told("fit", "error");
        error.map_or_else(String::new, |error| {
            format!(" (which follows from how long writes took: WAF - 1 is known within {error}, one standard deviation)")
        })
    }

    /// How far it is off what it was not fitted to.
    pub fn held_out(&self) -> String {
        if let Some(median) = self.told("held-out", "median") {
            return format!(
                "half of the series that were left out were predicted within {median} of WAF - 1"
            );
        }
        match self.told("second-half", "off") {
            Some(off) => format!("{off} off the half of its series that was left out"),
            None => "compared with no series that it was not fitted to".to_owned(),
        }
    }

    /// What is said of answers that rest on what is known of it.
    pub fn rests_on(&self) -> String {
        let (by_pace, held_out) = (self.by_pace(), self.held_out());
        let off = self.told("fit", "off").map(|off| format!(", {off} off what it was fitted to"));
        let part = match self.told("fit", "explains") {
            Some("yes") | None => "",
            Some(_) => ", which explains that in part",
        };
        format!(
            "Rests on what was fitted to {}{}{by_pace}{part}; {held_out}.",
            self.title,
            off.unwrap_or_default()
        )
    }

    /// What a table of its file has under a key, such as `fit` and `explains`.
    pub fn told(&self, table: &str, key: &str) -> Option<&str> {
        let heading = format!("\n[{table}]\n");
        let from = self.text.find(&heading)? + heading.len();
        value(&self.text[from..], key)
    }
}

/// The value of a key before the next table, without its quotation marks.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let lines = text.lines().take_while(|line| !line.starts_with('['));
    let mut values = lines.filter_map(|line| line.split_once('='));
    let (_, value) = values.find(|(own, _)| own.trim() == key)?;
    let value = value.trim();
    Some(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drive_of_the_atlas_says_what_is_known_and_from_where() {
        let drives = atlas();
        assert_eq!(drives.len(), FILES.len(), "each is read");
        for drive in drives {
            assert_eq!(known_drive(&drive.name).unwrap().unwrap(), drive);
            ftlab_ftl::registry::resolve(&drive.ftl).unwrap();
            assert!(drive.told("source", "series").is_some(), "{}: no source", drive.name);
            assert!(drive.told("fit", "off").is_some(), "{}: how far off?", drive.name);
            for ftl in drive.as_good().unwrap_or_else(|| panic!("{}: as-good", drive.name)) {
                ftlab_ftl::registry::resolve(&ftl).unwrap();
            }
            if let Some(timing) = drive.told("times", "timing") {
                timing.parse::<Spec>().unwrap();
                assert!(drive.told("times", "off").is_some(), "{}", drive.name);
            }
            let has = |key| drive.told("fit", key).is_some();
            assert_eq!(has("op"), drive.op_bounds().is_some(), "{}", drive.name);
            assert_eq!(has("unit"), drive.unit_bounds().is_some(), "{}", drive.name);
            assert_eq!(has("error"), drive.rests_on().contains("how long writes took"));
        }
    }

    #[test]
    fn a_file_of_ones_own_is_read_and_errors_name_what_it_lacks() {
        let text = "# Mine.\ntitle = \"mine\"\ndrive = \"1TB, 9%\"\nftl = \"fifo\"\noverhead = \"2%\"\n\n[fit]\noff = \"3%\"\n";
        let drive = AtlasDrive::parse("mine.toml", text).unwrap();
        assert_eq!(
            (drive.class.as_str(), drive.overhead, drive.reserve),
            ("1TB, 9%", Share(0.02), 4)
        );
        assert_eq!((drive.told("fit", "off"), drive.told("fit", "title")), (Some("3%"), None));
        let error = |text: &str| AtlasDrive::parse("mine.toml", text).unwrap_err().to_string();
        let without = error(&text.replace("ftl = \"fifo\"\n", ""));
        assert!(
            without.contains("mine.toml") && without.contains("it has no line ftl = ..."),
            "{without}"
        );
        let wrong = error(&text.replace("\"2%\"", "\"much\""));
        assert!(wrong.contains("much"), "{wrong}");
        let absent = known_drive("/none/of.toml").unwrap().unwrap_err().to_string();
        assert!(absent.contains("ftlab list drives"), "{absent}");
        assert!(known_drive("7.68TB").is_none());
    }
}
