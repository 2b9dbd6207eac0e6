//! The figures of experiments: lines over a grid, bars, and curves of runs.

use super::chart::{Area, Axis, Key, Line, bars, chart, lines, with_keys};
use super::{COLOURS, Drawn, styles};
use crate::error::CliError;
use ftlab_lab::sweep::{
    AxisKind, Expectation, FigureKind, FigureSpec, Numbers, Plan, Point, measured, places,
};
use plotters::prelude::*;

/// A figure: a grid of charts.
pub(crate) struct Picture {
    panels: Vec<Panel>,
}

/// One chart.
struct Panel {
    title: String,
    x: (String, AxisKind),
    y: (String, AxisKind),
    y_max: Option<f64>,
    content: Content,
}

enum Content {
    /// Lines, and the labelled positions on the x axis; round numbers if there are none.
    Lines(Vec<Line>, Vec<(f64, String)>),
    /// Names of groups; bars by their labels.
    Bars(Vec<String>, Vec<(String, Vec<f64>)>),
}

/// The axis of figures whose lines are several metrics.
const BY_METRIC: &str = "metric";

const PANEL: (u32, u32) = (640, 420);

/// Maximum number of points of a line: more would not be visible.
const POINTS_MAX: usize = 400;

/// The content of a figure; none if there is nothing to show, for example because a trace is
/// missing.
pub(crate) fn picture(
    spec: &FigureSpec,
    plan: &Plan,
    numbers: &dyn Numbers,
) -> Result<Option<Picture>, CliError> {
    let of = Of { spec, plan, numbers };
    let values = match spec.panels.as_str() {
        "" => vec![String::new()],
        axis => plan.axis(axis).into_iter().map(str::to_owned).collect(),
    };
    let mut panels = Vec::new();
    for value in values {
        let places: Vec<&Point> = places(plan, &spec.of)
            .into_iter()
            .filter(|point| value.is_empty() || point.label(&spec.panels) == Some(&value))
            .collect();
        let title = [spec.title.as_str(), &value].into_iter().find(|text| !text.is_empty());
        let title = if value.is_empty() { title } else { Some(value.as_str()) };
        let panel = match spec.kind {
            FigureKind::Lines => of.over_axis(&places)?,
            FigureKind::Bars => of.bars(&places)?,
            FigureKind::Curves => of.curves(&places)?,
        };
        panels.extend(
            panel.map(|panel| Panel { title: title.unwrap_or_default().to_owned(), ..panel }),
        );
    }
    Ok(if panels.is_empty() { None } else { Some(Picture { panels }) })
}

struct Of<'a> {
    spec: &'a FigureSpec,
    plan: &'a Plan,
    numbers: &'a dyn Numbers,
}

