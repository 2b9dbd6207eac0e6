//! The engine equals its naive twin, operation by operation, and keeps data.

use super::NaiveFtl;
use super::policies::NaivePolicy;
use crate::page::entry::{DriveShape, Hinted};
use crate::page::policy::{Hint, Lifetime, Policy};
use crate::page::{DriveConfig, GcSchedule, PageMapped, Phase, Refresh, Resume};
use crate::registry::{PolicyVisitor, covering_names, with_policy};
use crate::stream::{Stream, StreamId};
use crate::{PageBatch, PageWrite};
use ftlab_flash::{BlockId, Geometry, Lpn, Memory, NoPayload};
use ftlab_spec::Spec;
use proptest::prelude::*;
use rayon::prelude::*;

/// Further parameters of registered FTLs that change decisions.
const VARIANTS: [&str; 79] = [
    "2r-fifo:adapt-depth=on",
    "2r++:adapt-depth=on,regions=3",
    "2r-fifo:fallback=greedy-in-depth",
    "2r-fifo:fallback=greedy",
    "2r-fifo:fallback=fifo",
    "2r-fifo:blk-util=0.3,scan-depth=0.4",
    "2r-fifo:victims=region-fifo",
    "2r-fifo:victims=region-fifo-skipping",
    "2r-fifo:victims=greedy",
    "2r-fifo:victims=cost-benefit",
    "2r-fifo:victims=d-choices,d=3",
    "2r++:regions=3",
    "2r++:victims=region-fifo",
    "2r++:victims=region-fifo-skipping",
    "2r++:victims=greedy",
    "2r++:victims=cost-benefit",
    "2r++:victims=d-choices",
    "2r++:victims=d-choices,regions=3",
    "lfs-cb:score=lfs,age-power=0.5",
    "lfs-cb:score=lfs,batch=1",
    "sep-gc/cost-benefit:score=lfs",
    "sep-gc/cost-benefit:age-power=2",
    "single/cost-benefit:age-power=0",
    "lru/greedy:hot=3,candidates=5",
    "lru/cost-benefit:hot=7,candidates=1",
    "lru/cost-benefit:hot=auto,candidates=auto",
    "mbf/greedy:bits=37,filters=3,decay=7",
    "mbf/cost-benefit:bits=100,filters=8,hashes=3,threshold=3,decay=11",
    "mbf/cost-benefit:bits=auto,decay=auto,filters=1,threshold=1",
    "dac-cb:level=page,window=50",
    "dac-cb:level=page",
    "dac-greedy:window=100",
    "address-groups:groups=3",
    "address-groups:groups=5,blocks=2",
    "address-groups:groups=1",
    "wolf:units=3,groups-max=4,interval=0.05,w=3,cleaning=fifo",
    "wolf:groups-max=3,interval=0.02,w=1,q=1.2,weight=0.5,allocation=sqrt",
    "wolf:detector=oracle,oracle=0.1+0.2+0.7,allocation=optimum",
    "wolf:movement=interval,interval=0.02,w=1,q=1.2,weight=0.5",
    "wolf:movement=interval,units=2,groups-max=3,interval=0.05,w=3,cleaning=fifo",
    "wolf:movement=interval,detector=oracle,oracle=0.1+0.2+0.7,interval=0.1,weight=0.9",
    "wolf:victims-per-lun=true,units=3,groups-max=3",
    "wolf:wear-levelling=1,movement=interval,groups-max=4,interval=0.05",
    "wolf:wear-levelling=2,victims-per-lun=true,units=2,groups-max=3,cleaning=lru",
    "sepbit:history=fifo,blocks=2",
    "hazard:rungs=3,epoch=0.2",
    "hazard:estimates=fresh",
    "hazard:pages=off",
    "hazard:pages=on",
    "hazard:run=1,merge=0",
    "hazard:prior=0.2,epoch=0.2",
    "hazard:run=4,merge=50",
    "dogi:retrain=0.05,sample=1,epochs=1",
    "dogi:hot=1,retrain=0.1,sample=2,epochs=2,last=greedy,categories=balanced",
    "phftl/cost-benefit:window=0.01,sample=1",
    "nodap:groups=3,first=0.1,last=1",
    "fk:classes=6,spacing=blocks",
    "fk:classes=1",
    "fk/cost-benefit:classes=6,spacing=blocks",
    "oracle-rate:rungs=3,epoch=0.2",
    "oracle-rate:merge=50",
    "nvme-fdp:persistent=all",
    "nvme-fdp:handles=5,persistent=1+3",
    "nvme-fdp:handles=3,inner=hazard",
    "nvme-fdp:handles=3,persistent=1,inner=2r++",
    "nvme-fdp:handles=3,persistent=all,inner=sepbit,blocks=2",
    "nvme-fdp:handles=3,persistent=2,inner=dac-cb",
    "nvme-fdp/greedy:handles=4,inner=single",
    "nvme-fdp/greedy:handles=2,inner=single,luns=3",
    "nvme-fdp:handles=2,persistent=1,luns=7,inner=sep-gc",
    "nvme-fdp:handles=2,inner=midas",
    "nvme-fdp:handles=2,inner=2r-fifo,victims=cost-benefit",
    "nvme-fdp:handles=2,persistent=0,inner=wolf,groups-max=3",
    "nvme-fdp:handles=2,inner=fdp-freq,groups=2",
    "fdp-freq:groups=2",
    "fdp-freq:detector=oracle,oracle=0.1+0.2+0.7,hottest=first,swap-at=200",
    "fdp-freq:cleaning=greedy",
    "fdp-freq:groups=2,groups-max=6",
    "fdp-freq:groups=2,allocation=closed-form",
];

