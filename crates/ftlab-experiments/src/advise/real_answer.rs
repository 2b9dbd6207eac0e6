//! An answer about a real drive: what one needs that has an FTL as drives have them, what it does as it is, and what a
//! better FTL would bring.

use super::{Advice, Circumstance, Curve, Point, RealDrive, Role};
use ftlab_sim::evidence::Standing;
use ftlab_sim::format::{decimal, percent_tenths, significant};
use std::fmt::Write;

/// Over-provisioning that is taken for another: one unit of 64 is 1.6%.
const NEAR: f64 = 0.02;

impl Curve {
    /// The drive with the over-provisioning nearest to this, if one is near: a unit of few more or less.
    pub(super) fn at(&self, op_ratio: f64) -> Option<&Point> {
        let off = |point: &&Point| (point.op_ratio - op_ratio).abs();
        self.points
            .iter()
            .min_by(|a, b| off(a).total_cmp(&off(b)))
            .filter(|point| off(point) <= NEAR)
    }
}

impl Advice {
    /// The answer about a real drive; none if neither a target nor its over-provisioning is known.
    pub(super) fn of_real_drive(&self, drive: &RealDrive) -> Option<String> {
        let Some(target) = self.target else { return self.as_it_is(drive) };
        let wanted = self.wanted(target);
        let Some((ftl, point)) = self.best() else {
            return Some(self.not_reached(drive, &wanted));
        };
        let mut text = format!(
            "For {wanted}, a drive of {} needs {} of over-provisioning if its FTL is like {ftl}: {} of flash.",
            decimal(drive.capacity_bytes),
            percent_tenths(point.op_ratio),
            decimal(point.physical_bytes)
        );
        for curve in self.instead() {
            let needs = curve.needs.map(|point| point.op_ratio);
            let needs = needs.map_or_else(|| "more than was tried".to_owned(), percent_tenths);
            let _ = write!(text, " One like {} needs {needs}.", curve.ftl);
        }
        for other in &self.otherwise {
            let _ = match other.needs {
                Some(point) => {
                    let needs = percent_tenths(point.op_ratio);
                    write!(text, " {}, it needs {needs}.", other.circumstance)
                }
                None => write!(text, " {}, no drive that was tried suffices.", other.circumstance),
            };
        }
        if let Some((least, most)) = self.range() {
            let upto = most.map_or_else(|| "more than was tried".to_owned(), percent_tenths);
            let _ = write!(text, " So plan with {} to {upto}.", percent_tenths(least));
            text += &partition(drive, least, most);
        }
        text += &self.better(|curve| curve.needs);
        Some(text)
    }

    /// That the FTL of the answer does not reach what is wanted, and what does.
    fn not_reached(&self, drive: &RealDrive, wanted: &str) -> String {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        let last = self.curves.first().and_then(|curve| Some((curve, curve.points.last()?)));
        let is_no_evidence = points.all(|point| point.standing == Standing::None);
        let Some((curve, point)) = last.filter(|_| !is_no_evidence) else {
            return self.missed(wanted);
        };
        let mut text = format!(
            "A drive of {} whose FTL is like {} does not reach {wanted} with up to {} of over-provisioning; it amplifies {} \
             then.",
            decimal(drive.capacity_bytes),
            curve.ftl,
            percent_tenths(point.op_ratio),
            significant(point.waf, 3)
        );
        for curve in self.instead() {
            if let Some(point) = curve.needs {
                let needs = percent_tenths(point.op_ratio);
                let _ = write!(text, " One like {} needs {needs}.", curve.ftl);
            }
        }
        text += &self.better(|curve| curve.needs);
        text + &self.as_it_is(drive).map_or_else(String::new, |text| format!(" {text}"))
    }

    /// Curves of FTLs that drives may have instead.
    fn instead(&self) -> impl Iterator<Item = &Curve> {
        self.curves.iter().filter(|curve| curve.role == Role::Instead)
    }

    /// What the drive amplifies with the over-provisioning that it has; none if that is not known.
    fn as_it_is(&self, drive: &RealDrive) -> Option<String> {
        let has = drive.op_ratio?;
        let curve = self.curves.first()?;
        let answer = curve.at(has)?;
        let waf = |point: &Point| significant(point.waf, 3);
        let mut all = vec![answer.waf];
        let mut others = Vec::new();
        for curve in self.instead() {
            if let Some(point) = curve.at(has) {
                others.push(format!("{} with an FTL like {}", waf(point), curve.ftl));
                all.push(point.waf);
            }
        }
        for other in &self.otherwise {
            let Some(point) = &other.as_it_is else { continue };
            others.push(format!("{} {}", waf(point), within(other.circumstance)));
            all.push(point.waf);
        }
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(0.0, f64::max);
        let others =
            if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        let better = self.better(|curve| curve.at(has).copied());
        Some(format!(
            "With {} of over-provisioning, a drive of {} amplifies {} if its FTL is like {}{others}. So expect {} to {}.{better}",
            percent_tenths(has),
            decimal(drive.capacity_bytes),
            waf(answer),
            curve.ftl,
            significant(least, 3),
            significant(most, 3)
        ))
    }