impl Of<'_> {
    fn by(&self) -> &str {
        if self.spec.by.is_empty() { "ftl" } else { &self.spec.by }
    }

    /// Values of an axis among the points, in the order of the file.
    fn values(&self, axis: &str, places: &[&Point]) -> Vec<String> {
        let values = self.plan.axis(axis).into_iter();
        let used = values.filter(|value| places.iter().any(|p| p.label(axis) == Some(value)));
        used.map(str::to_owned).collect()
    }

    /// The metrics: one, or one per line.
    fn metrics(&self) -> Vec<&str> {
        self.spec.y.as_written().split_whitespace().collect()
    }

    fn check(&self) -> Result<(), CliError> {
        Ok(self.metrics().into_iter().try_for_each(|metric| self.numbers.check(metric))?)
    }

    /// The label and the metric of each line or bar.
    fn kinds(&self, places: &[&Point]) -> Vec<(String, &str)> {
        if self.by() == BY_METRIC {
            return self.metrics().into_iter().map(|metric| (metric.to_owned(), metric)).collect();
        }
        let values = self.values(self.by(), places).into_iter();
        values.map(|value| (value, self.spec.y.as_written())).collect()
    }

    fn number(&self, places: &[&Point], x: &str, (by, metric): &(String, &str)) -> Option<f64> {
        let place = places.iter().find(|place| {
            let is_by = self.by() == BY_METRIC || place.label(self.by()) == Some(by.as_str());
            place.label(&self.spec.x) == Some(x) && is_by
        })?;
        measured(self.plan, self.numbers, metric, place)
    }

    fn over_axis(&self, places: &[&Point]) -> Result<Option<Panel>, CliError> {
        self.check()?;
        let xs = self.values(&self.spec.x, places);
        let positions = positions(&xs);
        let mut shown = Vec::new();
        let kinds = self.kinds(places);
        let names: Vec<_> = kinds.iter().map(|kind| kind.0.as_str()).collect();
        for (kind, (colour, is_dashed)) in kinds.iter().zip(styles(&names)) {
            let by = &kind.0;
            let points: Vec<_> = positions
                .iter()
                .zip(&xs)
                .filter_map(|(position, x)| Some((*position, self.number(places, x, kind)?)))
                .collect();
            if points.is_empty() {
                continue;
            }
            shown.push(Line { label: by.clone(), colour, is_dashed, points });
            shown.extend(self.published(by, places).into_iter().map(|values| {
                let points = positions.iter().copied().zip(values).collect();
                Line { label: format!("{by}, published"), colour, is_dashed: true, points }
            }));
        }
        if shown.is_empty() {
            return Ok(None);
        }
        let x = label(&self.spec.x_label, &self.spec.x);
        let y = label(&self.spec.y_label, self.spec.y.as_written());
        Ok(Some(Panel {
            title: String::new(),
            x: (x, AxisKind::Numbers),
            y: (y, AxisKind::Numbers),
            y_max: self.spec.y_max,
            content: Content::Lines(shown, positions.into_iter().zip(xs).collect()),
        }))
    }

    /// Published values along the x axis of a line.
    fn published(&self, by: &str, places: &[&Point]) -> Option<Vec<f64>> {
        let fits = |expect: &&Expectation| {
            expect.metric.as_written() == self.spec.y.as_written()
                && expect.along.as_deref() == Some(&self.spec.x)
                && expect.over.is_none()
                && expect.minus.is_none()
                && places.iter().any(|p| p.is_in(&expect.of) && p.label(self.by()) == Some(by))
        };
        self.plan.file.expect.iter().find(fits).map(|expect| expect.values.clone())
    }

    fn bars(&self, places: &[&Point]) -> Result<Option<Panel>, CliError> {
        self.check()?;
        let groups = self.values(&self.spec.x, places);
        let kinds: Vec<(String, Vec<f64>)> = self
            .kinds(places)
            .into_iter()
            .map(|kind| {
                let heights = groups.iter().map(|x| self.number(places, x, &kind).unwrap_or(0.0));
                let heights = heights.collect();
                (kind.0, heights)
            })
            .collect();
        if kinds.iter().flat_map(|(_, heights)| heights).all(|height| *height == 0.0) {
            return Ok(None);
        }
        Ok(Some(Panel {
            title: String::new(),
            x: (self.spec.x_label.clone(), AxisKind::Numbers),
            y: (label(&self.spec.y_label, self.spec.y.as_written()), AxisKind::Numbers),
            y_max: self.spec.y_max,
            content: Content::Bars(groups, kinds),
        }))
    }

    fn curves(&self, places: &[&Point]) -> Result<Option<Panel>, CliError> {
        let moments = if self.spec.at.is_empty() { &[1.0][..] } else { &self.spec.at };
        let mut colours = COLOURS.into_iter().cycle();
        let (mut shown, mut axes) = (Vec::new(), None);
        for place in places {
            for moment in moments {
                let Some(curve) = self.numbers.curve(self.spec.y.as_written(), place, *moment)?
                else {
                    continue;
                };
                let colour = colours.next().unwrap_or(BLACK);
                let mut label = place.label(self.by()).unwrap_or_default().to_owned();
                if moments.len() > 1 {
                    let at = format!("at {:.0}%", 100.0 * moment);
                    label = if places.len() > 1 { format!("{label}, {at}") } else { at };
                }
                axes = Some((curve.x, curve.y));
                let points = thinned(curve.points);
                shown.push(Line { label, colour, is_dashed: false, points });
            }
        }
        let Some((x, y)) = axes else { return Ok(None) };
        Ok(Some(Panel {
            title: String::new(),
            x: (label(&self.spec.x_label, x.0), x.1),
            y: (label(&self.spec.y_label, y.0), y.1),
            y_max: self.spec.y_max,
            content: Content::Lines(shown, Vec::new()),
        }))
    }
}

/// The label of an axis.
fn label(given: &str, default: &str) -> String {
    if given.is_empty() { default.to_owned() } else { given.to_owned() }
}

/// The positions of the values of an axis: at their numbers if all are numbers, else one after the
/// other.
fn positions(values: &[String]) -> Vec<f64> {
    let number = |text: &String| text.trim_end_matches('%').parse::<f64>().ok();
    let numbers: Option<Vec<_>> = values.iter().map(number).collect();
    numbers.unwrap_or_else(|| (0..values.len()).map(|index| index as f64).collect())
}

