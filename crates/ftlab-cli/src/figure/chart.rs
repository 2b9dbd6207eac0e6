//! What all charts share: axes with our own ticks, lines, bars.

use super::Drawn;
use ftlab_sim::format::{bytes, significant};
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;

/// A chart that is being drawn.
pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ticks, Ticks>>;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Width of a letter of 14 pixels, with which few texts are wider.
const LETTER: f64 = 8.0;

/// Pixels left of a chart. On one that is narrower than `NARROW` its numbers decide, so that their label stands beside
/// them; wider ones begin at the same place, whatever their numbers.
const LABELS: u32 = 72;
const NARROW: u32 = 480;

/// Whether a text is a number, perhaps with a unit: `10%`, `2.5 M`, but not `1r-greedy`.
fn is_number(text: &str) -> bool {
    let number = text.split(' ').next().unwrap_or_default();
    number.trim_end_matches('%').parse::<f64>().is_ok()
}

/// Approximate number of ticks of an axis.
const TICKS: f64 = 6.0;

/// An axis: its range, its ticks with their texts, and what it shows.
pub(super) struct Axis {
    label: String,
    range: Range<f64>,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    pub(super) fn new(label: &str, range: Range<f64>, ticks: Vec<(f64, String)>) -> Self {
        Self { label: label.into(), range, ticks }
    }

    /// From 0% to 100%.
    pub(super) fn shares(label: &str) -> Self {
        Self::shares_up_to(label, 1.0)
    }

    /// From 0% to a bit more than `max`, at most 100%.
    pub(super) fn shares_up_to(label: &str, max: f64) -> Self {
        let end = if max > 0.6 { 1.0 } else { (1.08 * max).max(0.01) };
        let ticks = even(end).map(|share| (share, percent(share)));
        Self::new(label, 0.0..end, ticks.collect())
    }

    /// From 0% to a bit more than `max`, which may be beyond 100%.
    pub(super) fn shares_of_another(label: &str, max: f64) -> Self {
        let end = (1.03 * max).max(0.01);
        let ticks = even(end).map(|share| (share, percent(share)));
        Self::new(label, 0.0..end, ticks.collect())
    }

    /// From 0 to a bit more than `max`, in thousands, millions and so on.
    pub(super) fn counts(label: &str, max: f64) -> Self {
        let end = (1.02 * max).max(1e-9);
        let ticks = even(end).map(|count| (count, count_text(count)));
        Self::new(label, 0.0..end, ticks.collect())
    }

    /// Plain numbers in a range.
    pub(super) fn numbers(label: &str, range: Range<f64>) -> Self {
        let ticks = even(range.end - range.start).map(|number| number + range.start);
        let ticks = ticks.map(|number| (number, format!("{}", (number * 1e3).round() / 1e3)));
        Self::new(label, range.clone(), ticks.collect())
    }

    /// Whole numbers in a range, without ticks between them.
    pub(super) fn whole_numbers(label: &str, range: Range<f64>) -> Self {
        let mut axis = Self::numbers(label, range);
        axis.ticks.retain(|(number, _)| number.fract() == 0.0);
        axis
    }

    /// From 0 to `max` bytes.
    pub(super) fn bytes(label: &str, max: f64) -> Self {
        let step = (max / TICKS).max(1.0).log2().ceil().exp2();
        let ticks = steps(step, max).map(|size| (size, bytes(size as u64)));
        Self::new(label, 0.0..max.max(1.0), ticks.collect())
    }

    /// Powers of ten up to `max` or above, ten times the first at least, at the places of their logarithms, which
    /// begin at `start`: 0 for 1, or somewhat below, so that a bar of 1 has a height.
    pub(super) fn powers_of_ten(label: &str, start: f64, max: f64) -> Self {
        let first = start.ceil();
        let end = max.log10().max(first + 1.0);
        let powers = steps(1.0, end - first).map(|power| first + power);
        let ticks = powers.map(|power| (power, count_text(10_f64.powf(power))));
        Self::new(label, start..end, ticks.collect())
    }

