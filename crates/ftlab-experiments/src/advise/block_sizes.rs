//! Whether the drive of an answer does the same with blocks of half and of double the size.

use super::{Advice, Circumstance, Point, Question, RESOLUTION};
use crate::parallel::parallel;
use ftlab_sim::Physical;
use ftlab_sim::evidence::Standing;
use ftlab_sim::format::{percent_tenths, significant};
use ftlab_sim::trust::{BlockSize, BlockSizes};
use ftlab_spec::Spec;

/// What is left unknown of a steady value, too: as a share of WAF - 1, or of a time.
const TOLERANCE: f64 = 0.03;
/// What is left unknown where hardly anything is moved.
const TOLERANCE_MIN: f64 = 0.002;

impl Question {
    /// Runs the drive of the answer once more with blocks of half and of double the size, and as much flash. If no drive
    /// meets the target, that is the largest of the FTL that comes nearest.
    pub(super) fn block_sizes(
        &self,
        advice: &Advice,
        pages_per_block: u32,
        threads: usize,
        on_run: &(dyn Fn() + Sync),
    ) -> Option<BlockSizes> {
        if let Some(sizes) = of_units(advice) {
            return Some(sizes);
        }
        let curve = advice.curves.first()?;
        let answer = curve.needs.or_else(|| curve.points.last().copied())?;
        let ftl: Spec = curve.ftl.parse().ok()?;
        let half = (pages_per_block / 2, answer.blocks.saturating_mul(2));
        let double = (pages_per_block.saturating_mul(2), answer.blocks.div_ceil(2));
        let sizes = [half, double].into_iter().filter(|(pages, _)| *pages >= 2);
        let sizes: Vec<(u32, u32)> = sizes.collect();
        let tried = parallel(threads, &sizes, |(pages, blocks)| {
            let mut question = self.clone();
            question.base.drive.pages_per_block = Some(*pages);
            let found = question.point(&ftl, Physical::Blocks(*blocks));
            on_run();
            of_size(*pages, &answer, found.ok().map(|(point, _)| point))
        });
        let what = format!("{} on {} blocks of flash", curve.ftl, answer.blocks);
        Some(BlockSizes::new(what, pages_per_block, tried))
    }
}

/// Whether a real drive needs as much in units of half and of double the size, to twice what over-provisioning is known to,
/// or amplifies as much as it is; none if that was not asked for.
fn of_units(advice: &Advice) -> Option<BlockSizes> {
    let drive = advice.drive.as_ref()?;
    let pages = drive.model.pages_per_block;
    let curve = advice.curves.first()?;
    let as_it_is = drive.op_ratio.and_then(|has| curve.at(has));
    let of = |circumstance, pages_per_block| {
        let other = advice.otherwise.iter().find(|other| other.circumstance == circumstance)?;
        let Some((_, answer)) = advice.best() else {
            return Some(of_size(pages_per_block, as_it_is?, other.as_it_is));
        };
        let needs = other.needs.map(|point| point.op_ratio);
        let is_same = needs.is_some_and(|op| (op - answer.op_ratio).abs() <= 2.0 * RESOLUTION);
        let found = needs.map_or_else(|| "more than was tried".to_owned(), percent_tenths);
        Some(BlockSize {
            pages_per_block,
            is_same: Some(is_same),
            found: format!("needs {found}, not {}", percent_tenths(answer.op_ratio)),
        })
    };
    let half = of(Circumstance::HalfUnit, pages / 2)?;
    let double = of(Circumstance::DoubleUnit, pages.saturating_mul(2))?;
    Some(BlockSizes::new(format!("{} on {}", curve.ftl, drive.text), pages, vec![half, double]))
}

/// Whether the drive has about the same value as that of the answer.
fn of_size(pages_per_block: u32, answer: &Point, found: Option<Point>) -> BlockSize {
    let found = found.filter(|point| point.standing != Standing::None);
    let Some(point) = found else {
        let found = "there is no evidence".into();
        return BlockSize { pages_per_block, is_same: None, found };
    };
    let tolerance = match answer.response_ns {
        Some(_) => TOLERANCE * answer.value(),
        None => (TOLERANCE * (answer.waf - 1.0)).max(TOLERANCE_MIN),
    };
    let value = |of: &Point| of.response_ns.map_or(of.waf, |_| of.value());
    let [was, is] = [value(answer), value(&point)];
    let unit = if answer.response_ns.is_some() { "response" } else { "WAF" };
    BlockSize {
        pages_per_block,
        is_same: Some((is - was).abs() <= tolerance),
        found: format!("{unit} {}, not {}", significant(is, 4), significant(was, 4)),
    }
}
