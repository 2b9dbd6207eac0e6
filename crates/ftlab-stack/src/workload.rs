//! The workload of this crate's tests.

use ftlab_flash::Lpn;
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::Lifetime;

/// Five drive writes, most of them to a tenth of the pages, with hints of every kind; and a trim of a page in
/// about as many writes as are given.
pub(crate) fn workload(logical_pages: u32, trim_every: Option<u32>) -> PageBatch {
    let mut random = 1_u64;
    let mut below = |bound: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as u32 % bound
    };
    let mut batch = PageBatch::default();
    for _ in 0..5 * logical_pages {
        let area = if below(10) == 0 { logical_pages } else { logical_pages / 10 };
        batch.writes.push(Lpn(below(area)));
        batch.lifetimes.push(Lifetime { this: below(3 * logical_pages), mean: 1 + area / 2 });
        batch.streams.push(below(3) as u16);
        if trim_every.is_some_and(|writes| below(writes) == 0) {
            batch.trim(Lpn(below(logical_pages)), 1);
        }
    }
    batch
}