    /// Without numbers that would lie over those before them on an axis of `length` pixels.
    fn with_ticks_that_fit(&self, length: u32) -> Self {
        let names = self.ticks.iter().filter(|(_, text)| !is_number(text)).count();
        let mut ticks = self.ticks.clone();
        if 2 * names <= ticks.len() {
            let mut end = f64::NEG_INFINITY;
            ticks.retain(|(place, text)| {
                let (middle, half) =
                    (self.pixel(*place, length), LETTER * text.chars().count() as f64 / 2.0);
                let fits = middle - half > end + LETTER;
                if fits {
                    end = middle + half;
                }
                fits
            });
        }
        Self { label: self.label.clone(), range: self.range.clone(), ticks }
    }

    /// The size of letters, at most 14, at which names do not lie over each other.
    fn letters(&self, length: u32) -> f64 {
        let room = |pair: &[(f64, String)]| {
            let apart = (self.pixel(pair[1].0, length) - self.pixel(pair[0].0, length)).abs();
            let letters =
                (pair[0].1.chars().count() + pair[1].1.chars().count()) as f64 / 2.0 + 1.0;
            14.0 * apart / (LETTER * letters)
        };
        self.ticks.windows(2).map(room).fold(14.0, f64::min).max(6.0)
    }

    /// Pixels that a vertical axis takes for its label, its numbers and its ticks.
    fn labels_width(&self) -> u32 {
        let longest = self.ticks.iter().map(|(_, text)| text.chars().count()).max();
        (24 + LETTER as u32 * longest.unwrap_or(0) as u32).min(LABELS)
    }

    /// Where a value is on an axis of `length` pixels.
    fn pixel(&self, value: f64, length: u32) -> f64 {
        (value - self.range.start) / (self.range.end - self.range.start).max(1e-300)
            * f64::from(length)
    }

    fn coordinates(&self) -> Ticks {
        Ticks { range: self.range.clone().into(), ticks: self.ticks.clone() }
    }
}

/// Coordinates with given ticks and labels.
pub(super) struct Ticks {
    range: RangedCoordf64,
    ticks: Vec<(f64, String)>,
}

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.range()
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        let own = self.ticks.iter().find(|(tick, _)| tick.total_cmp(value).is_eq());
        own.map_or_else(|| Self::format(value), |(_, text)| text.clone())
    }
}

/// Multiples of `step` from 0 to `end`.
fn steps(step: f64, end: f64) -> impl Iterator<Item = f64> {
    let last = (end / step * (1.0 + 1e-12)).floor() as u32;
    (0..=last).map(move |number| f64::from(number) * step)
}

/// Round numbers from 0 to `end`: multiples of 1, 2 or 5 times a power of ten.
fn even(end: f64) -> impl Iterator<Item = f64> {
    let rough = end / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= 0.999 * rough);
    steps(step.unwrap_or(10.0 * power), end)
}

fn percent(share: f64) -> String {
    format!("{}%", (share * 1e4).round() / 1e2)
}

/// A count as people read it on an axis: three digits, such as `2.5 M`.
pub(super) fn count_text(count: f64) -> String {
    let units = [(" G", 1e9), (" M", 1e6), (" k", 1e3), ("", 1.0)];
    let fitting = units.into_iter().find(|(_, size)| count >= 0.9995 * size);
    let (unit, size) = fitting.unwrap_or(("", 1.0));
    let digits = significant(count / size, 3);
    let short = match digits.split_once('.') {
        Some(_) => digits.trim_end_matches('0').trim_end_matches('.'),
        None => &digits,
    };
    format!("{short}{unit}")
}

/// An empty chart with its axes.
pub(super) fn chart<'a, 'b>(
    area: &'a Area<'b>,
    caption: &str,
    x: &Axis,
    y: &Axis,
) -> Result<Chart<'a, 'b>, Box<dyn Error>> {
    let labels = if area.dim_in_pixel().0 < NARROW { y.labels_width() } else { LABELS };
    chart_with_labels(labels, area, caption, x, y)
}

