//! Maps against their twin, against a map in memory, and with every policy.

use crate::algorithms::tools::random::Random;
use crate::map::Mapping;
use crate::map::cdftl::CdftlParameters;
use crate::map::contract::OnFlash;
use crate::map::learnedftl::LearnedftlParameters;
use crate::map::sftl::SftlParameters;
use crate::map::slow::{Slow, SlowCdftl, SlowLearnedftl, SlowLru, SlowSftl, SlowTpftl};
use crate::map::tpftl::{NodeOrder, TpftlParameters};
use crate::map::twin::{Page, Shape, Twin};
use crate::map::units_twin::UnitTwin;
use crate::page::entry::DriveShape;
use crate::page::{DriveConfig, GcSchedule, Hints, Refresh};
use crate::registry::{self, DynMapped, boxed_policy, build_boxed, build_mapped, covering_names};
use crate::{Counters, Ftl, FtlError, MapCounts, PageBatch, Restored, Saved, StreamCounters};
use ftlab_flash::{Cause, Counted, Faults, Faulty, Flash, Geometry, Lpn, NoPayload};
use ftlab_spec::{ByteSize, Parameters};
use proptest::prelude::*;
use std::collections::VecDeque;

pub(super) type OverCounted<F> = DynMapped<Counted<F>, ()>;

pub(super) fn mapped<F: Flash + Send + 'static>(
    name: &str,
    mapping: &Mapping,
    config: DriveConfig,
    flash: F,
) -> OverCounted<F> {
    let spec = name.parse().unwrap();
    let engine = mapping.of_engine(config).unwrap();
    let policy = boxed_policy(&spec, DriveShape::new(&engine)).unwrap();
    build_mapped(mapping, policy, &spec, config, Counted::new(flash), ()).unwrap()
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    Write(u32),
    Trim(u32),
    Read(u32),
}

/// A map, in the obvious way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Full,
    Lru { entries: u32, protected: f64 },
    Cdftl(CdftlParameters),
    Sftl(SftlParameters),
    Tpftl(TpftlParameters),
    Learnedftl(LearnedftlParameters),
}

impl Kind {
    /// Of `pages` entries, `entries_per_page` of which a translation page holds.
    fn slow(self, pages: u32, entries_per_page: u32) -> Option<Box<dyn Slow>> {
        match self {
            Self::Full => None,
            Self::Lru { entries, protected } => {
                let entries = entries.min(pages);
                Some(Box::new(SlowLru {
                    entries: entries as usize,
                    entries_per_page,
                    most_protected: (protected * f64::from(entries)) as usize,
                    probation: VecDeque::new(),
                    protected: VecDeque::new(),
                }))
            }
            Self::Cdftl(of) => Some(Box::new(SlowCdftl::new(of, pages, entries_per_page))),
            Self::Sftl(of) => Some(Box::new(SlowSftl::new(of, pages, entries_per_page))),
            Self::Tpftl(of) => Some(Box::new(SlowTpftl::new(of, pages, entries_per_page))),
            Self::Learnedftl(of) => {
                Some(Box::new(SlowLearnedftl::new(of, pages, entries_per_page)))
            }
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Full => "full".into(),
            Self::Lru { entries, protected } => {
                format!("dftl:cache={},entry-bytes=4,protected={protected}", 4 * entries)
            }
            Self::Cdftl(of) => text_of("cdftl", &of.values()),
            Self::Sftl(of) => text_of("s-ftl", &of.values()),
            Self::Tpftl(of) => text_of("tpftl", &of.values()),
            Self::Learnedftl(of) => text_of("learnedftl", &of.values()),
        }
    }
}

fn text_of(name: &str, values: &[(&str, String)]) -> String {
    let values: Vec<_> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{name}:{}", values.join(","))
}

