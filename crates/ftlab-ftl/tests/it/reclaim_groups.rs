//! What reclaim groups promise: nothing leaves its group, and each is a drive of its own.

use ftlab_flash::{Geometry, Lpn, NoPayload, Ppn};
use ftlab_ftl::page::{DriveConfig, GcSchedule, StreamId};
use ftlab_ftl::registry::DynFtl;
use ftlab_ftl::{HandleEventKind, IdentifierFormat, NO_HANDLE, Observer, PageBatch, registry};
use proptest::prelude::*;

const PAGES_PER_BLOCK: u32 = 8;

/// Counts relocations of each group, and refuses those that leave it.
#[derive(Default)]
struct Moves {
    group_pages: u32,
    relocations: Vec<u64>,
}

impl Moves {
    fn group(&self, page: Ppn) -> usize {
        ((page.0 / self.group_pages) as usize).min(self.relocations.len() - 1)
    }
}

impl Observer for Moves {
    fn relocation(&mut self, lpn: Lpn, from: Ppn, to: Ppn, _stream: StreamId) {
        let group = self.group(from);
        assert_eq!(self.group(to), group, "page {lpn} was moved out of its group");
        self.relocations[group] += 1;
    }
}

fn config(blocks: u32, logical_pages: u32, reserve_blocks: u32) -> DriveConfig {
    let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, 4096).unwrap();
    DriveConfig::new(geometry, logical_pages, reserve_blocks)
}

fn grouped(ftl: &str, config: DriveConfig, groups: u32) -> DynFtl<NoPayload, Moves> {
    let group_pages = config.geometry.blocks() / groups * PAGES_PER_BLOCK;
    let moves = Moves { group_pages, relocations: vec![0; groups as usize] };
    registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, moves).unwrap()
}

fn plain(ftl: &str, config: DriveConfig) -> DynFtl<NoPayload, ()> {
    registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, ()).unwrap()
}

fn write<O: Observer + 'static>(ftl: &mut DynFtl<NoPayload, O>, page: u32, named: u16) {
    let batch = PageBatch { writes: vec![Lpn(page)], streams: vec![named], ..PageBatch::default() };
    ftl.apply(&batch).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Pages that always name the same group share nothing with the others.
    #[test]
    fn each_group_does_what_a_drive_of_its_own_does(
        groups in 2_u32..5,
        group_blocks in 56_u32..70,
        inner in prop::sample::select(vec!["", ",inner=single", ",persistent=all", ",persistent=1,inner=dac"]),
        victim in prop::sample::select(vec!["greedy", "fifo", "windowed-greedy"]),
        steps in prop::collection::vec((any::<u32>(), 0_u16..3, 0_u32..3), 500..3000),
    ) {
        let logical_pages = 96;
        let reserve = 8;
        let config = |count| config(count * group_blocks, count * logical_pages, count * reserve);
        let name = format!("nvme-fdp/{victim}:handles=3{inner}");
        let mut whole = grouped(&format!("{name},reclaim-groups={groups}"), config(groups), groups);
        let alone = if inner.contains("inner") { name } else { format!("{name},inner=sep-gc") };
        let mut parts: Vec<_> = (0..groups).map(|_| plain(&alone, config(1))).collect();
        let format = IdentifierFormat::new(groups as u16, 3);
        for (number, handle, skew) in steps {
            let (group, page) = (number % groups, (number >> 8) % (logical_pages >> skew));
            write(&mut whole, group * logical_pages + page, format.identifier(group as u16, handle));
            write(&mut parts[group as usize], page, handle);
        }
        prop_assert_eq!(whole.check(), Ok(()));
        let told = whole.placement_handles().unwrap();
        prop_assert_eq!(told.redirected_writes, 0);
        let mut moved = 0;
        for (group, part) in parts.iter().enumerate() {
            let alone = part.counters();
            moved += alone.relocations();
            prop_assert_eq!(whole.observer().relocations[group], alone.relocations());
            let own = &told.handles[group * 3..][..3];
            for (own, alone) in own.iter().zip(part.placement_handles().unwrap().handles) {
                prop_assert_eq!(own, &alone);
            }
        }
        prop_assert_eq!(whole.counters().relocations(), moved);
        let erases: u64 = parts.iter().map(|part| part.counters().erases()).sum();
        prop_assert_eq!(whole.counters().erases(), erases);
    }

    /// Whatever the host names, and whichever groups it fills.
    #[test]
    fn nothing_that_is_moved_leaves_its_group(
        seed in any::<u64>(),
        group_share in 0_u64..100,
        inner in prop::sample::select(vec!["", ",inner=single", ",inner=dac-cb", ",persistent=0+2,inner=sepbit"]),
    ) {
        let groups = 3;
        let config = config(280, 1100, 54);
        let mut ftl = grouped(&format!("nvme-fdp:handles=3,reclaim-groups=3{inner}"), config, groups);
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let format = IdentifierFormat::new(3, 3);
        for _ in 0..6000 {
            let group = if random(100) < group_share { 0 } else { random(3) as u16 };
            let named = match random(20) {
                0 => NO_HANDLE,
                1 => format.identifier(group, 3),
                _ => format.identifier(group, random(3) as u16),
            };
            let page = random(1100) as u32;
            if random(30) == 0 {
                ftl.trim(Lpn(page)).unwrap();
            } else {
                write(&mut ftl, page, named);
            }
        }
        prop_assert_eq!(ftl.check(), Ok(()));
        prop_assert!(ftl.counters().relocations() > 0);
    }
}

