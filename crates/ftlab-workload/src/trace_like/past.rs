//! Which units of a trace have been alike so far.

use super::survey::Survey;
use ftlab_trace::{Op, RequestBatch};

/// Classes of an octave of numbers of writes and of intervals.
const STEPS: f64 = 4.0;

/// What has happened to a unit.
#[derive(Debug, Clone, Copy, Default)]
struct Events {
    /// Pages written, in all and in the period that runs.
    writes: u32,
    period_writes: u32,
    /// Page writes of the whole trace up to and including the last.
    last: u64,
}

/// A unit with the class that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Like {
    /// Pages, writes, writes in the last period, and time since the last of them.
    pub(super) class: [u32; 4],
    pub(super) unit: u32,
}

/// The past of all units.
#[derive(Debug, Clone)]
pub(super) struct Past {
    page_writes: u64,
    units: Vec<Events>,
}

impl Past {
    pub(super) fn new(units: usize) -> Self {
        Self { page_writes: 0, units: vec![Events::default(); units] }
    }

    /// Takes note of the request at `index`.
    #[inline]
    pub(super) fn see(
        &mut self,
        survey: &Survey,
        batch: &RequestBatch,
        index: usize,
        page_sectors: u64,
    ) {
        let (lba, sectors) = (batch.lba[index], batch.sectors[index]);
        if batch.op[index] != Op::Write || sectors == 0 {
            return;
        }
        for page in lba / page_sectors..=(lba + u64::from(sectors) - 1) / page_sectors {
            self.page_writes += 1;
            // A file that has grown since has pages that are in no unit.
            let Some(unit) = survey.unit_of.get(page as usize) else { continue };
            if let Some(events) = self.units.get_mut(*unit as usize) {
                events.writes += 1;
                events.period_writes += 1;
                events.last = self.page_writes;
            }
        }
    }

    /// The units written so far, those that are alike next to each other; a new period begins. Parts of
    /// long runs are left out: they stay where they are.
    pub(super) fn alike(&mut self, survey: &Survey) -> Vec<Like> {
        let step = |number: u64| ((number + 1) as f64).log2() * STEPS;
        let mut alike = Vec::new();
        for (number, (events, unit)) in (0..).zip(self.units.iter_mut().zip(&survey.units)) {
            if events.writes > 0 && !unit.is_part {
                let since = step(self.page_writes - events.last) as u32;
                let counts = [events.writes, events.period_writes];
                let [writes, period] = counts.map(|count| step(u64::from(count)) as u32);
                alike.push(Like { class: [unit.pages, writes, period, since], unit: number });
            }
            events.period_writes = 0;
        }
        alike.sort_unstable();
        alike
    }
}
