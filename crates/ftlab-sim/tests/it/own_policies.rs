//! Policies that a program brings along, beside those of the registry.

use ftlab_flash::BlockId;
use ftlab_ftl::algorithms::two_r::TwoRGreedy;
use ftlab_ftl::page::{
    DriveState, Hints, HostWrite, Phase, Policy, Relocation, Stream, StreamId, Victims,
};
use ftlab_ftl::registry::{DriveShape, FitContext, PolicyEntry};
use ftlab_ftl::{Archive, Metadata, State, StateError};
use ftlab_sim::result::RunResult;
use ftlab_sim::{DriveOptions, Experiment, Logical, OwnPolicies, OwnPolicy, Workload};
use ftlab_spec::{NoParameters, Parameters, Spec, SpecError};

fn runs(policies: OwnPolicies, ftls: &[&str]) -> Vec<RunResult> {
    let drive = DriveOptions {
        logical: Logical::Pages(4096),
        pages_per_block: Some(32),
        ..DriveOptions::default()
    };
    let workload = Workload::parse("zipf", ftlab_trace::OpenOptions::default()).unwrap();
    let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
    let experiment = Experiment { policies, drive, ..Experiment::new(workload, ftls) };
    experiment.run(&mut ()).unwrap().runs
}

/// The policy 2R-Greedy by another name.
struct Renamed;

impl OwnPolicy for Renamed {
    fn values(
        &self,
        spec: &Spec,
        _: Option<&FitContext>,
    ) -> Result<Vec<(&'static str, String)>, SpecError> {
        NoParameters::resolve(spec)
    }

    fn hints(&self) -> Hints {
        Hints::None
    }

    fn bytes(&self, _: &Spec, _: DriveShape) -> Result<u64, SpecError> {
        Ok(0)
    }

    fn make(&self, _: &Spec, shape: DriveShape) -> Result<Box<dyn Policy>, String> {
        Ok(Box::new(TwoRGreedy::new(&NoParameters {}, shape)))
    }
}

#[test]
fn a_policy_of_the_program_runs_like_one_of_the_registry() {
    let mut policies = OwnPolicies::default();
    policies.add("mine", Renamed).unwrap();
    let runs = runs(policies, &["mine", "2r-greedy"]);
    assert_eq!(runs[0].running_relocations, runs[1].running_relocations);
    assert_eq!((&runs[0].ftl[..], runs[0].erases), ("mine", runs[1].erases));
}

#[test]
fn a_run_of_a_policy_is_told_from_others_if_its_code_is_known() {
    let mut policies = OwnPolicies::default();
    policies.add("mine", Renamed).unwrap();
    policies.add_entry::<ShortLived>().unwrap();
    let workload = Workload::parse("zipf", ftlab_trace::OpenOptions::default()).unwrap();
    let experiment = Experiment { policies, ..Experiment::new(workload, Vec::new()) };
    let contents = ftlab_trace::Contents::new();
    let workload = experiment.workload.identity(4096, &contents).unwrap();
    let identity = experiment.identity(&workload).unwrap();
    let of = |ftl: &str| identity.of_run(&ftl.parse().unwrap());
    assert_eq!(of("short-lived").unwrap(), of("short-lived:most=0").unwrap());
    assert_ne!(of("short-lived").unwrap(), of("short-lived:most=1").unwrap());
    assert!(of("mine").unwrap_err().to_string().contains("unknown FTL"));
}

ftlab_spec::parameters! {
    pub struct ShortLivedParameters {
        /// Host writes that a page lives at most to be apart; 0 is half the pages of the drive.
        most: u32 = 0, "most", from "this test";
    }
}

/// Keeps pages apart that are rewritten soon, as the workload says; greedy.
struct ShortLived {
    most: u32,
}

impl State for ShortLived {
    fn transfer(&mut self, _: &mut dyn Archive) -> Result<(), StateError> {
        Ok(())
    }
}

impl PolicyEntry for ShortLived {
    type Parameters = ShortLivedParameters;
    const NAME: &'static str = "short-lived";
    const SUMMARY: &'static str = "pages that are rewritten soon are apart";
    const SOURCE: &'static str = "this test";
    const HINTS: Hints = Hints::Lifetimes;

    fn fit(of: &mut ShortLivedParameters, context: &FitContext) -> Result<(), SpecError> {
        if of.most == 0 {
            of.most = context.shape.logical_pages / 2;
        }
        Ok(())
    }

    fn new(parameters: &ShortLivedParameters, _: DriveShape) -> Self {
        Self { most: parameters.most }
    }
}

impl Policy for ShortLived {
    fn streams(&self) -> Vec<Stream> {
        let stream = |name, cold| Stream { name, takes_relocations: cold, cold };
        vec![stream("short", false), stream("long", true)]
    }

    fn place_host(&mut self, write: HostWrite, _: &DriveState) -> StreamId {
        StreamId(u8::from(write.hint.lifetime.this > self.most))
    }

    fn place_relocation(&mut self, _: Relocation, _: &DriveState) -> StreamId {
        StreamId(1)
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        let sealed = blocks.filter(|block| drive.phase(*block) == Phase::Sealed);
        let emptiest = sealed.min_by_key(|block| drive.valid_pages(*block));
        let most = victims.valid_pages_max();
        if let Some(block) = emptiest.filter(|block| drive.valid_pages(*block) <= most) {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn metadata(&self) -> Metadata {
        Metadata::fixed(4)
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

#[test]
fn a_policy_of_the_program_has_parameters_hints_and_values_that_fit() {
    let mut policies = OwnPolicies::default();
    policies.add_entry::<ShortLived>().unwrap();
    let names = ["short-lived", "short-lived:most=2048", "short-lived:most=1"];
    let runs = runs(policies.clone(), &names);
    let most = |run: &RunResult| run.parameters["most"].clone();
    assert_eq!([most(&runs[0]), most(&runs[2])], ["2048", "1"]);
    assert_eq!(runs[0].running_relocations, runs[1].running_relocations, "half of the drive");
    assert!(runs[0].relocations < runs[2].relocations, "it is told how long pages live");
    let error = policies.resolve(&"short-lived:least=1".parse().unwrap()).unwrap_err().to_string();
    assert!(error.contains("short-lived has no parameter \"least\""), "{error}");
}
