//! Drives among which is searched.

use super::measured::MeasuredLoad;
use super::simulated::LoadDrive;
use ftlab_ftl::page::GcSchedule;
use ftlab_sim::format::significant;
use ftlab_spec::SpecError;

/// Bytes that a LUN programs at once: three pages of 16 KiB on two planes, of TLC. With twice as many planes and half as many LUNs,
/// programs would take as long.
const AT_ONCE: f64 = 98_304.0;

/// Pages of 4 KiB that pass over the channel for that.
const TRANSFERS: f64 = 24.0;

/// Channels at most; up to this, each LUN has its own.
const CHANNELS_MOST: u32 = 8;

/// LUNs of a part of a drive, at least.
const LUNS_OF_PART: u32 = 4;

/// Free blocks that are kept by a drive that collects gradually.
const GRADUAL: &str = "gradual:from=0.04";

/// What changes continuously: over-provisioning, and microseconds of a read, a slice, a suspension and a transfer.
pub(super) const NUMBERS: usize = 5;

/// Requests that a drive takes at once from the queues of the host, how it takes them, and where the search begins.
const SLOTS: [u32; 3] = [64, 128, 256];
const TAKEN: [&str; 2] = ["equal", "oldest"];
const FIRST_SLOTS: (u32, &str) = (256, "equal");

/// Least and most of each.
const RANGES: [(f64, f64); NUMBERS] =
    [(0.04, 1.0), (5.0, 300.0), (5.0, 3000.0), (1.0, 1000.0), (0.5, 20.0)];

/// What is known of the drive, and needs no search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataSheet {
    /// Bytes a second of sequential writes.
    pub sequential: f64,
    /// Random writes of 4 KiB a second, if they are known; they count where no measured load saturates the drive.
    pub random: Option<f64>,
    /// Over-provisioning, if it is known.
    pub op_ratio: Option<f64>,
}

/// One drive.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    pub(super) numbers: [f64; NUMBERS],
    /// Over-provisioning, if it is known: it is taken as it is.
    pub(super) known_op: Option<f64>,
    /// How long a write takes that ends in a buffer, in microseconds: the command and a transfer.
    pub(super) write_us: f64,
    pub(super) luns: u32,
    pub(super) gc_priority: &'static str,
    pub(super) when_full: &'static str,
    pub(super) is_gradual: bool,
    /// Requests that it takes at once from the queues of the host, and how it takes them; none if there is one queue, or
    /// it takes all.
    pub(super) slots: Option<(u32, &'static str)>,
}

impl Model {
    /// Where the search begins, by the measured loads: the one whose reads take the least time is the lightest.
    /// With several queues of the host, it takes a part of what is in them.
    pub(super) fn first(known: &DataSheet, loads: &[&MeasuredLoad], has_queues: bool) -> Self {
        let transfer_us = 5.0;
        let of = |load: &&MeasuredLoad| load.reads.usual().unwrap_or(f64::INFINITY);
        let lightest = loads.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
        let reads = lightest.map(|load| load.reads).unwrap_or_default();
        let usual = reads.usual().or(reads.p99_us).unwrap_or(60.0);
        // Writes that take less time than reads end in the buffer.
        let writes = loads.iter().filter_map(|load| load.writes.p50_us);
        let write_us = writes.filter(|write| *write < usual).fold(f64::INFINITY, f64::min);
        let write_us = if write_us.is_finite() { write_us } else { 0.0 };
        let read_us = (usual - write_us.max(transfer_us)).max(20.0);
        let slice_us = reads.p99_us.map_or(200.0, |p99| p99 - usual);
        let op_ratio = known.op_ratio.unwrap_or(0.15);
        Self {
            numbers: [op_ratio, read_us, slice_us, 5.0, transfer_us],
            known_op: known.op_ratio,
            write_us,
            luns: 16,
            gc_priority: "same",
            when_full: "first",
            is_gradual: true,
            slots: has_queues.then_some(FIRST_SLOTS),
        }
        .within()
    }

    /// Those that differ in one choice. Slots are one of several queues.
    pub(super) fn others(&self, has_queues: bool) -> Vec<Self> {
        let mut others = Vec::new();
        for luns in [self.luns / 2, self.luns * 2] {
            if (4..=64).contains(&luns) {
                others.push(Self { luns, ..self.clone() });
            }
        }
        for gc_priority in ["same", "last", "first"] {
            others.push(Self { gc_priority, ..self.clone() });
        }
        for when_full in ["first", "turn", "last"] {
            others.push(Self { when_full, ..self.clone() });
        }
        others.push(Self { is_gradual: !self.is_gradual, ..self.clone() });
        if has_queues {
            let some = SLOTS.into_iter().flat_map(|slots| TAKEN.map(|how| Some((slots, how))));
            others.extend(some.chain([None]).map(|slots| Self { slots, ..self.clone() }));
        }
        others.retain(|other| other != self);
        others
    }

    /// With numbers in their ranges, to three digits, so that what is printed is what was simulated.
    pub(super) fn within(mut self) -> Self {
        for (number, (least, most)) in self.numbers.iter_mut().zip(RANGES) {
            let clamped = number.clamp(least, most);
            *number = significant(clamped, 3).replace(',', "").parse().unwrap_or(clamped);
        }
        self.numbers[0] = self.known_op.unwrap_or(self.numbers[0]);
        self
    }

    /// Into how many equal parts it can be divided, of a channel and four LUNs or more.
    pub(super) fn parts(&self) -> u32 {
        (self.luns / LUNS_OF_PART).clamp(1, CHANNELS_MOST)
    }

    /// The drive that `--timing` and the options of a drive describe, or one of so many equal parts of it.
    pub(super) fn drive(&self, known: &DataSheet, parts: u32) -> Result<LoadDrive, SpecError> {
        let [op_ratio, read_us, slice_us, suspend_us, transfer_us] = self.numbers;
        let luns = self.luns / parts;
        let channels = (self.luns.min(CHANNELS_MOST) / parts).max(1);
        // Transfers hold the LUN, too.
        let word_line_us = f64::from(self.luns) * AT_ONCE / known.sequential * 1e6;
        let program_us = ((word_line_us - TRANSFERS * transfer_us) / 3.0).max(1.0);
        let taken = self.slots.map_or_else(String::new, |(slots, how)| {
            format!(",slots={},weights={how}", (slots / parts).max(1))
        });
        let timing = format!(
            "tlc:unit=request,channels={channels},luns={},page-types=one-shot,planes=2,flash-page=16KiB,\
             read-us={read_us},program-us={program_us:.1}/{program_us:.1}/{program_us:.1},transfer-us={transfer_us},\
             erase-us=0,command-us={:.1},priority=read-first,gc-priority={},suspend=both,suspend-us={suspend_us},\
             suspend-slice-us={slice_us},write-buffer={}KiB,reads-when-full={}{taken}",
            luns / channels,
            (self.write_us - transfer_us).max(0.0),
            self.gc_priority,
            2 * u64::from(luns) * 96,
            self.when_full
        );
        Ok(LoadDrive {
            timing: timing.parse()?,
            op_ratio,
            gc: if self.is_gradual {
                GRADUAL.parse().unwrap_or_default()
            } else {
                GcSchedule::Foreground
            },
        })
    }
}
