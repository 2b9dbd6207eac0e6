//! Every FTL: a new one is a line here.

use crate::algorithms::{
    address_groups, dogi, fk, groups, hazard, midas, nodap, placement, two_r, victim,
};
use crate::engine::Engine;
use crate::ftl::DynFtl;
use crate::hybrid::{self, FtlEntry};
use crate::observer::Observer;
use crate::page::entry::{FitContext, Hinted, PlacementEntry, PolicyEntry, VictimEntry};
use crate::page::handle_streams::InnerStream;
use crate::page::policy::{Hints, VictimRule};
use crate::page::reclaim_groups::Indivisible;
use crate::page::{Composed, Directed, DriveConfig, Policy, ReclaimGroups};
use crate::registry::arguments::{split, with_preset};
use crate::registry::error::BuildError;
use crate::registry::macros::{make, registry, row};
use crate::registry::row::{Row, find};
use crate::stream::Stream;
use ftlab_flash::Flash;
use ftlab_spec::{NamesAndPairs, Parameters, Spec, SpecError};

registry! {
    policies: two_r::TwoRGreedy, two_r::TwoRFifo, two_r::TwoRPlusPlus, groups::Wolf,
              groups::FdpFreq, hazard::Hazard, hazard::OracleRate, midas::Midas, dogi::Dogi, fk::Fk, nodap::Nodap,
              address_groups::AddressGroups;
    presets: "1r-greedy" => (placement::Single, victim::Greedy, ""),
             "fifo" => (placement::Single, victim::Fifo, ""),
             "lfs-cb" => (placement::Single, victim::CostBenefit, "batch=8"),
             "dac-cb" => (placement::Dac, victim::CostBenefit, ""),
             "dac-greedy" => (placement::Dac, victim::Greedy, ""),
             "sepbit" => (placement::SepBit, victim::CostBenefit, ""),
             "nvme-fdp" => (placement::NvmeFdp, victim::CostBenefit, "");
    placements: placement::Single, placement::SepGc, placement::Dac, placement::Baseline,
                placement::Lru, placement::Mbf, placement::Oracle, placement::SepBit,
                placement::MultiLog, placement::Sfs, placement::Fadac, placement::Warcip,
                placement::SepBitMultiLog, placement::Phftl, placement::Fk, placement::NvmeFdp;
    victims: victim::Greedy, victim::Fifo, victim::CostBenefit, victim::DChoices,
             victim::WindowedGreedy, victim::Random, victim::Cat;
    hybrids: hybrid::Fmax, hybrid::Bast, hybrid::Fast, hybrid::Kast, hybrid::Last, hybrid::Faster,
             hybrid::Page;
}

/// A name that stands for a placement and a victim rule.
pub(super) struct Preset {
    pub(super) name: &'static str,
    pub(super) placement: &'static str,
    pub(super) victim: &'static str,
    /// Those that have another default.
    pub(super) arguments: &'static str,
}

/// Makes a victim rule on a drive that the context tells.
type MakeRule = fn(&Spec, &FitContext) -> Result<Box<dyn VictimRule>, SpecError>;

/// A placement and a victim rule, and what a preset says of their parameters.
pub(super) struct Pair {
    pub(super) placement: &'static Row,
    pub(super) victim: &'static Row<MakeRule>,
    pub(super) arguments: &'static str,
}

/// What `PLACEMENT/VICTIM` or the name of a preset stands for.
pub(super) fn pair(name: &str) -> Result<Pair, SpecError> {
    let preset = PRESETS.iter().find(|preset| preset.name == name);
    let (placement, victim, arguments) = match (preset, name.split_once('/')) {
        (Some(preset), _) => (preset.placement, preset.victim, preset.arguments),
        (None, Some((placement, victim))) => (placement, victim, ""),
        (None, None) => {
            let known = Box::new(known_ftls());
            return Err(SpecError::UnknownPair { kind: "FTL", name: name.into(), known });
        }
    };
    Ok(Pair {
        placement: find(PLACEMENTS, "placement", placement)?,
        victim: find(VICTIMS, "victim rule", victim)?,
        arguments,
    })
}

/// The parameter that names an FTL within placement handles.
const INNER: &str = "inner";

/// The parameter that divides the flash.
const GROUPS: &str = "reclaim-groups";

