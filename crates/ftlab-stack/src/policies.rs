//! Policies that a program brings along, beside those of the registry.

use crate::error::StackError;
use ftlab_flash::Flash;
use ftlab_ftl::Observer;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{DriveConfig, Hints, Policy};
use ftlab_ftl::registry::{
    self, BuildError, Decisions, DriveShape, DynFtl, FitContext, OracleGroup, PolicyEntry,
};
use ftlab_spec::{Parameters, Spec, SpecError};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A policy that a program brings along, before it is made.
pub trait OwnPolicy: Send + Sync {
    /// Its parameters with their values: as given or by default, or where there is a context, with `auto` worked out.
    fn values(&self, spec: &Spec, context: Option<&FitContext>) -> Result<Values, SpecError>;

    /// What it asks for beside a page's address.
    fn hints(&self) -> Hints;

    /// Bytes of its tables on such a drive, as far as they are known.
    fn bytes(&self, spec: &Spec, shape: DriveShape) -> Result<u64, SpecError>;

    /// Makes it, or tells why it cannot.
    fn make(&self, spec: &Spec, shape: DriveShape) -> Result<Box<dyn Policy>, String>;

    /// What tells its decisions from those of any other, for stores of results; none if nobody knows.
    fn code(&self) -> Option<String> {
        None
    }
}

