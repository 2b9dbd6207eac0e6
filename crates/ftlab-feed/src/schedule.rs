//! Where the stream of writes is cut.

use crate::FeedError;

/// Intervals of the running write amplification that are recorded.
pub const INTERVALS_MAX: u64 = 1_000_000;

/// Pictures of the flash that are taken where the number of writes is known.
const FRAMES: u64 = 60;

/// Pictures that are kept where it is not: between half of this and this many, evenly spaced.
const FRAMES_MAX: u64 = 64;

/// Checkpoints that are kept: between half of this and this many, evenly spaced.
const CHECKPOINTS_MAX: u64 = 2048;

/// What happens after the last write of a segment.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent events")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Counting begins.
    pub begin: bool,
    /// An interval of the running write amplification ends.
    pub interval: bool,
    /// A round of the steady-state test ends.
    pub round: bool,
    /// A checkpoint for the last tenth.
    pub checkpoint: bool,
    /// From here on checkpoints are twice as far apart, and every other one is dropped.
    pub thin_out: bool,
    /// A picture of the flash.
    pub frame: bool,
    /// From here on pictures are twice as far apart, and every other one is dropped.
    pub thin_out_frames: bool,
    /// Where in a trace that is repeated it is.
    pub pass: Pass,
}

impl Marks {
    /// Whether anything happens.
    pub(crate) fn are_any(self) -> bool {
        self.begin || self.interval || self.round || self.checkpoint || self.frame
    }

    /// Whether counting begins, or what happens takes longer than reading the clock.
    pub(crate) fn stop_the_clock(self) -> bool {
        self.begin || self.round || self.frame
    }
}

/// The first pass of a trace that is repeated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pass {
    /// Nothing is repeated.
    #[default]
    Only,
    /// It has not ended.
    First,
    /// Page writes that it had.
    Of(u64),
}

/// Cuts writes at the end of warm-up, of intervals, of rounds, at checkpoints, and at the end.
///
/// The cuts depend on the number of writes alone, never on the size of batches.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Writes before counting begins.
    warmup: u64,
    /// Writes after which the run ends, warm-up included.
    end: Option<u64>,
    interval: u64,
    round: u64,
    checkpoints: Spaced,
    frames: Option<Spaced>,
    ends_when_steady: bool,
    /// Writes so far.
    done: u64,
}

/// Cuts at even distances, few enough to keep something at each of them.
#[derive(Debug, Clone)]
struct Spaced {
    every: u64,
    kept: u64,
    max: u64,
}

impl Spaced {
    fn new(every: u64, max: u64) -> Self {
        Self { every, kept: 0, max }
    }

    /// Whether there is a cut after `counted` writes, and whether every other one is dropped there.
    fn cut(&mut self, counted: u64) -> (bool, bool) {
        let is_cut = counted.is_multiple_of(self.every);
        self.kept += u64::from(is_cut);
        let is_full = self.kept == self.max;
        if is_full {
            self.every *= 2;
            self.kept /= 2;
        }
        (is_cut, is_full)
    }
}

impl Schedule {
    /// Counts `counted` writes, or all there are, after `warmup`.
    pub fn counted(warmup: u64, counted: Option<u64>, interval: u64, round: u64) -> Self {
        let end = counted.map(|counted| warmup.saturating_add(counted));
        let checkpoints = Spaced::new(1, CHECKPOINTS_MAX);
        Self {
            warmup,
            end,
            interval,
            round,
            checkpoints,
            frames: None,
            ends_when_steady: false,
            done: 0,
        }
    }

    /// Cuts for pictures of the flash too, of a drive with `logical_pages`.
    #[must_use]
    pub fn with_frames(self, logical_pages: u32) -> Self {
        let every = match self.end {
            Some(end) => (end - self.warmup).div_ceil(FRAMES),
            // A picture is a walk over the drive: a few of them for each time that it is written.
            None => u64::from(logical_pages / 8),
        };
        Self { frames: Some(Spaced::new(every.max(1), FRAMES_MAX)), ..self }
    }

    /// Ends before its end once all FTLs are steady: what follows a round is wanted only if they are not.
    #[must_use]
    pub fn until_steady(self) -> Self {
        Self { ends_when_steady: true, ..self }
    }

    /// Whether it does.
    pub fn ends_when_steady(&self) -> bool {
        self.ends_when_steady
    }

    /// Passes `writes` without any cut.
    pub fn uncounted(writes: u64) -> Self {
        Self { end: Some(writes), ..Self::counted(u64::MAX, None, 1, 1) }
    }

