//! Every FTL by name: the one place where names are resolved, and from which help and docs derive.

mod macros;

use crate::algorithms::{groups, hazard, midas, placement, two_r, victim};
use crate::page::policy::{Hints, Policy, VictimRule};
use crate::page::{Composed, ConfigError, DriveConfig, PageMapped, Resume};
use crate::{Observer, hybrid};
use ftlab_flash::{Flash, NoPayload};
use ftlab_spec::{Parameter, Parameters, Spec, SpecError};
use macros::{entry_of, registry};
use thiserror::Error;

pub use crate::ftl::DynFtl;
pub use crate::hybrid::FtlEntry;
pub use crate::page::entry::{
    DriveShape, FitContext, OracleGroup, PlacementEntry, PolicyEntry, VictimEntry,
};

registry! {
    policies: two_r::TwoRGreedy, two_r::TwoRFifo, two_r::TwoRPlusPlus, groups::Wolf,
              groups::FdpFreq, hazard::Hazard, midas::Midas;
    presets: "1r-greedy" => (placement::Single, victim::Greedy, ""),
             "fifo" => (placement::Single, victim::Fifo, ""),
             "lfs-cb" => (placement::Single, victim::CostBenefit, "batch=8"),
             "dac-cb" => (placement::Dac, victim::CostBenefit, ""),
             "dac-greedy" => (placement::Dac, victim::Greedy, ""),
             "sepbit" => (placement::SepBit, victim::CostBenefit, ""),
             "fk" => (placement::Fk, victim::CostBenefit, ""),
             "nvme-fdp" => (placement::NvmeFdp, victim::CostBenefit, "");
    placements: placement::Single, placement::SepGc, placement::Dac, placement::Baseline,
                placement::Lru, placement::Mbf, placement::Oracle, placement::SepBit,
                placement::MultiLog, placement::Sfs, placement::Fadac, placement::Warcip,
                placement::Fk, placement::NvmeFdp;
    victims: victim::Greedy, victim::Fifo, victim::CostBenefit, victim::DChoices,
             victim::WindowedGreedy, victim::Random;
    hybrids: hybrid::Fmax, hybrid::Fast, hybrid::Faster, hybrid::Page;
}

/// What a registered name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole FTL.
    Ftl,
    /// The part of an FTL before the slash.
    Placement,
    /// The part of an FTL after the slash.
    Victim,
}

/// A registered name, for lists and docs.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What it stands for.
    pub kind: Kind,
    /// The name.
    pub name: &'static str,
    /// One line.
    pub summary: String,
    /// Paper and section.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// Takes a policy whose type a name decided.
pub trait PolicyVisitor {
    /// What comes of it.
    type Output;

    /// Called with the policy.
    fn visit<P: Policy + 'static>(self, policy: P) -> Self::Output;
}

/// Makes the policy of the page-mapped engine that `spec` names and hands it, with its type, to
/// `visitor`.
pub fn with_policy<V: PolicyVisitor>(
    spec: &Spec,
    shape: DriveShape,
    visitor: V,
) -> Result<V::Output, SpecError> {
    dispatch(spec, &FitContext { ftl: &spec.name, shape, oracle: &[] }, visitor)
        .map(|made| made.output)
}

/// Names of parameters with their values.
type Values = Vec<(&'static str, String)>;

/// What a visitor made of a policy, and the policy's parameters.
struct Made<T> {
    output: T,
    /// As given or by default.
    given: Values,
    /// The same where `auto` has been worked out.
    fitted: Values,
}

struct Nothing;

impl PolicyVisitor for Nothing {
    type Output = ();

    fn visit<P: Policy + 'static>(self, _policy: P) {}
}

/// Every parameter of the FTL that `spec` names with the value that it will have, as given or by
/// default; however `spec` writes them, what means the same gives the same. `auto` stays `auto`.
pub fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
    if let Some(values) = resolve_hybrid(spec) {
        return values;
    }
    on_any_drive(spec, Nothing).map(|made| made.given)
}

