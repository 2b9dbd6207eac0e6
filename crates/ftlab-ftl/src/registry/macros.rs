//! What turns the registry's lists into functions.

/// Makes `entries` and `with_policy` from the lists above.
macro_rules! registry {
    (
        policies: $($policy:ty),+;
        presets: $($preset:literal => ($preset_placement:ty, $preset_victim:ty)),+;
        placements: $($placement:ty),+;
        victims: $($victim:ty),+;
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
                    parameters: [
                        <$preset_placement as PlacementEntry>::Parameters::describe(),
                        <$preset_victim as VictimEntry>::Parameters::describe(),
                    ]
                    .concat(),
                },)+
            ];
            $(entries.push(entry_of!(Ftl, PolicyEntry, $policy));)+
            $(entries.push(entry_of!(Placement, PlacementEntry, $placement));)+
            $(entries.push(entry_of!(Victim, VictimEntry, $victim));)+
            entries
        }

        /// Makes the policy that `spec` names and hands it, with its type, to `visitor`.
        pub fn with_policy<V: PolicyVisitor>(
            spec: &Spec,
            size: Size,
            visitor: V,
        ) -> Result<V::Output, SpecError> {
            match spec.name.as_str() {
                $($preset => {
                    let (placement, victim) = split_parameters(spec)?;
                    return Ok(visitor.visit(Composed {
                        placement: <$preset_placement as PlacementEntry>::new(&placement, size),
                        victim: <$preset_victim as VictimEntry>::new(&victim, size),
                    }));
                })+
                $(<$policy as PolicyEntry>::NAME => {
                    let parameters = <$policy as PolicyEntry>::Parameters::from_spec(spec)?;
                    return Ok(visitor.visit(<$policy as PolicyEntry>::new(&parameters, size)));
                })+
                _ => {}
            }
            let Some((placement, victim)) = spec.name.split_once('/') else {
                return Err(unknown("FTL", &spec.name, ftl_names()));
            };
            match placement {
                $(<$placement as PlacementEntry>::NAME => {
                    let (placement, victim) =
                        placement_and_rule::<$placement>(spec, victim, size)?;
                    Ok(visitor.visit(Composed { placement, victim }))
                })+
                _ => Err(unknown(
                    "placement",
                    placement,
                    vec![$(<$placement as PlacementEntry>::NAME.to_owned()),+],
                )),
            }
        }

        fn placement_and_rule<P: PlacementEntry>(
            spec: &Spec,
            victim: &str,
            size: Size,
        ) -> Result<(P, Box<dyn VictimRule>), SpecError> {
            match victim {
                $(<$victim as VictimEntry>::NAME => {
                    let (placement, victim) = split_parameters(spec)?;
                    Ok((P::new(&placement, size), Box::new(<$victim as VictimEntry>::new(&victim, size))))
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
