//! Stack distances: how many other pages were used since a page was used last.
//!
//! A cache of `n` pages that drops the one used longest ago holds a page if its distance is below `n`, so one pass gives
//! the hits of caches of every size (Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies",
//! IBM Systems Journal 9(2), 1970). A Fenwick tree over the times of last uses counts the pages in between.

/// No time.
const NONE: u32 = u32::MAX;

/// Distances of uses of pages, in one pass.
#[derive(Debug, Clone)]
pub struct StackDistances {
    /// Page -> when it was used last.
    last: Vec<u32>,
    /// By time, sums of how many pages were used last then.
    tree: Vec<u32>,
    now: u32,
    /// Pages that were used.
    seen: u32,
    /// Uses that count, by distance.
    counts: Vec<u64>,
    uses: u64,
}

impl StackDistances {
    /// Of uses of this many pages.
    pub fn new(pages: u32) -> Self {
        // Times are numbered afresh when half of them are no last uses any more.
        let times = (pages as usize).saturating_mul(2).max(1024);
        Self {
            last: vec![NONE; pages as usize],
            tree: vec![0; times + 1],
            now: 0,
            seen: 0,
            counts: vec![0; pages as usize],
            uses: 0,
        }
    }

    /// Bytes of memory that it takes for this many pages.
    pub fn bytes(pages: u32) -> u64 {
        u64::from(pages) * (4 + 8 + 8) + 8192
    }

    /// Forgets what counted; what was used before is remembered.
    pub fn begin(&mut self) {
        self.counts.fill(0);
        self.uses = 0;
    }

    /// A page is used.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn add(&mut self, page: u32) {
        if self.now as usize + 1 == self.tree.len() {
            self.number_afresh();
        }
        self.uses += 1;
        let last = std::mem::replace(&mut self.last[page as usize], self.now);
        if last == NONE {
            self.seen += 1;
        } else {
            let distance = self.seen - self.until(last);
            self.counts[distance as usize] += 1;
            self.change(last, false);
        }
        self.change(self.now, true);
        self.now += 1;
    }

    /// Uses that count.
    pub fn uses(&self) -> u64 {
        self.uses
    }

    /// Those of them that a cache of this many pages had. What was never used before is in none.
    pub fn hits(&self, pages: u64) -> u64 {
        let pages = usize::try_from(pages).unwrap_or(usize::MAX).min(self.counts.len());
        self.counts[..pages].iter().sum()
    }

    /// Pages that were used last at `time` or before.
    fn until(&self, time: u32) -> u32 {
        let (mut at, mut sum) = (time as usize + 1, 0);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }

    fn change(&mut self, time: u32, is_last: bool) {
        let mut at = time as usize + 1;
        while at < self.tree.len() {
            self.tree[at] = if is_last { self.tree[at] + 1 } else { self.tree[at] - 1 };
            at += at & at.wrapping_neg();
        }
    }

    /// Last uses get the first times, in their order.
    fn number_afresh(&mut self) {
        let mut pages = vec![NONE; self.now as usize];
        for (page, last) in (0..).zip(&self.last).filter(|(_, last)| **last != NONE) {
            pages[*last as usize] = page;
        }
        self.tree.fill(0);
        self.now = 0;
        for page in pages.into_iter().filter(|page| *page != NONE) {
            self.last[page as usize] = self.now;
            self.change(self.now, true);
            self.now += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cache_of_any_size_has_what_a_list_in_order_of_use_has_at_its_front(
            pages in prop::collection::vec((0_u32..40, 0_u32..40), 1..3000),
            begin in 0_usize..500,
        ) {
            let mut distances = StackDistances::new(40);
            let (mut stack, mut seen) = (Vec::new(), Vec::new());
            for (number, (a, b)) in pages.iter().enumerate() {
                if number == begin {
                    distances.begin();
                    seen.clear();
                }
                let page = *a.min(b);
                distances.add(page);
                let distance = stack.iter().position(|other| *other == page);
                distance.map(|distance| stack.remove(distance));
                stack.insert(0, page);
                seen.push(distance);
            }
            prop_assert_eq!(distances.uses(), seen.len() as u64);
            for size in 0..45 {
                let hits = seen.iter().flatten().filter(|distance| **distance < size).count();
                prop_assert_eq!(distances.hits(size as u64), hits as u64, "{}", size);
            }
        }
    }
}
