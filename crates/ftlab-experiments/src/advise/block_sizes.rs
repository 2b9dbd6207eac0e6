//! Whether the drive of an answer does the same with blocks of half and of double the size.

use super::{Advice, Point, Question};
use crate::parallel::parallel;
use ftlab_sim::Physical;
use ftlab_sim::evidence::Standing;
use ftlab_sim::format::significant;
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
