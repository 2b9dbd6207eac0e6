//! Flash that keeps nothing: simulation counts pages and needs no data.

use crate::{BlockId, Flash, Page, Ppn, Purpose};
use std::convert::Infallible;

/// Keeps nothing and never fails, so that every operation compiles away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPayload;

impl Flash for NoPayload {
    type Error = Infallible;

    #[inline]
    fn program(&mut self, _: Ppn, _: Page<'_>, _: Purpose) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn erase(&mut self, _: BlockId, _: Purpose) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn read(&mut self, _: Ppn, _: &mut [u8], _: Purpose) -> Result<(), Infallible> {
        Ok(())
    }
}
