//! Whose arguments are whose: a spec of a placement and a victim rule, or of a preset of both.

use ftlab_spec::{Parameter, Spec, SpecError};

/// `spec`, and after its own arguments those of its preset that it does not give itself.
pub(super) fn with_preset(spec: &Spec, preset: &str) -> Spec {
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
pub(super) fn preset_parameters(mut parameters: Vec<Parameter>, preset: &str) -> Vec<Parameter> {
    let preset = with_preset(&Spec::bare("preset"), preset);
    for parameter in &mut parameters {
        if let Some(value) = preset.get(parameter.name) {
            value.clone_into(&mut parameter.default);
        }
    }
    parameters
}

/// The arguments of a placement and those of a victim rule, which have these parameters.
pub(super) fn split(
    spec: &Spec,
    placement: &[Parameter],
    victim: &[Parameter],
) -> Result<(Spec, Spec), SpecError> {
    let has = |parameters: &[Parameter], key: &str| parameters.iter().any(|p| p.name == key);
    let mut parts = (Spec::bare(&spec.name), Spec::bare(&spec.name));
    for (key, value) in &spec.arguments {
        let part = if has(placement, key) {
            &mut parts.0
        } else if has(victim, key) {
            &mut parts.1
        } else {
            return Err(SpecError::UnknownParameter {
                of: spec.name.clone(),
                key: key.clone(),
                known: placement.iter().chain(victim).map(|p| p.name.to_owned()).collect(),
            });
        };
        part.arguments.push((key.clone(), value.clone()));
    }
    Ok(parts)
}
