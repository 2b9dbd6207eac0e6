//! What the results of a sweep rest on.

use super::columns::StoredRun;
use super::plan::Plan;
use ftlab_sim::trust::Trust;
use std::collections::BTreeMap;

/// What these results rest on; taken for granted is what all of them took for granted.
pub fn trust_of(results: &BTreeMap<String, StoredRun>) -> Trust {
    let results = || results.values().map(|stored| &stored.result);
    let mut assumed = results().next().map_or_else(Vec::new, |first| first.trust.assumed.clone());
    assumed.retain(|one| results().all(|result| result.trust.assumed.contains(one)));
    let runs = results().flat_map(|result| &result.runs);
    Trust::of(runs.filter_map(|run| run.evidence.as_ref()), assumed)
}

/// The points whose results are no evidence, by their places on the axes that vary, and what each lacks.
pub fn without_evidence(
    plan: &Plan,
    results: &BTreeMap<String, StoredRun>,
) -> Vec<(String, String)> {
    let axes = plan.varying_axes();
    let points = plan.points.iter().filter_map(|point| {
        let run = results.get(&point.run)?.result.runs.first()?;
        let lacks = run.evidence.as_ref()?.lacks.clone()?;
        let labels = axes.iter().filter_map(|axis| Some(format!("{axis} {}", point.label(axis)?)));
        let name = labels.collect::<Vec<_>>().join(", ");
        Some((if name.is_empty() { run.ftl.clone() } else { name }, lacks))
    });
    points.collect()
}