/// Maps with memory for some entries, at least as much as a translation page has.
fn kinds() -> impl Strategy<Value = Kind> {
    let lru = (1_u32..60, prop_oneof![Just(0.0), Just(0.5), Just(1.0)])
        .prop_map(|(entries, protected)| Kind::Lru { entries, protected });
    let flags = any::<[bool; 4]>();
    let order = || prop_oneof![Just(NodeOrder::Mean), Just(NodeOrder::Last)];
    let tpftl = (16_u64..300, 1_u32..9, 0_u32..12, 1_u32..5, order(), flags, any::<bool>());
    let tpftl = tpftl.prop_map(|(cache, entry_bytes, node_bytes, threshold, order, flags, all)| {
        let [by_request, selective, together, clean_first] = flags.map(|flag| flag || all);
        Kind::Tpftl(TpftlParameters {
            cache: ByteSize(cache),
            entry_bytes,
            node_bytes,
            threshold,
            order,
            by_request,
            selective,
            together,
            clean_first,
        })
    });
    let cdftl = (16_u64..400, 1_u32..9, 0.0..1.0).prop_map(|(cache, entry_bytes, pages)| {
        Kind::Cdftl(CdftlParameters { cache: ByteSize(cache), entry_bytes, pages })
    });
    let sftl = (16_u64..300, 0.0..0.5, 0_u32..6, 1_u32..9);
    let sftl = sftl.prop_map(|(cache, buffer, few, entry_bytes)| {
        Kind::Sftl(SftlParameters { cache: ByteSize(cache), buffer, few, entry_bytes })
    });
    let learnedftl = (16_u64..300, 1_u32..5, 1_u32..9, 0_u32..12, 1_u32..5, order());
    let learnedftl =
        learnedftl.prop_map(|(cache, pieces, entry_bytes, node_bytes, threshold, order)| {
            Kind::Learnedftl(LearnedftlParameters {
                cache: ByteSize(cache),
                pieces,
                entry_bytes,
                node_bytes,
                threshold,
                order,
            })
        });
    prop_oneof![1 => lru, 1 => cdftl, 1 => sftl, 1 => tpftl, 2 => learnedftl]
}

/// One with as much memory as a translation page takes, on a drive of this many pages.
fn at_least(kind: Kind, pages: u32, entries_per_page: u32) -> Kind {
    match kind {
        Kind::Full => kind,
        Kind::Lru { entries, protected } => {
            Kind::Lru { entries: entries.max(entries_per_page), protected }
        }
        Kind::Cdftl(of) => {
            let least = u64::from(8 * entries_per_page);
            Kind::Cdftl(CdftlParameters { cache: ByteSize(of.cache.0.max(least)), ..of })
        }
        Kind::Sftl(of) => {
            let least = u64::from(8 * entries_per_page);
            Kind::Sftl(SftlParameters { cache: ByteSize(of.cache.0.max(least)), ..of })
        }
        Kind::Tpftl(of) => {
            let least =
                u64::from(4 * entries_per_page).max(u64::from(of.entry_bytes + of.node_bytes));
            Kind::Tpftl(TpftlParameters { cache: ByteSize(of.cache.0.max(least)), ..of })
        }
        Kind::Learnedftl(of) => {
            let least =
                u64::from(4 * entries_per_page).max(u64::from(of.entry_bytes + of.node_bytes));
            let models = of.models(pages.div_ceil(entries_per_page), entries_per_page);
            let cache = ByteSize(models + of.cache.0.max(least));
            Kind::Learnedftl(LearnedftlParameters { cache, ..of })
        }
    }
}

/// A map with memory of the host for this many translation pages.
fn with_host(kind: &Kind, shape: &Shape) -> String {
    match shape.in_host {
        0 => kind.text(),
        pages => format!("{},hmb={}", kind.text(), pages * 4 * shape.entries_per_page as usize),
    }
}

#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) config: DriveConfig,
    pub(super) kind: Kind,
    pub(super) shape: Shape,
    pub(super) operations: Vec<Operation>,
}