    /// Writes so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Writes up to the end, if there is one.
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// Writes that are counted so far.
    pub fn counted_so_far(&self) -> u64 {
        self.done.saturating_sub(self.warmup)
    }

    /// Refuses to record more intervals than there is memory for.
    pub fn check_intervals(&self) -> Result<(), FeedError> {
        if self.counted_so_far() / self.interval <= INTERVALS_MAX {
            return Ok(());
        }
        Err(FeedError::TooManyIntervals {
            interval_writes: self.interval,
            intervals_max: INTERVALS_MAX,
        })
    }

    /// Writes up to the next cut; 0 at the end.
    pub fn room(&self) -> u64 {
        let to_end = self.end.map_or(u64::MAX, |end| end - self.done);
        let to_cut = if self.done < self.warmup {
            self.warmup - self.done
        } else {
            let counted = self.done - self.warmup;
            let frames = self.frames.as_ref().map(|frames| frames.every);
            [self.interval, self.round, self.checkpoints.every]
                .into_iter()
                .chain(frames)
                .map(|every| every - counted % every)
                .min()
                .unwrap_or(u64::MAX)
        };
        to_end.min(to_cut)
    }

    /// Advances by `writes`, at most [`room`](Self::room), and says what happens there.
    pub fn advance(&mut self, writes: u64) -> Marks {
        debug_assert!(writes <= self.room());
        self.done += writes;
        if writes == 0 || self.done < self.warmup {
            return Marks::default();
        }
        let counted = self.done - self.warmup;
        if counted == 0 {
            return Marks { begin: true, ..Marks::default() };
        }
        let (checkpoint, thin_out) = self.checkpoints.cut(counted);
        let frames = self.frames.as_mut();
        let (frame, thin_out_frames) = frames.map_or((false, false), |frames| frames.cut(counted));
        Marks {
            begin: false,
            interval: counted.is_multiple_of(self.interval),
            round: counted.is_multiple_of(self.round),
            checkpoint,
            thin_out,
            frame,
            thin_out_frames,
            pass: Pass::Only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut positions of a kind, with at most `batch` writes at a time.
    fn cuts(mut schedule: Schedule, batch: u64, kind: fn(&Marks) -> bool) -> Vec<u64> {
        let mut cuts = Vec::new();
        while schedule.room() > 0 {
            let marks = schedule.advance(schedule.room().min(batch));
            if kind(&marks) {
                cuts.push(schedule.done());
            }
        }
        cuts
    }

    #[test]
    fn cuts_are_where_they_belong_whatever_the_batch() {
        for batch in [1, 3, 64, u64::MAX] {
            let schedule = || Schedule::counted(7, Some(40), 10, 16);
            assert_eq!(cuts(schedule(), batch, |m| m.begin), [7]);
            assert_eq!(cuts(schedule(), batch, |m| m.interval), [17, 27, 37, 47]);
            assert_eq!(cuts(schedule(), batch, |m| m.round), [23, 39]);
            assert_eq!(cuts(schedule(), batch, |m| m.checkpoint).len(), 40);
        }
    }

    #[test]
    fn checkpoints_stay_few_and_close() {
        let total = 10_000_000;
        let mut kept: Vec<u64> = Vec::new();
        let mut schedule = Schedule::counted(0, Some(total), total, total);
        let mut segments = 0;
        while schedule.room() > 0 {
            let marks = schedule.advance(schedule.room());
            segments += 1;
            if marks.checkpoint {
                kept.push(schedule.done());
            }
            if marks.thin_out {
                kept = kept.into_iter().skip(1).step_by(2).collect();
            }
        }
        assert!(kept.len() as u64 <= CHECKPOINTS_MAX && segments < 20_000, "{segments}");
        let widest = kept.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(widest <= total / 1000, "{widest}");
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] == widest));
    }

    #[test]
    fn intervals_are_limited() {
        let mut schedule = Schedule::counted(5, None, 1, 1 << 40);
        schedule.advance(5);
        for _ in 0..INTERVALS_MAX {
            schedule.advance(1);
        }
        schedule.check_intervals().unwrap();
        schedule.advance(1);
        let error = schedule.check_intervals().unwrap_err().to_string();
        assert!(error.contains("1,000,000 intervals of 1 page writes"), "{error}");
        assert!(error.contains("a larger --interval"), "{error}");
    }

    #[test]
    fn an_uncounted_run_has_no_marks() {
        assert!(cuts(Schedule::uncounted(100), 7, |marks| *marks != Marks::default()).is_empty());
    }
}
