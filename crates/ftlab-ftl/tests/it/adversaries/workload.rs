//! Workloads that a few bytes describe, so that a search can vary them.

use ftlab_flash::{Geometry, Lpn};
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::DriveConfig;

/// Pages that the host can address.
const LOGICAL_PAGES: u32 = 4096;

/// Host writes after the fill, in sizes of the drive.
const DRIVE_WRITES: usize = 10;

/// Programs that write at the same time.
const ACTORS: usize = 3;

/// Bytes that describe an actor.
const ACTOR_BYTES: usize = 6;

/// Bytes that describe a workload.
pub(crate) const BYTES: usize = 3 + ACTORS * ACTOR_BYTES;

/// The description of a drive and of what is written to it.
pub(crate) type Genome = [u8; BYTES];

/// A drive, its fill, and what is counted.
pub(crate) struct Workload {
    pub(crate) config: DriveConfig,
    pub(crate) fill: PageBatch,
    pub(crate) counted: PageBatch,
}

/// A small generator of random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (((self.0 >> 32) * u64::from(bound.max(1))) >> 32) as u32
    }
}

/// What an actor does in its part of the address space.
#[derive(Debug, Clone, Copy)]
enum Habit {
    /// Rewrites pages at random.
    Uniform,
    /// Rewrites the first 1/16 of its pages fifteen times of sixteen.
    HotAndCold,
    /// Rewrites pages the less the higher they are, as the square of a random number.
    Skewed,
    /// Writes all its pages in order, again and again: a scan, or a circular log.
    Scan,
    /// Writes files of 16 to 256 pages in order, each where one was deleted and trimmed.
    Files,
    /// Writes its pages once, and then one page in 64 times.
    Load,
    /// Two halves that are hot in turn.
    Alternating,
}

const HABITS: [Habit; 7] = [
    Habit::Uniform,
    Habit::HotAndCold,
    Habit::Skewed,
    Habit::Scan,
    Habit::Files,
    Habit::Load,
    Habit::Alternating,
];

struct Actor {
    habit: Habit,
    first: u32,
    pages: u32,
    /// Of 256 turns, how many it takes, against the others.
    weight: u32,
    /// It rests in every other period of this many writes; 0: never.
    period: u32,
    /// Pages of a file, or writes before the halves change.
    size: u32,
    cursor: u32,
}

impl Actor {
    fn new(bytes: &[u8]) -> Self {
        let pages = LOGICAL_PAGES * (1 + u32::from(bytes[2] % 64)) / 64;
        let start = u32::from(bytes[1] % 64) * LOGICAL_PAGES / 64;
        Self {
            habit: HABITS[usize::from(bytes[0]) % HABITS.len()],
            first: start.min(LOGICAL_PAGES - pages),
            pages,
            weight: 1 << (bytes[3] % 8),
            period: [0, 1, 2, 4][usize::from(bytes[4] % 4)] * LOGICAL_PAGES / 2,
            size: 16 << (bytes[5] % 5),
            cursor: 0,
        }
    }

    fn is_awake(&self, now: u32) -> bool {
        self.period == 0 || (now / self.period).is_multiple_of(2)
    }

    fn act(&mut self, random: &mut Random, batch: &mut PageBatch) {
        let page = match self.habit {
            Habit::HotAndCold if random.below(16) > 0 => random.below(self.pages / 16),
            Habit::Uniform | Habit::HotAndCold => random.below(self.pages),
            Habit::Skewed => {
                let share = random.below(1 << 16);
                ((u64::from(share) * u64::from(share) * u64::from(self.pages)) >> 32) as u32
            }
            Habit::Load if self.cursor >= self.pages && random.below(64) > 0 => return,
            Habit::Scan | Habit::Load => self.cursor % self.pages,
            Habit::Files => return self.write_file(random, batch),
            Habit::Alternating => {
                let half = self.pages.div_ceil(2);
                let turn = self.cursor / (self.size * 64) % 2;
                (turn * half + random.below(half)).min(self.pages - 1)
            }
        };
        self.cursor += 1;
        batch.writes.push(Lpn(self.first + page));
    }

    /// The next page of a file; before its first, the file that is there is deleted.
    fn write_file(&mut self, random: &mut Random, batch: &mut PageBatch) {
        let size = self.size.min(self.pages);
        if self.cursor.is_multiple_of(size) {
            let files = self.pages / size;
            self.cursor = random.below(files) * size;
            batch.trim(Lpn(self.first + self.cursor), size);
            batch.writes.push(Lpn(self.first + self.cursor));
            self.cursor += 1;
            return;
        }
        batch.writes.push(Lpn(self.first + self.cursor));
        self.cursor += 1;
    }
}

/// The workload that `genome` describes.
pub(crate) fn workload(genome: &Genome) -> Workload {
    let pages_per_block = [8, 16, 32][usize::from(genome[0] % 3)];
    let spare_percent = [7, 10, 15, 28][usize::from(genome[1] % 4)];
    let blocks = (LOGICAL_PAGES * (100 + spare_percent)).div_ceil(100 * pages_per_block);
    let geometry = Geometry::new(blocks, pages_per_block, 4096).unwrap();
    let mut fill = PageBatch::default();
    if genome[2].is_multiple_of(2) {
        fill.writes.extend((0..LOGICAL_PAGES).map(Lpn));
    }
    let mut actors: Vec<_> = genome[3..].chunks_exact(ACTOR_BYTES).map(Actor::new).collect();
    let mut random = Random(
        genome.iter().fold(1_u64, |seed, &byte| seed.wrapping_mul(31).wrapping_add(byte.into())),
    );
    let mut counted = PageBatch::default();
    let writes = DRIVE_WRITES * LOGICAL_PAGES as usize;
    // A write in 64 turns at least: actors that have loaded their pages let most turns pass.
    for _ in 0..64 * writes {
        let now = counted.writes.len() as u32;
        if counted.writes.len() >= writes {
            break;
        }
        let awake = |actor: &Actor| if actor.is_awake(now) { actor.weight } else { 0 };
        let all: u32 = actors.iter().map(awake).sum();
        let mut turn = random.below(all);
        let chosen = actors.iter().position(|actor| {
            let (weight, before) = (awake(actor), turn);
            turn = turn.wrapping_sub(weight);
            before < weight
        });
        match chosen {
            Some(actor) => actors[actor].act(&mut random, &mut counted),
            // All rest: the host writes what it had.
            None => counted.writes.push(Lpn(random.below(LOGICAL_PAGES))),
        }
    }
    Workload { config: DriveConfig::new(geometry, LOGICAL_PAGES, 4), fill, counted }
}