/// What keeps the pages of a handle apart in each of several reclaim groups, where nothing is named.
const DEFAULT_INNER: &str = "sep-gc";

/// What `nvme-fdp:inner=POLICY` stands for.
pub(super) struct Inner {
    /// The handles, without what is within.
    pub(super) handles: Spec,
    /// The policy within.
    pub(super) policy: Spec,
    /// Nothing is named, and flash in several reclaim groups needs a policy in each.
    is_default: bool,
}

/// The handles and the policy within them that `spec` names; none if it names no policy within handles.
pub(super) fn inner(spec: &Spec) -> Result<Option<Inner>, SpecError> {
    let has_groups = spec.get(GROUPS).is_some_and(|groups| groups != "1");
    let named = spec.get(INNER).filter(|name| *name != "none");
    let Some(name) = named.or(has_groups.then_some(DEFAULT_INNER)) else { return Ok(None) };
    let victim = match spec.name.split_once('/') {
        None if spec.name == placement::NvmeFdp::NAME => None,
        Some((placement::NvmeFdp::NAME, victim)) => Some(victim),
        _ => return Ok(None),
    };
    let known = placement::NvmeFdpParameters::describe();
    let is_own = |key: &str| known.iter().any(|parameter| parameter.name == key);
    let of = |own: bool| {
        let arguments = spec.arguments.iter().filter(|(key, _)| is_own(key) == own);
        arguments.cloned().collect::<Vec<_>>()
    };
    let is_placement = PLACEMENTS.iter().any(|row| row.name == name);
    let is_preset = PRESETS.iter().any(|preset| preset.name == name);
    let refuse = |expects: &str| {
        let (of, key) = (spec.name.clone(), INNER.to_owned());
        Err(SpecError::BadValue { of, key, value: name.to_owned(), expects: expects.to_owned() })
    };
    let policy = match victim {
        Some(victim) if is_placement => format!("{name}/{victim}"),
        Some(_) => {
            return refuse(
                "a placement, which goes with the victim rule after the slash; give an FTL that has its own \
                 as in nvme-fdp:inner=hazard",
            );
        }
        None if is_placement && !is_preset => {
            format!("{name}/{}", pair(placement::NvmeFdp::NAME)?.victim.name)
        }
        None => name.to_owned(),
    };
    let policy = Spec { name: policy, arguments: of(false) };
    if HYBRIDS.iter().any(|row| row.name == policy.name) {
        return refuse(
            "a page-mapped FTL; a hybrid-mapped one has no streams to take within a handle",
        );
    }
    let whole = POLICIES.iter().find(|row| row.name == policy.name);
    if has_groups && whole.is_some() {
        return refuse(
            "a placement or a pair as in dac-cb, of which each reclaim group can have its own; this FTL plans \
             for a whole drive",
        );
    }
    let hints = whole
        .map_or_else(|| pair(&policy.name).map(|pair| pair.placement.hints), |row| Ok(row.hints));
    if hints? != Hints::None {
        return refuse("an FTL that is told nothing but addresses; it asks for hints itself");
    }
    Ok(Some(Inner {
        handles: Spec { name: placement::NvmeFdp::NAME.to_owned(), arguments: of(true) },
        policy,
        is_default: named.is_none(),
    }))
}

impl Inner {
    /// Whether the flash is divided.
    pub(super) fn has_groups(&self) -> bool {
        self.handles.get(GROUPS).is_some_and(|groups| groups != "1")
    }

    fn parameters(&self, context: &FitContext) -> Result<placement::NvmeFdpParameters, SpecError> {
        let mut parameters = placement::NvmeFdpParameters::from_spec(&self.handles)?;
        placement::NvmeFdp::fit(&mut parameters, context)?;
        Ok(parameters)
    }

    fn make(&self, context: &FitContext) -> Result<Box<dyn Policy>, SpecError> {
        struct Boxed;

        impl PolicyVisitor for Boxed {
            type Output = Box<dyn Policy>;

            fn visit<P: Hinted + 'static>(self, policy: P) -> Self::Output {
                Box::new(policy)
            }
        }

        dispatch(&self.policy, &FitContext { ftl: &self.policy.name, ..*context }, Boxed)
    }

    fn too_many_streams(&self, handles: u32, streams: usize, context: &FitContext) -> SpecError {
        let expects = format!(
            "possible with {handles} handles: its {streams} streams within each make more than 255; lower \
             handles="
        );
        context.refuse(INNER, &self.policy.name, expects)
    }
}

