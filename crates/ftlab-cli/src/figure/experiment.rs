//! The figures of experiments: lines over a grid, bars, and curves of runs.

use super::chart::{
    Area, Axis, Extent, Key, Line, bar_middle, bars, chart, extents, keys_height, lines, with_keys,
};
use super::{Drawn, FigureSize, styles};
use crate::error::CliError;
use ftlab_experiments::sweep::{
    AxisKind, BESIDE_SERIES, Expectation, FigureKind, FigureSpec, Numbers, Plan, Point,
    SeriesTable, extent, measured, places,
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
    /// Names of groups, and the bars in them.
    Bars(Vec<String>, Vec<Bars>),
}

/// Bars of one kind: one in each group.
struct Bars {
    label: String,
    heights: Vec<f64>,
    /// The lowest and the highest value over the seeds, if there are several.
    extents: Vec<Option<(f64, f64)>>,
}

/// The axis of figures whose lines are several metrics.
const BY_METRIC: &str = "metric";

const PANEL: (u32, u32) = (640, 390);

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
        let title = if value.is_empty() {
            spec.title.clone()
        } else {
            filled(&named(&spec.panels, &value), &places)
        };
        let panel = match spec.kind {
            FigureKind::Lines => of.over_axis(&places)?,
            FigureKind::Bars => of.bars(&places)?,
            FigureKind::Curves => of.curves(&places)?,
        };
        panels.extend(panel.map(|panel| Panel { title: title.clone(), ..panel.filled(&places) }));
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

    fn place<'p>(&self, places: &[&'p Point], x: &str, by: &str) -> Option<&'p Point> {
        let mut places = places.iter().copied();
        places.find(|place| {
            let is_by = self.by() == BY_METRIC || place.label(self.by()) == Some(by);
            place.label(&self.spec.x) == Some(x) && is_by
        })
    }

    fn number(&self, places: &[&Point], x: &str, (by, metric): &(String, &str)) -> Option<f64> {
        measured(self.plan, self.numbers, metric, self.place(places, x, by)?)
    }

    /// Its lowest and its highest value over the seeds, if there are several.
    fn extent(
        &self,
        places: &[&Point],
        x: &str,
        (by, metric): &(String, &str),
    ) -> Option<(f64, f64)> {
        extent(self.plan, self.numbers, metric, self.place(places, x, by)?)
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
            let extents = positions.iter().zip(&xs).filter_map(|(position, x)| {
                let (low, high) = self.extent(places, x, kind)?;
                Some((*position, low, high))
            });
            let extents = extents.collect();
            shown.push(Line { label: by.clone(), colour, is_dashed, points, extents });
            shown.extend(self.published(by, places).into_iter().map(|values| {
                let points = positions.iter().copied().zip(values).collect();
                let (label, colour) = match self.spec.published.as_str() {
                    "" => (format!("{by}, published"), colour),
                    name => (name.to_owned(), BLACK),
                };
                Line { label, colour, is_dashed: true, points, extents: Vec::new() }
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
        let bars_of = |kind: (String, &str)| {
            let heights = groups.iter().map(|x| self.number(places, x, &kind).unwrap_or(0.0));
            let extents = groups.iter().map(|x| self.extent(places, x, &kind));
            Bars { heights: heights.collect(), extents: extents.collect(), label: kind.0 }
        };
        let kinds: Vec<Bars> = self.kinds(places).into_iter().map(bars_of).collect();
        if kinds.iter().flat_map(|bars| &bars.heights).all(|height| *height == 0.0) {
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

    /// The series that drives gave, of these points.
    fn series(&self, places: &[&Point]) -> Vec<Line> {
        let tables = self.plan.file.series.iter().filter(|table| {
            self.spec.y.as_written() == BESIDE_SERIES && places.iter().any(|p| p.is_in(&table.of))
        });
        let line = |(place, table): (usize, &SeriesTable)| Line {
            label: table.name.as_written().to_owned(),
            colour: BLACK,
            is_dashed: place > 0,
            points: table.line(),
            extents: Vec::new(),
        };
        tables.enumerate().map(line).collect()
    }

    fn curves(&self, places: &[&Point]) -> Result<Option<Panel>, CliError> {
        let moments = if self.spec.at.is_empty() { &[1.0][..] } else { &self.spec.at };
        let (mut curves, mut axes) = (Vec::new(), None);
        for place in places {
            for moment in moments {
                let Some(curve) = self.numbers.curve(self.spec.y.as_written(), place, *moment)?
                else {
                    continue;
                };
                let mut label = place.label(self.by()).unwrap_or_default().to_owned();
                if moments.len() > 1 {
                    let at = format!("at {:.0}%", 100.0 * moment);
                    label = if places.len() > 1 { format!("{label}, {at}") } else { at };
                }
                axes = Some((curve.x, curve.y));
                curves.push((label, thinned(curve.points)));
            }
        }
        let Some((x, y)) = axes else { return Ok(None) };
        let names: Vec<&str> = curves.iter().map(|(label, _)| label.as_str()).collect();
        let styles = styles(&names);
        let drawn = curves.into_iter().zip(styles).map(|((label, points), (colour, is_dashed))| {
            Line { label, colour, is_dashed, points, extents: Vec::new() }
        });
        let mut shown: Vec<Line> = self.series(places);
        shown.extend(drawn);
        Ok(Some(Panel {
            title: String::new(),
            x: (label(&self.spec.x_label, x.0), x.1),
            y: (label(&self.spec.y_label, y.0), y.1),
            y_max: self.spec.y_max,
            content: Content::Lines(shown, Vec::new()),
        }))
    }
}

/// A value of an axis as a title: a number says of what it is.
fn named(axis: &str, value: &str) -> String {
    let is_number = value.trim_end_matches('%').parse::<f64>().is_ok();
    if is_number { format!("{axis} {value}") } else { value.to_owned() }
}

/// A name with its placeholders filled in: with the value that all places have, or without the parameter if they
/// differ in it.
fn filled(name: &str, places: &[&Point]) -> String {
    let mut text = name.to_owned();
    while let Some(start) = text.find('{') {
        let Some(end) = text[start..].find('}').map(|end| start + end) else { break };
        let axis = &text[start + 1..end];
        let mut values: Vec<_> = places.iter().filter_map(|place| place.label(axis)).collect();
        values.dedup();
        if let [value] = values[..] {
            text.replace_range(start..=end, &value.replace(['{', '}'], ""));
        } else {
            let key = text[..start].rfind([':', ',', ' ']).unwrap_or(0);
            text.replace_range(key..=end, "");
        }
    }
    text
}

/// The label of an axis; metrics are spelled out.
fn label(given: &str, default: &str) -> String {
    match (given, default) {
        ("", "waf") => "write amplification".to_owned(),
        ("", _) => default.to_owned(),
        _ => given.to_owned(),
    }
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
pub(crate) fn draw(picture: &Picture, panel: FigureSize, svg: &mut String) -> Drawn {
    let columns = picture.panels.len().min(2);
    let rows = picture.panels.len().div_ceil(columns);
    let (width, height) = panel.or(PANEL);
    let legends = picture.panels.iter().map(|panel| keys_height(width, &panel.keys()));
    let height = height + legends.max().unwrap_or(0);
    let size = (width * columns as u32, height * rows as u32);
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, panel) in area.split_evenly((rows, columns)).iter().zip(&picture.panels) {
        panel.draw(area)?;
    }
    area.present()?;
    Ok(())
}

/// The colours of bars; they have no dashes: those that would have are lighter.
fn bar_colours(kinds: &[Bars]) -> Vec<RGBAColor> {
    let names: Vec<_> = kinds.iter().map(|bars| bars.label.as_str()).collect();
    let styles = styles(&names).into_iter();
    styles.map(|(colour, is_dashed)| colour.mix(if is_dashed { 0.45 } else { 1.0 })).collect()
}

impl Panel {
    /// Its names with their placeholders filled in.
    fn filled(mut self, places: &[&Point]) -> Self {
        let names: Vec<&mut String> = match &mut self.content {
            Content::Lines(shown, named) => {
                let ticks = named.iter_mut().map(|(_, name)| name);
                shown.iter_mut().map(|line| &mut line.label).chain(ticks).collect()
            }
            Content::Bars(groups, kinds) => {
                groups.iter_mut().chain(kinds.iter_mut().map(|bars| &mut bars.label)).collect()
            }
        };
        for name in names {
            *name = filled(name, places);
        }
        self
    }

    fn keys(&self) -> Vec<Key> {
        match &self.content {
            Content::Lines(shown, _) => Key::of(shown),
            Content::Bars(_, kinds) => {
                let colours = bar_colours(kinds).into_iter();
                kinds.iter().zip(colours).map(|(bars, of)| Key::bar(&bars.label, of)).collect()
            }
        }
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        match &self.content {
            Content::Lines(shown, named) => self.draw_lines(area, shown, named),
            Content::Bars(groups, kinds) => self.draw_bars(area, groups, kinds),
        }
    }

    fn draw_lines(&self, area: &Area<'_>, shown: &[Line], named: &[(f64, String)]) -> Drawn {
        let ends = |&(x, low, high): &Extent| [(x, low), (x, high)];
        let all = || {
            shown.iter().flat_map(move |line| {
                line.points.iter().copied().chain(line.extents.iter().flat_map(ends))
            })
        };
        let range = |of: fn((f64, f64)) -> f64| {
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
            extents: line
                .extents
                .iter()
                .map(|(x, low, high)| (*x, low.min(top), high.min(top)))
                .collect(),
        });
        let area = with_keys(area, &self.keys())?;
        let mut chart = chart(&area, &self.title, &x, &y)?;
        lines(&mut chart, copies.collect())
    }

    /// Write amplification starts at 1, anything else at 0.
    fn floor(&self) -> f64 {
        if self.y.0.contains("write amplification") { 1.0 } else { 0.0 }
    }

    fn draw_bars(&self, area: &Area<'_>, groups: &[String], kinds: &[Bars]) -> Drawn {
        let heights = kinds.iter().flat_map(|bars| bars.heights.iter().copied());
        let tops = kinds.iter().flat_map(|bars| bars.extents.iter().flatten().map(|of| of.1));
        let high = heights.chain(tops).fold(0.0_f64, f64::max);
        let top = self.y_max.unwrap_or(high);
        let ticks = groups.iter().enumerate().map(|(slot, name)| (slot as f64 + 0.5, name.clone()));
        let x = Axis::new(&self.x.0, 0.0..groups.len() as f64, ticks.collect());
        let y = axis(&self.y, 0.0, top);
        let area = with_keys(area, &self.keys())?;
        let mut chart = chart(&area, &self.title, &x, &y)?;
        let heights = |bars: &Bars| -> Vec<f64> {
            bars.heights.iter().map(|height| height.min(top)).collect()
        };
        let coloured = bar_colours(kinds).into_iter().zip(kinds.iter().map(heights));
        let coloured: Vec<_> = coloured.collect();
        bars(&mut chart, &coloured)?;
        let errors = kinds.iter().enumerate().flat_map(|(place, bars)| {
            bars.extents.iter().enumerate().filter_map(move |(slot, extent)| {
                let (low, high) = (*extent)?;
                Some((bar_middle(slot, place, kinds.len()), low.min(top), high.min(top)))
            })
        });
        extents(&mut chart, &errors.collect::<Vec<_>>(), BLACK)
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
