//! `zones`: writing in zones on a drive that has none.
//!
//! # Idea
//! A host that writes large parts of the address space from beginning to end, and trims each as a whole before it
//! writes it again, leaves a drive little to move: as little as the size of its parts fits that of the units which the
//! drive erases. Which size, and how many at once, is the question.
//!
//! # Rule
//! The address space is divided into zones of equal size. Some are open; each request continues one of them, drawn at
//! random. A full zone is closed, and another, drawn at random among those that are not open, is trimmed as a whole and
//! opened.
//!
//! # What to know
//! - What is left over at the end of the address space, less than a zone, is not written.
//! - On a drive that is scaled down, `drive` is the size of the one that is meant: zones and requests have as large a share
//!   of both. A request is a page at least. `ftlab fit` gives it by itself.
//!
//! # Reference
//! Measurements of conventional drives under writes in zones, published with SSD-iq (PVLDB 18).

use super::generator::{Bounds, End, GeneratorInfo, Make};
use super::parts::seed_of;
use super::requests::{Stepped, Steps};
use super::sequence::PageSequence;
use ftlab_random::draw_below;
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch, Space, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

ftlab_spec::parameters! {
    /// Writing in zones.
    pub struct ZonesParameters {
        /// Bytes of a zone; 0 for a hundredth of the drive.
        size: ByteSize = ByteSize(0), "size", from "our choice";
        /// Zones that are open at a time.
        open: u32 = 1, "open" in 1..=65_536, from "SSD-iq: 1 and 4";
        /// Whether a zone is trimmed before it is written again.
        trim: bool = true, "trim", from "SSD-iq";
        /// Bytes of a request.
        request: ByteSize = ByteSize(512 * 1024), "request", from "SSD-iq";
        /// Bytes of the drive that is meant, if this one is scaled down; 0 for this one.
        drive: ByteSize = ByteSize(0), "drive", from "our choice";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "zones",
    summary: "writing in zones that are trimmed as a whole, several open at a time",
    source: "SSD-iq (PVLDB 18)",
    parameters: ZonesParameters::describe,
    version: 1,
    end: End::Told(bounds),
    make: Make::Parameters {
        resolve: ZonesParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

/// Zones of a drive, if nothing else is asked for.
const USUAL_ZONES: u64 = 100;
/// Requests of a step.
const STEP_REQUESTS: usize = 64;

/// The spec for drives that are scaled down from `capacity` bytes; `None` if it is of no zones, or says which drive it
/// means.
pub fn of_capacity(spec: &Spec, capacity: u64) -> Option<Spec> {
    let is_open = spec.name == GENERATOR.name && spec.get("drive").is_none();
    is_open.then(|| {
        let mut spec = spec.clone();
        spec.arguments.push(("drive".into(), ByteSize(capacity).to_string()));
        spec
    })
}

/// What its parameters tell, whatever the size of the drive will be.
fn bounds(spec: &Spec) -> Result<Bounds, TraceError> {
    ZonesParameters::from_spec(spec)?;
    Ok(Bounds { has_end: false, drive_bytes: None, writes: true })
}

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = ZonesParameters::from_spec(spec)?;
    Ok(Box::new(Stepped::new(Zones::new(&parameters, spec, space)?)))
}

/// A zone that is being written.
struct Open {
    zone: u64,
    /// Pages of it that are written.
    filled: u64,
}

/// The zones, and who draws.
struct Zones {
    random: Xoshiro256PlusPlus,
    page_sectors: u64,
    zone_pages: u64,
    request_pages: u64,
    trims: bool,
    open: Vec<Open>,
    /// All that are not open.
    closed: Vec<u64>,
}

impl Zones {
    fn new(parameters: &ZonesParameters, spec: &Spec, space: &Space) -> Result<Self, TraceError> {
        let page_sectors = u64::from(space.page_bytes) / SECTOR_BYTES;
        let own = space.logical_pages as f64 * f64::from(space.page_bytes);
        let drive = if parameters.drive.0 == 0 { own } else { parameters.drive.0 as f64 };
        // Pages of this drive that have the share of it that these bytes have of the one that is meant.
        let pages = |bytes: u64| (bytes as f64 / drive * space.logical_pages as f64).round() as u64;
        let zone_pages = match parameters.size.0 {
            0 => space.logical_pages / USUAL_ZONES,
            bytes => pages(bytes),
        };
        let bad = |key: &str, value: String, expects: String| SpecError::BadValue {
            of: spec.name.clone(),
            key: key.into(),
            value,
            expects,
        };
        let most = u64::from(u32::MAX) / page_sectors;
        let zones = space.logical_pages.checked_div(zone_pages).unwrap_or(0);
        if zone_pages == 0 || zone_pages > most || zones < 2 {
            let (least, most) = (
                drive / space.logical_pages as f64,
                (drive / 2.0).min(most as f64 * drive / space.logical_pages as f64),
            );
            let expects = format!(
                "a page of the drive at least and half of it at most: {} to {}, on a drive of {}",
                ByteSize(least.ceil() as u64),
                ByteSize(most as u64),
                ByteSize(drive as u64)
            );
            return Err(bad("size", parameters.size.to_string(), expects).into());
        }
        if u64::from(parameters.open) >= zones {
            let expects = format!(
                "fewer than the {zones} zones of the drive; give {} at most, or smaller zones",
                zones - 1
            );
            return Err(bad("open", parameters.open.to_string(), expects).into());
        }
        let mut all = Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed_of(space.seed, 0)),
            page_sectors,
            zone_pages,
            request_pages: pages(parameters.request.0).max(1),
            trims: parameters.trim,
            open: Vec::new(),
            closed: (0..zones).collect(),
        };
        for _ in 0..parameters.open {
            let zone = all.drawn();
            all.open.push(Open { zone, filled: 0 });
        }
        Ok(all)
    }

    /// A zone that is not open, which it no longer is.
    fn drawn(&mut self) -> u64 {
        let place = draw_below(&mut self.random, self.closed.len() as u64) as usize;
        self.closed.swap_remove(place)
    }

    fn first_sector(&self, zone: u64) -> u64 {
        zone * self.zone_pages * self.page_sectors
    }

    /// One request, and what it takes to open a zone if that fills one.
    fn request(&mut self, out: &mut RequestBatch) {
        let place = draw_below(&mut self.random, self.open.len() as u64) as usize;
        let Open { zone, filled } = self.open[place];
        let pages = self.request_pages.min(self.zone_pages - filled);
        let first = self.first_sector(zone) + filled * self.page_sectors;
        out.push(Op::Write, first, (pages * self.page_sectors) as u32);
        self.open[place].filled += pages;
        if filled + pages < self.zone_pages {
            return;
        }
        // The full one is not drawn again at once.
        let next = self.drawn();
        self.closed.push(zone);
        self.open[place] = Open { zone: next, filled: 0 };
        if self.trims {
            let sectors = self.zone_pages * self.page_sectors;
            out.push(Op::Trim, self.first_sector(next), sectors as u32);
        }
    }
}