/// An empty chart with `labels` pixels for the labels of its vertical axis.
pub(super) fn chart_with_labels<'a, 'b>(
    labels: u32,
    area: &'a Area<'b>,
    caption: &str,
    x: &Axis,
    y: &Axis,
) -> Result<Chart<'a, 'b>, Box<dyn Error>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(16).margin_right(24).x_label_area_size(44).y_label_area_size(labels);
    if !caption.is_empty() {
        builder.caption(caption, ("sans-serif", 18));
    }
    let x = &x.with_ticks_that_fit(area.dim_in_pixel().0.saturating_sub(labels + 40));
    let mut chart = builder.build_cartesian_2d(x.coordinates(), y.coordinates())?;
    let (width, height) = area.dim_in_pixel();
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_y_axis()
        .x_desc(&x.label)
        .label_style(("sans-serif", x.letters(width.saturating_sub(labels + 40))))
        .axis_desc_style(("sans-serif", fitting(&x.label, width.saturating_sub(labels + 24))))
        .draw()?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .bold_line_style(BLACK.mix(0.12))
        .light_line_style(WHITE)
        .y_desc(&y.label)
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", fitting(&y.label, height.saturating_sub(44 + 16))))
        .draw()?;
    Ok(chart)
}

/// The size of letters at which a text fits an axis of `length` pixels: 14, less on small charts.
fn fitting(text: &str, length: u32) -> f64 {
    // Letters are half as wide as they are high on average, and some texts a tenth wider.
    let size = f64::from(length) / (0.55 * text.chars().count().max(1) as f64);
    size.clamp(7.0, 14.0)
}

pub(super) struct Line {
    pub(super) label: String,
    pub(super) colour: RGBColor,
    pub(super) is_dashed: bool,
    pub(super) points: Vec<(f64, f64)>,
    /// Where points stand for several values: x, the lowest and the highest.
    pub(super) extents: Vec<Extent>,
}

/// Where, the lowest and the highest of several values.
pub(super) type Extent = (f64, f64, f64);

/// A key of a legend: what a line or a bar stands for.
pub(super) struct Key {
    label: String,
    mark: Mark,
}

enum Mark {
    Line(RGBColor),
    Dashes(RGBColor),
    Bar(RGBAColor),
}

impl Key {
    pub(super) fn bar(label: &str, colour: RGBAColor) -> Self {
        Self { label: label.to_owned(), mark: Mark::Bar(colour) }
    }

    /// Those of the lines that have a label.
    pub(super) fn of(lines: &[Line]) -> Vec<Self> {
        let labelled = lines.iter().filter(|line| !line.label.is_empty());
        labelled
            .map(|Line { label, colour, is_dashed, .. }| Self {
                label: label.clone(),
                mark: if *is_dashed { Mark::Dashes(*colour) } else { Mark::Line(*colour) },
            })
            .collect()
    }

    /// Pixels that it takes, with a gap behind it.
    fn width(&self) -> i32 {
        // Letters of 14 pixels are 7.5 wide on average, and few texts are much wider.
        MARK + 8 + (7.5 * self.label.chars().count() as f64) as i32 + 18
    }
}

/// Pixels of the mark of a key, and of a line of keys.
const MARK: i32 = 22;
const KEYS_LINE: i32 = 20;

/// Where a legend begins, so that it is below the chart and not below its labels.
const KEYS_LEFT: i32 = 72;

/// Where the keys of a legend are that is so wide: pixels from the left, and the line.
fn places(width: u32, keys: &[Key]) -> Vec<(i32, i32)> {
    let right = width.cast_signed() - 16;
    let left = KEYS_LEFT.min(width.cast_signed() / 8);
    let (mut x, mut line) = (left, 0);
    let mut places = Vec::new();
    for key in keys {
        if x > left && x + key.width() > right {
            (x, line) = (left, line + 1);
        }
        places.push((x, line));
        x += key.width();
    }
    places
}

/// Pixels of a legend that is so wide, in as many lines as it takes.
pub(super) fn keys_height(width: u32, keys: &[Key]) -> u32 {
    let last = places(width, keys).last().map(|(_, line)| line.cast_unsigned());
    last.map_or(0, |line| (line + 1) * KEYS_LINE.cast_unsigned() + 8)
}

