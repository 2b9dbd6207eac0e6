//! What is expected beside what was measured.

use super::columns::StoredRun;
use super::file_error::Wrong;
use super::metric::Metric;
use super::plan::{Plan, Point};
use super::report::{Basis, Expectation, Selector};
use super::scalar::Pairs;
use super::series::{Curve, Series};
use super::variables::Variables;
use crate::error::ExperimentsError;
use ftlab_sim::format::significant;
use ftlab_spec::{Share, SpecError};
use std::collections::BTreeMap;

/// How far a measured number may be off where an expectation does not say.
const TOLERANCE: Share = Share(0.1);

/// Results of runs by their hash.
pub type Results = BTreeMap<String, StoredRun>;

/// Something that has numbers, and curves, of points.
pub trait Numbers {
    /// Refuses names of metrics that it does not have.
    fn check(&self, metric: &str) -> Result<(), SpecError>;

    /// A number of one point; none where there is no result, or where it does not have that number.
    fn number(&self, metric: &str, point: &Point) -> Option<f64>;

    /// A curve of one point, at a moment of the run where it has one.
    fn curve(&self, name: &str, point: &Point, at: f64) -> Result<Option<Curve>, SpecError>;

    /// What the run of one point lacks to be evidence; none if it is, or if that is not known.
    fn lacks(&self, _: &Point) -> Option<&str> {
        None
    }
}

impl Numbers for Results {
    fn check(&self, metric: &str) -> Result<(), SpecError> {
        Metric::find(metric).map(drop)
    }

    fn number(&self, metric: &str, point: &Point) -> Option<f64> {
        Metric::find(metric).ok()?.of(self.get(&point.run)?)
    }

    fn curve(&self, name: &str, point: &Point, at: f64) -> Result<Option<Curve>, SpecError> {
        let series = Series::find(name)?;
        Ok(self.get(&point.run).and_then(|stored| series.of(stored, at)))
    }

    fn lacks(&self, point: &Point) -> Option<&str> {
        let run = self.get(&point.run)?.result.runs.first()?;
        run.evidence.as_ref()?.lacks.as_deref()
    }
}

/// Something that was published or is expected, beside what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What it is about.
    pub what: String,
    /// Whose configuration was run.
    pub kind: Option<Basis>,
    /// The expectation as text.
    pub published: String,
    /// What was measured, as text; empty if nothing was.
    pub measured: String,
    /// (measured - published) / published, where both are numbers.
    pub difference: Option<f64>,
    /// How far off is as expected, as text; empty where nothing is to be close to a number.
    pub tolerance: String,
    /// Whether it is as expected; none if nothing is expected, or nothing was measured.
    pub agrees: Option<bool>,
    /// Where it is said.
    pub source: String,
    /// Why it differs, or how it is to be read.
    pub remark: String,
}

/// Holds every expectation of the plan's file against the results.
pub fn compare(plan: &Plan, numbers: &dyn Numbers) -> Result<Vec<Comparison>, ExperimentsError> {
    let lines = plan.file.expect.iter().map(|expectation| {
        let of = Of { plan, numbers, expectation };
        of.lines().map_err(|wrong| wrong.within(&plan.file.path, &plan.file.toml).into())
    });
    lines.collect::<Result<Vec<_>, _>>().map(|lines| lines.into_iter().flatten().collect())
}

