//! Pages that are programmed together.

use crate::{Cause, Lpn, Page, Ppn, Purpose};
use std::ops::Range;

/// New versions of consecutive logical pages, programmed one after the other: they are there when all of them are.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The first logical page.
    pub lpn: Lpn,
    /// Where it goes; the others follow.
    pub to: Ppn,
    /// How many there are.
    pub pages: u32,
    /// Those that somebody asked for. The others are [rewritten](Cause::Rewrite) with them.
    pub asked: Range<u32>,
}

impl Unit {
    /// Where they go, in order.
    #[inline]
    pub fn places(&self) -> impl Iterator<Item = Ppn> + use<> {
        (self.to.0..self.to.0 + self.pages).map(Ppn)
    }

    /// What is programmed where and for what, in order; what was asked for, for this purpose.
    #[inline]
    pub fn programs(
        &self,
        purpose: Purpose,
    ) -> impl Iterator<Item = (Ppn, Page<'static>, Purpose)> + '_ {
        self.places().zip(0..).map(move |(to, index)| {
            let is_asked = self.asked.contains(&index);
            let purpose = if is_asked { purpose } else { purpose.because_of(Cause::Rewrite) };
            (to, Page::new(Lpn(self.lpn.0 + index), &[]), purpose)
        })
    }

    /// How many were asked for.
    #[inline]
    pub fn asked_pages(&self) -> u32 {
        self.asked.len() as u32
    }
}
