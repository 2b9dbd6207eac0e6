//! `ftlab.model`: closed forms; Python has checked the arguments.

use ftlab_model::split::{Allocation, Group, write_amplification};
use ftlab_model::{hot_cold, uniform};
use pyo3::prelude::*;

/// Uniform writes, FIFO.
#[pyfunction]
pub(crate) fn model_fifo(op_ratio: f64) -> f64 {
    uniform::fifo(op_ratio)
}

/// Uniform writes, greedy.
#[pyfunction]
pub(crate) fn model_greedy(op_ratio: f64, pages_per_block: u32) -> f64 {
    uniform::greedy(op_ratio, pages_per_block)
}

/// Uniform writes, d-choices.
#[pyfunction]
pub(crate) fn model_d_choices(op_ratio: f64, pages_per_block: u32, d: u32) -> f64 {
    uniform::d_choices(op_ratio, pages_per_block, d)
}

/// Two temperatures in one region, FIFO.
#[pyfunction]
pub(crate) fn model_hot_cold(op_ratio: f64, writes: f64, pages: f64) -> f64 {
    hot_cold::fifo(op_ratio, writes, pages)
}

/// Spare pages of each group and the resulting write amplification, for each rule.
#[pyfunction]
pub(crate) fn model_split(op_ratio: f64, groups: Vec<(f64, f64)>) -> Vec<(String, Vec<f64>, f64)> {
    let groups: Vec<_> =
        groups.into_iter().map(|(pages, writes)| Group { pages, writes }).collect();
    let pages: f64 = groups.iter().map(|group| group.pages).sum();
    let of = |rule: Allocation| {
        let spare = rule.divide(&groups, op_ratio * pages);
        let waf = write_amplification(&groups, &spare);
        (rule.name().to_owned(), spare, waf)
    };
    Allocation::ALL.into_iter().map(of).collect()
}