/// The policy that `spec` names, for what depends neither on the drive nor on the workload.
fn on_any_drive<V: PolicyVisitor>(spec: &Spec, visitor: V) -> Result<Made<V::Output>, SpecError> {
    let shape =
        DriveShape { blocks: 64, pages_per_block: 16, logical_pages: 512, reserve_blocks: 4 };
    let oracle = [0.1, 0.9].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
    dispatch(spec, &FitContext { ftl: &spec.name, shape, oracle: &oracle }, visitor)
}

/// `spec` with what its parameters that are `auto` come to on a drive of this size, under a workload of
/// which these groups are known; an error if a parameter asks for groups and none are known.
///
/// ```
/// use ftlab_ftl::registry::{OracleGroup, DriveShape, fit};
/// let shape = DriveShape { blocks: 72, pages_per_block: 128, logical_pages: 8192, reserve_blocks: 4 };
/// let groups = [0.25, 0.75].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
/// let oracle = fit(&"oracle/greedy".parse()?, shape, &groups)?;
/// assert_eq!(oracle.to_string(), "oracle/greedy:hot=0..0.25");
/// assert!(fit(&"oracle/greedy".parse()?, size, &[]).is_err());
/// # Ok::<(), ftlab_spec::SpecError>(())
/// ```
pub fn fit(spec: &Spec, shape: DriveShape, oracle: &[OracleGroup]) -> Result<Spec, SpecError> {
    if let Some(values) = resolve_hybrid(spec) {
        return values.map(|_| spec.clone());
    }
    let made = dispatch(spec, &FitContext { ftl: &spec.name, shape, oracle }, Nothing)?;
    let worked_out = made.fitted.into_iter().zip(&made.given).filter(|(new, old)| new != *old);
    let mut spec = spec.clone();
    for ((key, value), _) in worked_out {
        spec.arguments.retain(|(other, _)| other != key);
        spec.arguments.push((key.to_owned(), value));
    }
    Ok(spec)
}

/// The hints that the FTL asks for that `spec` names.
pub fn hints(spec: &Spec) -> Result<Hints, SpecError> {
    struct Ask;

    impl PolicyVisitor for Ask {
        type Output = Hints;

        fn visit<P: Policy + 'static>(self, policy: P) -> Hints {
            policy.hints()
        }
    }

    if let Some(values) = resolve_hybrid(spec) {
        return values.map(|_| Hints::None);
    }
    on_any_drive(spec, Ask).map(|made| made.output)
}

/// Why an FTL cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// The name or a parameter is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The drive is too small.
    #[error("{ftl}: {source}")]
    Config {
        /// Which FTL.
        ftl: String,
        /// Why.
        source: ConfigError,
    },
}

type Builder<F, O> = fn(&Spec, DriveConfig, F, O) -> Result<DynFtl<F, O>, BuildError>;

fn build_entry<E: FtlEntry, F: Flash + Send + 'static, O: Observer + 'static>(
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynFtl<F, O>, BuildError> {
    E::build(&E::Parameters::from_spec(spec)?, config, flash, observer)
        .map_err(|source| BuildError::Config { ftl: spec.to_string(), source })
}

/// Builds the FTL that `spec` names.
pub fn build<F: Flash + Send + 'static, O: Observer + 'static>(
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynFtl<F, O>, BuildError> {
    struct Build<F, O>(DriveConfig, F, O);

    impl<F: Flash + Send + 'static, O: Observer + 'static> PolicyVisitor for Build<F, O> {
        type Output = Result<DynFtl<F, O>, ConfigError>;

        fn visit<P: Policy + 'static>(self, policy: P) -> Self::Output {
            let ftl: DynFtl<F, O> = Box::new(PageMapped::new(policy, self.0, self.1, self.2)?);
            Ok(ftl)
        }
    }

    if let Some(build) = hybrid_builder(&spec.name) {
        return build(spec, config, flash, observer);
    }
    let shape = DriveShape::new(&config);
    with_policy(spec, shape, Build(config, flash, observer))?
        .map_err(|source| BuildError::Config { ftl: spec.to_string(), source })
}

/// A page-mapped FTL of any policy over `F`, watched by `O`.
pub type DynPageMapped<F, O> = Box<dyn Resume<Flash = F, Observer = O>>;

/// Builds the page-mapped FTL that `spec` names.
pub fn build_page_mapped<F: Flash + Send + 'static, O: Observer + 'static>(
    spec: &Spec,
    config: DriveConfig,
    flash: F,
    observer: O,
) -> Result<DynPageMapped<F, O>, BuildError> {
    struct Build<F, O>(DriveConfig, F, O);

    impl<F: Flash + Send + 'static, O: Observer + 'static> PolicyVisitor for Build<F, O> {
        type Output = Result<DynPageMapped<F, O>, ConfigError>;

        fn visit<P: Policy + 'static>(self, policy: P) -> Self::Output {
            let ftl: DynPageMapped<F, O> =
                Box::new(PageMapped::new(policy, self.0, self.1, self.2)?);
            Ok(ftl)
        }
    }

    if hybrid_builder::<NoPayload, ()>(&spec.name).is_some() {
        return Err(unknown("page-mapped FTL", &spec.name, policy_names()).into());
    }
    with_policy(spec, DriveShape::new(&config), Build(config, flash, observer))?
        .map_err(|source| BuildError::Config { ftl: spec.to_string(), source })
}

