//! How many different pages a workload writes.

use ftlab_flash::Lpn;

/// The pages that a workload writes at least once, as far as its first writes tell.
pub struct Footprint {
    /// A bit for each logical page; empty when enough was seen.
    is_written: Vec<u64>,
    pages: u32,
    /// Writes that are still looked at.
    left: u64,
}

impl Footprint {
    /// Bytes for this many logical pages.
    pub fn bytes(logical_pages: u32) -> u64 {
        u64::from(logical_pages).div_ceil(64) * 8
    }

    /// Of the first writes to a drive of `logical_pages`, as multiples of its pages.
    pub fn new(logical_pages: u32, drive_writes: f64) -> Self {
        Self {
            is_written: vec![0; (Self::bytes(logical_pages) / 8) as usize],
            pages: 0,
            left: (drive_writes * f64::from(logical_pages)).ceil() as u64,
        }
    }

    /// Adds the next writes.
    pub fn add(&mut self, writes: &[Lpn]) {
        if self.left == 0 {
            return;
        }
        let seen = self.left.min(writes.len() as u64);
        for lpn in &writes[..seen as usize] {
            let (word, bit) = (lpn.index() / 64, 1 << (lpn.index() % 64));
            self.pages += u32::from(self.is_written[word] & bit == 0);
            self.is_written[word] |= bit;
        }
        self.left -= seen;
        if self.left == 0 {
            self.is_written = Vec::new();
        }
    }

    /// Different pages so far.
    pub fn pages(&self) -> u32 {
        self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_once_and_no_longer_than_it_matters() {
        let mut footprint = Footprint::new(100, 2.0);
        let pages = |from: u32, to: u32| (from..to).map(Lpn).collect::<Vec<_>>();
        footprint.add(&pages(0, 70));
        footprint.add(&pages(60, 80));
        assert_eq!(footprint.pages(), 80);
        footprint.add(&[Lpn(3); 109]);
        footprint.add(&pages(90, 92));
        assert_eq!(footprint.pages(), 81, "page 90 is the last of two drive writes");
        footprint.add(&pages(95, 100));
        assert_eq!(footprint.pages(), 81);
    }
}
