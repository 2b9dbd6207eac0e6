//! Policies that a program brings along, beside those of the registry.

use crate::SimError;
use ftlab_flash::Flash;
use ftlab_ftl::Observer;
use ftlab_ftl::page::{DriveConfig, Hints, PageMapped, Policy};
use ftlab_ftl::registry::{self, BuildError, DriveShape, DynFtl, OracleGroup};
use ftlab_spec::{Spec, SpecError};
use std::fmt;
use std::sync::Arc;

type Make = dyn Fn(DriveShape) -> Result<Box<dyn Policy>, String> + Send + Sync;

/// Policies of the page-mapped engine that a program names itself. They have no parameters, and ask for no
/// hints.
#[derive(Clone, Default)]
pub struct OwnPolicies(Vec<(String, Arc<Make>)>);

impl OwnPolicies {
    /// Adds a policy, which `make` makes for a drive of a given size, or tells why it cannot. A name that
    /// is known already is refused.
    pub fn add(
        &mut self,
        name: &str,
        make: impl Fn(DriveShape) -> Result<Box<dyn Policy>, String> + Send + Sync + 'static,
    ) -> Result<(), SimError> {
        let spec: Spec = name.parse()?;
        if !spec.arguments.is_empty() || spec.name != name {
            return Err(unusable(name, "is no name", "use letters, digits, dashes and plus signs"));
        }
        let is_known = self.find(&spec).is_some() || registry::ftl_names().contains(&spec.name);
        if is_known {
            return Err(unusable(name, "is the name of an FTL already", "choose another one"));
        }
        self.0.push((spec.name, Arc::new(make)));
        Ok(())
    }

    fn find(&self, spec: &Spec) -> Option<&Make> {
        self.0.iter().find(|(name, _)| *name == spec.name).map(|(_, make)| make.as_ref())
    }

    /// [`registry::resolve`], of these too.
    pub(crate) fn resolve(&self, spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
        let Some(_) = self.find(spec) else { return registry::resolve(spec) };
        match spec.arguments.first() {
            None => Ok(Vec::new()),
            Some((key, _)) => Err(SpecError::UnknownParameter {
                of: spec.name.clone(),
                key: key.clone(),
                known: Vec::new(),
            }),
        }
    }

    /// [`registry::hints`], of these too.
    pub(crate) fn hints(&self, spec: &Spec) -> Result<Hints, SpecError> {
        if self.find(spec).is_some() { Ok(Hints::None) } else { registry::hints(spec) }
    }

    /// [`registry::fit`], of these too.
    pub(crate) fn fit(
        &self,
        spec: &Spec,
        size: DriveShape,
        oracle: &[OracleGroup],
    ) -> Result<Spec, SpecError> {
        if self.find(spec).is_some() {
            return Ok(spec.clone());
        }
        registry::fit(spec, size, oracle)
    }

    /// [`registry::build`], of these too.
    pub(crate) fn build<F: Flash + Send + 'static, O: Observer + 'static>(
        &self,
        spec: &Spec,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<DynFtl<F, O>, SimError> {
        let Some(make) = self.find(spec) else {
            return Ok(registry::build(spec, config, flash, observer)?);
        };
        let ftl = spec.to_string();
        let policy = make(DriveShape::new(&config))
            .map_err(|reason| SimError::Ftl { ftl: ftl.clone(), reason })?;
        match PageMapped::new(policy, config, flash, observer) {
            Ok(built) => Ok(Box::new(built)),
            Err(source) => Err(BuildError::Config { ftl, source }.into()),
        }
    }
}

fn unusable(name: &str, what: &str, remedy: &str) -> SimError {
    SimError::Unusable { what: format!("{name:?} {what}"), remedy: remedy.into() }
}

impl PartialEq for OwnPolicies {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.all(|(a, b)| a.0 == b.0 && Arc::ptr_eq(&a.1, &b.1))
    }
}

impl fmt::Debug for OwnPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriveOptions, Experiment, Logical, Workload};
    use ftlab_ftl::algorithms::two_r::TwoRGreedy;
    use ftlab_ftl::registry::PolicyEntry;
    use ftlab_spec::NoParameters;

    fn add(policies: &mut OwnPolicies, name: &str) -> Result<(), SimError> {
        policies.add(name, |size| Ok(Box::new(TwoRGreedy::new(&NoParameters {}, size))))
    }

    #[test]
    fn a_policy_of_the_program_runs_like_one_of_the_registry() {
        let mut policies = OwnPolicies::default();
        add(&mut policies, "mine").unwrap();
        let drive = DriveOptions {
            logical: Logical::Pages(4096),
            pages_per_block: 32,
            ..DriveOptions::default()
        };
        let workload = Workload::parse("zipf", ftlab_trace::OpenOptions::default()).unwrap();
        let ftls = vec!["mine".parse().unwrap(), "2r-greedy".parse().unwrap()];
        let experiment = Experiment { policies, drive, ..Experiment::new(workload, ftls) };
        let runs = experiment.run(&mut ()).unwrap().runs;
        assert_eq!(runs[0].running_relocations, runs[1].running_relocations);
        assert_eq!((&runs[0].ftl[..], runs[0].erases), ("mine", runs[1].erases));
    }

    #[test]
    fn a_name_stands_for_one_policy() {
        let mut policies = OwnPolicies::default();
        add(&mut policies, "mine").unwrap();
        for (name, part) in [("mine", "already"), ("2r++", "already"), ("a:b=1", "is no name")] {
            let error = add(&mut policies, name).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = policies.resolve(&"mine:x=1".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("mine has no parameter \"x\""), "{error}");
    }
}
