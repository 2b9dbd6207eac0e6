//! Which counters of a log are read, and the samples that they give.

use super::asked::{Counters, option};
use super::catalogue::{Meaning, Side, Unit};
use super::drives::{DriveName, Kind};
use super::reading::{ReadAs, Reading};
use super::words::plain;
use std::collections::{BTreeSet, HashSet};

/// A counter that a log has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    /// As it was written first.
    pub(super) name: String,
    /// Of an attribute of a SATA drive.
    pub(super) id: Option<u8>,
    pub(super) meaning: Meaning,
    /// The user named it.
    pub(super) is_asked: bool,
}

/// A number of one of them.
struct Told {
    seen: usize,
    value: f64,
}

/// All that a log tells, in its order.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) seen: Vec<Seen>,
    told: Vec<Told>,
    /// The drives of which something is told.
    drives: Vec<DriveName>,
    /// What was named last, of each kind of names.
    current: Vec<DriveName>,
    /// Attributes without a name that may be what is missing.
    pub(super) unnamed: BTreeSet<u8>,
    /// Names that sound like counters of a side, and that no tool here has.
    pub(super) alike: Vec<(Side, String)>,
    /// Names that were looked at, whether they do or not.
    heard: HashSet<String>,
}

/// Host and media bytes of samples, and what they were read from.
pub(super) type Rows = (Vec<(f64, f64)>, Reading);

/// Counters whose sum is the bytes of a side.
pub(super) type Source = Vec<usize>;

/// How good a pair of sources is: how many samples it has, whether both are of one log, how fine their units are.
type Rank = (usize, bool, f64);

impl Samples {
    /// Takes a number of a counter that means `meanings`, or what the user said.
    pub(super) fn tell(
        &mut self,
        name: &str,
        id: Option<u8>,
        meanings: &[Meaning],
        value: f64,
        counters: &Counters,
    ) {
        for meaning in meanings {
            self.push(name, id, meaning.clone(), false, value);
        }
        for side in [Side::Host, Side::Media] {
            let Some(named) = counters.named(side, name, id) else { continue };
            let known = meanings.iter().find(|meaning| meaning.side == side).or(meanings.first());
            let unit = named.unit().or(known.map(|known| known.unit)).unwrap_or(Unit::Unknown);
            let tool = known.map_or("named by the user".into(), |known| known.tool.clone());
            let sum = (counters.names(side).len() > 1).then(|| "named by the user".into());
            self.push(name, id, Meaning { side, unit, tool, sum }, true, value);
        }
    }

    /// Remembers a name that sounds like a counter.
    pub(super) fn sounds_alike(&mut self, name: &str) {
        const WORDS_MAX: usize = 6;
        if self.heard.contains(name) {
            return;
        }
        self.heard.insert(name.to_owned());
        if super::words::words(name).len() > WORDS_MAX {
            return;
        }
        for meaning in super::ata::meanings(name) {
            let alike = (meaning.side, name.to_owned());
            if !self.alike.contains(&alike) {
                self.alike.push(alike);
            }
        }
    }

    fn push(&mut self, name: &str, id: Option<u8>, meaning: Meaning, is_asked: bool, value: f64) {
        let known = self.seen.iter().position(|seen| {
            let is_same = seen.id == id && seen.is_asked == is_asked && seen.meaning == meaning;
            is_same && (seen.name == name || plain(&seen.name) == plain(name))
        });
        let seen = known.unwrap_or_else(|| {
            self.seen.push(Seen { name: name.to_owned(), id, meaning, is_asked });
            self.seen.len() - 1
        });
        self.told.push(Told { seen, value });
        for drive in &self.current {
            if !self.drives.contains(drive) {
                self.drives.push(drive.clone());
            }
        }
    }

    /// What is told from now on is of these drives.
    pub(super) fn of_drives(&mut self, drives: impl IntoIterator<Item = DriveName>) {
        for drive in drives {
            self.current.retain(|other| other.kind != drive.kind);
            self.current.push(drive);
        }
    }

    /// The samples of host and media bytes, and what they were read from.
    pub(super) fn rows(&self, counters: &Counters) -> Result<Rows, String> {
        self.one_drive()?;
        self.all_asked(counters)?;
        let known = |side| self.sources(side, counters).into_iter().filter(|s| self.is_known(s));
        let media: Vec<Source> = known(Side::Media).collect();
        let mut best: Option<(Rank, Source, Source)> = None;
        for host in known(Side::Host) {
            for media in &media {
                let rank = self.rank(&host, media);
                if best.as_ref().is_none_or(|(best, ..)| rank > *best) {
                    best = Some((rank, host.clone(), media.clone()));
                }
            }
        }
        match best {
            Some(((1.., ..), host, media)) => {
                Ok((self.of(&host, &media), self.reading(&host, &media)))
            }
            _ => Err(self.missing(counters)),
        }
    }

    /// Names the drives if there are several.
    fn one_drive(&self) -> Result<(), String> {
        for kind in [Kind::Device, Kind::Serial, Kind::Group] {
            let names: Vec<_> = self.drives.iter().filter(|drive| drive.kind == kind).collect();
            if names.len() > 1 {
                let names: Vec<_> = names.iter().map(ToString::to_string).collect();
                return Err(format!(
                    "it has counters of several drives, {}; give a log of one of them",
                    names.join(" and ")
                ));
            }
        }
        Ok(())
    }