impl Steps for Zones {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        for _ in 0..STEP_REQUESTS {
            self.request(out);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const SPACE: Space = Space { logical_pages: 1000, page_bytes: 4096, seed: 3 };

    fn requests(spec: &str, count: usize) -> Vec<(Op, u64, u64)> {
        let spec = spec.parse().unwrap();
        let parameters = ZonesParameters::from_spec(&spec).unwrap();
        let mut zones = Zones::new(&parameters, &spec, &SPACE).unwrap();
        let mut batch = RequestBatch::new();
        while batch.len() < count {
            zones.step(&mut batch).unwrap();
        }
        batch.iter().map(|(op, lba, sectors)| (op, lba / 8, u64::from(sectors) / 8)).collect()
    }

    /// Follows the requests: zones are written from beginning to end, as many at a time as are open, and trimmed before.
    #[test]
    fn zones_are_written_from_beginning_to_end_and_trimmed_as_a_whole() {
        let zone_pages = 120;
        let mut open: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut trims, mut opened) = (0, [0; 8]);
        for (op, first, pages) in requests("zones:size=480KiB,open=3,request=16KiB", 20_000) {
            let zone = first / zone_pages;
            if op == Op::Trim {
                assert_eq!((first % zone_pages, pages), (0, zone_pages));
                assert!(!open.contains_key(&zone), "it is open");
                trims += 1;
                open.insert(zone, 0);
                continue;
            }
            let filled = open.entry(zone).or_insert(0);
            assert_eq!(first, zone * zone_pages + *filled, "in order");
            opened[zone as usize] += u32::from(*filled == 0);
            *filled += pages;
            assert!(pages == 4 || *filled == zone_pages);
            if *filled == zone_pages {
                open.remove(&zone);
            }
            assert!(open.len() <= 3);
        }
        assert!(trims > 600, "{trims}");
        assert!(opened.iter().all(|times| (40..=130).contains(times)), "at random: {opened:?}");
    }

    #[test]
    fn a_scaled_drive_has_as_many_zones_as_the_one_that_is_meant() {
        let spec: Spec = "zones:size=1GiB,trim=off".parse().unwrap();
        let scaled = of_capacity(&spec, 10 << 30).unwrap();
        assert_eq!(of_capacity(&scaled, 5), None, "it has one");
        assert_eq!(of_capacity(&"uniform".parse().unwrap(), 5), None);
        let all = requests(&scaled.to_string(), 5000);
        assert!(all.iter().all(|(op, _, pages)| *op == Op::Write && *pages == 1));
        // A tenth of 1,000 pages each.
        let runs = all.chunk_by(|a, b| a.1 + 1 == b.1).map(<[_]>::len);
        assert!(runs.take(40).all(|run| run % 100 == 0));
    }

    #[test]
    fn errors_say_what_is_possible() {
        for (spec, part) in [
            ("zones:size=3MiB", "4KiB to 2000KiB, on a drive of 4000KiB"),
            ("zones:size=512", "4KiB to 2000KiB, on a drive of 4000KiB"),
            ("zones:open=100", "give 99 at most"),
        ] {
            let error = build(&spec.parse().unwrap(), &SPACE).err().unwrap().to_string();
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}
