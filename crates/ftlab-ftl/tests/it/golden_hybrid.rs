//! Hybrid-mapped FTLs on the golden page sequences: what an independent reference model counted.
//!
//! The sequences are too large to ship; the test looks for them in `$FTLAB_SHARED/golden`, and says so
//! if they are not there.

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::{Counters, PageBatch, registry};
use std::io::Write;
use std::path::PathBuf;

/// 1,024 data blocks of 64 pages, and 102 of log.
const LOGICAL_PAGES: u32 = 65_536;
const DATA_AND_LOG_BLOCKS: u32 = 1126;

/// What is counted from the empty drive on.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    /// Relocations and copies of merges.
    copies: u64,
    erases: u64,
    full: u64,
    partial: u64,
    /// Log blocks reclaimed, or collections.
    reclaimed: u64,
    second_chances: u64,
    isolated: u64,
    progressive: u64,
    hurried: u64,
}

impl Counts {
    fn of(counters: &Counters) -> Self {
        let relocations =
            |stream: usize| counters.streams.get(stream).map_or(0, |counts| counts.relocations);
        let is_page_mapped = counters.streams.len() == 1;
        let merges = counters.merges;
        assert_eq!(merges.switch, 0);
        Self {
            copies: counters.relocations() + merges.copies,
            erases: counters.erases(),
            full: merges.full,
            partial: merges.partial,
            reclaimed: counters.collections,
            second_chances: if is_page_mapped { 0 } else { relocations(1) },
            isolated: relocations(2),
            progressive: merges.progressive,
            hurried: merges.hurried,
        }
    }
}

/// Blocks beyond data and log, and what the reference model counted on Z9 and on S90.
fn expected() -> [(&'static str, u32, [Counts; 2]); 7] {
    let counts = |copies, erases, full, reclaimed| Counts {
        copies,
        erases,
        full,
        reclaimed,
        ..Counts::default()
    };
    [
        (
            "fmax",
            1,
            [
                counts(48_856_000, 1_526_750, 763_375, 763_375),
                counts(22_341_248, 698_164, 349_082, 349_082),
            ],
        ),
        (
            "fast:sw=off",
            1,
            [
                counts(7_591_424, 134_139, 118_616, 15_523),
                counts(4_700_224, 88_964, 73_441, 15_523),
            ],
        ),
        (
            "fast:sw=on",
            2,
            [
                Counts { partial: 12_693, ..counts(7_987_557, 140_400, 112_311, 15_324) },
                Counts { partial: 15_633, ..counts(5_200_371, 96_854, 65_869, 15_276) },
            ],
        ),
        (
            "faster:isolation=off",
            1,
            [
                Counts { second_chances: 300_579, ..counts(5_682_019, 104_306, 84_085, 20_221) },
                Counts { second_chances: 321_053, ..counts(4_075_485, 79_204, 58_663, 20_541) },
            ],
        ),
        (
            "faster:isolation=copy",
            1,
            [
                Counts {
                    second_chances: 302_501,
                    isolated: 88_595,
                    progressive: 84_845,
                    hurried: 11,
                    ..counts(5_821_880, 106_492, 84_856, 20_252)
                },
                Counts {
                    second_chances: 326_136,
                    isolated: 62_400,
                    progressive: 59_165,
                    ..counts(4_175_096, 80_761, 59_165, 20_621)
                },
            ],
        ),
        (
            "faster:isolation=inplace",
            1,
            [
                Counts {
                    second_chances: 303_926,
                    progressive: 84_286,
                    ..counts(5_698_230, 104_560, 84_286, 20_274)
                },
                Counts {
                    second_chances: 324_570,
                    progressive: 58_706,
                    hurried: 53,
                    ..counts(4_085_146, 79_355, 58_759, 20_596)
                },
            ],
        ),
        ("page", 0, [counts(5_933_055, 108_228, 0, 108_228), counts(5_133_440, 95_734, 0, 95_734)]),
    ]
}

fn golden_folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("FTLAB_SHARED")?).join("golden");
    folder.is_dir().then_some(folder)
}

fn read_pages(path: &PathBuf) -> Vec<Lpn> {
    let bytes = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    bytes.chunks_exact(4).map(|page| Lpn(u32::from_le_bytes(page.try_into().unwrap()))).collect()
}

#[test]
fn hybrid_mapped_ftls_count_what_the_reference_model_counted() {
    let Some(folder) = golden_folder() else {
        let message =
            "SKIPPED: no golden sequences; set FTLAB_SHARED to the folder above `golden`\n";
        // Not `println!`, which is shown only if the test fails.
        std::io::stderr().write_all(message.as_bytes()).unwrap();
        return;
    };
    for (column, sequence) in ["Z9", "S90"].into_iter().enumerate() {
        let writes = read_pages(&folder.join(format!("{sequence}.u32.zst")));
        let batch = PageBatch { writes, ..PageBatch::default() };
        for (ftl, spare_blocks, expected) in expected() {
            let config = DriveConfig::new(
                Geometry::new(DATA_AND_LOG_BLOCKS + spare_blocks, 64, 2048).unwrap(),
                LOGICAL_PAGES,
                4,
            );
            let mut run =
                registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, ()).unwrap();
            run.apply(&batch).unwrap();
            run.check().unwrap();
            let counters = run.counters();
            assert_eq!(counters.host_writes, batch.writes.len() as u64);
            assert_eq!(Counts::of(&counters), expected[column], "{ftl} on {sequence}");
        }
    }
}