/// Draws a legend at the bottom of `area`; returns what is left for the chart.
pub(super) fn with_keys<'a>(area: &Area<'a>, keys: &[Key]) -> Result<Area<'a>, Box<dyn Error>> {
    if keys.is_empty() {
        return Ok(area.clone());
    }
    let (width, height) = area.dim_in_pixel();
    let above = height.cast_signed() - keys_height(width, keys).cast_signed();
    let (above, below) = area.split_vertically(above);
    for (key, (x, line)) in keys.iter().zip(places(width, keys)) {
        let y = line * KEYS_LINE + KEYS_LINE / 2;
        match key.mark {
            Mark::Line(colour) => {
                let style = colour.stroke_width(3);
                below.draw(&PathElement::new([(x, y), (x + MARK, y)], style))?;
            }
            Mark::Dashes(colour) => {
                let style = colour.stroke_width(3);
                for from in [x, x + 8, x + 16] {
                    below.draw(&PathElement::new([(from, y), (from + 5, y)], style))?;
                }
            }
            Mark::Bar(colour) => {
                let corners = [(x, y - 6), (x + MARK, y + 6)];
                below.draw(&Rectangle::new(corners, colour.filled()))?;
            }
        }
        let text = ("sans-serif", 14).into_font();
        below.draw(&Text::new(key.label.clone(), (x + MARK + 8, y - 7), text))?;
    }
    Ok(above)
}

/// A figure that is a single chart of lines: the legend makes it higher than `size` says, and `more` draws what is
/// not a line.
pub(super) fn line_figure(
    svg: &mut String,
    size: (u32, u32),
    caption: &str,
    (x, y): (&Axis, &Axis),
    curves: Vec<Line>,
    more: impl FnOnce(&mut Chart<'_, '_>) -> Drawn,
) -> Drawn {
    let keys = Key::of(&curves);
    let size = (size.0, size.1 + keys_height(size.0, &keys));
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    let plot = with_keys(&area, &keys)?;
    let mut chart = chart(&plot, caption, x, y)?;
    lines(&mut chart, curves)?;
    more(&mut chart)?;
    area.present()?;
    Ok(())
}

/// Draws lines; their legend is [below](with_keys).
pub(super) fn lines(chart: &mut Chart<'_, '_>, lines: Vec<Line>) -> Drawn {
    for line in lines {
        let style = line.colour.stroke_width(2);
        extents(chart, &line.extents, line.colour)?;
        if line.is_dashed {
            chart.draw_series(DashedLineSeries::new(line.points, 6, 4, style))?;
        } else {
            chart.draw_series(LineSeries::new(line.points, style))?;
        }
    }
    Ok(())
}

/// Error bars: lines from the lowest to the highest value, with ends of 9 pixels.
pub(super) fn extents(chart: &mut Chart<'_, '_>, extents: &[Extent], colour: RGBColor) -> Drawn {
    let style = colour.stroke_width(1);
    chart.draw_series(
        extents.iter().map(|(x, low, high)| PathElement::new([(*x, *low), (*x, *high)], style)),
    )?;
    let ends = extents.iter().flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]);
    chart.draw_series(
        ends.map(|end| EmptyElement::at(end) + PathElement::new([(-4, 0), (4, 0)], style)),
    )?;
    Ok(())
}

/// A vertical line over the height of a chart of shares, with a label in the given line above the axis.
pub(super) fn mark(chart: &mut Chart<'_, '_>, x: f64, line: i32, label: &str) -> Drawn {
    let style = BLACK.mix(0.6).stroke_width(1);
    chart.draw_series(DashedLineSeries::new([(x, 0.0), (x, 1.0)], 3, 3, style))?;
    let text = Text::new(label.to_owned(), (5, -20 - 18 * line), ("sans-serif", 14));
    chart.draw_series([EmptyElement::at((x, 0.0)) + text])?;
    Ok(())
}

/// The middle of the bar of kind `place` of `kinds` in a slot.
pub(super) fn bar_middle(slot: usize, place: usize, kinds: usize) -> f64 {
    slot as f64 + 0.1 + (place as f64 + 0.5) * 0.8 / kinds as f64
}

