//! What flexible data placement promises of the blocks that pages share.

use ftlab_flash::{Geometry, Lpn, NoPayload, Ppn};
use ftlab_ftl::page::{DriveConfig, StreamId};
use ftlab_ftl::registry::DynFtl;
use ftlab_ftl::{
    HandleEvent, HandleEventKind, HandleUse, Isolation, NO_HANDLE, Observer, PageBatch, registry,
};
use std::collections::BTreeSet;

const PAGES_PER_BLOCK: u32 = 16;
const LOGICAL_PAGES: u32 = 2048;
const HANDLES: u16 = 3;

/// Which handles' pages each block has, and whether they came there by collection.
struct Contents {
    /// Page -> the handle that it was written by.
    handles: Vec<u16>,
    /// Of the next host writes, in order.
    coming: Vec<u16>,
    /// Block -> handle of every page in it, and whether it was moved there.
    blocks: Vec<BTreeSet<(u16, bool)>>,
    seen: Vec<BTreeSet<(u16, bool)>>,
}

impl Contents {
    fn add(&mut self, lpn: Lpn, to: Ppn, is_moved: bool) {
        let block = (to.0 / PAGES_PER_BLOCK) as usize;
        let handle = self.handles[lpn.index()];
        self.blocks[block].insert((handle, is_moved));
    }
}

impl Observer for Contents {
    fn host_write(&mut self, lpn: Lpn, to: Ppn, _stream: StreamId) {
        self.handles[lpn.index()] = self.coming.pop().unwrap();
        self.add(lpn, to, false);
    }

    fn relocation(&mut self, lpn: Lpn, _from: Ppn, to: Ppn, _stream: StreamId) {
        self.add(lpn, to, true);
    }

    fn erase(&mut self, block: ftlab_flash::BlockId, _: ftlab_flash::Cause) {
        let content = std::mem::take(&mut self.blocks[block.index()]);
        self.seen.push(content);
    }
}

/// The contents of every block that was erased, streams being drawn at random.
fn contents(ftl: &str) -> Vec<BTreeSet<(u16, bool)>> {
    let blocks = 220;
    let config =
        DriveConfig::new(Geometry::new(blocks, PAGES_PER_BLOCK, 4096).unwrap(), LOGICAL_PAGES, 24);
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let pages: Vec<_> = (0..40_000).map(|_| Lpn(random(u64::from(LOGICAL_PAGES)) as u32)).collect();
    let streams: Vec<_> = pages.iter().map(|_| random(u64::from(HANDLES)) as u16).collect();
    let observer = Contents {
        handles: vec![0; LOGICAL_PAGES as usize],
        coming: streams.iter().rev().copied().collect(),
        blocks: vec![BTreeSet::new(); blocks as usize],
        seen: Vec::new(),
    };
    let mut ftl =
        registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, observer).unwrap();
    ftl.apply(&PageBatch { writes: pages, streams, ..PageBatch::default() }).unwrap();
    ftl.check().unwrap();
    assert!(ftl.counters().relocations() > 5_000);
    ftl.observer().seen.clone()
}

#[test]
fn host_writes_of_two_handles_never_share_a_reclaim_unit() {
    for ftl in [
        "nvme-fdp/greedy:handles=3",
        "nvme-fdp:handles=3,persistent=all",
        "nvme-fdp:handles=3,inner=2r++",
        "nvme-fdp/greedy:handles=3,inner=single",
    ] {
        for content in contents(ftl) {
            let written: BTreeSet<_> = content.iter().filter(|(_, moved)| !moved).collect();
            assert!(written.len() <= 1, "{ftl}: {content:?}");
            assert!(written.is_empty() || content.len() == 1, "{ftl}: {content:?}");
        }
    }
}

#[test]
fn moved_pages_of_initially_isolated_handles_mix_and_of_persistently_isolated_ones_do_not() {
    let mixed = |ftl: &str, handle: u16| {
        let has = |content: &&BTreeSet<(u16, bool)>| content.iter().any(|(h, _)| *h == handle);
        let others = |content: &BTreeSet<(u16, bool)>| content.iter().any(|(h, _)| *h != handle);
        contents(ftl).iter().filter(has).any(others)
    };
    assert!((0..HANDLES).all(|handle| mixed("nvme-fdp:handles=3", handle)));
    assert!(!(0..HANDLES).any(|handle| mixed("nvme-fdp:handles=3,persistent=all", handle)));
    // What is within the handles changes nothing of that.
    for inner in ["2r++", "hazard", "dac-cb", "sepbit"] {
        let shared = format!("nvme-fdp:handles=3,inner={inner}");
        assert!((0..HANDLES).all(|handle| mixed(&shared, handle)), "{inner}");
        assert!(!(0..HANDLES).any(|handle| mixed(&format!("{shared},persistent=all"), handle)));
    }
    let one = "nvme-fdp:handles=3,persistent=1";
    assert_eq!([0, 1, 2].map(|handle| mixed(one, handle)), [true, false, true]);
}

