//! Flash that keeps nothing: simulation counts pages and needs no data.

use crate::{BlockId, Flash, Lpn, Ppn};
use std::convert::Infallible;

/// Keeps nothing and never fails, so that every operation compiles away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPayload;

impl Flash for NoPayload {
    type Error = Infallible;

    #[inline]
    fn program(&mut self, _to: Ppn, _lpn: Lpn, _data: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn copyback(&mut self, _from: Ppn, _to: Ppn, _lpn: Lpn) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn erase(&mut self, _block: BlockId) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn read(&mut self, _from: Ppn, _data: &mut [u8]) -> Result<(), Infallible> {
        Ok(())
    }
}