/// A number of the runs at `place`, all seeds together: their mean, if there are any.
pub fn measured(plan: &Plan, numbers: &dyn Numbers, metric: &str, place: &Point) -> Option<f64> {
    let found = numbers_at(plan, numbers, metric, place);
    let (sum, count) = found.fold((0.0, 0_u32), |(sum, n), number| (sum + number, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Its lowest and its highest value over the seeds; none if there is only one.
pub fn extent(
    plan: &Plan,
    numbers: &dyn Numbers,
    metric: &str,
    place: &Point,
) -> Option<(f64, f64)> {
    let found: Vec<f64> = numbers_at(plan, numbers, metric, place).collect();
    let low = found.iter().copied().fold(f64::INFINITY, f64::min);
    let high = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (found.len() > 1).then_some((low, high))
}

/// A number of every run at `place`, one for each seed: of those that are evidence, if any is.
pub(super) fn numbers_at(
    plan: &Plan,
    numbers: &dyn Numbers,
    metric: &str,
    place: &Point,
) -> impl Iterator<Item = f64> {
    let is_evidence = !lacks_evidence(plan, numbers, place);
    let counts = move |point: &&Point| !is_evidence || numbers.lacks(point).is_none();
    seeds_of(plan, place).filter(counts).filter_map(|point| numbers.number(metric, point))
}

/// The points at `place`, one for each seed.
fn seeds_of<'a>(plan: &'a Plan, place: &Point) -> impl Iterator<Item = &'a Point> {
    plan.points.iter().filter(|point| without_seed(point).eq(without_seed(place)))
}

/// Whether no run at `place` is evidence, whatever its seed.
fn lacks_evidence(plan: &Plan, numbers: &dyn Numbers, place: &Point) -> bool {
    seeds_of(plan, place).all(|point| numbers.lacks(point).is_some())
}

fn without_seed(point: &Point) -> impl Iterator<Item = &(String, String)> {
    point.labels.iter().filter(|(axis, _)| axis != "seed")
}

/// Points that differ in more than their seed, each once.
pub fn places<'a>(plan: &'a Plan, of: &Selector) -> Vec<&'a Point> {
    let mut places: Vec<&Point> = Vec::new();
    for point in plan.points.iter().filter(|point| point.is_in(of)) {
        if places.iter().all(|other| !without_seed(other).eq(without_seed(point))) {
            places.push(point);
        }
    }
    places
}

/// `point` with the labels of `selector` instead of its own.
pub(super) fn moved(point: &Point, selector: &Selector) -> Point {
    let mut moved = point.clone();
    for (axis, value) in &selector.0 {
        let label = moved.labels.iter_mut().find(|(name, _)| name == axis);
        match label {
            Some((_, label)) => value.first().clone_into(label),
            None => moved.labels.push((axis.clone(), value.first().to_owned())),
        }
    }
    moved
}

/// One expectation.
struct Of<'a> {
    plan: &'a Plan,
    numbers: &'a dyn Numbers,
    expectation: &'a Expectation,
}

