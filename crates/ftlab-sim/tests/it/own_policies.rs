//! Policies that a program brings along, beside those of the registry.

use ftlab_ftl::algorithms::two_r::TwoRGreedy;
use ftlab_ftl::page::Policy;
use ftlab_ftl::registry::PolicyEntry;
use ftlab_sim::{DriveOptions, Experiment, Logical, OwnPolicies, Workload};
use ftlab_spec::NoParameters;
use std::sync::Arc;

#[test]
fn a_policy_of_the_program_runs_like_one_of_the_registry() {
    let mut policies = OwnPolicies::default();
    let make = |size| -> Result<Box<dyn Policy>, String> {
        Ok(Box::new(TwoRGreedy::new(&NoParameters {}, size)))
    };
    policies.add("mine", Arc::new(make)).unwrap();
    let drive = DriveOptions {
        logical: Logical::Pages(4096),
        pages_per_block: Some(32),
        ..DriveOptions::default()
    };
    let workload = Workload::parse("zipf", ftlab_trace::OpenOptions::default()).unwrap();
    let ftls = vec!["mine".parse().unwrap(), "2r-greedy".parse().unwrap()];
    let experiment = Experiment { policies, drive, ..Experiment::new(workload, ftls) };
    let runs = experiment.run(&mut ()).unwrap().runs;
    assert_eq!(runs[0].running_relocations, runs[1].running_relocations);
    assert_eq!((&runs[0].ftl[..], runs[0].erases), ("mine", runs[1].erases));
}