/// Small drives, barely large enough or larger; translation pages of 2 to 8 entries.
pub(super) fn scenarios() -> impl Strategy<Value = Scenario> {
    let sizes = (2_u32..12, 2_u32..16, 0_u32..6, 2_u32..5, 1_u32..5);
    let steps = prop::collection::vec((0_u8..12, any::<u32>(), 0_u32..3), 50..500);
    (sizes, kinds(), 0_usize..6, steps).prop_map(|(sizes, kind, in_host, steps)| {
        let (pages_per_block, data_blocks, extra_blocks, reserve, entries_per_page) = sizes;
        let entries_per_page = 2 * entries_per_page;
        let host_pages = data_blocks * pages_per_block - u32::from(data_blocks % 2 == 0);
        let map_pages = host_pages.div_ceil(entries_per_page);
        let filled = (host_pages + map_pages).div_ceil(pages_per_block);
        let blocks = filled + reserve + 3 + extra_blocks;
        let page_bytes = 4 * entries_per_page;
        let geometry = Geometry::new(blocks, pages_per_block, page_bytes).unwrap();
        let config = DriveConfig::new(geometry, host_pages, reserve);
        let shape = Shape {
            blocks: blocks as usize,
            pages_per_block: pages_per_block as usize,
            reserve: reserve as usize,
            entries_per_page,
            in_host,
        };
        let operations = steps.into_iter().flat_map(|(kind, number, skew)| {
            let lpn = number % (host_pages >> (2 * skew)).max(1);
            let next = (lpn + 1) % host_pages;
            match kind {
                0 => vec![Operation::Trim(lpn), Operation::Trim(next)],
                1 => vec![Operation::Read(lpn)],
                2 => (0..20)
                    .map(|ahead| Operation::Write((number % host_pages + ahead) % host_pages))
                    .collect(),
                _ => vec![Operation::Write(lpn), Operation::Write(number % host_pages)],
            }
        });
        let operations = operations.collect();
        let kind = at_least(kind, host_pages, entries_per_page);
        Scenario { config, kind, shape, operations }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn maps_do_what_their_twins_do(scenario in scenarios()) {
        let Scenario { config, kind, shape, operations } = scenario;
        let mapping = with_host(&kind, &shape).parse().unwrap();
        let mut fast = mapped("1r-greedy", &mapping, config, NoPayload);
        let slow = kind.slow(config.logical_pages, shape.entries_per_page);
        let mut twin = Twin::new(shape, slow);
        for operation in operations {
            match operation {
                Operation::Write(lpn) => {
                    fast.write(Lpn(lpn), &[]).unwrap();
                    twin.write(lpn, 0);
                }
                Operation::Trim(lpn) => {
                    fast.trim(Lpn(lpn)).unwrap();
                    twin.trim(lpn);
                }
                Operation::Read(lpn) => {
                    fast.read(Lpn(lpn), &mut []).unwrap();
                    twin.read(lpn, 0);
                }
            }
            prop_assert_eq!(fast.map_counts(), Some(twin.counts), "after {:?}", operation);
            let counters = fast.counters();
            let counted = [counters.relocations(), counters.erases()];
            prop_assert_eq!(counted, [twin.relocations, twin.erases], "after {:?}", operation);
        }
        fast.check().unwrap();
        let pages = config.geometry.pages_per_block();
        for lpn in 0..config.logical_pages + fast.map_pages() {
            let page = match lpn.checked_sub(config.logical_pages) {
                None => Page::Host(lpn),
                Some(page) => Page::Map(page),
            };
            let place = twin.places.get(&page).map(|&(block, page)| block as u32 * pages + page as u32);
            prop_assert_eq!(fast.flash_page(Lpn(lpn)).map(|page| page.0), place, "{:?}", page);
        }
    }
}

/// Pages of one request.
#[derive(Debug, Clone)]
enum Request {
    Write(u32, u32),
    Trim(u32, u32),
    Read(u32, u32),
}

#[derive(Debug, Clone)]
struct UnitScenario {
    config: DriveConfig,
    kind: Kind,
    mapping: Mapping,
    unit_pages: u32,
    shape: Shape,
    requests: Vec<Request>,
    /// Writes of a batch at most.
    batch: usize,
}

/// Small drives with units of 1 to 4 pages, some of which are beyond the drive; with the map in memory or not.
fn unit_scenarios() -> impl Strategy<Value = UnitScenario> {
    let sizes = (1_u32..5, 2_u32..7, 2_u32..14, 0_u32..4, 2_u32..4, 2_u32..7);
    let cache = (prop_oneof![1 => Just(Kind::Full), 2 => kinds()], 0_u32..4, 0_usize..4);
    let requests = prop::collection::vec((0_u8..10, any::<u32>(), 1_u32..14, 0_u32..3), 50..300);
    (sizes, cache, requests, 1_usize..20).prop_map(
        |(sizes, (cache, short, in_host), requests, batch)| {
            let (unit_pages, units_per_block, data_blocks, extra_blocks, reserve, page_words) =
                sizes;
            let is_full = matches!(cache, Kind::Full);
            let unit_pages = if is_full { unit_pages.max(2) } else { unit_pages };
            let units = data_blocks * units_per_block;
            let pages = units * unit_pages - short.min(unit_pages - 1);
            let entries_per_page = page_words * unit_pages;
            let kind = at_least(cache, units, entries_per_page);
            let map_pages = if is_full { 0 } else { units.div_ceil(entries_per_page) };
            let blocks = (units + map_pages).div_ceil(units_per_block) + reserve + 3 + extra_blocks;
            let geometry =
                Geometry::new(blocks, units_per_block * unit_pages, 4 * page_words).unwrap();
            let shape = Shape {
                blocks: blocks as usize,
                pages_per_block: units_per_block as usize,
                reserve: reserve as usize,
                entries_per_page,
                in_host,
            };
            let unit = 4 * entries_per_page;
            let mapping = match kind {
                Kind::Full => format!("iu:size={unit}"),
                _ if unit_pages == 1 => with_host(&kind, &shape),
                _ => format!("{},unit={unit}", with_host(&kind, &shape)),
            };
            let requests = requests.into_iter().map(|(kind, number, length, skew)| {
                let first = number % (pages >> (2 * skew)).max(1);
                let length = length.min(pages - first);
                match kind {
                    0 => Request::Trim(first, length),
                    1 => Request::Read(first, length),
                    _ => Request::Write(first, length),
                }
            });
            UnitScenario {
                config: DriveConfig::new(geometry, pages, reserve),
                kind,
                mapping: mapping.parse().unwrap(),
                unit_pages,
                shape,
                requests: requests.collect(),
                batch,
            }
        },
    )
}

fn look_up_to_read(ftl: &mut OverCounted<NoPayload>, first: u32, length: u32) {
    for (page, following) in (first..first + length).zip((0..length).rev()) {
        ftl.look_up_to_read(Lpn(page), following).unwrap();
    }
}

/// The requests in batches, which cut writes anywhere.
fn in_batches(requests: &[Request], most: usize) -> Vec<PageBatch> {
    let (mut batches, mut batch) = (Vec::new(), PageBatch::default());
    for request in requests {
        match *request {
            Request::Write(first, length) => {
                for page in first..first + length {
                    if batch.writes.len() == most {
                        batches.push(std::mem::take(&mut batch));
                    }
                    batch.writes.push(Lpn(page));
                    batch.follow(batch.writes.len() - 1, u64::from(first + length - 1 - page));
                }
            }
            Request::Trim(first, length) => batch.trim(Lpn(first), length),
            Request::Read(..) => {}
        }
    }
    batches.push(batch);
    batches
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn requests_and_units_do_what_their_twin_does(scenario in unit_scenarios()) {
        let UnitScenario { config, kind, mapping, unit_pages, shape, requests, batch } = scenario;
        let mut fast = mapped("1r-greedy", &mapping, config, NoPayload);
        let units = config.logical_pages.div_ceil(unit_pages);
        let slow = kind.slow(units, shape.entries_per_page);
        let mut twin = UnitTwin::new(shape, slow, unit_pages, config.logical_pages);
        let between_reads = requests.split_inclusive(|request| matches!(request, Request::Read(..)));
        for part in between_reads {
            for request in part {
                match *request {
                    Request::Write(first, length) => twin.write(first, length),
                    Request::Trim(first, length) => twin.trim(first, length),
                    Request::Read(first, length) => twin.read(first, length),
                }
            }
            for batch in in_batches(part, batch) {
                fast.apply(&batch).unwrap();
            }
            if let Some(Request::Read(first, length)) = part.last() {
                look_up_to_read(&mut fast, *first, *length);
            }
            prop_assert_eq!(fast.map_counts(), Some(twin.counts()), "after {:?}", part);
            let counters = fast.counters();
            let counted = [counters.host_writes, counters.relocations(), counters.erases()];
            prop_assert_eq!(counted, [twin.host_writes, twin.relocations(), twin.erases()]);
            prop_assert_eq!(counters.trims, twin.trimmed);
        }
        fast.check().unwrap();
        for page in 0..config.logical_pages + fast.map_pages() {
            prop_assert_eq!(fast.flash_page(Lpn(page)).map(|page| page.0), twin.place(page), "{}", page);
        }
        let (counts, of) = (twin.counts(), |cause| fast.flash().of(cause));
        prop_assert_eq!(of(Cause::Host).programs, twin.host_writes);
        let rewritten = of(Cause::Rewrite);
        prop_assert_eq!([rewritten.programs, rewritten.reads], [counts.rewrites, counts.rewrite_reads]);
        prop_assert_eq!([of(Cause::Map).programs, of(Cause::Map).reads], [counts.writes(), counts.reads()]);
        prop_assert_eq!(of(Cause::Move).copies, twin.relocations());
    }
}

fn saved<F: Flash + Send>(ftl: &mut OverCounted<F>) -> Saved {
    let mut state = Saved::default();
    ftl.transfer(&mut state).unwrap();
    state
}

/// One that learns, on the drive of a scenario, with its units and memory of the host.
fn learned(
    scenario: &UnitScenario,
    cache: u32,
    gamma: u32,
    buffer: u32,
    compaction: u32,
) -> Mapping {
    let UnitScenario { config, unit_pages, shape, .. } = scenario;
    let page = unit_pages * config.geometry.page_bytes();
    let unit = if *unit_pages > 1 { format!(",unit={page}") } else { String::new() };
    let host = match shape.in_host as u32 {
        0 => String::new(),
        pages => format!(",hmb={}", pages * page),
    };
    let cache = 2 * page + cache;
    let own = format!("gamma={gamma},buffer={buffer},compaction={compaction}");
    format!("leaftl:cache={cache},{own}{unit}{host}").parse().unwrap()
}

/// Requests in batches, each read by itself.
fn carry_out(ftl: &mut OverCounted<NoPayload>, requests: &[Request], batch: usize) {
    for part in requests.split_inclusive(|request| matches!(request, Request::Read(..))) {
        for batch in in_batches(part, batch) {
            ftl.apply(&batch).unwrap();
        }
        if let Some(Request::Read(first, length)) = part.last() {
            look_up_to_read(ftl, *first, *length);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn stopped_anywhere_a_map_continues_as_if_it_had_not_been(
        scenario in unit_scenarios(),
        learns in prop::option::of((0_u32..400, 0_u32..5, 1_u32..40, 1_u32..300)),
        stop in any::<prop::sample::Index>(),
    ) {
        let on_flash = !matches!(scenario.kind, Kind::Full);
        let learned = learns.filter(|_| on_flash).map(
            |(cache, gamma, buffer, compaction)| learned(&scenario, cache, gamma, buffer, compaction),
        );
        let UnitScenario { config, mapping, requests, batch, .. } = scenario;
        let mapping = learned.unwrap_or(mapping);
        let (before, after) = requests.split_at(stop.index(requests.len()));
        let mut whole = mapped("1r-greedy", &mapping, config, NoPayload);
        carry_out(&mut whole, before, batch);
        let state = saved(&mut whole);
        let mut continued = mapped("1r-greedy", &mapping, config, NoPayload);
        let mut archive = Restored::new(&state.0);
        continued.transfer(&mut archive).unwrap();
        prop_assert!(archive.rest().is_empty());
        continued.set_mapping(Lpn(0), whole.drive().mapping()).unwrap();
        continued.check().unwrap();
        prop_assert!(saved(&mut continued) == state);
        carry_out(&mut whole, after, batch);
        carry_out(&mut continued, after, batch);
        prop_assert_eq!(whole.counters(), continued.counters());
        prop_assert_eq!(whole.map_counts(), continued.map_counts());
        prop_assert_eq!(whole.drive().mapping(), continued.drive().mapping());
        prop_assert!(saved(&mut whole) == saved(&mut continued));
        continued.check().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_learned_map_is_off_by_its_bound_at_most_and_moves_what_its_writes_in_order_would(
        scenario in scenarios(),
        gamma in 0_u32..4,
        buffer in 1_usize..20,
        compaction in prop_oneof![Just(1_u32), Just(40), Just(1_000_000)],
    ) {
        let Scenario { config, shape, operations, .. } = scenario;
        let text = |cache: u32, buffer: usize| {
            format!("leaftl:cache={cache},gamma={gamma},buffer={buffer},compaction={compaction}")
        };
        let [small, large] = [2 * config.geometry.page_bytes(), 1 << 20];
        let of = |cache| mapped("1r-greedy", &text(cache, buffer).parse().unwrap(), config, NoPayload);
        let [mut small, mut large] = [small, large].map(of);
        let full = "1r-greedy".parse().unwrap();
        let mut full = build_boxed(&full, config, Counted::new(NoPayload), ()).unwrap();
        let (mut waiting, mut written) = (Vec::new(), 0);
        for operation in operations {
            let (Operation::Write(lpn) | Operation::Trim(lpn) | Operation::Read(lpn)) = operation;
            let (is_write, is_trim) =
                (matches!(operation, Operation::Write(_)), matches!(operation, Operation::Trim(_)));
            waiting.extend(is_write.then_some(lpn));
            written += u64::from(is_write);
            if waiting.len() == buffer || (is_trim && waiting.contains(&lpn)) {
                for lpn in in_order(&mut waiting, shape.entries_per_page) {
                    full.write(Lpn(lpn), &[]).unwrap();
                }
            }
            for ftl in [&mut small, &mut large] {
                match operation {
                    Operation::Write(lpn) => ftl.write(Lpn(lpn), &[]).unwrap(),
                    Operation::Trim(lpn) => ftl.trim(Lpn(lpn)).unwrap(),
                    Operation::Read(lpn) => {
                        let is_there = waiting.contains(&lpn) || full.flash_page(Lpn(lpn)).is_some();
                        assert_eq!(ftl.read(Lpn(lpn), &mut []).unwrap(), is_there);
                    }
                }
                ftl.check().unwrap();
            }
            if is_trim {
                full.trim(Lpn(lpn)).unwrap();
            }
            // With memory for all of it, pages are where they would be if they were written in order.
            for lpn in (0..config.logical_pages).map(Lpn) {
                prop_assert_eq!(large.flash_page(lpn), full.flash_page(lpn));
            }
            let counts = small.map_counts().unwrap();
            prop_assert!(gamma > 0 || counts.mispredicted == 0);
            prop_assert_eq!(counts.waiting, waiting.len() as u64);
            let (of, reads) = (small.flash().of(Cause::Map), counts.reads() + counts.mispredicted);
            prop_assert_eq!([of.reads, of.programs], [reads, counts.writes()]);
            let programmed = written - waiting.len() as u64;
            prop_assert_eq!([&small, &large].map(|ftl| ftl.counters().host_writes), [programmed; 2]);
        }
    }
}

/// Pages that wait, by translation page: earlier versions, then the newest of each.
fn in_order(waiting: &mut Vec<u32>, entries_per_page: u32) -> Vec<u32> {
    let mut in_order = Vec::new();
    let mut all = std::mem::take(waiting);
    all.sort_unstable();
    for of_page in all.chunk_by(|a, b| a / entries_per_page == b / entries_per_page) {
        let mut newest = of_page.to_vec();
        newest.dedup();
        let mut earlier = of_page.to_vec();
        for lpn in &newest {
            earlier.remove(earlier.iter().position(|other| other == lpn).unwrap());
        }
        in_order.extend(earlier.into_iter().chain(newest));
    }
    in_order
}

#[test]
fn a_page_that_waits_is_read_from_memory() {
    let config = DriveConfig::new(Geometry::new(40, 16, 64).unwrap(), 256, 6);
    let mapping = "leaftl:cache=128,buffer=8".parse().unwrap();
    let mut ftl = mapped("1r-greedy", &mapping, config, ftlab_flash::Memory::new(config.geometry));
    let mut page = [0; 64];
    let mut read =
        |ftl: &mut OverCounted<_>, lpn| ftl.read(Lpn(lpn), &mut page).unwrap().then(|| page[0]);
    for number in 0..30_u8 {
        ftl.write(Lpn(u32::from(number % 11)), &[number; 64]).unwrap();
        for lpn in 0..11 {
            let newest = (0..=number).rev().find(|number| u32::from(number % 11) == lpn);
            assert_eq!(read(&mut ftl, lpn), newest, "page {lpn} after {number}");
        }
    }
    ftl.trim(Lpn(29 % 11)).unwrap();
    assert_eq!(read(&mut ftl, 29 % 11), None);
    ftl.check().unwrap();
}

#[test]
fn units_of_any_policy_are_whole_and_are_counted_in_pages() {
    for name in policies() {
        for mapping in ["iu:size=256", "dftl:cache=512,unit=128"] {
            let config = DriveConfig::new(Geometry::new(200, 32, 64).unwrap(), 4096, 24);
            let mut ftl = mapped(&name, &mapping.parse().unwrap(), config, NoPayload);
            work(&mut *ftl, 4096);
            ftl.check().map_err(|broken| format!("{name}: {broken}")).unwrap();
            let counts = ftl.map_counts().unwrap();
            let unit = if mapping.starts_with("iu") { 4 } else { 2 };
            let host = ftl.flash().of(Cause::Host).programs;
            assert_eq!(ftl.counters().host_writes, host, "{name}");
            assert_eq!(counts.rewrites, (unit - 1) * host, "{name}: every write is a page");
            assert!(counts.kept_trims > 0 && ftl.counters().trims == 0, "{name}");
            assert!(counts.rewrite_reads > 0 && ftl.counters().relocations() > 0, "{name}");
            let programs = Cause::ALL.map(|cause| ftl.flash().of(cause));
            let programs: u64 = programs.iter().map(|of| of.programs + of.copies).sum();
            assert_eq!(programs % unit, 0, "{name}");
            let counted = host + ftl.counters().relocations() + counts.writes() + counts.rewrites;
            assert_eq!(programs, counted, "{name}");
        }
    }
}

/// Requests of some pages, most of them after another one: translation pages read and written.
fn of_requests(mapping: &str) -> MapCounts {
    let config = DriveConfig::new(Geometry::new(300, 32, 64).unwrap(), 8192, 14);
    let mut ftl = mapped("1r-greedy", &mapping.parse().unwrap(), config, NoPayload);
    let mut random = Random::new(7);
    for _ in 0..9000 {
        let [most, length] = [8000, 9].map(|end| 1 + random.below(end));
        let (first, length) = (random.below(most) as u32, length as u32);
        let mut batch = PageBatch::default();
        batch.writes.extend((first..first + length).map(Lpn));
        batch.follow(0, u64::from(length - 1));
        ftl.apply(&batch).unwrap();
    }
    ftl.check().unwrap();
    ftl.map_counts().unwrap()
}

#[test]
fn tpftl_writes_and_reads_fewer_translation_pages_than_dftl_and_each_technique_helps() {
    let dftl = of_requests("dftl:cache=3KiB,protected=0");
    let of = |rest: &str| of_requests(&format!("tpftl:cache=3KiB{rest}"));
    let (all, bare) = (of(""), of(",by-request=off,selective=off,together=off,clean-first=off"));
    assert!(all.writes() * 2 < dftl.writes(), "{all:?} {dftl:?}");
    assert!(all.loads * 2 < dftl.loads, "{all:?} {dftl:?}");
    assert!(bare.writes() > all.writes() && bare.loads > all.loads, "{bare:?} {all:?}");
    assert!(of(",by-request=off").loads > all.loads);
    assert!(of(",together=off").write_backs > all.write_backs);
    assert!(of(",clean-first=off").write_backs > all.write_backs);
}

/// A drive of 1,024 pages, with translation pages of 16 entries.
pub(super) fn drive() -> DriveConfig {
    DriveConfig::new(Geometry::new(116, 16, 64).unwrap(), 1024, 14)
}

/// Skewed writes, and some trims.
fn work(ftl: &mut (impl Ftl + ?Sized), pages: u32) {
    let mut state = 1_u64;
    let mut next = |end: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        ((state >> 33) % u64::from(end)) as u32
    };
    for lpn in 0..pages {
        ftl.write(Lpn(lpn), &[]).unwrap();
    }
    for _ in 0..8 * pages {
        let lpn = if next(4) == 0 { next(pages) } else { next(pages / 8) };
        if next(50) == 0 {
            ftl.trim(Lpn(lpn)).unwrap();
        } else {
            ftl.write(Lpn(lpn), &[]).unwrap();
        }
    }
}

/// Policies that are told nothing but addresses, and whose parameters fit any drive.
pub(super) fn policies() -> impl Iterator<Item = String> {
    let is_told = |name: &String| {
        let hints = registry::hints(&name.parse().unwrap()).unwrap();
        hints == Hints::None && !name.starts_with("oracle")
    };
    covering_names().into_iter().filter(is_told)
}

#[test]
fn a_cache_as_large_as_the_map_costs_nothing() {
    for (number, name) in policies().enumerate() {
        let maps = [
            "dftl:cache=8KiB",
            "tpftl:cache=8KiB",
            "cdftl:cache=16KiB",
            "s-ftl:cache=8KiB",
            "leaftl:cache=64KiB,buffer=1,gamma=2",
            "learnedftl:cache=16KiB",
        ];
        let mapping = maps[number % 6].parse().unwrap();
        let config = drive();
        let mut fast = mapped(&name, &mapping, config, NoPayload);
        let spec = name.parse().unwrap();
        let mut full = build_boxed(&spec, config, Counted::new(NoPayload), ()).unwrap();
        work(&mut *fast, 1024);
        work(&mut *full, 1024);
        let mut counters: Counters = fast.counters();
        assert_eq!(
            counters.streams.pop(),
            Some(StreamCounters::default()),
            "{name}: the map's own"
        );
        assert_eq!(counters, full.counters(), "{name}");
        for lpn in (0..1024).map(Lpn) {
            assert_eq!(fast.flash_page(lpn), full.flash_page(lpn), "{name}");
        }
        let counts = fast.map_counts().unwrap();
        assert_eq!([counts.reads(), counts.writes(), counts.relocations], [0; 3], "{name}");
        let once = if [0, 1, 5].contains(&(number % 6)) { 1024 } else { 1024 / 16 };
        assert_eq!(counts.write_lookups - counts.write_hits, once, "{name}: once");
        assert!(counts.lazy_updates > 0, "{name}");
    }
}

/// What the map counts is what the flash counts.
fn compare<F: Flash + Send>(what: &str, ftl: &OverCounted<F>) -> MapCounts {
    ftl.check()
        .map_err(|broken| format!("{what}: {}", &broken.0[..broken.0.len().min(300)]))
        .unwrap();
    let (counts, of_map) = (ftl.map_counts().unwrap(), ftl.flash().of(Cause::Map));
    let reads = counts.reads() + counts.mispredicted;
    assert_eq!([of_map.reads, of_map.programs], [reads, counts.writes()], "{what}");
    assert_eq!([of_map.copies, of_map.erases], [0; 2], "{what}: that is collection");
    assert!(counts.write_backs > 0 && counts.move_updates > 0, "{what}: {counts:?}");
    let host = ftl.flash().of(Cause::Host).programs;
    assert_eq!(ftl.counters().host_writes, host, "{what}: translation pages are not of the host");
    counts
}

#[test]
fn every_policy_takes_a_map_on_flash() {
    let (mut lazy, mut moved) = (0, 0);
    for (number, name) in policies().enumerate() {
        let maps = [
            "dftl:cache=512",
            "tpftl:cache=512",
            "cdftl:cache=512",
            "s-ftl:cache=512",
            "leaftl:cache=512,gamma=1,buffer=64,compaction=500",
            "learnedftl:cache=5KiB",
        ];
        let mapping = maps[number % 6].parse().unwrap();
        let mut ftl = mapped(&name, &mapping, drive(), NoPayload);
        work(&mut *ftl, 1024);
        let counts = compare(&name, &ftl);
        assert_eq!(counts.write_lookups + counts.waiting, 9 * 1024, "{name}: writes and trims");
        lazy += counts.lazy_updates;
        moved += counts.relocations;
    }
    assert!(moved > 0, "no translation page was moved");
    assert!(lazy > 0, "no page that was moved was in memory");
}

/// Schedules of collection besides the default.
pub(super) const SCHEDULES: [&str; 6] = [
    "incremental",
    "incremental:pages=2",
    "background",
    "garbage",
    "gradual",
    "throttled:invalid=0.2",
];

#[test]
fn collections_of_any_schedule_and_failing_blocks_keep_the_map_right() {
    let mut refreshed = 0;
    for name in ["1r-greedy", "2r++", "sepbit", "wolf", "address-groups"] {
        for (number, gc) in SCHEDULES.into_iter().enumerate() {
            let maps = [
                "dftl:cache=1KiB",
                "tpftl:cache=1KiB",
                "leaftl:cache=1KiB,gamma=4,buffer=50,compaction=3000",
                "cdftl:cache=1KiB",
                "s-ftl:cache=1KiB",
                "learnedftl:cache=5KiB",
            ];
            let mapping = maps[number % 6].parse().unwrap();
            let gc: GcSchedule = gc.parse().unwrap();
            let refresh = Refresh { age_writes: 2000, ..Refresh::default() };
            let mut config = DriveConfig { gc, refresh, ..drive() };
            config.wear.threshold = 4;
            let mut ftl = mapped(name, &mapping, config, NoPayload);
            work(&mut *ftl, 1024);
            compare(&format!("{name}, {gc}"), &ftl);
            refreshed += ftl.refreshed().pages;
        }
        let faults = Faults { programs: 3e-4, erases: 1e-3, ..Faults::default() };
        let faulty = Faulty::new(NoPayload, &drive().geometry, faults);
        let mapping = "tpftl:cache=1KiB".parse().unwrap();
        let mut ftl = mapped(name, &mapping, drive(), faulty);
        work(&mut *ftl, 1024);
        ftl.check().unwrap();
        assert!(ftl.retired_blocks() > 0, "{name}");
    }
    assert!(refreshed > 0, "no block was rewritten in time");
}

#[test]
fn what_waits_is_read_and_trimmed_on_a_drive_that_has_become_read_only() {
    let pages = drive().logical_pages;
    let mut waited = 0;
    for seed in 0..12 {
        let faults = Faults { seed, programs: 1e-4, erases: 4e-3, ..Faults::default() };
        let flash = Faulty::new(NoPayload, &drive().geometry, faults);
        let mapping = "leaftl:cache=1KiB,buffer=50".parse().unwrap();
        let mut ftl = mapped("1r-greedy", &mapping, drive(), flash);
        let mut random = Random::new(seed);
        let mut holds = vec![false; pages as usize];
        let mut page = Lpn(0);
        let error = (1..100_000).find_map(|step| {
            // Trimmed again and again, many pages hold nothing but what waits.
            page = Lpn(random.below(pages as usize) as u32);
            holds[page.index()] = step % 3 > 0;
            let done = if step % 3 > 0 { ftl.write(page, &[]) } else { ftl.trim(page) };
            done.err()
        });
        // The write that met the end waits, unless a trim had met it before.
        holds[page.index()] = ftl.read(page, &mut []).unwrap();
        let verify = |ftl: &mut OverCounted<Faulty<NoPayload>>, holds: &[bool]| {
            for (lpn, holds) in (0..).map(Lpn).zip(holds) {
                assert_eq!(ftl.read(lpn, &mut []), Ok(*holds), "seed {seed}, page {lpn}");
            }
        };
        assert!(matches!(error, Some(FtlError::ReadOnly { .. })), "seed {seed}: {error:?}");
        waited += u32::from(ftl.map_counts().unwrap().waiting > 0);
        verify(&mut ftl, &holds);
        assert_eq!(ftl.write(page, &[]).err(), error, "nothing more waits");
        for lpn in (0..pages).step_by(2).map(Lpn) {
            ftl.trim(lpn).unwrap();
            holds[lpn.index()] = false;
        }
        verify(&mut ftl, &holds);
        ftl.check().unwrap();
    }
    assert!(waited > 6, "{waited} had something that waits");
}

#[test]
fn a_policy_with_placement_handles_is_refused() {
    let spec = "nvme-fdp".parse().unwrap();
    let policy = boxed_policy(&spec, DriveShape::new(&drive())).unwrap();
    let mapping = "dftl:cache=1KiB".parse().unwrap();
    let made = build_mapped(&mapping, policy, &spec, drive(), NoPayload, ());
    let error = made.err().unwrap().to_string();
    assert!(error.contains("leave out --mapping, or nvme-fdp"), "{error}");
}