/// Limits the number of points to what can be distinguished.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(POINTS_MAX).max(1);
    let last = points.last().copied();
    let mut few: Vec<_> = points.into_iter().step_by(every).collect();
    if few.last() != last.as_ref() {
        few.extend(last);
    }
    few
}

/// Draws the charts, two in a row.
pub(crate) fn draw(picture: &Picture, svg: &mut String) -> Drawn {
    let columns = picture.panels.len().min(2);
    let rows = picture.panels.len().div_ceil(columns);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, panel) in area.split_evenly((rows, columns)).iter().zip(&picture.panels) {
        panel.draw(area)?;
    }
    area.present()?;
    Ok(())
}

impl Panel {
    fn draw(&self, area: &Area<'_>) -> Drawn {
        match &self.content {
            Content::Lines(shown, named) => self.draw_lines(area, shown, named),
            Content::Bars(groups, kinds) => self.draw_bars(area, groups, kinds),
        }
    }

    fn draw_lines(&self, area: &Area<'_>, shown: &[Line], named: &[(f64, String)]) -> Drawn {
        let all = || shown.iter().flat_map(|line| &line.points);
        let range = |of: fn(&(f64, f64)) -> f64| {
            let values = all().map(of);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
        };
        let (left, right) = range(|point| point.0);
        let (low, high) = range(|point| point.1);
        let x = if named.is_empty() {
            axis(&self.x, left, right)
        } else {
            let margin = 0.04 * (right - left).max(1e-9);
            Axis::new(&self.x.0, left - margin..right + margin, named.to_vec())
        };
        let top = self.y_max.unwrap_or(high);
        let y = axis(&self.y, low.min(self.floor()), top);
        let copies = shown.iter().map(|line| Line {
            label: line.label.clone(),
            colour: line.colour,
            is_dashed: line.is_dashed,
            points: line.points.iter().map(|(x, y)| (*x, y.min(top))).collect(),
        });
        let area = with_keys(area, &Key::of(shown))?;
        let mut chart = chart(&area, &self.title, &x, &y)?;
        lines(&mut chart, copies.collect())
    }

    /// Write amplification starts at 1, anything else at 0.
    fn floor(&self) -> f64 {
        if self.y.0.contains("write amplification") { 1.0 } else { 0.0 }
    }

    fn draw_bars(&self, area: &Area<'_>, groups: &[String], kinds: &[(String, Vec<f64>)]) -> Drawn {
        let high = kinds.iter().flat_map(|(_, heights)| heights).fold(0.0_f64, |a, b| a.max(*b));
        let top = self.y_max.unwrap_or(high);
        let ticks = groups.iter().enumerate().map(|(slot, name)| (slot as f64 + 0.5, name.clone()));
        let x = Axis::new(&self.x.0, 0.0..groups.len() as f64, ticks.collect());
        let y = axis(&self.y, 0.0, top);
        let names: Vec<_> = kinds.iter().map(|kind| kind.0.as_str()).collect();
        // Bars have no dashes: those that would have are lighter.
        let colours: Vec<_> = styles(&names)
            .into_iter()
            .map(|(colour, is_dashed)| colour.mix(if is_dashed { 0.45 } else { 1.0 }))
            .collect();
        let keys = names.iter().zip(&colours).map(|(name, colour)| Key::bar(name, *colour));
        let area = with_keys(area, &keys.collect::<Vec<_>>())?;
        let mut chart = chart(&area, &self.title, &x, &y)?;
        let heights = |(_, heights): &(String, Vec<f64>)| -> Vec<f64> {
            heights.iter().map(|height| height.min(top)).collect()
        };
        let coloured: Vec<_> = colours.iter().copied().zip(kinds.iter().map(heights)).collect();
        bars(&mut chart, &coloured)
    }
}

fn axis((label, kind): &(String, AxisKind), low: f64, high: f64) -> Axis {
    let high = if high > low { high } else { low + 1.0 };
    match kind {
        AxisKind::Numbers => Axis::numbers(label, low..low + (high - low) * 1.04),
        AxisKind::Shares => Axis::shares_up_to(label, high),
        AxisKind::Counts => Axis::counts(label, high),
        AxisKind::Powers => Axis::powers_of_ten(label, low.min(0.0), 10_f64.powf(high)),
    }
}
