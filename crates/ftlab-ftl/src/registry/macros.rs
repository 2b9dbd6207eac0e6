//! What turns the registry's lists into tables and functions.

/// Makes the tables and `dispatch` from the lists.
macro_rules! registry {
    (
        policies: $($policy:ty),+;
        presets: $($preset:literal => ($preset_placement:ty, $preset_victim:ty, $arguments:literal)),+;
        placements: $($placement:ty),+;
        victims: $($victim:ty),+;
        hybrids: $($hybrid:ty),+;
    ) => {
        /// Policies with a file of their own.
        pub(super) const POLICIES: &[Row] =
            &[$(row!(PolicyEntry, $policy, <$policy as PolicyEntry>::HINTS, ())),+];

        /// Names that stand for a placement and a victim rule.
        pub(super) const PRESETS: &[Preset] = &[$(Preset {
            name: $preset,
            placement: <$preset_placement as PlacementEntry>::NAME,
            victim: <$preset_victim as VictimEntry>::NAME,
            arguments: $arguments,
        }),+];

        /// What may stand before the slash.
        pub(super) const PLACEMENTS: &[Row] =
            &[$(row!(PlacementEntry, $placement, <$placement as PlacementEntry>::HINTS, ())),+];

        /// What may stand after the slash.
        pub(super) const VICTIMS: &[Row<MakeRule>] =
            &[$(row!(VictimEntry, $victim, Hints::None, |spec, context| {
                Ok(Box::new(make!(VictimEntry, $victim, spec, context)))
            })),+];

        /// FTLs that are no policies of the page-mapped engine.
        pub(super) const HYBRIDS: &[Row] = &[$(Row {
            name: <$hybrid as FtlEntry>::NAME,
            summary: <$hybrid as FtlEntry>::SUMMARY,
            source: <$hybrid as FtlEntry>::SOURCE,
            decisions: <$hybrid as FtlEntry>::DECISIONS,
            engine: <$hybrid as FtlEntry>::ENGINE,
            hints: Hints::None,
            describe: <$hybrid as FtlEntry>::Parameters::describe,
            values: |spec, _| <$hybrid as FtlEntry>::Parameters::resolve(spec),
            make: (),
        }),+];

        /// What `visitor` makes of the policy that `spec` names.
        pub(super) fn dispatch<V: PolicyVisitor>(
            spec: &Spec,
            context: &FitContext,
            visitor: V,
        ) -> Result<V::Output, SpecError> {
            if let Some(inner) = inner(spec)? {
                if inner.has_groups() {
                    return Ok(visitor.visit(grouped(&inner, context)?));
                }
                return Ok(visitor.visit(directed(&inner, context)?));
            }
            match spec.name.as_str() {
                $($preset => {
                    let (placement, victim) = split(
                        &with_preset(spec, $arguments),
                        &<$preset_placement as PlacementEntry>::Parameters::describe(),
                        &<$preset_victim as VictimEntry>::Parameters::describe(),
                    )?;
                    return Ok(visitor.visit(Composed {
                        placement: make!(PlacementEntry, $preset_placement, &placement, context),
                        victim: make!(VictimEntry, $preset_victim, &victim, context),
                    }));
                })+
                $(<$policy as PolicyEntry>::NAME => {
                    return Ok(visitor.visit(make!(PolicyEntry, $policy, spec, context)));
                })+
                _ => {}
            }
            let Pair { placement, victim, .. } = pair(&spec.name)?;
            let parts = split(spec, &(placement.describe)(), &(victim.describe)())?;
            let victim = (victim.make)(&parts.1, context)?;
            match placement.name {
                $(<$placement as PlacementEntry>::NAME => Ok(visitor.visit(Composed {
                    placement: make!(PlacementEntry, $placement, &parts.0, context),
                    victim,
                })),)+
                name => unreachable!("{name} is in the table and not in the list"),
            }
        }

        /// What builds the hybrid-mapped FTL of that name.
        pub(super) fn hybrid_builder<F: Flash + Send + 'static, O: Observer + 'static>(
            name: &str,
        ) -> Option<Builder<F, O>> {
            match name {
                $(<$hybrid as FtlEntry>::NAME => Some(build_entry::<$hybrid, F, O>),)+
                _ => None,
            }
        }
    };
}
pub(super) use registry;

/// The row of a type that presents itself as `page::entry` says.
macro_rules! row {
    ($trait:ident, $type:ty, $hints:expr, $make:expr) => {
        Row {
            name: <$type as $trait>::NAME,
            summary: <$type as $trait>::SUMMARY,
            source: <$type as $trait>::SOURCE,
            decisions: <$type as $trait>::DECISIONS,
            engine: Engine::PageMapped,
            hints: $hints,
            describe: <$type as $trait>::Parameters::describe,
            values: |spec, context| {
                let mut parameters = <$type as $trait>::Parameters::from_spec(spec)?;
                if let Some(context) = context {
                    <$type as $trait>::fit(&mut parameters, context)?;
                }
                Ok(parameters.values())
            },
            make: $make,
        }
    };
}
pub(super) use row;

/// One of a type that presents itself as `page::entry` says.
macro_rules! make {
    ($trait:ident, $type:ty, $spec:expr, $context:expr) => {{
        let mut parameters = <$type as $trait>::Parameters::from_spec($spec)?;
        <$type as $trait>::fit(&mut parameters, $context)?;
        <$type as $trait>::new(&parameters, $context.shape)
    }};
}
pub(super) use make;
