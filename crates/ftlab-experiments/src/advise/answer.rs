//! The answer in words.

use super::{Advice, Curve, Lifelong, Point, Role, Slo, Target};
use ftlab_sim::evidence::Standing;
use ftlab_sim::format::{bytes, grouped, percent, significant};
use ftlab_sim::{Experiment, Fill, Length};
use std::fmt::{self, Write};

impl Advice {
    /// Points on the drives that were asked for, which most FTLs have in common.
    pub fn grid(&self) -> impl Iterator<Item = &Point> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        points.filter(|point| point.is_of_grid)
    }

    /// The FTL and the smallest drive that meet the target at the lowest cost.
    pub fn best(&self) -> Option<(&str, Point)> {
        self.curves.first().and_then(|curve| Some((curve.ftl.as_str(), curve.needs?)))
    }

    /// Over-provisioning that is needed under the circumstances that were looked at, by the best FTL or by one that a real
    /// drive may have instead: least and most; no most where none suffices under one of them.
    pub fn range(&self) -> Option<(f64, Option<f64>)> {
        let (_, best) = self.best()?;
        let instead = self.curves.iter().filter(|curve| curve.role == Role::Instead);
        let others = self.otherwise.iter().map(|other| other.needs);
        let all: Vec<_> = others.chain(instead.map(|curve| curve.needs)).collect();
        let needs = || all.iter().map(|needs| needs.map(|point| point.op_ratio));
        let least = needs().flatten().fold(best.op_ratio, f64::min);
        let most = needs().try_fold(best.op_ratio, |most, op| Some(most.max(op?)));
        Some((least, most))
    }

    /// What to keep in mind; `own_bytes` is the size of the drive of the trace.
    pub(super) fn caveats_of(&self, base: &Experiment, own_bytes: u64) -> Vec<String> {
        let is_repeated = matches!(base.length, Length::UntilSteady(_));
        let evidence = self.evidence.as_ref();
        let mut caveats = evidence.map_or_else(Vec::new, |all| all.caveats(own_bytes, is_repeated));
        let unsettled: Vec<&str> = self
            .curves
            .iter()
            .filter(|curve| {
                let proved = curve.points.iter().filter(|point| point.standing != Standing::None);
                proved.into_iter().any(|point| !point.has_settled())
            })
            .map(|curve| curve.ftl.as_str())
            .collect();
        let unproved: Vec<&str> = self
            .curves
            .iter()
            .filter(|curve| curve.points.iter().any(|point| point.standing == Standing::None))
            .map(|curve| curve.ftl.as_str())
            .collect();
        if !unproved.is_empty() {
            let lacks = self.trust.lacks.as_deref().unwrap_or_default();
            caveats.push(format!(
                "Some runs are no evidence (marked with ? in the table), and meet no target: {} ({lacks}).",
                unproved.join(", ")
            ));
        }
        if !unsettled.is_empty() {
            caveats.push(format!(
                "Write amplification had not settled on every drive (marked with * in the table): {}.",
                unsettled.join(", ")
            ));
        }
        if let Some(timing) = base.timing.as_ref().filter(|_| self.is_about_time()) {
            caveats.push(format!(
                "Requests come at random and independent of each other, whatever the times of a trace; the flash is \
                 {timing}."
            ));
        }
        if base.fill == Fill::None {
            caveats.push(
                "The drive is empty at first: a drive in use is full, at least of what was deleted \
                 without its knowing, and amplifies more."
                    .to_owned(),
            );
        }
        caveats
    }

    pub(super) fn sentence(&self) -> String {
        if let Some(drive) = &self.drive {
            let text = self.of_real_drive(drive);
            return text.unwrap_or_else(|| self.overview()) + &self.lifelong_text();
        }
        let Some(target) = self.target else { return self.overview() + &self.lifelong_text() };
        let wanted = self.wanted(target);
        let met: Vec<(&str, Point)> = self
            .curves
            .iter()
            .filter_map(|curve| Some((curve.ftl.as_str(), curve.needs?)))
            .collect();
        let Some((best, point)) = met.first() else {
            return self.missed(&wanted) + &self.lifelong_text();
        };
        let more = point.physical_bytes.saturating_sub(self.logical_bytes);
        let recorded = if self.otherwise.is_empty() { "" } else { "As recorded, " };
        let mut text = format!(
            "{recorded}{best} reaches {wanted} with {} of over-provisioning: {} of flash for {}, {} more than the \
             host can use, and {} of metadata",
            percent(point.op_ratio),
            bytes(point.physical_bytes),
            bytes(self.logical_bytes),
            bytes(more),
            bytes(point.metadata_bytes)
        );
        if let Some((second, point)) = met.get(1) {
            let _ = write!(
                text,
                "; next is {second} with {} and {}",
                percent(point.op_ratio),
                bytes(point.metadata_bytes)
            );
        }
        let missed: Vec<_> = self
            .curves
            .iter()
            .filter(|curve| curve.needs.is_none())
            .map(|c| c.ftl.as_str())
            .collect();
        if !missed.is_empty() {
            let most = self.most().map_or(0.0, |point| point.op_ratio);
            let _ = write!(text, "; {} not even with {}", missed.join(", "), percent(most));
        }
        text + "." + &self.otherwise_text() + &self.lifelong_text()
    }

    /// What is to be reached, in words.
    pub(super) fn wanted(&self, target: Target) -> String {
        match target {
            Target::Waf(waf) => format!("a write amplification of {waf}"),
            Target::Endurance { tbw, cycles } => {
                format!("{tbw} terabytes written at {cycles} cycles")
            }
            Target::Response(slo) => self.objective(&slo),
        }
    }

    fn is_about_time(&self) -> bool {
        matches!(self.target, Some(Target::Response(_)))
    }

    /// An objective in words, with its load.
    fn objective(&self, slo: &Slo) -> String {
        let rate = self.base.timing.as_ref().and_then(|timing| timing.get("rate"));
        let rate: f64 = rate.and_then(|rate| rate.parse().ok()).unwrap_or(0.0);
        format!(
            "{} ms as {} at {} requests a second",
            slo.limit_ns / 1e6,
            slo.what(),
            grouped(rate.round() as u64)
        )
    }

    /// What uses the least flash over the years.
    fn lifelong_text(&self) -> String {
        self.lifelong.as_ref().map_or_else(String::new, |lifelong| format!(" {lifelong}"))
    }

    /// What the best FTL needs under other circumstances.
    fn otherwise_text(&self) -> String {
        let chosen = self.best().map(|(ftl, _)| ftl);
        let others = self.otherwise.iter().map(|other| {
            let under = other.circumstance;
            let better = other.best.as_ref().filter(|best| Some(best.ftl.as_str()) != chosen);
            let better = better.map_or_else(String::new, |best| {
                format!("; {} needs {}", best.ftl, percent(best.needs.op_ratio))
            });
            match other.needs {
                Some(point) => format!(" {under}, it needs {}{better}.", percent(point.op_ratio)),
                None => format!(" {under}, not even the largest of these drives suffices{better}."),
            }
        });
        let others: String = others.collect();
        match self.range() {
            Some((least, most)) if !others.is_empty() => {
                let most = most.map_or_else(|| "more than was tried".to_owned(), percent);
                format!("{others} So plan with {} to {most}.", percent(least))
            }
            _ => others,
        }
    }

    /// The largest drive of all.
    fn most(&self) -> Option<Point> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        points.copied().max_by_key(|point| point.blocks)
    }

    /// That no drive reaches what is wanted, and what comes nearest.
    pub(super) fn missed(&self, wanted: &str) -> String {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        if points.all(|point| point.standing == Standing::None) {
            let lacks = self.trust.lacks.as_deref().unwrap_or_default();
            return format!(
                "No run is evidence of {wanted}: {lacks}. Let it write more (leave out --once, or give more --writes), or \
                 take a smaller drive (--logical)."
            );
        }
        let last = |curve: &Curve| curve.points.last().copied();
        let best = self.curves.iter().find_map(|curve| Some((&curve.ftl, last(curve)?)));
        best.map_or_else(String::new, |(ftl, point)| {
            let tbw = point.tbw.map_or_else(String::new, |tbw| {
                format!(", {} terabytes written", significant(tbw, 4))
            });
            if let Some(ns) = point.response_ns {
                return format!(
                    "No FTL reaches {wanted} with up to {} of over-provisioning; {ftl} comes nearest with {} ms: \
                     allow more (--op), lower --load, or let reads come first (--timing \
                     femu:priority=read-first,suspend=both,write-buffer=8MiB).",
                    percent(point.op_ratio),
                    significant(ns / 1e6, 4)
                );
            }
            format!(
                "No FTL reaches {wanted} with up to {} of over-provisioning; {ftl} comes nearest (write \
                 amplification {}{tbw}): allow more (--op), or another FTL (--ftl).",
                percent(point.op_ratio),
                significant(point.waf, 4)
            )
        })
    }

    fn overview(&self) -> String {
        let best = self
            .curves
            .iter()
            .find_map(|curve| Some((&curve.ftl, curve.points.first()?, curve.points.last()?)));
        best.map_or_else(String::new, |(ftl, first, last)| {
            format!(
                "With {} of over-provisioning {ftl} amplifies least, {}; with {} it writes {}. Name a target \
                 (--target-waf, --tbw) for how much is enough.",
                percent(last.op_ratio),
                significant(last.waf, 4),
                percent(first.op_ratio),
                significant(first.waf, 4)
            )
        })
    }
}

impl fmt::Display for Lifelong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ftl, point, years, daily, life } = self;
        write!(
            f,
            "Over {years} years of {} a day, the least flash is used by {ftl} with {} of over-provisioning: {} \
             drives",
            bytes(*daily),
            percent(point.op_ratio),
            significant(life.drives, 3)
        )?;
        if let Some(price) = life.price {
            write!(f, " for {}", significant(price, 4))?;
        }
        write!(f, ", {} kg of CO2 to make them.", significant(life.carbon_kg, 3))
    }
}
