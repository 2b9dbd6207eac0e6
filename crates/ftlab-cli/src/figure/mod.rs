//! Figures, drawn as SVG and written as SVG, PNG or PDF.

mod chart;
mod curve;
pub(crate) mod experiment;
mod fit;
mod flash;
mod fleet;
mod heat_map;
mod inspection;
mod load;
mod mapping_cache;
mod named;
#[cfg(feature = "print")]
mod print;
mod scoreboard;
mod size;
mod trade_off;
mod waf;

pub(crate) use curve::write_curves;
pub(crate) use fit::write_fit;
pub(crate) use flash::write_flash;
pub(crate) use fleet::{fleet_svg, write_fleet};
pub(crate) use inspection::{FIGURES, Figure, find};
pub(crate) use load::{load_svg, write_load};
pub(crate) use mapping_cache::write_mapping_cache;
pub(crate) use scoreboard::write_scoreboard;
pub(crate) use size::FigureSize;
pub(crate) use trade_off::{trade_off_svg, write_trade_off};
pub(crate) use waf::{check_figure, write_figure};

#[cfg(not(feature = "print"))]
use crate::absent::absent;
use crate::error::CliError;
use ftlab_sim::colours::{self, PALETTE};
use ftlab_trace::{check_file, replace_file};
use plotters::prelude::{BLACK, RGBColor};
use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// The palette, in the type of figures.
const COLOURS: [RGBColor; PALETTE.len()] = {
    let mut colours = [BLACK; PALETTE.len()];
    let mut index = 0;
    while index < PALETTE.len() {
        let [red, green, blue] = PALETTE[index];
        colours[index] = RGBColor(red, green, blue);
        index += 1;
    }
    colours
};

/// Colours of FTLs that are drawn together, and whether they are dashed.
fn styles(names: &[&str]) -> Vec<(RGBColor, bool)> {
    let styles = colours::styles(names).into_iter();
    styles.map(|style| (COLOURS[style.colour], style.dash > 0)).collect()
}

/// The file extensions of the formats that this binary can draw.
pub(crate) const ENDINGS: &[&str] =
    if cfg!(feature = "print") { &["svg", "png", "pdf"] } else { &["svg"] };

type Drawn = Result<(), Box<dyn Error>>;

/// Checks before the work whether a figure can be written to `path`, in a format that is supported.
pub(crate) fn check(path: &Path) -> Result<(), CliError> {
    check_file(path)?;
    kind(path).map(drop)
}

/// Draws a figure, and writes it in the format of the extension of `path`.
pub(crate) fn write(path: &Path, draw: impl FnOnce(&mut String) -> Drawn) -> Result<(), CliError> {
    let cannot = |error: &dyn Display| {
        CliError::failure(format!("cannot write the figure {}: {error}", path.display()))
    };
    let mut svg = String::new();
    draw(&mut svg).map_err(|error| cannot(&error))?;
    let bytes = match kind(path)? {
        Kind::Svg => signed(&svg).into_bytes(),
        #[cfg(feature = "print")]
        Kind::Png => print::png(&svg).map_err(|error| cannot(&error))?,
        #[cfg(feature = "print")]
        Kind::Pdf => print::pdf(&svg).map_err(|error| cannot(&error))?,
        #[cfg(not(feature = "print"))]
        Kind::Png | Kind::Pdf => return Err(absent("drawing PNG and PDF", "print")),
    };
    Ok(replace_file(path, |file| file.write_all(&bytes))?)
}

/// A drawing that states what drew it.
fn signed(svg: &str) -> String {
    let metadata = format!("<metadata>{}</metadata>", ftlab_spec::written_by());
    match svg.find('>') {
        Some(end) => [&svg[..=end], &metadata, &svg[end + 1..]].concat(),
        None => svg.to_owned(),
    }
}

/// The formats of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    Svg,
    Png,
    Pdf,
}

impl Kind {
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

fn kind(path: &Path) -> Result<Kind, CliError> {
    let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(Kind::Svg),
        #[cfg(feature = "print")]
        Some("png") => Ok(Kind::Png),
        #[cfg(feature = "print")]
        Some("pdf") => Ok(Kind::Pdf),
        #[cfg(not(feature = "print"))]
        Some("png" | "pdf") => {
            Err(absent("drawing PNG and PDF (end the name in .svg for SVG)", "print"))
        }
        _ => Err(CliError::usage(format!(
            "{} does not say which format the figure has; end it in .svg, .png or .pdf",
            path.display()
        ))),
    }
}