#[derive(Debug, Clone, Copy)]
enum Operation {
    Write(Lpn),
    Trim(Lpn),
    Read(Lpn),
    /// The host moves a placement handle to a fresh unit.
    Renew(u16),
}

#[derive(Debug, Clone)]
struct Scenario {
    /// A drive without any block that is not needed for a policy of no streams.
    config: DriveConfig,
    /// Blocks beyond the fewest that a policy can work with.
    extra_blocks: u32,
    operations: Vec<Operation>,
}

impl Scenario {
    /// The drive for a policy of these streams.
    fn config(&self, streams: &[Stream]) -> DriveConfig {
        let fewest = &self.config.geometry;
        let taking = streams.iter().filter(|stream| stream.takes_relocations).count() as u32;
        let reserve_blocks = self.config.reserve_blocks.max(taking);
        let blocks = fewest.blocks() - self.config.reserve_blocks
            + reserve_blocks
            + streams.len() as u32
            + self.extra_blocks;
        let geometry = Geometry::new(blocks, fewest.pages_per_block(), fewest.page_bytes());
        DriveConfig { geometry: geometry.unwrap(), reserve_blocks, ..self.config }
    }
}

/// Small drives of any shape, barely large enough or larger, and skewed operations.
fn scenarios() -> impl Strategy<Value = Scenario> {
    // Now and then blocks of more than two words of valid bits.
    let pages_per_block = prop_oneof![4 => 2_u32..20, 1 => 60_u32..200];
    let gc = prop_oneof![
        2 => Just(GcSchedule::Foreground),
        2 => Just(GcSchedule::Incremental { pages_max: 0 }),
        1 => (1_u32..6).prop_map(|pages_max| GcSchedule::Incremental { pages_max }),
        2 => (0_u32..4).prop_map(|pages_max| GcSchedule::Background { pages_max }),
        1 => (50_000_u32..400_000).prop_map(|per_million| GcSchedule::Garbage { per_million }),
        1 => (50_000_u32..400_000).prop_map(|per_million| GcSchedule::Gradual { per_million }),
        2 => (50_000_u32..700_000, 50_000_u32..=1_000_000, 10_000_u32..3_000_000)
            .prop_map(|(from, invalid, moves)| GcSchedule::Throttled { from, invalid, moves }),
    ];
    let refresh =
        (prop_oneof![2 => Just(0), 1 => 2_u32..6], prop_oneof![2 => Just(0), 1 => 100_u64..600]);
    let refresh = refresh.prop_map(|(reads, age_writes)| Refresh { reads, age_writes });
    let sizes = (pages_per_block, 3_u32..24, 0_u32..6, 2_u32..5, any::<bool>(), gc, refresh);
    (sizes, prop::collection::vec((0_u8..20, any::<u32>(), 0_u32..3), 50..600)).prop_map(
        |(
            (pages_per_block, data_blocks, extra_blocks, reserve_blocks, early, gc, refresh),
            steps,
        )| {
            // The twin is slow.
            let data_blocks = if pages_per_block < 60 { data_blocks } else { data_blocks.min(5) };
            let logical_pages = data_blocks * pages_per_block - u32::from(data_blocks % 2 == 0);
            let blocks = data_blocks + reserve_blocks + 1;
            let geometry = Geometry::new(blocks, pages_per_block, 8).unwrap();
            let config = DriveConfig {
                gc_start_blocks: if early { reserve_blocks + 3 } else { 0 },
                early_valid_pages_max: pages_per_block / 2,
                gc,
                refresh,
                ..DriveConfig::new(geometry, logical_pages, reserve_blocks)
            };
            let operations = steps.into_iter().flat_map(|(kind, number, skew)| {
                let pages = (logical_pages >> (skew * 2)).max(1);
                let lpn = Lpn(number % pages);
                let next = Lpn((lpn.0 + 1) % logical_pages);
                match kind {
                    0 => vec![Operation::Trim(lpn), Operation::Trim(next)],
                    1 => vec![Operation::Read(lpn)],
                    19 => vec![
                        Operation::Write(lpn),
                        Operation::Renew(((number % 9) | ((number % 27 / 9) << 14)) as u16),
                    ],
                    2..=4 => (0..(pages_per_block * 2).min(40))
                        .map(|ahead| {
                            Operation::Write(Lpn((number % logical_pages + ahead) % logical_pages))
                        })
                        .collect(),
                    _ => vec![Operation::Write(lpn), Operation::Write(next)],
                }
            });
            Scenario { config, extra_blocks, operations: operations.collect() }
        },
    )
}

