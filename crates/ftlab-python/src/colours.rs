//! Colours of FTLs.

use ftlab_sim::colours;

/// Red, green and blue of every colour.
#[pyo3::pyfunction]
pub(crate) fn palette() -> Vec<(u8, u8, u8)> {
    colours::PALETTE.iter().map(|[red, green, blue]| (*red, *green, *blue)).collect()
}

/// The colour, as an index into the palette, and the dashes of FTLs that are drawn together.
#[pyo3::pyfunction]
pub(crate) fn styles(ftls: Vec<String>) -> Vec<(usize, usize)> {
    colours::styles(&ftls).into_iter().map(|style| (style.colour, style.dash)).collect()
}
