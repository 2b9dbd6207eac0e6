//! How large a figure is.

use clap::Args;
use clap::value_parser;

/// Size of a figure, where it is not as usual.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FigureSize {
    /// Width of a figure, or of each chart of it, in pixels of 1/96 inch; texts are 14 high (10.5 pt), whatever
    /// the size. A column of a paper is 320 wide.
    #[arg(long, value_name = "PIXELS", value_parser = value_parser!(u32).range(240..=8000))]
    width: Option<u32>,
    /// Its height, without the legend below it.
    #[arg(long, value_name = "PIXELS", value_parser = value_parser!(u32).range(160..=8000))]
    height: Option<u32>,
}

impl FigureSize {
    /// Width and height of a chart; as in `usual`, where they were not given.
    pub(super) fn or(self, usual: (u32, u32)) -> (u32, u32) {
        (self.width.unwrap_or(usual.0), self.height.unwrap_or(usual.1))
    }
}