/// Names of parameters with their values.
type Values = Vec<(&'static str, String)>;

/// A type that presents itself as those of the registry do.
struct Presented<P>(PhantomData<fn() -> P>);

impl<P: PolicyEntry> Presented<P> {
    fn parameters(spec: &Spec, context: Option<&FitContext>) -> Result<P::Parameters, SpecError> {
        let mut parameters = P::Parameters::from_spec(spec)?;
        context.map_or(Ok(()), |context| P::fit(&mut parameters, context))?;
        Ok(parameters)
    }

    fn made(spec: &Spec, shape: DriveShape) -> Result<Box<dyn Policy>, SpecError> {
        let context = FitContext { ftl: &spec.name, shape, oracle: &[] };
        let parameters = Self::parameters(spec, Some(&context))?;
        Ok(Box::new(<P as PolicyEntry>::new(&parameters, shape)))
    }
}

impl<P: PolicyEntry> OwnPolicy for Presented<P> {
    fn values(&self, spec: &Spec, context: Option<&FitContext>) -> Result<Values, SpecError> {
        Ok(Self::parameters(spec, context)?.values())
    }

    fn hints(&self) -> Hints {
        <P as PolicyEntry>::HINTS
    }

    fn bytes(&self, spec: &Spec, shape: DriveShape) -> Result<u64, SpecError> {
        registry::policy_bytes(shape, |small| Self::made(spec, small))
    }

    fn make(&self, spec: &Spec, shape: DriveShape) -> Result<Box<dyn Policy>, String> {
        Self::made(spec, shape).map_err(|error| error.to_string())
    }

    fn code(&self) -> Option<String> {
        Some(format!("{} {}", <P as PolicyEntry>::SOURCE, <P as PolicyEntry>::DECISIONS))
    }
}

/// Policies of the page-mapped engine that a program names itself.
#[derive(Clone, Default)]
pub struct OwnPolicies(Vec<(String, Arc<dyn OwnPolicy>)>);

impl OwnPolicies {
    /// Adds a policy. A name that is known already is refused.
    pub fn add(&mut self, name: &str, own: impl OwnPolicy + 'static) -> Result<(), StackError> {
        let spec: Spec = name.parse()?;
        if !spec.arguments.is_empty() || spec.name != name {
            return Err(unusable(name, "is no name", "use letters, digits, dashes and plus signs"));
        }
        let is_known = self.find(&spec).is_some() || registry::ftl_names().contains(&spec.name);
        if is_known {
            return Err(unusable(name, "is the name of an FTL already", "choose another one"));
        }
        self.0.push((spec.name, Arc::new(own)));
        Ok(())
    }

    /// Adds a policy that presents itself as those of the registry do: its parameters are read and fitted like theirs,
    /// and it is told the hints that it asks for. A name that is known already is refused.
    pub fn add_entry<P: PolicyEntry>(&mut self) -> Result<(), StackError> {
        self.add(P::NAME, Presented::<P>(PhantomData))
    }

    fn find(&self, spec: &Spec) -> Option<&dyn OwnPolicy> {
        self.0.iter().find(|(name, _)| *name == spec.name).map(|(_, own)| own.as_ref())
    }

    /// [`registry::resolve`], of these too.
    pub fn resolve(&self, spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
        self.find(spec).map_or_else(|| registry::resolve(spec), |own| own.values(spec, None))
    }

    /// [`registry::decisions`]; none of these, whose code nobody knows.
    pub fn decisions(&self, spec: &Spec) -> Result<Option<Decisions>, SpecError> {
        if self.find(spec).is_some() { Ok(None) } else { registry::decisions(spec).map(Some) }
    }

    /// [`registry::maps_blocks`]; none of these does.
    pub fn maps_blocks(&self, spec: &Spec) -> Result<bool, SpecError> {
        if self.find(spec).is_some() { Ok(false) } else { registry::maps_blocks(spec) }
    }

    /// What tells the decisions of one of these, where it is known.
    pub fn code(&self, spec: &Spec) -> Option<String> {
        self.find(spec)?.code()
    }

    /// [`registry::hints`], of these too.
    pub fn hints(&self, spec: &Spec) -> Result<Hints, SpecError> {
        self.find(spec).map_or_else(|| registry::hints(spec), |own| Ok(own.hints()))
    }

    /// [`registry::fit`], of these too.
    pub fn fit(
        &self,
        spec: &Spec,
        shape: DriveShape,
        oracle: &[OracleGroup],
    ) -> Result<Spec, SpecError> {
        let Some(own) = self.find(spec) else { return registry::fit(spec, shape, oracle) };
        let context = FitContext { ftl: &spec.name, shape, oracle };
        let (given, fitted) = (own.values(spec, None)?, own.values(spec, Some(&context))?);
        Ok(registry::with_fitted(spec, &given, fitted))
    }

    /// [`registry::memory_bytes`], of these too.
    pub fn memory_bytes(&self, spec: &Spec, shape: DriveShape) -> Result<u64, SpecError> {
        let Some(own) = self.find(spec) else { return registry::memory_bytes(spec, shape) };
        Ok(registry::drive_bytes(shape) + own.bytes(spec, shape)?)
    }

    /// What `of_registry` builds, of these too. A map that does not fit into memory has the policy in a box.
    pub(crate) fn build<F: Flash + Send + 'static, O: Observer + 'static>(
        &self,
        of_registry: Build<F, O>,
        (spec, mapping): (&Spec, &Mapping),
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<DynFtl<F, O>, StackError> {
        let shape = DriveShape::new(&mapping.of_engine(config)?);
        let policy = match self.find(spec) {
            None if mapping.is_full() => return Ok(of_registry(spec, config, flash, observer)?),
            None => registry::boxed_policy(spec, shape)?,
            Some(own) => own
                .make(spec, shape)
                .map_err(|reason| StackError::Refused { ftl: spec.to_string(), reason })?,
        };
        Ok(registry::build_mapped(mapping, policy, spec, config, flash, observer)?)
    }
}

/// [`registry::build`], or [`registry::build_boxed`].
type Build<F, O> = fn(&Spec, DriveConfig, F, O) -> Result<DynFtl<F, O>, BuildError>;

fn unusable(name: &str, what: &str, remedy: &'static str) -> StackError {
    StackError::Name { what: format!("{name:?} {what}"), remedy }
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

    #[test]
    fn a_name_stands_for_one_policy() {
        let mut policies = OwnPolicies::default();
        let mut add = |name| policies.add(name, Presented::<TwoRGreedy>(PhantomData));
        add("mine").unwrap();
        for (name, part) in [("mine", "already"), ("2r++", "already"), ("a:b=1", "is no name")] {
            let error = add(name).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = policies.resolve(&"mine:x=1".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("mine has no parameter \"x\""), "{error}");
        let error = policies.add_entry::<TwoRGreedy>().unwrap_err().to_string();
        assert!(error.contains("already"), "{error}");
    }
}