    /// Names the counters that the user named and that are not there.
    fn all_asked(&self, counters: &Counters) -> Result<(), String> {
        for side in [Side::Host, Side::Media] {
            for name in counters.names(side) {
                let own = plain(name);
                let is_there = |seen: &Seen| {
                    let is_same =
                        plain(&seen.name) == own || seen.id.is_some_and(|id| id.to_string() == own);
                    seen.is_asked && seen.meaning.side == side && is_same
                };
                if !self.seen.iter().any(is_there) {
                    let known = self.names(|seen| !seen.is_asked);
                    let known = if known.is_empty() { "none".into() } else { known };
                    let by_pace = side == Side::Media && counters.sequential.is_some();
                    let option = if by_pace { "--sequential" } else { option(side) };
                    return Err(format!(
                        "it has no counter {name:?} ({option}); those that are known here: {known}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The names of counters, each once.
    pub(super) fn names(&self, is_of: impl Fn(&Seen) -> bool) -> String {
        let mut names: Vec<&str> = Vec::new();
        for seen in self.seen.iter().filter(|seen| is_of(seen)) {
            if !names.contains(&seen.name.as_str()) {
                names.push(&seen.name);
            }
        }
        names.join(", ")
    }

    /// The counters, and sums of counters, that may be the bytes of a side.
    pub(super) fn sources(&self, side: Side, counters: &Counters) -> Vec<Source> {
        let is_asked = !counters.names(side).is_empty();
        let is_of = |seen: &Seen| seen.meaning.side == side && seen.is_asked == is_asked;
        let of: Vec<usize> =
            (0..self.seen.len()).filter(|index| is_of(&self.seen[*index])).collect();
        let mut sources: Vec<Source> = Vec::new();
        for &index in &of {
            let sum = &self.seen[index].meaning.sum;
            let is_part = |other: &usize| sum.is_some() && self.seen[*other].meaning.sum == *sum;
            let parts: Vec<usize> = of.iter().copied().filter(is_part).collect();
            let source = match (sum, parts.len()) {
                (None, _) => vec![index],
                (Some(_), 0 | 1) => continue,
                _ => parts,
            };
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }

    pub(super) fn is_known(&self, source: &[usize]) -> bool {
        source.iter().all(|index| matches!(self.seen[*index].meaning.unit, Unit::Bytes(_)))
    }

    fn unit(&self, index: usize) -> f64 {
        match self.seen[index].meaning.unit {
            Unit::Bytes(bytes) => bytes,
            Unit::Pages | Unit::Unknown => 0.0,
        }
    }

    fn rank(&self, host: &[usize], media: &[usize]) -> Rank {
        let tool = |source: &[usize]| &self.seen[source[0]].meaning.tool;
        let coarse = |source: &[usize]| source.iter().map(|i| self.unit(*i)).fold(0.0, f64::max);
        let fine = -(coarse(host) + coarse(media));
        (self.of(host, media).len(), tool(host) == tool(media), fine)
    }

    /// The samples of a pair: each time that all its counters were told since the first of them was, whatever is between
    /// them. A counter that is told again before the others replaces its number.
    fn of(&self, host: &[usize], media: &[usize]) -> Vec<(f64, f64)> {
        let all: Vec<usize> = host.iter().chain(media).copied().collect();
        let mut values: Vec<Option<f64>> = vec![None; all.len()];
        let (mut leader, mut rows) = (None, Vec::new());
        for told in &self.told {
            let Some(place) = all.iter().position(|index| *index == told.seen) else { continue };
            if *leader.get_or_insert(told.seen) == told.seen {
                values.fill(None);
            }
            values[place] = Some(told.value * self.unit(told.seen));
            let Some(bytes) = values.iter().copied().collect::<Option<Vec<f64>>>() else {
                continue;
            };
            let (host, media) = bytes.split_at(host.len());
            rows.push((host.iter().sum(), media.iter().sum()));
            values.fill(None);
        }
        rows
    }

    /// The last number of a counter.
    pub(super) fn last(&self, index: usize) -> Option<f64> {
        self.told.iter().rfind(|told| told.seen == index).map(|told| told.value)
    }

    fn reading(&self, host: &[usize], media: &[usize]) -> Reading {
        let of = |source: &[usize]| source.iter().map(|index| self.read_as(*index)).collect();
        let used: Vec<&str> =
            host.iter().chain(media).map(|index| self.seen[*index].name.as_str()).collect();
        let mut others: Vec<String> = Vec::new();
        for seen in &self.seen {
            if !used.contains(&seen.name.as_str()) && !others.contains(&seen.name) {
                others.push(seen.name.clone());
            }
        }
        let drive = self.drives.first().map(ToString::to_string);
        Reading { host: of(host), media: of(media), drive, not_read: others }
    }

    fn read_as(&self, index: usize) -> ReadAs {
        let seen = &self.seen[index];
        ReadAs {
            counter: seen.name.clone(),
            attribute: seen.id,
            log: seen.meaning.tool.clone().into_owned(),
            unit_bytes: self.unit(index),
        }
    }
}