#[test]
fn a_page_is_written_in_the_group_that_it_names() {
    let mut ftl = plain("nvme-fdp/greedy:handles=2,reclaim-groups=2", config(64, 64, 8));
    let group = |ftl: &DynFtl<NoPayload, ()>, page| {
        ftl.flash_page(Lpn(page)).unwrap().0 / (32 * PAGES_PER_BLOCK)
    };
    for (page, named) in [(0, 0), (1, 1), (2, 0x8000), (3, 0x8001)] {
        write(&mut ftl, page, named);
    }
    assert_eq!([0, 1, 2, 3].map(|page| group(&ftl, page)), [0, 0, 1, 1]);
    let told = ftl.placement_handles().unwrap();
    assert_eq!(told.handles.iter().map(|h| h.counters.host_writes).collect::<Vec<_>>(), [1; 4]);
    // One that is overwritten goes to the group that it names now.
    write(&mut ftl, 0, 0x8000);
    assert_eq!(group(&ftl, 0), 1);
    assert!(ftl.renew_handle(0x8001).unwrap() && !ftl.renew_handle(2).unwrap());
    let told = ftl.placement_handles().unwrap();
    let kind = HandleEventKind::NotFullyWritten;
    assert_eq!((told.count(kind), told.latest[0].handle, told.latest[0].named), (1, 3, 0x8001));
    ftl.check().unwrap();
}

#[test]
fn a_write_that_names_no_group_fills_units_of_the_emptiest() {
    let mut ftl = plain("nvme-fdp/greedy:handles=2,reclaim-groups=2", config(64, 64, 8));
    for page in 0..5 {
        write(&mut ftl, page, 0);
    }
    // Handle 0 of the second group, until its unit is full; then that of the first, which holds less.
    for page in 5..15 {
        write(&mut ftl, page, if page == 9 { 7 } else { NO_HANDLE });
    }
    let group = |page| ftl.flash_page(Lpn(page)).unwrap().0 / (32 * PAGES_PER_BLOCK);
    assert_eq!(
        (0..15).map(group).collect::<Vec<_>>(),
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    );
    let told = ftl.placement_handles().unwrap();
    assert_eq!((told.unnamed_writes, told.count(HandleEventKind::InvalidPlacement)), (9, 1));
    assert_eq!((told.latest[0].handle, told.latest[0].named), (2, 7));
}

#[test]
fn a_group_that_is_full_sends_writes_to_another() {
    let mut ftl = plain("nvme-fdp/greedy:handles=2,reclaim-groups=2", config(64, 256, 8));
    // 32 blocks, of which 4 are in reserve, 3 open and 1 is to collect into, hold 192 pages.
    for page in (0..256).chain(0..256) {
        write(&mut ftl, page, 1);
    }
    ftl.check().unwrap();
    let told = ftl.placement_handles().unwrap();
    assert_eq!(told.redirected_writes, 64 + 64);
    let in_first = (0..256).filter(|&page| ftl.flash_page(Lpn(page)).unwrap().0 < 32 * 8).count();
    assert_eq!(in_first, 192);
    assert_eq!(
        told.handles.iter().map(|h| h.counters.host_writes).collect::<Vec<_>>(),
        [0, 384, 0, 128]
    );
}

#[test]
fn what_does_not_go_with_groups_is_refused() {
    let why = |ftl: &str, config: DriveConfig| {
        let built = registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, ());
        built.err().unwrap().to_string()
    };
    let enough = config(64, 256, 8);
    let handles = why("nvme-fdp:reclaim-groups=3", enough);
    assert!(handles.contains("at most 2 with 8 handles"), "{handles}");
    let whole = why("nvme-fdp:handles=2,reclaim-groups=2,inner=hazard", enough);
    assert!(whole.contains("a placement or a pair as in dac-cb"), "{whole}");
    let small = why("nvme-fdp:handles=2,reclaim-groups=2", config(48, 256, 8));
    assert!(small.contains("24 erase blocks") && small.contains("need 25"), "{small}");
    let steps = DriveConfig { gc: GcSchedule::Incremental { pages_max: 0 }, ..enough };
    let steps = why("nvme-fdp:handles=2,reclaim-groups=2", steps);
    assert!(steps.contains("leave out --gc"), "{steps}");
    let reserve = why("nvme-fdp:handles=2,reclaim-groups=2", config(64, 256, 1));
    assert!(reserve.contains("--reserve 2"), "{reserve}");
}