/// Bars side by side in each slot: slot `n` of every kind of bar is between `n` and `n + 1`.
pub(super) fn bars(chart: &mut Chart<'_, '_>, kinds: &[(RGBAColor, Vec<f64>)]) -> Drawn {
    let width = 0.8 / kinds.len() as f64;
    for (place, (colour, heights)) in kinds.iter().enumerate() {
        let style = colour.filled();
        let bar = |(slot, height): (usize, &f64)| {
            let left = bar_middle(slot, place, kinds.len()) - width / 2.0;
            Rectangle::new([(left, 0.0), (left + width, *height)], style)
        };
        let high = heights.iter().enumerate().filter(|(_, height)| **height > 0.0);
        chart.draw_series(high.map(bar))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_below_the_chart_in_lines_that_fit() {
        let mut svg = String::new();
        let left = {
            let area = SVGBackend::with_string(&mut svg, (400, 300)).into_drawing_area();
            let keys: Vec<_> =
                (0..5).map(|n| Key::bar(&format!("series {n}"), RED.mix(1.0))).collect();
            let left = with_keys(&area, &keys).unwrap().dim_in_pixel();
            area.present().unwrap();
            left
        };
        assert_eq!(left, (400, 300 - 2 * 20 - 8));
        let texts: Vec<&str> = svg.matches("series").collect();
        assert_eq!(texts.len(), 5);
        assert_eq!(svg.matches(&format!("x=\"{}\"", 50 + MARK + 8)).count(), 2);
    }

    #[test]
    fn numbers_give_way_on_short_axes_and_names_do_not() {
        let ticks = |texts: &[&str]| {
            let places = texts.iter().enumerate().map(|(n, text)| (n as f64, (*text).to_owned()));
            let axis = Axis::new("", 0.0..texts.len() as f64, places.collect());
            axis.with_ticks_that_fit(100).ticks.len()
        };
        assert_eq!(ticks(&["1r-greedy", "2r-greedy", "2r-fifo", "2r++"]), 4);
        assert!(ticks(&["100%", "200%", "300%", "400%", "500%"]) < 5);
        assert!(ticks(&["16 MiB", "32 MiB", "48 MiB", "64 MiB"]) < 4);
    }

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |axis: &Axis| axis.ticks.iter().map(|tick| tick.1.clone()).collect::<Vec<_>>();
        assert_eq!(ticks(&Axis::shares("")), ["0%", "20%", "40%", "60%", "80%", "100%"]);
        let axis = Axis::counts("", 23_506_521.0);
        assert_eq!(ticks(&axis), ["0", "5 M", "10 M", "15 M", "20 M"]);
        let axis = Axis::bytes("", 1_610_612_736.0);
        assert_eq!(axis.ticks.len(), 7);
        assert_eq!(axis.coordinates().format_ext(&(512.0 * 1_048_576.0)), "512 MiB");
        let axis = Axis::numbers("", 1.0..2.2);
        assert_eq!(ticks(&axis), ["1", "1.2", "1.4", "1.6", "1.8", "2", "2.2"]);
        let axis = Axis::powers_of_ten("", 0.0, 30_000.0);
        assert_eq!(ticks(&axis), ["1", "10", "100", "1 k", "10 k"]);
        let axis = Axis::powers_of_ten("", -2.0, 5.0);
        assert_eq!(ticks(&axis), ["0.01", "0.1", "1"]);
        let axis = Axis::powers_of_ten("", 2.0, 300.0);
        assert_eq!(ticks(&axis), ["100", "1 k"]);
        let texts = [0.0, 0.25, 7.0, 26_214.0, 262_144.0, 999.9, 999_999.0, 16_777_216.0];
        assert_eq!(
            texts.map(count_text),
            ["0", "0.25", "7", "26.2 k", "262 k", "1 k", "1 M", "16.8 M"]
        );
        for max in [1e-9, 0.3, 1.0, 7.0, 123_456.0, 1e15] {
            let axis = Axis::counts("", max);
            assert!((2..=8).contains(&axis.ticks.len()), "{max}: {:?}", axis.ticks);
        }
    }
}