#[test]
fn hazard_knows_the_open_blocks_of_each_handle_and_opens_no_more_than_pay() {
    const PAGES: u32 = 8192;
    // Three areas of other heat each, two of them with hot pages within, and few spare blocks for all.
    let mut state = 11_u64;
    let mut random = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32 % below
    };
    let mut batch = PageBatch::default();
    for number in 0..20 * PAGES {
        let area =
            if number < PAGES { 0 } else { [0, 0, 0, 0, 0, 1, 1, 1, 2, 2][random(10) as usize] };
        let (first, pages) =
            [(0, PAGES / 8), (PAGES / 8, PAGES / 8), (PAGES / 4, 3 * PAGES / 4)][area];
        let hot = area > 0 && random(10) < 8;
        let page = first + random(if hot { pages / 10 } else { pages });
        batch.writes.push(Lpn(if number < PAGES { number } else { page }));
        batch.streams.push(area as u16);
    }
    let moved = |ftl: &str| {
        let config = DriveConfig::new(Geometry::new(172, 64, 4096).unwrap(), PAGES, 4);
        let mut ftl = registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, ()).unwrap();
        ftl.apply(&batch).unwrap();
        ftl.counters().relocations() as f64
    };
    let [handles, alone, both] =
        ["nvme-fdp:handles=3", "hazard", "nvme-fdp:handles=3,inner=hazard"].map(moved);
    assert!(both < 0.9 * handles, "{both} {handles}");
    assert!(both < 1.1 * alone, "{both} {alone}");
}

#[test]
fn a_handle_that_the_drive_does_not_have_is_refused_and_a_stream_without_one_goes_to_the_first() {
    let spec = "nvme-fdp:handles=3,persistent=1+3".parse().unwrap();
    let config = DriveConfig::new(Geometry::new(160, 16, 4096).unwrap(), LOGICAL_PAGES, 6);
    let error = registry::build_boxed(&spec, config, NoPayload, ()).err().unwrap().to_string();
    assert!(error.contains("persistent=1+3 is not of handles 0 to 2"), "{error}");
    // Of three streams only two have handles: the third shares blocks with the first.
    let contents = contents("nvme-fdp:handles=2");
    let shared = |content: &BTreeSet<(u16, bool)>| {
        content.contains(&(0, false)) && content.contains(&(2, false))
    };
    assert!(contents.iter().any(shared));
    assert!(!contents.iter().any(|c| c.contains(&(1, false)) && c.len() > 1));
}

/// A drive of two handles, the second of which stays isolated; a page written by each, and one by neither.
fn small() -> DynFtl<NoPayload, ()> {
    let spec = "nvme-fdp/greedy:handles=2,persistent=1".parse().unwrap();
    let config = DriveConfig::new(Geometry::new(24, 8, 4096).unwrap(), 64, 4);
    registry::build_boxed(&spec, config, NoPayload, ()).unwrap()
}

fn write(ftl: &mut DynFtl<NoPayload, ()>, pages: std::ops::Range<u32>, handle: u16) {
    let streams = vec![handle; pages.len()];
    let writes = pages.map(Lpn).collect();
    ftl.apply(&PageBatch { writes, streams, ..PageBatch::default() }).unwrap();
}

#[test]
fn a_write_without_a_valid_handle_goes_to_the_default_one_and_is_counted() {
    let mut ftl = small();
    write(&mut ftl, 0..3, 1);
    write(&mut ftl, 3..5, 7);
    write(&mut ftl, 5..6, NO_HANDLE);
    ftl.write(Lpn(6), &[]).unwrap();
    let told = ftl.placement_handles().unwrap();
    assert_eq!(told.handles.iter().map(|h| h.counters.host_writes).collect::<Vec<_>>(), [4, 3]);
    assert_eq!(told.unnamed_writes, 2);
    assert_eq!(told.count(HandleEventKind::InvalidPlacement), 2);
    let kind = HandleEventKind::InvalidPlacement;
    let event = |write_clock| HandleEvent { kind, write_clock, handle: 0, named: 7, pages: 1 };
    assert_eq!(told.latest, [event(3), event(4)]);
    let later = told.since(&told, 4);
    assert_eq!((later.unnamed_writes, later.count(kind)), (0, 0));
    assert_eq!(later.latest, [event(0)]);
    ftl.check().unwrap();
}

