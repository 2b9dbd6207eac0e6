//! FTLs made by name.

use crate::ftl::DynFtl;
use crate::map::{Mapping, PagedMap};
use crate::observer::Observer;
use crate::page::entry::{DriveShape, FitContext, Hinted};
use crate::page::{Adopt, ConfigError, DriveConfig, PageMapped, Policy, Resume};
use crate::registry::error::BuildError;
use crate::registry::list::{HYBRIDS, PolicyVisitor, dispatch, hybrid_builder, known_policies};
use ftlab_flash::Flash;
use ftlab_spec::{Spec, SpecError};

/// Makes the policy of the page-mapped engine that `spec` names and hands it, with its type, to
/// `visitor`.
pub fn with_policy<V: PolicyVisitor>(
    spec: &Spec,
    shape: DriveShape,
    visitor: V,
) -> Result<V::Output, SpecError> {
    dispatch(spec, &FitContext { ftl: &spec.name, shape, oracle: &[] }, visitor)
}

/// Makes the policy of the page-mapped engine that `spec` names; a hybrid-mapped FTL has none.
pub fn boxed_policy(spec: &Spec, shape: DriveShape) -> Result<Box<dyn Policy>, SpecError> {
    struct Boxed;

    impl PolicyVisitor for Boxed {
        type Output = Box<dyn Policy>;

        fn visit<P: Hinted + 'static>(self, policy: P) -> Self::Output {
            Box::new(policy)
        }
    }

    refuse_hybrid(spec)?;
    with_policy(spec, shape, Boxed)
}

/// Builds the FTL that `spec` names, the engine being compiled for every policy that does little itself: the fastest,
/// and most of the build of a crate that calls it.
pub fn build<F: Flash + Send + 'static, O: Observer + 'static>(
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynFtl<F, O>, BuildError> {
    struct Build<F, O>(DriveConfig, F, O);

    impl<F: Flash + Send + 'static, O: Observer + 'static> PolicyVisitor for Build<F, O> {
        type Output = Result<DynFtl<F, O>, ConfigError>;

        fn visit<P: Hinted + 'static>(self, policy: P) -> Self::Output {
            let Self(config, flash, observer) = self;
            Ok(if P::IS_BOXED {
                let policy: Box<dyn Policy> = Box::new(policy);
                Box::new(PageMapped::new(policy, config, flash, observer)?)
            } else {
                Box::new(PageMapped::new(policy, config, flash, observer)?)
            })
        }
    }

    if let Some(build) = hybrid_builder(&spec.name) {
        return build(spec, config, flash, observer);
    }
    with_policy(spec, DriveShape::new(&config), Build(config, flash, observer))?
        .map_err(|source| BuildError::Config { ftl: spec.to_string(), source })
}

/// Builds the FTL that `spec` names like [`build`], the engine being compiled once for all policies
/// instead of once for each: slower by the calls of the policy, which only millions of page writes show.
pub fn build_boxed<F: Flash + Send + 'static, O: Observer + 'static>(
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynFtl<F, O>, BuildError> {
    if let Some(build) = hybrid_builder(&spec.name) {
        return build(spec, config, flash, observer);
    }
    let policy = boxed_policy(spec, DriveShape::new(&config))?;
    build_over(policy, spec, config, flash, observer)
}

/// Builds a page-mapped FTL of a policy, which messages call `ftl`.
pub fn build_over<F: Flash + Send + 'static, O: Observer + 'static>(
    policy: Box<dyn Policy>,
    ftl: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynFtl<F, O>, BuildError> {
    Ok(Box::new(page_mapped(policy, ftl, config, flash, observer)?))
}

/// Builds a page-mapped FTL of a policy, which messages call `ftl`, with a map of this kind. The policy is that of a
/// drive as [`Mapping::of_engine`] makes it of this one.
pub fn build_mapped<F: Flash + Send + 'static, O: Observer + 'static>(
    mapping: &Mapping,
    policy: Box<dyn Policy>,
    ftl: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynMapped<F, O>, BuildError> {
    if mapping.is_full() {
        return Ok(Box::new(page_mapped(policy, ftl, config, flash, observer)?));
    }
    let engine = mapping.of_engine(config)?;
    let made = PagedMap::new((mapping, false), policy, [config, engine], flash, observer);
    Ok(Box::new(made.map_err(|source| BuildError::Config { ftl: ftl.to_string(), source })?))
}

/// Builds the page-mapped FTL that `spec` names with a map of this kind, for a drive: its pages pass one by one, and hold
/// data. If the map is on flash, it takes no memory for entries that it does not hold, once it is
/// [paged out](Resume::page_out).
pub fn build_for_drive<F: Flash + Send + 'static, O: Observer + 'static>(
    mapping: &Mapping,
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynMapped<F, O>, BuildError> {
    Ok(build_to_adopt(mapping, spec, config, flash, observer)?)
}

/// As [`build_for_drive`], to take over what another FTL has written.
pub fn build_to_adopt<F: Flash + Send + 'static, O: Observer + 'static>(
    mapping: &Mapping,
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynAdopting<F, O>, BuildError> {
    if mapping.is_full() {
        return build_page_mapped(spec, config, flash, observer);
    }
    let engine = mapping.of_engine(config)?;
    let policy = boxed_policy(spec, DriveShape::new(&engine))?;
    let made = PagedMap::new((mapping, true), policy, [config, engine], flash, observer);
    Ok(Box::new(made.map_err(|source| BuildError::Config { ftl: spec.to_string(), source })?))
}

/// A page-mapped FTL of any policy and any map over `F`, watched by `O`.
pub type DynMapped<F, O> = Box<dyn Resume<Flash = F, Observer = O>>;

/// The same, which can take over what another FTL has written.
pub type DynAdopting<F, O> = Box<dyn Adopt<Flash = F, Observer = O>>;

/// Builds the page-mapped FTL that `spec` names, compiled like that of [`build_boxed`]: for drives whose pages pass
/// one by one, and hold data.
pub fn build_page_mapped<F: Flash + Send + 'static, O: Observer + 'static>(
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynAdopting<F, O>, BuildError> {
    let policy = boxed_policy(spec, DriveShape::new(&config))?;
    Ok(Box::new(page_mapped(policy, spec, config, flash, observer)?))
}

fn page_mapped<F: Flash + Send, O: Observer>(
    policy: Box<dyn Policy>,
    ftl: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<PageMapped<Box<dyn Policy>, F, O>, BuildError> {
    PageMapped::new(policy, config, flash, observer)
        .map_err(|source| BuildError::Config { ftl: ftl.to_string(), source })
}

fn refuse_hybrid(spec: &Spec) -> Result<(), SpecError> {
    if HYBRIDS.iter().all(|row| row.name != spec.name) {
        return Ok(());
    }
    let name = spec.name.clone();
    let known = Box::new(known_policies());
    Err(SpecError::UnknownPair { kind: "page-mapped FTL", name, known })
}
