//! Flash that fails loses no page, until the drive says that it is read-only.

use ftlab_flash::{Faults, Faulty, Geometry, Lpn, Memory};
use ftlab_ftl::page::{ConfigError, DriveConfig, FreeBlock, GcSchedule, WearLeveling};
use ftlab_ftl::registry::{BuildError, build_boxed};
use ftlab_ftl::{Ftl, FtlError};

const FTLS: [&str; 9] = [
    "1r-greedy",
    "2r-greedy",
    "2r-fifo",
    "2r++",
    "dac-cb",
    "sep-gc/cost-benefit",
    "single/d-choices",
    "wolf:groups-max=3,interval=0.05",
    "wolf:movement=interval,groups-max=3,interval=0.05",
];

/// Seeded numbers (Steele et al., "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(end)) as u32
    }

    fn share(&mut self, most: f64) -> f64 {
        most * f64::from(self.below(1000)) / 1000.0
    }
}

fn config(random: &mut Random) -> DriveConfig {
    let pages_per_block = 2 + random.below(12);
    let data_blocks = 3 + random.below(12);
    let reserve_blocks = 4 + random.below(3);
    let blocks = data_blocks + reserve_blocks + 5 + random.below(12);
    let geometry = Geometry::new(blocks, pages_per_block, 8).unwrap();
    DriveConfig {
        gc_start_blocks: random.below(2) * (reserve_blocks + 2),
        early_valid_pages_max: pages_per_block / 2,
        gc: match random.below(3) {
            0 => GcSchedule::Foreground,
            1 => GcSchedule::Background { pages_max: random.below(4) },
            _ => GcSchedule::Incremental { pages_max: random.below(4) },
        },
        wear: WearLeveling {
            free_block: [FreeBlock::Fifo, FreeBlock::LeastWorn][random.below(2) as usize],
            threshold: random.below(2) * (1 + random.below(6)),
        },
        ..DriveConfig::new(geometry, data_blocks * pages_per_block, reserve_blocks)
    }
}

/// What became of a drive.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// Too many blocks were bad from birth.
    NeverWorked,
    BecameReadOnly,
    Lasted,
}

/// Writes to a drive whose flash fails by the schedule of `seed`, and reads everything again and again.
fn live(seed: u64) -> Outcome {
    let mut random = Random(seed);
    let config = config(&mut random);
    let name = FTLS[random.below(FTLS.len() as u32) as usize];
    let faults = Faults {
        seed,
        programs: random.share(0.02),
        erases: random.share(0.05),
        bad_blocks: random.below(config.geometry.blocks() / 5 + 1),
    };
    let flash = Faulty::new(Memory::new(config.geometry), &config.geometry, faults);
    let mut ftl = match build_boxed(&name.parse().unwrap(), config, flash, ()) {
        Ok(ftl) => ftl,
        Err(BuildError::Config { source: ConfigError::TooFewBlocks { .. }, .. }) => {
            return Outcome::NeverWorked;
        }
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let mut written = vec![None; config.logical_pages as usize];
    let verify = |ftl: &mut dyn Ftl<Flash = Faulty<Memory>, Observer = ()>, written: &[_]| {
        for (lpn, expected) in written.iter().enumerate() {
            let mut data = [0; 8];
            let found = ftl.read(Lpn(lpn as u32), &mut data).unwrap().then_some(data);
            assert_eq!(found, *expected, "{name}, seed {seed}, page {lpn}");
        }
    };
    for step in 0..12 * u64::from(config.logical_pages) {
        let pages = config.logical_pages >> (2 * random.below(2));
        let lpn = Lpn(random.below(pages.max(1)));
        if random.below(20) == 0 {
            ftl.trim(lpn).unwrap();
            written[lpn.index()] = None;
            continue;
        }
        match ftl.write(lpn, &step.to_le_bytes()) {
            Ok(()) => written[lpn.index()] = Some(step.to_le_bytes()),
            Err(error @ FtlError::ReadOnly { .. }) => {
                assert!(error.to_string().contains("read-only"), "{error}");
                // The write that met the end may have been carried out or not.
                let mut data = [0; 8];
                if ftl.read(lpn, &mut data).unwrap() && data == step.to_le_bytes() {
                    written[lpn.index()] = Some(data);
                }
                verify(ftl.as_mut(), &written);
                assert_eq!(ftl.write(lpn, &[0; 8]), Err(error), "it stays read-only");
                return Outcome::BecameReadOnly;
            }
            Err(error) => panic!("{name}, seed {seed}, step {step}: {error}"),
        }
        if step % 64 == 0 {
            verify(ftl.as_mut(), &written);
            ftl.check()
                .unwrap_or_else(|broken| panic!("{name}, seed {seed}, step {step}: {broken}"));
        }
    }
    verify(ftl.as_mut(), &written);
    Outcome::Lasted
}

#[test]
fn no_page_is_lost_under_ten_thousand_schedules_of_faults() {
    let outcomes: Vec<_> = (0..10_000).map(live).collect();
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    // Drives of every kind were among them.
    for outcome in [Outcome::NeverWorked, Outcome::BecameReadOnly, Outcome::Lasted] {
        let name = format!("{outcome:?}");
        assert!(count(outcome) > 200, "{name}");
    }
}
