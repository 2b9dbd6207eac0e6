//! Policies that a program brings along, beside those of the registry.

use crate::error::MachineError;
use ftlab_flash::Flash;
use ftlab_ftl::Observer;
use ftlab_ftl::page::{DriveConfig, Hints, Policy};
use ftlab_ftl::registry::{self, BuildError, Decisions, DriveShape, DynFtl, OracleGroup};
use ftlab_spec::{Spec, SpecError};
use std::fmt;
use std::sync::Arc;

/// Makes a policy for a drive of a given size, or tells why it cannot.
pub type MakePolicy = dyn Fn(DriveShape) -> Result<Box<dyn Policy>, String> + Send + Sync;

/// Policies of the page-mapped engine that a program names itself. They have no parameters, and ask for no
/// hints.
#[derive(Clone, Default)]
pub struct OwnPolicies(Vec<(String, Arc<MakePolicy>)>);

impl OwnPolicies {
    /// Adds a policy, which `make` makes. A name that is known already is refused.
    pub fn add(&mut self, name: &str, make: Arc<MakePolicy>) -> Result<(), MachineError> {
        let spec: Spec = name.parse()?;
        if !spec.arguments.is_empty() || spec.name != name {
            return Err(unusable(name, "is no name", "use letters, digits, dashes and plus signs"));
        }
        let is_known = self.find(&spec).is_some() || registry::ftl_names().contains(&spec.name);
        if is_known {
            return Err(unusable(name, "is the name of an FTL already", "choose another one"));
        }
        self.0.push((spec.name, make));
        Ok(())
    }

    fn find(&self, spec: &Spec) -> Option<&MakePolicy> {
        self.0.iter().find(|(name, _)| *name == spec.name).map(|(_, make)| make.as_ref())
    }

    /// [`registry::resolve`], of these too.
    pub fn resolve(&self, spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
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

    /// [`registry::decisions`]; none of these, whose code nobody knows.
    pub fn decisions(&self, spec: &Spec) -> Result<Option<Decisions>, SpecError> {
        if self.find(spec).is_some() { Ok(None) } else { registry::decisions(spec).map(Some) }
    }

    /// [`registry::hints`], of these too.
    pub fn hints(&self, spec: &Spec) -> Result<Hints, SpecError> {
        if self.find(spec).is_some() { Ok(Hints::None) } else { registry::hints(spec) }
    }

    /// [`registry::fit`], of these too.
    pub fn fit(
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

    /// [`registry::memory_bytes`], of these too: of theirs only the tables of the drive are known.
    pub fn memory_bytes(&self, spec: &Spec, shape: DriveShape) -> Result<u64, SpecError> {
        if self.find(spec).is_some() {
            return Ok(registry::drive_bytes(shape));
        }
        registry::memory_bytes(spec, shape)
    }

    /// What `of_registry` builds, of these too.
    pub(crate) fn build<F: Flash + Send + 'static, O: Observer + 'static>(
        &self,
        of_registry: Build<F, O>,
        spec: &Spec,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<DynFtl<F, O>, MachineError> {
        let Some(make) = self.find(spec) else {
            return Ok(of_registry(spec, config, flash, observer)?);
        };
        let policy = make(DriveShape::new(&config))
            .map_err(|reason| MachineError::Refused { ftl: spec.to_string(), reason })?;
        Ok(registry::build_over(policy, spec, config, flash, observer)?)
    }
}

/// [`registry::build`], or [`registry::build_boxed`].
type Build<F, O> = fn(&Spec, DriveConfig, F, O) -> Result<DynFtl<F, O>, BuildError>;

fn unusable(name: &str, what: &str, remedy: &'static str) -> MachineError {
    MachineError::Name { what: format!("{name:?} {what}"), remedy }
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
    use ftlab_ftl::algorithms::two_r::TwoRGreedy;
    use ftlab_ftl::registry::PolicyEntry;
    use ftlab_spec::NoParameters;

    fn add(policies: &mut OwnPolicies, name: &str) -> Result<(), MachineError> {
        let make = |size| -> Result<Box<dyn Policy>, String> {
            Ok(Box::new(TwoRGreedy::new(&NoParameters {}, size)))
        };
        policies.add(name, Arc::new(make))
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
