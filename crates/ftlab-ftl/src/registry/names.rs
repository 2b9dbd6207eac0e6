//! What a name stands for: its parameters, its hints, and the list of all names.

use crate::engine::Engine;
use crate::page::entry::{DriveShape, FitContext, OracleGroup};
use crate::page::policy::Hints;
use crate::registry::arguments::{preset_parameters, split, with_preset};
use crate::registry::decisions::{Decisions, Piece};
use crate::registry::entry::{Entry, Kind};
use crate::registry::list::{
    HYBRIDS, Inner, PLACEMENTS, POLICIES, PRESETS, Pair, Preset, VICTIMS, inner, pair,
};
use crate::registry::row::{Row, Values};
use ftlab_spec::{Spec, SpecError};

/// Everything registered, in order.
pub fn entries() -> Vec<Entry> {
    let presets = PRESETS.iter().map(preset_entry);
    let whole = POLICIES.iter().chain(HYBRIDS).map(|row| row.entry(Kind::Ftl));
    let placements = PLACEMENTS.iter().map(|row| row.entry(Kind::Placement));
    let victims = VICTIMS.iter().map(|row| row.entry(Kind::Victim));
    presets.chain(whole).chain(placements).chain(victims).collect()
}

fn preset_entry(preset: &Preset) -> Entry {
    let Pair { placement, victim, arguments } = pair(preset.name).expect("a preset of ours");
    let parameters = [(placement.describe)(), (victim.describe)()].concat();
    Entry {
        kind: Kind::Ftl,
        name: preset.name,
        summary: format!(
            "{}; collects {} (= {}/{})",
            placement.summary, victim.summary, placement.name, victim.name
        ),
        // What is new in a preset is its placement, unless that separates nothing.
        source: if placement.name == "single" { victim.source } else { placement.source },
        parameters: preset_parameters(parameters, arguments),
    }
}

/// What the name of an FTL stands for.
enum Named {
    Whole(&'static Row),
    Pair(Pair),
}

impl Named {
    fn new(name: &str) -> Result<Self, SpecError> {
        let whole = POLICIES.iter().chain(HYBRIDS).find(|row| row.name == name);
        whole.map_or_else(|| pair(name).map(Self::Pair), |row| Ok(Self::Whole(row)))
    }

    /// Its parameters under `spec`: as given or by default, or where there is a context, with `auto`
    /// worked out.
    fn values(&self, spec: &Spec, context: Option<&FitContext>) -> Result<Values, SpecError> {
        match self {
            Self::Whole(row) => (row.values)(spec, context),
            Self::Pair(Pair { placement, victim, arguments }) => {
                if let Some(Inner { handles, policy, .. }) = inner(spec)? {
                    let within = context.map(|of| FitContext { ftl: &policy.name, ..*of });
                    let own = (placement.values)(&handles, context)?;
                    let of_policy = Self::new(&policy.name)?.values(&policy, within.as_ref())?;
                    return Ok([own, of_policy].concat());
                }
                let spec = with_preset(spec, arguments);
                let parts = split(&spec, &(placement.describe)(), &(victim.describe)())?;
                let of_placement = (placement.values)(&parts.0, context)?;
                Ok([of_placement, (victim.values)(&parts.1, context)?].concat())
            }
        }
    }
}

/// The versions of everything that decides in the FTL that `spec` names. Two programs in which their text is
/// equal do the same with the same writes, if the parameters are equal too.
///
/// ```
/// use ftlab_ftl::registry::decisions;
/// assert_eq!(decisions(&"2r++".parse()?)?.to_string(), "engine 1, 2r++ 1");
/// assert_eq!(decisions(&"sep-gc/greedy".parse()?)?.to_string(), "engine 1, sep-gc 1, greedy 1");
/// # Ok::<(), ftlab_spec::SpecError>(())
/// ```
pub fn decisions(spec: &Spec) -> Result<Decisions, SpecError> {
    Ok(match Named::new(&spec.name)? {
        Named::Whole(row) => Decisions::new(row.engine, vec![Piece::of(row, Kind::Ftl)]),
        Named::Pair(pair) => Decisions::new(Engine::PageMapped, pieces_of_pair(spec, &pair)?),
    })
}

/// Whether the FTL that `spec` names maps blocks, with a log of pages beside: what it copies depends on how many pages a
/// block has.
///
/// ```
/// use ftlab_ftl::registry::maps_blocks;
/// assert!(maps_blocks(&"fast".parse()?)? && !maps_blocks(&"sep-gc/greedy".parse()?)?);
/// # Ok::<(), ftlab_spec::SpecError>(())
/// ```
pub fn maps_blocks(spec: &Spec) -> Result<bool, SpecError> {
    Ok(decisions(spec)?.pieces().iter().any(|piece| piece.name == Engine::Hybrid.name()))
}

/// Those of a placement and a victim rule, or of what takes the place of the latter.
fn pieces_of_pair(spec: &Spec, pair: &Pair) -> Result<Vec<Piece>, SpecError> {
    let mut pieces = vec![Piece::of(pair.placement, Kind::Placement)];
    match inner(spec)? {
        Some(inner) => {
            let within = decisions(&inner.policy)?;
            pieces.extend(within.pieces().iter().filter(|piece| piece.kind.is_some()));
        }
        None => pieces.push(Piece::of(pair.victim, Kind::Victim)),
    }
    Ok(pieces)
}

/// Every parameter of the FTL that `spec` names with the value that it will have, as given or by
/// default; however `spec` writes them, what means the same gives the same. `auto` stays `auto`.
pub fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
    Named::new(&spec.name)?.values(spec, None)
}

/// `spec` with what its parameters that are `auto` come to on a drive of this size, under a workload of
/// which these groups are known; an error if a parameter asks for groups and none are known.
///
/// ```
/// use ftlab_ftl::registry::{DriveShape, OracleGroup, fit};
/// let shape =
///     DriveShape { blocks: 72, pages_per_block: 128, logical_pages: 8192, reserve_blocks: 4 };
/// let groups = [0.25, 0.75].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
/// let oracle = fit(&"oracle/greedy".parse()?, shape, &groups)?;
/// assert_eq!(oracle.to_string(), "oracle/greedy:hot=0..0.25");
/// assert!(fit(&"oracle/greedy".parse()?, shape, &[]).is_err());
/// # Ok::<(), ftlab_spec::SpecError>(())
/// ```
pub fn fit(spec: &Spec, shape: DriveShape, oracle: &[OracleGroup]) -> Result<Spec, SpecError> {
    let named = Named::new(&spec.name)?;
    let given = named.values(spec, None)?;
    let fitted = named.values(spec, Some(&FitContext { ftl: &spec.name, shape, oracle }))?;
    Ok(with_fitted(spec, &given, fitted))
}

/// `spec` with the values that fitting has changed: all parameters, as they were `given` and as they were `fitted`.
pub fn with_fitted(
    spec: &Spec,
    given: &[(&'static str, String)],
    fitted: Vec<(&'static str, String)>,
) -> Spec {
    let mut spec = spec.clone();
    for ((key, value), _) in fitted.into_iter().zip(given).filter(|(new, old)| new != *old) {
        spec.arguments.retain(|(other, _)| other != key);
        spec.arguments.push((key.to_owned(), value));
    }
    spec
}

/// The hints that the FTL asks for that `spec` names.
pub fn hints(spec: &Spec) -> Result<Hints, SpecError> {
    Ok(match Named::new(&spec.name)? {
        Named::Whole(row) => row.hints,
        Named::Pair(pair) => pair.placement.hints,
    })
}
