//! What turns the registry's lists into functions.

/// Makes `entries` and `dispatch` from the lists above.
macro_rules! registry {
    (
        policies: $($policy:ty),+;
        presets: $($preset:literal => ($preset_placement:ty, $preset_victim:ty, $arguments:literal)),+;
        placements: $($placement:ty),+;
        victims: $($victim:ty),+;
        hybrids: $($hybrid:ty),+;
    ) => {
        /// Everything registered, in order.
        pub fn entries() -> Vec<Entry> {
            let mut entries = vec![
                $(Entry {
                    kind: Kind::Ftl,
                    name: $preset,
                    summary: format!(
                        "{}; collects {} (= {}/{})",
                        <$preset_placement>::SUMMARY,
                        <$preset_victim>::SUMMARY,
                        <$preset_placement>::NAME,
                        <$preset_victim>::NAME
                    ),
                    source: <$preset_victim>::SOURCE,
                    parameters: preset_parameters(
                        [
                            <$preset_placement as PlacementEntry>::Parameters::describe(),
                            <$preset_victim as VictimEntry>::Parameters::describe(),
                        ]
                        .concat(),
                        $arguments,
                    ),
                },)+
            ];
            $(entries.push(entry_of!(Ftl, PolicyEntry, $policy));)+
            $(entries.push(entry_of!(Ftl, FtlEntry, $hybrid));)+
            $(entries.push(entry_of!(Placement, PlacementEntry, $placement));)+
            $(entries.push(entry_of!(Victim, VictimEntry, $victim));)+
            entries
        }

        /// What `visitor` makes of the policy that `spec` names, and all parameters of that.
        fn dispatch<V: PolicyVisitor>(
            spec: &Spec,
            context: &FitContext,
            visitor: V,
        ) -> Result<Made<V::Output>, SpecError> {
            match spec.name.as_str() {
                $($preset => {
                    let spec = with_preset(spec, $arguments);
                    let (policy, given, fitted) =
                        compose::<$preset_placement, $preset_victim>(&spec, context)?;
                    return Ok(Made { output: visitor.visit(policy), given, fitted });
                })+
                $(<$policy as PolicyEntry>::NAME => {
                    let mut parameters = <$policy as PolicyEntry>::Parameters::from_spec(spec)?;
                    let given = parameters.values();
                    <$policy as PolicyEntry>::fit(&mut parameters, context)?;
                    let policy = <$policy as PolicyEntry>::new(&parameters, context.shape);
                    let fitted = parameters.values();
                    return Ok(Made { output: visitor.visit(policy), given, fitted });
                })+
                _ => {}
            }
            let Some((placement, victim)) = spec.name.split_once('/') else {
                return Err(unknown("FTL", &spec.name, ftl_names()));
            };
            match placement {
                $(<$placement as PlacementEntry>::NAME => {
                    let (policy, given, fitted) =
                        placement_and_rule::<$placement>(spec, victim, context)?;
                    Ok(Made { output: visitor.visit(policy), given, fitted })
                })+
                _ => Err(unknown(
                    "placement",
                    placement,
                    vec![$(<$placement as PlacementEntry>::NAME.to_owned()),+],
                )),
            }
        }

        /// What builds the hybrid-mapped FTL of that name.
        fn hybrid_builder<F: Flash + Send + 'static, O: Observer + 'static>(
            name: &str,
        ) -> Option<Builder<F, O>> {
            match name {
                $(<$hybrid as FtlEntry>::NAME => Some(build_entry::<$hybrid, F, O>),)+
                _ => None,
            }
        }

        /// All parameters of the hybrid-mapped FTL that `spec` names.
        fn resolve_hybrid(spec: &Spec) -> Option<Result<Values, SpecError>> {
            match spec.name.as_str() {
                $(<$hybrid as FtlEntry>::NAME => {
                    Some(<$hybrid as FtlEntry>::Parameters::resolve(spec))
                })+
                _ => None,
            }
        }

        fn placement_and_rule<P: PlacementEntry>(
            spec: &Spec,
            victim: &str,
            context: &FitContext,
        ) -> Result<(Composed<P, Box<dyn VictimRule>>, Values, Values), SpecError> {
            match victim {
                $(<$victim as VictimEntry>::NAME => {
                    let (policy, given, fitted) = compose::<P, $victim>(spec, context)?;
                    let Composed { placement, victim } = policy;
                    Ok((Composed { placement, victim: Box::new(victim) }, given, fitted))
                })+
                _ => Err(unknown(
                    "victim rule",
                    victim,
                    vec![$(<$victim as VictimEntry>::NAME.to_owned()),+],
                )),
            }
        }
    };
}
pub(super) use registry;

macro_rules! entry_of {
    ($kind:ident, $entry:ident, $type:ty) => {
        Entry {
            kind: Kind::$kind,
            name: <$type as $entry>::NAME,
            summary: <$type as $entry>::SUMMARY.to_owned(),
            source: <$type as $entry>::SOURCE,
            parameters: <$type as $entry>::Parameters::describe(),
        }
    };
}
pub(super) use entry_of;