/// Every name that stands for a whole FTL: presets, policies, hybrid-mapped ones, and all pairs of a
/// placement and a victim rule.
pub fn ftl_names() -> Vec<String> {
    let entries = entries();
    let of = |kind| entries.iter().filter(move |entry| entry.kind == kind).map(|entry| entry.name);
    let pairs = of(Kind::Placement)
        .flat_map(|placement| of(Kind::Victim).map(move |victim| format!("{placement}/{victim}")));
    of(Kind::Ftl).map(str::to_owned).chain(pairs).collect()
}

/// Of [`ftl_names`], those that the page-mapped engine runs: presets, policies and pairs.
pub fn policy_names() -> Vec<String> {
    ftl_names().into_iter().filter(|name| hybrid_builder::<NoPayload, ()>(name).is_none()).collect()
}

fn unknown(kind: &'static str, name: &str, known: Vec<String>) -> SpecError {
    SpecError::UnknownName { kind, name: name.into(), known }
}

/// A placement and a victim rule from one spec, and their parameters as given and as fitted.
fn compose<P: PlacementEntry, V: VictimEntry>(
    spec: &Spec,
    context: &FitContext,
) -> Result<(Composed<P, V>, Values, Values), SpecError> {
    let (mut placement, mut victim) = split_parameters::<P::Parameters, V::Parameters>(spec)?;
    let given = [placement.values(), victim.values()].concat();
    P::fit(&mut placement, context)?;
    V::fit(&mut victim, context)?;
    let fitted = [placement.values(), victim.values()].concat();
    let (placement, victim) = (P::new(&placement, context.shape), V::new(&victim, context.shape));
    Ok((Composed { placement, victim }, given, fitted))
}

/// `spec`, and behind it the arguments of its preset that it does not give itself.
fn with_preset(spec: &Spec, preset: &str) -> Spec {
    let preset: Spec = format!("preset:{preset}").parse().expect("a preset of ours");
    let mut spec = spec.clone();
    for (key, value) in preset.arguments {
        if spec.get(&key).is_none() {
            spec.arguments.push((key, value));
        }
    }
    spec
}

/// The parameters of a preset, their defaults as the preset has them.
fn preset_parameters(mut parameters: Vec<Parameter>, preset: &str) -> Vec<Parameter> {
    let preset = with_preset(&Spec::bare("preset"), preset);
    for parameter in &mut parameters {
        if let Some(value) = preset.get(parameter.name) {
            value.clone_into(&mut parameter.default);
        }
    }
    parameters
}