impl Of<'_> {
    fn lines(&self) -> Result<Vec<Comparison>, Wrong> {
        let expectation = self.expectation;
        let metric = expectation.metric.as_written();
        let wrong = |error| Wrong::at(expectation.metric.span(), error);
        self.numbers.check(metric).map_err(wrong)?;
        if !expectation.ascending.is_empty() {
            return Ok(vec![self.order(metric)]);
        }
        let places = places(self.plan, &expectation.of);
        if places.is_empty() {
            return Ok(vec![self.line(self.what(None), Bound::None, None)?]);
        }
        if let Some(reduce) = expectation.reduce {
            let lacks = |place: &&Point| lacks_evidence(self.plan, self.numbers, place);
            let (without, with): (Vec<&Point>, Vec<&Point>) =
                places.iter().copied().partition(lacks);
            let numbers = with.iter().filter_map(|place| self.number(metric, place));
            let number = reduce.of(&numbers.collect::<Vec<_>>());
            let bound = self.bound(places[0]).unwrap_or(Bound::None);
            let line = self.line(self.what(None), bound, number)?;
            let remark = [line.remark.clone(), self.left_out(&without)].join(" ");
            return Ok(vec![Comparison { remark: remark.trim().to_owned(), ..line }]);
        }
        let lines = places.into_iter().filter_map(|place| {
            let bound = self.bound(place)?;
            Some(self.line(self.what(Some(place)), bound, self.number(metric, place)))
        });
        lines.collect()
    }

    /// What is in no mean, and what it lacks.
    fn left_out(&self, places: &[&Point]) -> String {
        let named = places.iter().map(|place| {
            let lacks = self.numbers.lacks(place).unwrap_or_default();
            format!("{} ({lacks})", self.place_name(place))
        });
        let named: Vec<_> = named.collect();
        if named.is_empty() { String::new() } else { format!("Left out: {}.", named.join("; ")) }
    }

    /// The number of a point, or what the expectation makes of it and that of another.
    fn number(&self, metric: &str, place: &Point) -> Option<f64> {
        let of = |place: &Point| measured(self.plan, self.numbers, metric, place);
        let number = of(place)?;
        let Some(other) = self.expectation.others().next() else { return Some(number) };
        let other = of(&moved(place, other))?;
        Some(match self.expectation {
            Expectation { over: Some(_), .. } => number / other,
            Expectation { minus: Some(_), .. } => number - other,
            Expectation { more_than: Some(_), .. } => number / other - 1.0,
            _ => 1.0 - number / other,
        })
    }

    /// What is expected of a point; none where the values along an axis do not reach it.
    fn bound(&self, place: &Point) -> Option<Bound> {
        let expectation = self.expectation;
        if let Some(axis) = &expectation.along {
            let own = place.label(axis)?;
            let index = self.plan.axis(axis).iter().position(|value| *value == own)?;
            return expectation
                .values
                .get(index)
                .filter(|v| v.is_finite())
                .map(|v| Bound::Value(*v));
        }
        Some(match (expectation.value, expectation.at_least, expectation.at_most) {
            (Some(value), ..) => Bound::Value(value),
            (None, Some(least), None) => Bound::AtLeast(least),
            (None, None, Some(most)) => Bound::AtMost(most),
            (None, Some(least), Some(most)) => Bound::Between(least, most),
            (None, None, None) => Bound::None,
        })
    }

    fn line(&self, what: String, bound: Bound, number: Option<f64>) -> Result<Comparison, Wrong> {
        let off = self.off()?;
        let text = |number: f64| self.text(number);
        Ok(Comparison {
            what,
            kind: self.expectation.kind,
            published: bound.text(text),
            measured: number.map_or_else(String::new, text),
            difference: number.and_then(|number| bound.difference(number)),
            tolerance: bound.value().map_or_else(String::new, |_| off.text(self.expectation)),
            agrees: number.and_then(|number| bound.holds(number, off)),
            source: self.expectation.source.clone(),
            remark: self.expectation.remark.clone(),
        })
    }

    /// How far off is as expected.
    fn off(&self) -> Result<Off, Wrong> {
        let share = |text: &str| text.parse::<Share>().map_err(|error| error.to_string());
        match (&self.expectation.tolerance, self.expectation.within) {
            (Some(scalar), Some(_)) => {
                Err(Wrong::at(scalar.span(), "tolerance and within are given both; leave one out"))
            }
            (None, Some(within)) => Ok(Off::Within(within)),
            (Some(scalar), None) => scalar
                .parse("tolerance", &Variables::default(), share)
                .map(|share| Off::Share(share.0)),
            (None, None) => Ok(Off::Share(TOLERANCE.0)),
        }
    }

    /// A number of this expectation: gains are in percent.
    fn text(&self, number: f64) -> String {
        if self.expectation.is_gain() { percent(number) } else { text(number) }
    }

    /// What a line is about: the words of the expectation, and what tells its point from others.
    fn what(&self, place: Option<&Point>) -> String {
        let words = self.words();
        let axes = self.plan.varying_axes();
        let of = place.into_iter().flat_map(without_seed);
        let labels: Vec<_> = of
            .filter(|(axis, _)| axes.contains(&axis.as_str()))
            .filter(|(axis, _)| {
                // What the words say already.
                self.expectation.what.is_empty() || !self.is_fixed(axis)
            })
            .map(|(axis, value)| match axis.as_str() {
                "ftl" | "workload" | "case" => value.clone(),
                _ => format!("{axis} {value}"),
            })
            .collect();
        if labels.is_empty() { words } else { format!("{words}: {}", labels.join(", ")) }
    }

    /// Whether the expectation is of one value on an axis.
    fn is_fixed(&self, axis: &str) -> bool {
        self.expectation.of.0.iter().any(|(other, choice)| other == axis && choice.is_single())
    }

    /// The words of the expectation, or the metric.
    fn words(&self) -> String {
        let Expectation { what, metric, .. } = self.expectation;
        if what.is_empty() { metric.as_written().to_owned() } else { what.clone() }
    }

    /// Whether numbers ascend, for every value of the other axes.
    fn order(&self, metric: &str) -> Comparison {
        let found = self.orders(metric);
        let names = self.expectation.ascending.iter().map(|Pairs(pairs)| {
            pairs.iter().map(|(_, choice)| choice.first()).collect::<Vec<_>>().join(" ")
        });
        Comparison {
            what: self.words(),
            kind: self.expectation.kind,
            published: names.collect::<Vec<_>>().join(" < "),
            measured: self.where_it_holds(&found),
            difference: None,
            tolerance: String::new(),
            agrees: (!found.is_empty()).then(|| self.holds(&found)),
            source: self.expectation.source.clone(),
            remark: self.expectation.remark.clone(),
        }
    }

    /// Whether an order holds everywhere, or in most places if that is what is said.
    fn holds(&self, found: &[Order<'_>]) -> bool {
        let holding = found.iter().filter(|order| order.holds()).count();
        if self.expectation.in_most { 2 * holding > found.len() } else { holding == found.len() }
    }

    /// The numbers that are to ascend, wherever all of them were measured.
    fn orders(&self, metric: &str) -> Vec<Order<'_>> {
        let ascending = &self.expectation.ascending;
        let places = places(self.plan, &self.expectation.of).into_iter();
        let firsts =
            places.filter(|place| ascending.first().is_some_and(|first| place.is_in(first)));
        let of = |place: &Point, selector| {
            measured(self.plan, self.numbers, metric, &moved(place, selector))
        };
        let orders = firsts.filter_map(|place| {
            let numbers = ascending.iter().map(|selector| of(place, selector));
            Some(Order { place, numbers: numbers.collect::<Option<_>>()? })
        });
        orders.collect()
    }

    /// The numbers of the only place, or the places where the order holds, or where it does not if those
    /// are fewer.
    fn where_it_holds(&self, found: &[Order<'_>]) -> String {
        if let [only] = found {
            let numbers = only.numbers.iter().map(|number| text(*number)).collect::<Vec<_>>();
            return format!("{}: {}", if only.holds() { "yes" } else { "no" }, numbers.join(", "));
        }
        let (all, holding) = (found.len(), found.iter().filter(|order| order.holds()).count());
        let places = |holds: bool| {
            let places = found.iter().filter(|order| order.holds() == holds);
            places.map(|order| self.place_name(order.place)).collect::<Vec<_>>().join("; ")
        };
        match holding {
            _ if all == 0 => String::new(),
            0 => format!("no, in none of {all}"),
            holding if holding == all => format!("yes, in all {all}"),
            holding if 2 * holding <= all => format!("in {holding} of {all}: {}", places(true)),
            holding => format!("in {holding} of {all}; not: {}", places(false)),
        }
    }

    /// What tells a place of an order from the others.
    fn place_name(&self, place: &Point) -> String {
        let axes = self.plan.varying_axes();
        let first = self.expectation.ascending.first();
        let is_fixed =
            |axis: &str| first.is_some_and(|of| of.0.iter().any(|(other, _)| other == axis));
        let labels = without_seed(place)
            .filter(|(axis, _)| axes.contains(&axis.as_str()) && !is_fixed(axis))
            .map(|(_, value)| value.as_str());
        labels.collect::<Vec<_>>().join(" ")
    }
}

