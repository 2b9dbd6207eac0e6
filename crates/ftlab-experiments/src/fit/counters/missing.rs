//! Why a log has no samples, and what to do.

use super::asked::{Counters, option};
use super::catalogue::{Meaning, Side, Unit};
use super::samples::{Samples, Source};
use super::words::plain;

/// What is said of a log in which nothing is known.
const NOTHING: &str = "it has neither columns host_bytes and media_bytes nor counters of nvme fdp stats, nvme smart-log, nvme \
     ocp smart-add-log, a vendor's plugin or smartctl; write a table, append the output of these commands again and \
     again while the workload runs, or name the counters with --host-counter and --media-counter";

/// How to log what is missing.
const LOGS_OF_HOST: &str = "log nvme smart-log or smartctl -A as well";
const LOGS_OF_MEDIA: &str = "log nvme ocp smart-add-log, nvme fdp stats or the smart-log of the vendor's plugin as well \
                             (the SMART log of NVMe itself has none)";

const ATTRIBUTES: &str = "log all that smartctl -x prints of this drive";

/// The size of a page, if nothing hints at one.
const PAGE: u32 = 16_384;

impl Samples {
    /// Says what a log lacks that has no pair of counters.
    pub(super) fn missing(&self, counters: &Counters) -> String {
        if self.seen.is_empty() && self.unnamed.is_empty() && self.alike.is_empty() {
            return NOTHING.into();
        }
        let lacks: Vec<String> = [Side::Host, Side::Media]
            .into_iter()
            .filter_map(|side| self.lacks(side, counters))
            .collect();
        if !lacks.is_empty() {
            return format!("it {}", lacks.join("; and it "));
        }
        format!("it never tells host and media bytes together: {}", self.names(|_| true))
    }

    /// What it lacks of a side.
    fn lacks(&self, side: Side, counters: &Counters) -> Option<String> {
        let sources = self.sources(side, counters);
        if sources.iter().any(|source| self.is_known(source)) {
            return None;
        }
        if let Some(source) = sources.first() {
            return Some(self.unknown(side, source));
        }
        let own = self.names(|seen| seen.meaning.side == side);
        let is_sata = self.seen.iter().any(|seen| seen.id.is_some());
        let (what, logs) = match side {
            Side::Host => ("host", LOGS_OF_HOST),
            Side::Media if is_sata => ("medium", ATTRIBUTES),
            Side::Media => ("medium", LOGS_OF_MEDIA),
        };
        if !own.is_empty() {
            return Some(format!(
                "has {own}, which is only a part of what the {what} wrote; log the other part (of TLC and SLC, of high \
                 and low bits, of host and other pages)"
            ));
        }
        let option = option(side);
        let alike: Vec<_> = self.alike.iter().filter(|(of, _)| *of == side).collect();
        if let Some((_, name)) = alike.first() {
            let names: Vec<_> = alike.iter().map(|(_, name)| name.as_str()).collect();
            return Some(format!(
                "has {}, which no tool that is known prints so; say of how many bytes its units are, such as {option} \
                 \"{name}=1GiB\"",
                names.join(", ")
            ));
        }
        let others = self.names(|_| true);
        let others = if others.is_empty() { String::new() } else { format!("{others} and ") };
        Some(format!(
            "has {others}no counter of the {what} that is known; {logs}, or name one with {option} NAME=SIZE{}",
            self.unnamed_attributes(option)
        ))
    }

    /// Attributes that may be what is missing.
    fn unnamed_attributes(&self, option: &str) -> String {
        let ids: Vec<_> = self.unnamed.iter().map(u8::to_string).collect();
        let Some(last) = ids.last() else { return String::new() };
        format!(
            "; smartctl has no name for attributes {}: update-smart-drivedb may know them, or say what one counts, such \
             as {option} {last}=32MiB",
            ids.join(", ")
        )
    }

    /// Says that the unit of a source is not known.
    fn unknown(&self, side: Side, source: &Source) -> String {
        let unknown: Vec<usize> =
            source.iter().copied().filter(|index| self.unit_of(*index).is_none()).collect();
        let names: Vec<_> = unknown.iter().map(|index| self.seen[*index].name.as_str()).collect();
        let of_pages = unknown.iter().any(|i| self.seen[*i].meaning.unit == Unit::Pages);
        let counts = if of_pages { "pages" } else { "units" };
        let hint = if of_pages { self.page_hint() } else { None };
        let size = hint.map_or_else(|| if of_pages { size(PAGE) } else { "1GiB".into() }, size);
        let hint = hint.map_or_else(String::new, |page| {
            format!(
                " (beside the blocks that the host wrote, they are of about {})",
                self::size(page)
            )
        });
        let options: Vec<_> =
            names.iter().map(|name| format!("{} \"{name}={size}\"", option(side))).collect();
        format!(
            "has {} in {counts} of a size that it does not say{}{hint}; say it, such as {}",
            names.join(" + "),
            names.first().map_or("", |name| known_units(name)),
            options.join(" ")
        )
    }

    fn unit_of(&self, index: usize) -> Option<f64> {
        match self.seen[index].meaning.unit {
            Unit::Bytes(bytes) => Some(bytes),
            Unit::Pages | Unit::Unknown => None,
        }
    }

    /// The size of a page that the host's blocks and pages hint at, if it is a power of two or nearly.
    fn page_hint(&self) -> Option<u32> {
        let last = |is: fn(&Meaning) -> bool| {
            let index =
                self.seen.iter().position(|s| s.meaning.side == Side::Host && is(&s.meaning))?;
            Some(self.last(index)? * self.unit_of(index).unwrap_or(1.0))
        };
        let bytes = last(|meaning| matches!(meaning.unit, Unit::Bytes(_)))?;
        let page = bytes / last(|meaning| meaning.unit == Unit::Pages)?;
        let near = (9..=20).map(|power| 1_u32 << power);
        near.into_iter().find(|size| (page / f64::from(*size) - 1.0).abs() < 0.05)
    }
}

/// A power of two as options write it.
fn size(bytes: u32) -> String {
    if bytes >= 1024 { format!("{}KiB", bytes / 1024) } else { bytes.to_string() }
}

/// The units that tools have for the same name.
fn known_units(name: &str) -> &'static str {
    match plain(name).as_str() {
        "data units written" => {
            " (512000 bytes in the SMART log, 1GB in the endurance group log; keep the headings of both in the log)"
        }
        "nand bytes written" | "host bytes written" => {
            " (1 byte, or 32MiB as in the vendor log that nvme intel smart-log-add prints)"
        }
        _ => "",
    }
}