#[test]
fn the_host_moves_a_handle_to_a_fresh_unit() {
    let mut ftl = small();
    write(&mut ftl, 0..3, 1);
    let remaining = |ftl: &DynFtl<NoPayload, ()>| {
        let told = ftl.placement_handles().unwrap();
        told.handles.iter().map(|handle| handle.remaining_pages).collect::<Vec<_>>()
    };
    assert_eq!(remaining(&ftl), [8, 5]);
    assert!(ftl.renew_handle(1).unwrap());
    assert_eq!(remaining(&ftl), [8, 8]);
    // An empty unit is a fresh one.
    assert!(ftl.renew_handle(1).unwrap() && ftl.renew_handle(0).unwrap());
    assert!(!ftl.renew_handle(2).unwrap());
    write(&mut ftl, 3..4, 1);
    let (before, after) = (ftl.flash_page(Lpn(2)).unwrap(), ftl.flash_page(Lpn(3)).unwrap());
    assert_ne!(before.0 / 8, after.0 / 8);
    let told = ftl.placement_handles().unwrap();
    let kind = HandleEventKind::NotFullyWritten;
    assert_eq!(told.count(kind), 1);
    assert_eq!(told.latest, [HandleEvent { kind, write_clock: 3, handle: 1, named: 1, pages: 5 }]);
    assert_eq!(told.handles[1].units, 2);
    ftl.check().unwrap();
    // What was given up is collected in the end.
    for _ in 0..20 {
        write(&mut ftl, 0..64, 1);
        ftl.renew_handle(1).unwrap();
    }
    ftl.check().unwrap();
}

#[test]
fn counters_of_handles_add_up_to_those_of_the_drive() {
    let mut ftl = small();
    let mut state = 5_u32;
    for _ in 0..3000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let page = (state >> 20) % 64;
        write(&mut ftl, page..page + 1, u16::from(page >= 32));
    }
    let (told, counters) = (ftl.placement_handles().unwrap(), ftl.counters());
    let sum = |of: fn(&HandleUse) -> u64| told.handles.iter().map(of).sum::<u64>();
    assert_eq!(sum(|handle| handle.counters.host_writes), counters.host_writes);
    assert_eq!(sum(|handle| handle.counters.relocations), counters.relocations());
    assert_eq!(sum(|handle| handle.counters.erases) + told.shared_erases, counters.erases());
    let blocks: u32 = ftl.streams().iter().map(|stream| stream.blocks).sum();
    assert_eq!(sum(|handle| handle.units.into()) + u64::from(told.shared_units), blocks.into());
    // Only the first handle's pages may be mixed with others when they are moved.
    let moved: u32 = told.latest.iter().map(|event| event.pages).sum();
    assert!(told.latest.iter().all(|event| event.kind == HandleEventKind::MediaReallocated));
    assert!(told.latest.iter().all(|event| event.handle == 0) && moved > 0);
    assert_eq!(told.handles[0].isolation, Isolation::Initial);
    assert_eq!(told.handles[1].isolation, Isolation::Persistent);
    assert!(small().placement_handles().is_some_and(|told| told.latest.is_empty()));
}

#[test]
fn with_one_handle_the_policy_within_does_what_it_does_alone() {
    let config = DriveConfig::new(Geometry::new(160, 16, 4096).unwrap(), LOGICAL_PAGES, 6);
    let counters = |name: &str| {
        let mut ftl = registry::build_boxed(&name.parse().unwrap(), config, NoPayload, ()).unwrap();
        let mut state = 3_u32;
        for _ in 0..30_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let hot = state >> 30 != 0;
            let page = (state >> 8) % LOGICAL_PAGES / if hot { 8 } else { 1 };
            ftl.write(Lpn(page), &[]).unwrap();
        }
        ftl.check().unwrap();
        ftl.counters()
    };
    for name in ["2r++", "hazard", "sepbit", "dac-cb", "midas", "wolf", "1r-greedy", "sfs/greedy"] {
        let alone = counters(name);
        let within = counters(&format!("nvme-fdp:handles=1,persistent=all,inner={name}"));
        assert_eq!(within.relocations(), alone.relocations(), "{name}");
        assert_eq!(within.erases(), alone.erases(), "{name}");
    }
    // The default is sep-gc within.
    let [plain, within] = ["", ",inner=sep-gc"]
        .map(|inner| counters(&format!("nvme-fdp:handles=1,persistent=all{inner}")).relocations());
    assert_eq!(plain, within);
}