    /// What FTLs would bring that no drive is known to have: those that do better than that of the answer, by the points
    /// that `of` takes.
    fn better(&self, of: impl Fn(&Curve) -> Option<Point>) -> String {
        let value = |point: &Point| match self.target {
            Some(_) => point.op_ratio,
            None => point.waf,
        };
        let answer = self.curves.first().and_then(&of);
        let better = self.curves.iter().filter(|curve| curve.role == Role::Better);
        let better = better.filter_map(|curve| Some((curve, of(curve)?)));
        let better = better.filter(|(_, point)| answer.is_none_or(|a| value(point) < value(&a)));
        let named = better.map(|(curve, point)| {
            let text = match self.target {
                Some(_) => percent_tenths(point.op_ratio),
                None => significant(point.waf, 3),
            };
            format!("{text} with {}", curve.ftl)
        });
        let named: Vec<_> = named.collect();
        let does = if self.target.is_some() { "would need less" } else { "would amplify less" };
        match &named[..] {
            [] => String::new(),
            named => format!(" A better FTL {does}: {}.", named.join(", ")),
        }
    }
}

/// A circumstance within a sentence.
fn within(circumstance: Circumstance) -> String {
    let text = circumstance.to_string();
    let mut letters = text.chars();
    let first = letters.next().map_or_else(String::new, |first| first.to_lowercase().to_string());
    first + letters.as_str()
}

/// What is to be left unpartitioned of a drive whose over-provisioning is known.
fn partition(drive: &RealDrive, least: f64, most: Option<f64>) -> String {
    let Some(has) = drive.op_ratio else { return String::new() };
    let has = percent_tenths(has);
    let [from, upto] = [Some(least), most].map(|needs| drive.unpartitioned(needs?));
    match (from, upto, most) {
        (None, None, Some(_)) => format!(" It has {has}, which is enough under all of these."),
        (None, _, _) => format!(
            " It has {has}, which is enough under some of these; under all it is with {} unpartitioned, and trimmed once.",
            upto.map_or_else(
                || "more than was tried".to_owned(),
                |share| format!("{} of it", percent_tenths(share))
            )
        ),
        (Some(from), upto, _) => format!(
            " It has {has}: leave {} to {} of it unpartitioned, and trim that once.",
            percent_tenths(from),
            upto.map_or_else(|| "more than was tried".to_owned(), percent_tenths)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Choice, Question, Target};
    use crate::parallel::Stop;
    use ftlab_sim::{Experiment, Length, Requests, SimError, Workload};
    use ftlab_spec::Share;
    use ftlab_trace::{Input, OpenOptions, open_input};

    /// Nine of ten writes go to a tenth of 4,000 pages.
    fn trace() -> Workload {
        let page = |n: u64| {
            let draw = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
            if n.is_multiple_of(10) { draw % 4000 } else { draw % 400 }
        };
        let line = move |n: u64| format!("W,{},1\n", if n == 0 { 3999 } else { page(n) });
        let lines: String = (0..12_000).map(line).collect();
        let open = move || {
            let input = Input::from_bytes("test", lines.clone().into_bytes())?;
            let map = Some("op=1,off:pages=2,len:pages=3".to_owned());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        Workload::Requests(Requests::new("test", false, open))
    }

    fn question(class: &str, target: Option<Target>) -> Question {
        // Units of a few pages would do for a test, but a class has 64 at least: this is the smallest model.
        let class = class.parse().unwrap();
        Question {
            base: Experiment {
                length: Length::DriveWrites(2.0),
                repeat: true,
                ..Experiment::new(trace(), Vec::new())
            },
            ftls: Choice {
                answer: vec!["sep-gc/cost-benefit".parse().unwrap()],
                instead: vec!["1r-greedy".parse().unwrap()],
                better: Vec::new(),
            },
            class: Some(class),
            op_ratios: [0.07, 0.15].map(Share).to_vec(),
            target,
            service: None,
            stop: Stop::default(),
        }
    }

    #[test]
    fn a_real_drive_is_told_in_its_own_size_with_a_range() {
        let asked = question("960GB, 7%, 3.75GB", Some(Target::Waf(2.0)));
        let advice = asked.answer(2, &|_| ()).unwrap();
        let drive = advice.drive.as_ref().unwrap();
        assert_eq!((drive.units, drive.model.copies, drive.model.pages), (256, 66, 264_000));
        assert_eq!(advice.logical_bytes, 960_000_000_000);
        let point = advice.curves[0].points[0];
        let flash = 960e9 * (1.0 + point.op_ratio);
        assert!((point.physical_bytes as f64 / flash - 1.0).abs() < 1e-3, "{point:?}");
        let text = &advice.answer;
        assert!(text.contains("a drive of 960 GB"), "{text}");
        assert!(text.contains("1r-greedy"), "{text}");
    }

    #[test]
    fn without_a_target_it_is_told_what_the_drive_does_as_it_is() -> Result<(), SimError> {
        let advice = question("960GB, 7%, 3.75GB", None).answer(2, &|_| ())?;
        let text = &advice.answer;
        assert!(
            text.starts_with("With 7.0% of over-provisioning, a drive of 960 GB amplifies "),
            "{text}"
        );
        assert!(text.contains(" with an FTL like 1r-greedy). So expect "), "{text}");
        Ok(())
    }
}
