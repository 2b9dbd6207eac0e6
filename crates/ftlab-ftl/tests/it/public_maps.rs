//! Maps against the counts of public code, which was run outside of this project.
//!
//! `astlxmu/LearnedFTL` at 4702166c has DFTL and TPFTL in FEMU. Both were compiled as they are, with counters, for one
//! channel and one LUN, and given the requests below on a drive that never collects: 65,536 pages, translation pages of
//! 512 entries. Where a test turns a part off, it was left out there, too. docs/notes/mapping.md has the table, and where they differ.

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DriveShape, DynMapped};
use ftlab_ftl::{MapCounts, PageBatch};

const PAGES: u32 = 1 << 16;

/// Requests of 1 to `longest` pages, one of three of which reads; the first pages are asked for most.
struct Requests {
    random: u64,
    longest: u64,
}

impl Requests {
    fn draw(&mut self, most: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % most
    }

    /// The first page, the pages, and whether it reads.
    fn next(&mut self) -> (u32, u32, bool) {
        let pages = 1 + self.draw(self.longest);
        let firsts = [(); 2].map(|()| self.draw(u64::from(PAGES) - pages + 1));
        (firsts[0].min(firsts[1]) as u32, pages as u32, self.draw(3) == 0)
    }
}

fn write(ftl: &mut DynMapped<NoPayload, ()>, first: u32, pages: u32) {
    let mut batch = PageBatch::default();
    batch.writes.extend((first..first + pages).map(Lpn));
    batch.follow(0, u64::from(pages - 1));
    ftl.apply(&batch).unwrap();
}

/// What is counted after a fill in order, of 200,000 requests.
fn counts(mapping: &str, longest: u64) -> MapCounts {
    let mapping: Mapping = mapping.parse().unwrap();
    let config = DriveConfig::new(Geometry::new(60_000, 256, 2048).unwrap(), PAGES, 4);
    let spec = "1r-greedy".parse().unwrap();
    let shape = DriveShape::new(&mapping.of_engine(config).unwrap());
    let policy = registry::boxed_policy(&spec, shape).unwrap();
    let mut ftl = registry::build_mapped(&mapping, policy, &spec, config, NoPayload, ()).unwrap();
    (0..PAGES).for_each(|page| write(&mut ftl, page, 1));
    let filled = ftl.map_counts().unwrap();
    let mut requests = Requests { random: 7, longest };
    for _ in 0..200_000 {
        let (first, pages, is_read) = requests.next();
        if is_read {
            for (lpn, following) in (first..first + pages).zip((0..pages).rev()) {
                ftl.look_up_to_read(Lpn(lpn), following).unwrap();
            }
        } else {
            write(&mut ftl, first, pages);
        }
    }
    assert_eq!(ftl.counters().erases(), 0, "nothing is collected");
    ftl.map_counts().unwrap().since(&filled)
}

/// Translation pages read and written, and hits.
fn told(mapping: &str, longest: u64) -> [u64; 3] {
    let counts = counts(mapping, longest);
    [counts.reads(), counts.writes(), counts.read_hits + counts.write_hits]
}

#[test]
fn dftl_and_tpftl_count_what_public_code_does() {
    // Entries, pages of the longest request; of each map what that code counted.
    let fixtures = [
        (1024, 1, [327_633, 131_772, 4137], [221_741, 26_590, 4847]),
        (4096, 1, [310_668, 127_066, 16_390], [194_045, 14_816, 20_763]),
        (16_384, 1, [243_655, 106_133, 62_446], [129_586, 7093, 77_475]),
        (1024, 8, [1_472_868, 591_595, 18_349], [306_100, 57_117, 650_639]),
        (4096, 8, [1_393_173, 567_370, 73_813], [240_037, 27_166, 686_745]),
        (16_384, 8, [1_067_743, 458_092, 289_941], [162_169, 11_234, 748_657]),
        (4096, 64, [10_013_273, 4_063_877, 527_876], [362_205, 75_003, 6_190_070]),
    ];
    for (entries, longest, dftl, tpftl) in fixtures {
        let cache = 8 * entries;
        let own = told(&format!("dftl:cache={cache},protected=0"), longest);
        assert_eq!(own, dftl, "{entries} entries, {longest} pages");
        let parameters = "entry-bytes=8,node-bytes=0,order=last";
        let own = told(&format!("tpftl:cache={cache},{parameters}"), longest);
        assert_eq!(own, tpftl, "{entries} entries, {longest} pages");
    }
}

#[test]
fn parts_of_tpftl_count_what_public_code_does_without_the_others() {
    let of = |off: &str| {
        told(&format!("tpftl:cache=8KiB,entry-bytes=8,node-bytes=0,order=last,{off}=off"), 8)
    };
    assert_eq!(of("selective"), [306_028, 55_913, 649_507]);
    assert_eq!(of("by-request"), [783_998, 59_750, 175_374]);
}