/// The engine of a policy, for a comparison that is compiled once for all of them.
trait Engine: Resume<Flash = Memory, Observer = ()> {
    /// What a placement handle fills.
    fn host_streams(&self, handle: u16) -> Option<Vec<StreamId>>;
}

impl<P: Hinted> Engine for PageMapped<P, Memory, ()> {
    fn host_streams(&self, handle: u16) -> Option<Vec<StreamId>> {
        self.host_streams(handle)
    }
}

/// Everything that the two must agree on.
fn compare(step: usize, fast: &dyn Engine, naive: &NaiveFtl) -> Result<(), TestCaseError> {
    let expected = naive.drive();
    let drive = fast.drive();
    prop_assert_eq!(drive.mapping(), expected.mapping(), "mapping, step {}", step);
    prop_assert_eq!(drive.free_list(), expected.free_list(), "free list, step {}", step);
    for block in (0..drive.geometry().blocks()).map(BlockId) {
        prop_assert_eq!(
            drive.phase(block),
            expected.phase(block),
            "block {}, step {}",
            block,
            step
        );
        prop_assert_eq!(drive.erases(block), expected.erases(block), "block {}", block);
        if drive.phase(block) != Phase::Free {
            prop_assert_eq!(drive.valid_pages(block), expected.valid_pages(block));
            prop_assert_eq!(drive.frontier_of(block), expected.frontier_of(block));
            prop_assert_eq!(drive.allocated(block), expected.allocated(block));
        }
        if drive.phase(block) == Phase::Sealed {
            prop_assert_eq!(drive.sealed_at(block), expected.sealed_at(block));
        }
    }
    let counters = fast.counters();
    prop_assert_eq!(counters.host_writes, naive.write_clock);
    prop_assert_eq!(counters.relocations(), naive.relocations);
    let erases: u64 = naive.blocks.iter().map(|block| u64::from(block.erases)).sum();
    prop_assert_eq!(counters.erases(), erases);
    prop_assert_eq!(counters.trims, naive.trims);
    prop_assert_eq!(fast.refreshed(), naive.refreshed, "step {}", step);
    Ok(())
}

/// Any hint: streams with a handle and without, lifetimes that need not come true.
fn hint(step: usize) -> Hint {
    let this = if step.is_multiple_of(7) { u32::MAX } else { (step as u32 * 7919) % 3000 };
    let lifetime = Lifetime { this, mean: (step as u32 * 104_729) % 5000 };
    // Some name another reclaim group than the first, where there are several.
    let group = (step / 11 % 8).saturating_sub(4) as u16;
    let lacking = i32::from((step % 8) as u8);
    Hint { lifetime, stream: (step % 11) as u16 | group << 14, lacking }
}

/// Content of a page that tells page and version.
fn content(lpn: Lpn, version: usize) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&lpn.0.to_le_bytes());
    bytes[4..].copy_from_slice(&(version as u32).to_le_bytes());
    bytes
}

/// Runs a scenario over flash in memory: equal to the twin at every step, invariants hold, and every
/// read returns the last write.
struct AgainstTwin<'a> {
    config: DriveConfig,
    operations: &'a [Operation],
    twin: Box<dyn Policy>,
}

impl PolicyVisitor for AgainstTwin<'_> {
    type Output = Result<(), TestCaseError>;

    fn visit<P: Hinted + 'static>(self, policy: P) -> Self::Output {
        let config = self.config;
        let flash = Memory::new(config.geometry);
        self.run(&mut PageMapped::new(policy, config, flash, ()).unwrap())
    }
}

