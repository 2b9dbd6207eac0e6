//! What an experiment expects, and what it draws.

use super::scalar::{Choice, Pairs, Scalar};
use schemars::JsonSchema;
use serde::Deserialize;

/// Points by the values of some axes, such as `{ ftl = "2r++", theta = [0.5, 0.9] }`; the axes are
/// `case`, `workload`, the variables of the grid, `ftl` and `seed`.
pub type Selector = Pairs<Choice>;

/// What was published, or is expected, of one number or of several.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Expectation {
    /// What it is about, in words; the metric by default.
    pub what: String,
    /// Whose configuration is run.
    pub kind: Option<Basis>,
    /// What is measured, such as `waf`; see `ftlab list metrics`.
    pub metric: Scalar,
    /// Of which points; one number for each of those that are left.
    pub of: Selector,
    /// The axis along which `values` go.
    pub along: Option<String>,
    /// The value.
    pub value: Option<f64>,
    /// Values along an axis, in its order.
    pub values: Vec<f64>,
    /// The least value.
    pub at_least: Option<f64>,
    /// The greatest value.
    pub at_most: Option<f64>,
    /// The number is divided by that of the point which differs from its own in these axes.
    pub over: Option<Selector>,
    /// That number is subtracted.
    pub minus: Option<Selector>,
    /// A gain: by which share the number is more than that of the point which differs in these axes.
    pub more_than: Option<Selector>,
    /// A gain: by which share it is less than that number.
    pub less_than: Option<Selector>,
    /// One number of all points: the largest, the smallest, or their mean.
    pub reduce: Option<Reduce>,
    /// The points that differ from each other in these axes have ascending numbers.
    pub ascending: Vec<Selector>,
    /// That they have to do so in most places only, and not in all.
    pub in_most: bool,
    /// How far off is as expected, such as 10%; that is the default.
    pub tolerance: Option<Scalar>,
    /// How far off is as expected, in the unit of the number, instead of a share of it.
    pub within: Option<f64>,
    /// Where it is said: table, figure, page.
    pub source: String,
    /// Why it differs, or how it is to be read.
    pub remark: String,
}

/// Whose configuration a row runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The configuration that the publication states.
    Stated,
    /// Our reading, where the publication is silent.
    Reading,
    /// Another configuration, which must not agree.
    Control,
}

impl Basis {
    /// Its name in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Reading => "reading",
            Self::Control => "control",
        }
    }
}

impl Expectation {
    /// The selectors of the points with which its number is taken together.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Selector> {
        let others = [&self.over, &self.minus, &self.more_than, &self.less_than];
        others.into_iter().flatten()
    }

    /// Whether its number is a share by which one is more or less than another.
    pub(crate) fn is_gain(&self) -> bool {
        self.more_than.is_some() || self.less_than.is_some()
    }
}

/// What becomes of the numbers of several points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
    /// The mean.
    Mean,
}

impl Reduce {
    /// One number of many; none of none.
    pub(crate) fn of(self, numbers: &[f64]) -> Option<f64> {
        let sum: f64 = numbers.iter().sum();
        match self {
            Self::Largest => numbers.iter().copied().max_by(f64::total_cmp),
            Self::Smallest => numbers.iter().copied().min_by(f64::total_cmp),
            Self::Mean => (!numbers.is_empty()).then(|| sum / numbers.len() as f64),
        }
    }
}

/// The kinds of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// The metric `y` over the values of the axis `x`, a line for each value of `by`; what is expected
    /// is dashed.
    Lines,
    /// Bars of the metric `y` side by side for each value of `by`, in groups by `x`.
    Bars,
    /// The curve `y` that each run has, such as `running-waf`, a line for each value of `by`.
    Curves,
}

/// A figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FigureSpec {
    /// Its kind.
    pub kind: FigureKind,
    /// A name for its file, if there are several.
    #[serde(default)]
    pub name: String,
    /// The line above it.
    #[serde(default)]
    pub title: String,
    /// The axis of the experiment that goes to the right; curves have their own.
    #[serde(default)]
    pub x: String,
    /// What is shown: a metric, or of curves the name of one.
    pub y: Scalar,
    /// The axis with a line or bar for each of its values; `ftl` by default. `metric` stands for the
    /// metrics in `y`, which are separated by blanks then.
    #[serde(default)]
    pub by: String,
    /// The axis with a chart of its own for each of its values.
    #[serde(default)]
    pub panels: String,
    /// The points that are shown; all by default.
    #[serde(default)]
    pub of: Selector,
    /// The moments that are shown, as shares of the run, of curves that have one: a line for each.
    #[serde(default)]
    pub at: Vec<f64>,
    /// What the horizontal axis says.
    #[serde(default)]
    pub x_label: String,
    /// What the vertical axis says.
    #[serde(default)]
    pub y_label: String,
    /// What the line of the published values is called, such as the drive that was measured; by default it is named
    /// after the line beside it.
    #[serde(default)]
    pub published: String,
    /// The end of the vertical axis, where not everything is to be shown.
    pub y_max: Option<f64>,
}