/// The parameters of a placement and of a victim rule from one spec.
fn split_parameters<P: Parameters, V: Parameters>(spec: &Spec) -> Result<(P, V), SpecError> {
    let placement_keys: Vec<_> = P::describe().iter().map(|p| p.name).collect();
    let mut parts = (Spec::bare(&spec.name), Spec::bare(&spec.name));
    let known = V::describe();
    for (key, value) in &spec.arguments {
        if placement_keys.contains(&key.as_str()) {
            parts.0.arguments.push((key.clone(), value.clone()));
        } else if known.iter().any(|parameter| parameter.name == key) {
            parts.1.arguments.push((key.clone(), value.clone()));
        } else {
            let keys = placement_keys.into_iter().chain(known.iter().map(|p| p.name));
            return Err(SpecError::UnknownParameter {
                of: spec.name.clone(),
                key: key.clone(),
                known: keys.map(str::to_owned).collect(),
            });
        }
    }
    Ok((P::from_spec(&parts.0)?, V::from_spec(&parts.1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::Geometry;
    use std::fs;
    use std::path::{Path, PathBuf};

    const NAME: &str = "NAME: &'static str = \"";

    fn sources(folder: &Path) -> Vec<(String, String)> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
        let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
        let files = files.iter().map(|path| (path.display().to_string(), text(path)));
        files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
    }

    /// Files of FTLs and of parts of them; beside them lies what they share.
    fn policy_files() -> Vec<(String, String)> {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let folders = ["algorithms", "hybrid"].map(|folder| src.join(folder));
        let files = folders.iter().flat_map(|folder| sources(folder));
        files.filter(|(_, text)| text.contains(NAME)).collect()
    }

    #[test]
    fn every_policy_file_is_registered() {
        let names: Vec<_> = entries().iter().map(|entry| entry.name).collect();
        for (path, text) in policy_files() {
            let name = text.split(NAME).nth(1).and_then(|t| t.split('"').next());
            assert!(
                name.is_some_and(|name| names.contains(&name)),
                "{path}: {name:?} in {names:?}"
            );
        }
    }

    #[test]
    fn every_policy_file_opens_under_the_fixed_headings() {
        let headings = ["Idea", "Rule", "Parameters", "Where the paper is silent", "Reference"];
        for (path, text) in policy_files() {
            let found: Vec<_> =
                text.lines().filter_map(|line| line.strip_prefix("//! # ")).collect();
            assert_eq!(found, headings, "{path}");
        }
    }

    #[test]
    fn what_means_the_same_resolves_to_the_same() {
        let resolved = |spec: &str| resolve(&spec.parse().unwrap());
        for entry in entries().iter().filter(|entry| entry.kind == Kind::Ftl) {
            let defaults: Vec<_> =
                entry.parameters.iter().map(|p| (p.name, p.default.clone())).collect();
            assert_eq!(resolved(entry.name).unwrap(), defaults, "{}", entry.name);
        }
        assert_eq!(resolved("2r++"), resolved("2r++:blk-util=.50"));
        assert_ne!(resolved("2r++"), resolved("2r++:blk-util=0.4"));
        assert!(resolved("sep-gc/greedy").is_ok());
        assert!(resolved("2r++:x=1").is_err() && resolved("2r").is_err());
    }

    #[test]
    fn a_wrong_name_or_parameter_is_an_error_that_lists_the_right_ones() {
        let config = DriveConfig::new(Geometry::new(64, 64, 4096).unwrap(), 3000, 4);
        for (spec, part) in [
            ("2r-fifi", "did you mean \"2r-fifo\"?"),
            ("single/greedi", "unknown victim rule \"greedi\" (did you mean \"greedy\"?)"),
            ("singel/greedy", "unknown placement \"singel\" (did you mean \"single\"?)"),
            ("2r-fifo:blk-util=1.5", "blk-util=1.5 is not a number in 0.0..=1.0"),
            ("faster:isolation=no", "isolation=no is not one of copy, inplace, off"),
            ("fast:sv=on", "fast has no parameter \"sv\""),
            ("1r-greedy:x=1", "1r-greedy has no parameter \"x\"; it has none"),
            ("sep-gc/fifo:x=1", "sep-gc/fifo has no parameter \"x\"; it has none"),
        ] {
            let error = build(&spec.parse().unwrap(), config, ftlab_flash::NoPayload, ());
            let message = error.err().expect(spec).to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