impl AgainstTwin<'_> {
    fn run(self, fast: &mut dyn Engine) -> Result<(), TestCaseError> {
        let Self { config, operations, twin } = self;
        let mut naive = NaiveFtl::new(twin, config);
        let mut written = vec![None; config.logical_pages as usize];
        for (step, operation) in operations.iter().enumerate() {
            match *operation {
                Operation::Write(lpn) => {
                    let data = content(lpn, step);
                    let write = PageWrite { hint: hint(step), ..PageWrite::by_host(lpn, &data) };
                    fast.write_page(write).unwrap();
                    naive.write(lpn, hint(step));
                    written[lpn.index()] = Some(content(lpn, step));
                }
                Operation::Trim(lpn) => {
                    fast.trim(lpn).unwrap();
                    naive.trim(lpn);
                    written[lpn.index()] = None;
                }
                Operation::Read(lpn) => {
                    let mut data = [0; 8];
                    let found = fast.read(lpn, &mut data).unwrap().then_some(data);
                    prop_assert_eq!(found, written[lpn.index()], "page {}, step {}", lpn, step);
                    prop_assert_eq!(fast.drive().flash_page(lpn), naive.flash_page(lpn));
                    if let Some(page) = fast.drive().flash_page(lpn) {
                        fast.count_read(page).unwrap();
                        naive.read(lpn);
                    }
                }
                Operation::Renew(handle) => {
                    let handles = fast.placement_handles();
                    let is_known = handles.is_some_and(|all| all.format.parse(handle).is_some());
                    let streams = fast.host_streams(handle);
                    prop_assert_eq!(streams.is_some(), is_known);
                    prop_assert_eq!(fast.renew_handle(handle).unwrap(), is_known);
                    if let Some(streams) = streams {
                        naive.renew(&streams);
                    }
                }
            }
            compare(step, fast, &naive)?;
            if step.is_multiple_of(steps_between_checks()) {
                prop_assert_eq!(fast.check(), Ok(()), "step {}", step);
            }
        }
        prop_assert_eq!(fast.check(), Ok(()), "at the end");
        for (lpn, expected) in written.iter().enumerate() {
            let mut data = [0; 8];
            let found = fast.read(Lpn(lpn as u32), &mut data).unwrap().then_some(data);
            prop_assert_eq!(found, *expected, "page {} at the end", lpn);
        }
        Ok(())
    }
}

/// Hands over a policy as a trait object.
struct Boxed;

impl PolicyVisitor for Boxed {
    type Output = Box<dyn Policy>;

    fn visit<P: Hinted + 'static>(self, policy: P) -> Self::Output {
        Box::new(policy)
    }
}

/// The policy that `name` stands for on the tightest drive for it, and a few blocks more.
fn policy(name: &str, scenario: &Scenario) -> (DriveConfig, Box<dyn Policy>) {
    let spec: Spec = name.parse().unwrap();
    let build = |config: &DriveConfig| {
        let shape = DriveShape::new(config);
        with_policy(&spec, shape, Boxed).unwrap()
    };
    // A larger drive may have more streams.
    let mut config = scenario.config;
    for _ in 0..4 {
        config = scenario.config(&build(&config).streams());
    }
    (config, build(&config))
}

/// The tightest drive that can be divided as `name` says, and a few blocks more; it collects when it has to.
fn divided(name: &str, scenario: &Scenario) -> DriveConfig {
    let fewest = &scenario.config.geometry;
    let mut config = DriveConfig::new(*fewest, scenario.config.logical_pages, 2);
    loop {
        let shape = DriveShape::new(&config);
        match with_policy(&name.parse().unwrap(), shape, Boxed) {
            Ok(policy) if policy.reserve_blocks_min() > config.reserve_blocks => {
                config.reserve_blocks = policy.reserve_blocks_min();
            }
            Ok(policy) if config.verify(&policy.streams(), 0, 0).is_ok() => break,
            _ => config.geometry = with_blocks(&config.geometry, 1),
        }
    }
    config.geometry = with_blocks(&config.geometry, scenario.extra_blocks);
    config
}

fn with_blocks(geometry: &Geometry, more: u32) -> Geometry {
    let blocks = geometry.blocks() + more;
    Geometry::new(blocks, geometry.pages_per_block(), geometry.page_bytes()).unwrap()
}