/// Numbers that are to ascend, and where.
struct Order<'a> {
    place: &'a Point,
    numbers: Vec<f64>,
}

impl Order<'_> {
    fn holds(&self) -> bool {
        self.numbers.windows(2).all(|pair| pair[0] < pair[1])
    }
}

/// What is expected of a number.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Value(f64),
    AtLeast(f64),
    AtMost(f64),
    Between(f64, f64),
    /// Nothing: it is only shown.
    None,
}

/// How far off is as expected.
#[derive(Debug, Clone, Copy)]
enum Off {
    /// As a share of the expected number.
    Share(f64),
    /// In the unit of the number.
    Within(f64),
}

impl Off {
    fn text(self, expectation: &Expectation) -> String {
        match self {
            Self::Share(share) => percent(share),
            Self::Within(off) if expectation.is_gain() => {
                format!("{} points", significant(100.0 * off, 3))
            }
            Self::Within(off) => text(off),
        }
    }
}

impl Bound {
    /// The number to which the measured one is to be close, if there is one.
    fn value(self) -> Option<f64> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }

    fn text(self, text: impl Fn(f64) -> String) -> String {
        match self {
            Self::Value(value) => text(value),
            Self::AtLeast(least) => format!("at least {}", text(least)),
            Self::AtMost(most) => format!("at most {}", text(most)),
            Self::Between(least, most) => format!("{} to {}", text(least), text(most)),
            Self::None => String::new(),
        }
    }

    fn difference(self, number: f64) -> Option<f64> {
        match self {
            Self::Value(value) if value != 0.0 => Some((number - value) / value),
            _ => None,
        }
    }

    /// Whether `number` is as expected, if anything is.
    fn holds(self, number: f64, off: Off) -> Option<bool> {
        Some(match self {
            Self::Value(value) => {
                let most = match off {
                    Off::Share(share) => share * value.abs(),
                    Off::Within(off) => off,
                };
                (number - value).abs() <= most
            }
            Self::AtLeast(least) => number >= least,
            Self::AtMost(most) => number <= most,
            Self::Between(least, most) => (least..=most).contains(&number),
            Self::None => return None,
        })
    }
}

/// Three digits, in percent.
fn percent(share: f64) -> String {
    format!("{}%", significant(100.0 * share, 3))
}

/// Four digits.
pub(super) fn text(number: f64) -> String {
    significant(number, 4)
}
