//! What tests of drives share.

use ftlab_drive::CreateOptions;
use ftlab_ftl::page::{DriveConfig, Hints};
use ftlab_ftl::registry::{self, DriveShape, OracleGroup};
use ftlab_spec::{Spec, SpecError};

/// How often a test tries: a third of `all`, and all if `make test-all` asks for it.
pub(crate) fn times(all: u64) -> u64 {
    let is_asked_for_all = std::env::var_os("FTLAB_TEST_ALL").is_some();
    if is_asked_for_all { all } else { all.div_ceil(3) }
}

/// FTLs that a drive can have: a covering set of the pairs, and all others.
pub(crate) fn ftls() -> Vec<String> {
    registry::covering_names()
        .into_iter()
        .filter(|name| is_possible(&name.parse().unwrap()))
        .collect()
}

/// Whether a drive can have it: whoever asks for lifetimes needs to know the future.
pub(crate) fn is_possible(ftl: &Spec) -> bool {
    registry::hints(ftl).unwrap() != Hints::Lifetimes
}

/// A drive of this shape, with an FTL that fits it.
pub(crate) fn options(
    ftl: &Spec,
    config: DriveConfig,
    checkpoint_every: u64,
) -> Result<CreateOptions, SpecError> {
    let groups = [0.25, 0.75].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
    let ftl = registry::fit(ftl, DriveShape::new(&config), &groups)?;
    Ok(CreateOptions {
        ftl,
        config,
        mapping: ftlab_ftl::map::Mapping::FULL,
        checkpoint_every: Some(checkpoint_every),
    })
}