fn against_twin(
    name: &str,
    scenario: &Scenario,
    twin: Box<dyn Policy>,
) -> Result<(), TestCaseError> {
    let (config, _) = policy(name, scenario);
    let shape = DriveShape::new(&config);
    let test = AgainstTwin { config, operations: &scenario.operations, twin };
    with_policy(&name.parse().unwrap(), shape, test)
        .unwrap()
        .map_err(|error| TestCaseError::fail(format!("{name}: {error}")))
}

fn registered() -> Vec<String> {
    let told = |name: String| if name.starts_with("oracle/") { name + ":hot=0.3" } else { name };
    let names = covering_names().into_iter().map(told);
    names.chain(VARIANTS.map(str::to_owned)).collect()
}

fn is_asked_for_all() -> bool {
    std::env::var_os("FTLAB_TEST_ALL").is_some()
}

/// Scenarios of a test: a third of them, and all if `make test-all` asks for all.
fn cases() -> u32 {
    if is_asked_for_all() { 24 } else { 8 }
}

/// After how many steps the invariants are verified, which takes longer than the comparison with the twin.
fn steps_between_checks() -> usize {
    if is_asked_for_all() { 1 } else { 4 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_registered_ftl_runs_as_on_the_naive_engine(scenario in scenarios()) {
        registered().par_iter().try_for_each(|name| {
            against_twin(name, &scenario, policy(name, &scenario).1)
        })?;
    }

    #[test]
    fn reclaim_groups_run_as_on_the_naive_engine(scenario in scenarios()) {
        for name in [
            "nvme-fdp:handles=3,reclaim-groups=2",
            "nvme-fdp/greedy:handles=2,reclaim-groups=3,persistent=1",
            "nvme-fdp:handles=2,reclaim-groups=2,persistent=all,inner=dac-cb",
            "nvme-fdp/fifo:handles=1,reclaim-groups=4,inner=single,luns=5",
        ] {
            let config = divided(name, &scenario);
            let build = || with_policy(&name.parse().unwrap(), DriveShape::new(&config), Boxed);
            let test =
                AgainstTwin { config, operations: &scenario.operations, twin: build().unwrap() };
            let result = test.visit(build().unwrap());
            result.map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        }
    }

    #[test]
    fn the_papers_ftls_choose_the_victims_of_linear_scans(scenario in scenarios()) {
        registered().par_iter().try_for_each(|name| {
            let shape = DriveShape::new(&policy(name, &scenario).0);
            let twin = NaivePolicy::new(name, shape);
            twin.map_or(Ok(()), |twin| against_twin(name, &scenario, Box::new(twin)))
        })?;
    }

    #[test]
    fn a_batch_does_what_its_operations_do_one_by_one(scenario in scenarios()) {
        let build = || {
            let (config, _) = policy("2r++", &scenario);
            crate::registry::build_boxed(&"2r++".parse().unwrap(), config, NoPayload, ()).unwrap()
        };
        let (mut single, mut batched, mut batch) = (build(), build(), PageBatch::default());
        for operation in &scenario.operations {
            match *operation {
                Operation::Write(lpn) => {
                    single.write(lpn, &[]).unwrap();
                    batch.writes.push(lpn);
                }
                Operation::Trim(lpn) => {
                    single.trim(lpn).unwrap();
                    batch.trim(lpn, 1);
                }
                Operation::Read(_) => {
                    batched.apply(&batch).unwrap();
                    batch.clear();
                }
                Operation::Renew(_) => {}
            }
        }
        batched.apply(&batch).unwrap();
        prop_assert_eq!(single.counters(), batched.counters());
    }
}

#[test]
fn every_ftl_has_a_naive_twin_but_those_that_draw_or_measure() {
    let parameters_only = ["blk-util"];
    // These depend on statistics that their rules cannot be told apart from: a twin would be the same
    // code again. Tests of their parts, and counts of an independent model, stand in for it.
    let stateful = [
        "wolf",
        "fdp-freq",
        "sepbit",
        "hazard",
        "midas",
        "multilog",
        "sfs",
        "fadac",
        "warcip",
        "phftl",
        "dogi",
        "fk",
        "nodap",
        "oracle-rate",
        "adapt-depth",
        "inner=",
    ];
    let draws = ["d-choices", "/random"];
    let shape = DriveShape::new(&DriveConfig::new(Geometry::new(40, 32, 8).unwrap(), 1000, 2));
    for name in registered() {
        if !parameters_only.iter().chain(&draws).chain(&stateful).any(|part| name.contains(part)) {
            assert!(
                NaivePolicy::new(&name, shape).is_some(),
                "{name} has none: write one in naive/policies.rs, or name it in `draws` or `stateful`"
            );
        }
    }
}
