//! Writes of single pages to areas of the drive: what `hotcold`, `skew`, `swap` and `iozone` have in common.
//!
//! # Rule
//! A write draws its area by the shares of the present [`Division`], and then any page of that area. Divisions may
//! follow each other, each from a write that is known before. Writes are counted from the first of the sequence, with
//! a warm-up that is taken from it; in a `mix`, only those of this part.

use super::areas::{Area, Areas};
use super::parts::{pick, thresholds};
use super::sequence::{PageSequence, Pages};
use ftlab_random::{Permutation, draw_below};
use ftlab_trace::{Space, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Areas, one after the other, with their shares of the writes.
pub(super) struct Division {
    /// First page and number of pages of each.
    areas: Vec<(u64, u64)>,
    /// For all areas but the last, the 53-bit number below which a draw is of it or of one before.
    thresholds: Vec<u64>,
}

impl Division {
    /// Areas of any number.
    pub(super) fn new(areas: &[Area]) -> Self {
        let shares: Vec<f64> = areas.iter().map(|area| area.writes).collect();
        Self { areas: bounds(areas), thresholds: thresholds(&shares) }
    }

    /// A hot area, a cold one, and pages that are never written, if any. The share of the hot one is cut to 53 bits.
    pub(super) fn hot_and_cold(areas: &[Area]) -> Self {
        let scale = (1_u64 << 53) as f64;
        Self { areas: bounds(&areas[..2]), thresholds: vec![(areas[0].writes * scale) as u64] }
    }

    /// Draws all of `pages`.
    fn fill(&self, random: &mut Xoshiro256PlusPlus, pages: &mut [u64]) {
        // Two areas are the usual case, and a comparison is faster than a search.
        if let ([hot, cold], [threshold]) = (&self.areas[..], &self.thresholds[..]) {
            for page in pages {
                let (first, count) =
                    if random.next_u64() >> 11 < *threshold { *hot } else { *cold };
                *page = first + draw_below(random, count);
            }
            return;
        }
        for page in pages {
            let (first, count) = self.areas[pick(&self.thresholds, random.next_u64() >> 11)];
            *page = first + draw_below(random, count);
        }
    }
}

/// First page and number of pages of each area.
fn bounds(areas: &[Area]) -> Vec<(u64, u64)> {
    let mut end = 0;
    let of_area = |area: &Area| {
        let first = end;
        end += area.pages;
        (first, area.pages)
    };
    areas.iter().map(of_area).collect()
}

/// All that a sequence does.
pub(super) struct Plan {
    /// What an oracle may be told.
    pub(super) told: Areas,
    /// The divisions, each with the write from which it holds; that of the first is 0, and none is less than the one
    /// before.
    pub(super) divisions: Vec<(u64, Division)>,
    /// Whether the pages of all areas lie scattered over the whole drive.
    pub(super) scattered: bool,
}

impl Plan {
    /// Two areas that stay as they are.
    pub(super) fn hot_and_cold(areas: Areas) -> Self {
        let divisions = vec![(0, Division::hot_and_cold(&areas))];
        Self { told: areas, divisions, scattered: false }
    }

    /// The sequence on a drive.
    pub(super) fn sequence(self, space: &Space) -> Box<dyn PageSequence> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let places = self.scattered.then(|| Permutation::new(space.logical_pages, &mut random));
        Box::new(Divided { random, places, divisions: self.divisions, present: 0, written: 0 })
    }
}

/// Refuses a drive that has no room for two areas; `name` is for the message.
pub(super) fn check_two_areas(name: &str, space: &Space) -> Result<(), TraceError> {
    if space.logical_pages < 2 {
        return Err(TraceError::Unsupported {
            what: format!("{name} on a drive of one page"),
            remedy: "give the drive at least 2 pages".into(),
        });
    }
    Ok(())
}

struct Divided {
    random: Xoshiro256PlusPlus,
    /// Page of the areas -> page of the drive; the same number without.
    places: Option<Permutation>,
    divisions: Vec<(u64, Division)>,
    present: usize,
    written: u64,
}

impl Divided {
    /// Moves to the division of the next write; returns how many writes it has left.
    fn advance(&mut self) -> u64 {
        while let Some((from, _)) = self.divisions.get(self.present + 1) {
            if self.written < *from {
                return from - self.written;
            }
            self.present += 1;
        }
        u64::MAX
    }
}

impl Pages for Divided {
    fn fill(&mut self, mut pages: &mut [u64]) {
        while !pages.is_empty() {
            let count = self.advance().min(pages.len() as u64) as usize;
            let (now, later) = pages.split_at_mut(count);
            self.divisions[self.present].1.fill(&mut self.random, now);
            if let Some(places) = &self.places {
                for page in now {
                    *page = places.at(*page);
                }
            }
            self.written += count as u64;
            pages = later;
        }
    }
}