/// Makes the policy.
pub(super) fn directed(inner: &Inner, context: &FitContext) -> Result<Directed, SpecError> {
    let parameters = inner.parameters(context)?;
    let policy = inner.make(context)?;
    let streams = policy.streams().len();
    let flash_pages = context.shape.blocks * context.shape.pages_per_block;
    Directed::new(&parameters.isolation(), policy, flash_pages)
        .map(|directed| directed.moving_by(parameters.luns()))
        .ok_or_else(|| inner.too_many_streams(parameters.handles(), streams, context))
}

/// Makes the policies of all reclaim groups.
pub(super) fn grouped(inner: &Inner, context: &FitContext) -> Result<ReclaimGroups, SpecError> {
    let parameters = inner.parameters(context)?;
    let groups = parameters.reclaim_groups();
    let policies: Vec<_> = (0..groups).map(|_| inner.make(context)).collect::<Result<_, _>>()?;
    let stream = |stream: Stream| {
        let takes_host_writes = !inner.is_default || !stream.takes_relocations;
        let name = if inner.is_default { "" } else { stream.name };
        InnerStream { stream: Stream { name, ..stream }, takes_host_writes }
    };
    let streams: Vec<_> = policies[0].streams().into_iter().map(stream).collect();
    let isolation = parameters.isolation();
    let made = ReclaimGroups::new(&isolation, policies, &streams, context.shape);
    made.map(|groups| groups.moving_by(parameters.luns())).map_err(|why| match why {
        Indivisible::Streams => {
            let handles = parameters.handles() * u32::from(groups);
            inner.too_many_streams(handles, streams.len(), context)
        }
        Indivisible::Blocks { each, needed } => {
            let expects = format!(
                "possible here: each group would have {each} erase blocks, and its part of the data, of the \
                 reserve and the open blocks of the handles need {needed}; raise --op or --blocks, or take \
                 smaller blocks or fewer handles"
            );
            context.refuse(GROUPS, &groups, expects)
        }
    })
}

/// Every name that stands for a whole FTL: presets, policies, hybrid-mapped ones, and all pairs of a
/// placement and a victim rule.
pub fn ftl_names() -> Vec<String> {
    let pairs = PLACEMENTS.iter().flat_map(|placement| {
        VICTIMS.iter().map(|victim| format!("{}/{}", placement.name, victim.name))
    });
    known_ftls().names.into_iter().chain(pairs).collect()
}

/// The names of FTLs for a reader: pairs by their parts.
pub fn known_ftls() -> NamesAndPairs {
    let presets = PRESETS.iter().map(|preset| preset.name);
    let whole = presets.chain(POLICIES.iter().chain(HYBRIDS).map(|row| row.name));
    NamesAndPairs {
        names: whole.map(str::to_owned).collect(),
        parts: [
            ("placements", PLACEMENTS.iter().map(|row| row.name.to_owned()).collect()),
            ("victim rules", VICTIMS.iter().map(|row| row.name.to_owned()).collect()),
        ],
    }
}

/// Of [`known_ftls`], those that the page-mapped engine runs.
pub(super) fn known_policies() -> NamesAndPairs {
    let mut known = known_ftls();
    known.names.retain(|name| HYBRIDS.iter().all(|row| row.name != name));
    known
}

/// Of [`ftl_names`], those that the page-mapped engine runs: presets, policies and pairs.
pub fn policy_names() -> Vec<String> {
    ftl_names().into_iter().filter(|name| HYBRIDS.iter().all(|row| row.name != name)).collect()
}

/// A covering set of [`policy_names`], for tests that take long: presets and policies, every placement
/// with two victim rules, and every victim rule with two placements.
pub fn covering_names() -> Vec<String> {
    let covers = |name: &String| match name.split_once('/') {
        Some((placement, victim)) => {
            ["greedy", "cost-benefit"].contains(&victim) || ["single", "dac"].contains(&placement)
        }
        None => true,
    };
    policy_names().into_iter().filter(covers).collect()
}

/// Takes a policy whose type a name decided.
pub trait PolicyVisitor {
    /// What comes of it.
    type Output;

    /// Called with the policy.
    fn visit<P: Hinted + 'static>(self, policy: P) -> Self::Output;
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
