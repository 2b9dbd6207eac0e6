//! What a job does on a drive of known size: the options, with everything that follows from them.

use super::distribution::Distribution;
use super::known::{is_synchronous, queues};
use super::lfsr::Lfsr;
use super::options::{Generator, Options, Placement, READ, Select, TRIM, WRITE};
use super::sizes::Sizes;
use super::targets::{Extent, is_device};
use super::thread::Thread;
use super::values::Amount;
use ftlab_random::seeds::{OFFSETS, Seeds};
use ftlab_trace::Space;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{DATA_SECTORS_MAX, TraceError};

/// A job on a drive. Sizes are in bytes; positions are from the beginning of its file.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) options: Options,
    /// Where its file lies on the drive.
    pub(super) start: u64,
    /// How large that is.
    pub(super) file_bytes: u64,
    /// Where its part of the file begins.
    pub(super) offset: u64,
    /// How large its part is.
    pub(super) io_bytes: u64,
    /// What a pass issues, unless the job ends before.
    pub(super) size: u64,
    /// To what random offsets are aligned, by direction.
    pub(super) align: [u64; 3],
    pub(super) has_map: bool,
    pub(super) is_repeatable: bool,
    pub(super) seeds: Seeds,
    /// The seed of distributions that have numbers of their own for each file.
    pub(super) file_seed: u32,
    /// If it names streams.
    pub(super) placement: Option<Placement>,
    /// Requests under way at a time.
    pub(super) depth: u32,
    /// Of which directions requests are complete some time after they are issued.
    pub(super) queues: [bool; 3],
    /// Whether flushes are.
    pub(super) queues_flushes: bool,
    /// Bytes of a page of the drive.
    pub(super) page_bytes: u32,
    /// The seed of a generator that it replays.
    pub(super) replay_seed: u64,
    /// Where an error is.
    thread: Thread,
}

impl Plan {
    /// The job `thread` on the drive; where fio takes seeds from the system, they follow from that of the drive.
    pub(super) fn new(thread: &Thread, extent: Extent, space: &Space) -> Result<Self, TraceError> {
        let options = thread.options.clone();
        let seeds = thread.seeds(space.seed);
        let align = [READ, WRITE, TRIM].map(|direction| {
            let (least, _) = options.bs_of(direction);
            let align = options.blockalign[direction].filter(|_| options.direction.is_random);
            align.unwrap_or(least)
        });
        let is_aligned = (0..3).all(|direction| align[direction] == options.bs_of(direction).0);
        let is_even = options.distribution == Distribution::Random;
        let engine = options.engine.as_str();
        let queues_any = queues(engine, options.iodepth);
        let mut plan = Self {
            name: thread.name.clone(),
            start: extent.start,
            file_bytes: extent.bytes,
            offset: 0,
            io_bytes: 0,
            size: 0,
            align,
            has_map: !options.norandommap && is_even && is_aligned,
            is_repeatable: thread.is_repeatable(),
            seeds,
            file_seed: thread.file_seed(&seeds),
            placement: placement(thread)?,
            depth: if is_synchronous(engine) { 1 } else { options.iodepth },
            queues: [queues_any, queues_any, queues_any && options.version.queues_trims(engine)],
            queues_flushes: queues_any && options.version.queues_flushes(engine),
            page_bytes: space.page_bytes,
            replay_seed: space.seed.wrapping_add(thread.number - 1),
            thread: thread.clone(),
            options,
        };
        plan.check_options()?;
        plan.set_part()?;
        plan.check_part()?;
        Ok(plan)
    }

    /// What an error of this job is.
    pub(super) fn refuse(&self, reason: &str, remedy: &str) -> TraceError {
        self.thread.refuse(reason, remedy)
    }

    /// Whether its writes may name streams: it places them, or replays what may.
    pub(super) fn has_streams(&self) -> bool {
        self.placement.is_some() || self.options.read_iolog.is_some()
    }

    /// The least size of requests of some directions.
    pub(super) fn least<const N: usize>(&self, directions: [usize; N]) -> u64 {
        directions.map(|direction| self.options.bs_of(direction).0).into_iter().min().unwrap_or(1)
    }

    /// The largest size of a request.
    pub(super) fn most(&self) -> u64 {
        [READ, WRITE, TRIM]
            .map(|direction| self.options.bs_of(direction).1)
            .into_iter()
            .max()
            .unwrap_or(1)
    }

    /// The part of the file that offsets are drawn from.
    pub(super) fn range_bytes(&self) -> u64 {
        self.file_bytes.min(self.io_bytes)
    }

    /// Bytes of one loop.
    pub(super) fn issue_bytes(&self) -> u64 {
        self.options.io_size.unwrap_or(self.size)
    }

    /// Whether some of its requests do not follow the random map.
    pub(super) fn may_not_mark(&self) -> bool {
        let Options { random_every, percentage_random, direction, .. } = &self.options;
        *random_every > 1 || *percentage_random != [100; 3] || direction.is_random_trimwrite()
    }

    /// Whether it begins its part again within a pass where it reaches the end in sequence.
    pub(super) fn wraps(&self) -> bool {
        let [reads, writes, _] = self.options.direction.does;
        let is_mixed = reads && writes && self.options.version.wraps_mixed_sequence();
        is_mixed && self.options.io_size.is_some_and(|io_size| io_size > self.size)
    }

    /// Blocks that random offsets are drawn from.
    pub(super) fn blocks(&self, direction: usize) -> u64 {
        let (least, _) = self.options.bs_of(direction);
        let align = self.align[direction];
        self.range_bytes().saturating_sub(least.saturating_sub(align)) / align
    }

    /// Blocks that the random map has, or the register orders.
    pub(super) fn map_blocks(&self) -> u64 {
        self.range_bytes() / self.least([READ, WRITE, TRIM])
    }

    /// Whether the job keeps a random map.
    pub(super) fn keeps_map(&self) -> bool {
        self.has_map
            && self.options.direction.is_random
            && self.options.generator != Some(Generator::Lfsr)
    }

    /// The sizes of requests of a direction.
    pub(super) fn sizes(&self, direction: usize) -> Sizes {
        let (least, most) = self.options.bs_of(direction);
        Sizes { least, most, split: self.options.bs_split[direction].clone() }
    }

    /// Whether there are more blocks than the default generator has numbers, so that fio takes a wider one.
    pub(super) fn outgrows_generator(&self) -> bool {
        let options = &self.options;
        let draws_blocks = options.direction.is_random && !options.distribution.is_skewed();
        options.generator.is_none() && draws_blocks && self.map_blocks() > u64::from(u32::MAX)
    }

    /// The register that orders `blocks`.
    pub(super) fn lfsr(&self, blocks: u64) -> Result<Lfsr, TraceError> {
        Lfsr::new(blocks, self.seeds[OFFSETS]).ok_or_else(|| {
            self.thread.refuse(
                format!("random_generator=lfsr over {blocks} blocks, which fio cannot seed either"),
                "use tausworthe64, or another randseed",
            )
        })
    }

    /// Refuses what is wrong whatever the drive is.
    fn check_options(&self) -> Result<(), TraceError> {
        let options = &self.options;
        let sizes = [READ, WRITE, TRIM].map(|direction| options.bs_of(direction));
        let all = sizes.iter().flat_map(|(least, most)| [*least, *most]).chain(self.align);
        for bytes in all {
            if !bytes.is_multiple_of(SECTOR_BYTES) {
                let is_decimal = bytes.is_multiple_of(1000);
                let written =
                    if is_decimal { " (4k has 4096 bytes, 4kib for fio 4000)" } else { "" };
                return Err(self.thread.refuse(
                    format!("requests of {bytes} bytes, which are no whole sectors of 512"),
                    format!("let bs, bsrange, bssplit and blockalign be multiples of 512{written}"),
                ));
            }
        }
        let gap = options.gap.unsigned_abs();
        if !gap.is_multiple_of(SECTOR_BYTES) {
            return Err(self.thread.refuse(
                format!("gaps of {gap} bytes, which are no whole sectors of 512"),
                "let the number after rw=write: be a multiple of 512",
            ));
        }
        if options.begins_again && self.depth > 1 {
            return Err(self.thread.refuse(
                format!(
                    "file_service_type by shares with iodepth={}: fio itself hangs",
                    self.depth
                ),
                "leave file_service_type out, or let iodepth be 1",
            ));
        }
        let most = u64::from(DATA_SECTORS_MAX) * SECTOR_BYTES;
        if self.most() > most {
            return Err(self.thread.refuse(
                format!("requests of {} bytes", self.most()),
                format!("let them have {most} at most, as Linux does"),
            ));
        }
        Ok(())
    }

    /// Where its part of the file begins and how large it is.
    fn set_part(&mut self) -> Result<(), TraceError> {
        let options = &self.options;
        let least = self.least([READ, WRITE, TRIM]);
        let file = u128::from(self.file_bytes);
        let percent_of_file = |percent: u32| file * u128::from(percent) / 100;
        let (increment, mut is_aligned) = match options.offset_increment {
            Amount::Bytes(bytes) => (u128::from(bytes), false),
            Amount::Percent(percent) => (percent_of_file(percent), true),
        };
        is_aligned |= options.offset_percent.is_some();
        let base = options.offset_percent.map_or(u128::from(options.offset), percent_of_file);
        let mut offset = base + u128::from(self.thread.subjob) * increment;
        if is_aligned {
            offset = offset.next_multiple_of(u128::from(options.offset_align.unwrap_or(least)));
        }
        let beyond = || {
            self.thread.refuse(
                format!("begins at byte {offset} of {}, which has {file}", self.thread.file),
                "let offset and offset_increment be less, or the drive larger",
            )
        };
        let offset = u64::try_from(offset).map_err(|_| beyond())?;
        let rest =
            self.file_bytes.checked_sub(offset).filter(|rest| *rest > 0).ok_or_else(beyond)?;
        // Where a file has a size of its own, requests go anywhere in it, and `size` is how much a pass issues.
        let mut io_bytes = match options.filesize {
            Some(bytes) => bytes.checked_sub(offset).ok_or_else(beyond)?,
            None => options.size.unwrap_or(rest),
        };
        if let Some(percent) = options.size_percent.filter(|percent| *percent != 100) {
            let share = (u128::from(io_bytes) + u128::from(offset)) * u128::from(percent) / 100;
            let share = u64::try_from(share).unwrap_or(u64::MAX).min(io_bytes);
            io_bytes = share - share % least;
        }
        let io_percent = options.io_size_percent.filter(|percent| *percent != 100).unwrap_or(100);
        let total = (u128::from(io_bytes) * u128::from(io_percent) / 100) as u64;
        self.size = options.size.filter(|size| *size <= total || total == 0).unwrap_or(total);
        (self.offset, self.io_bytes) = (offset, io_bytes);
        Ok(())
    }

    /// Refuses a part in which there is nothing to do, or which is not there.
    fn check_part(&self) -> Result<(), TraceError> {
        let least = self.least([READ, WRITE, TRIM]);
        let most = self.size.min(self.io_bytes);
        if most < least {
            return Err(self.thread.refuse(
                format!("{most} bytes, which are less than a request of {least}"),
                "let size be larger, or bs smaller",
            ));
        }
        if self.is_beyond() {
            self.check_beyond()?;
        }
        if self.marks_beyond() {
            return Err(self.thread.refuse(
                "bs_is_seq_rand=1 with requests across the end of its part, where fio marks beyond its map",
                "set norandommap, or give reads, writes and trims the same bs",
            ));
        }
        if !self.offset.is_multiple_of(SECTOR_BYTES) {
            return Err(self.thread.refuse(
                format!("begins at byte {}, which is in the middle of a sector", self.offset),
                "let offset be a multiple of 512",
            ));
        }
        let end = self.range_bytes();
        if self.options.gap < 0 && !end.is_multiple_of(SECTOR_BYTES) {
            return Err(self.thread.refuse(
                format!(
                    "goes backwards, by {}, from byte {end}, which is in the middle of a sector",
                    self.options.gap.unsigned_abs()
                ),
                "let size, and the end of the file, be a multiple of 512",
            ));
        }
        Ok(())
    }
}

impl Plan {
    /// Whether its part goes on where its file ends.
    pub(super) fn is_beyond(&self) -> bool {
        self.io_bytes > self.file_bytes - self.offset
    }

    /// Whether random requests can be larger than the blocks of the map, and lie across the end of the part.
    fn marks_beyond(&self) -> bool {
        let Options { bs_is_seq_rand, direction, .. } = &self.options;
        let (least, most) = self.options.bs_of(WRITE);
        let is_larger = |of: usize| direction.does[of] && self.options.bs_of(of).0 < most;
        let has_more = self.file_bytes > self.offset.saturating_add(self.io_bytes);
        let may_cross = self.keeps_map() && has_more && least == most;
        *bs_is_seq_rand && may_cross && [READ, TRIM].into_iter().any(is_larger)
    }

    /// Refuses a part beyond the end, unless fio would end there: on a device, with every block once.
    fn check_beyond(&self) -> Result<(), TraceError> {
        let Self { options, .. } = self;
        let reason = format!(
            "{} bytes from {} on, where the drive ends at {}",
            self.io_bytes, self.offset, self.file_bytes
        );
        if !is_device(&self.thread.file) {
            let remedy = "let size be less, or the drive larger (--logical)";
            return Err(self.thread.refuse(reason, remedy));
        }
        let is_once = !options.direction.is_random
            || self.has_map
            || options.generator == Some(Generator::Lfsr);
        let has_end = options.time_based || options.io_size.is_some() || options.number_ios > 0;
        if is_once || has_end {
            return Ok(());
        }
        Err(self.thread.refuse(
            format!("{reason}: without a random map fio writes as much all the same, within it"),
            "write size=100%, and how much with io_size= or time_based; or let sizes shrink with the drive: \
             fio:file=FILE,capacity=SIZE",
        ))
    }
}

/// How it places writes, if it does.
fn placement(thread: &Thread) -> Result<Option<Placement>, TraceError> {
    let Options { placement, version, .. } = &thread.options;
    if !placement.is_on {
        return Ok(None);
    }
    let is_random = placement.select == Select::Random;
    if !version.places() || is_random && !version.places_at_random() {
        let what = if is_random { "at random" } else { "at all" };
        return Err(thread.refuse(
            format!("places its writes, which fio {version} cannot do {what}"),
            "name another version, or none",
        ));
    }
    if placement.identifiers.is_empty() {
        return Err(thread.refuse(
            "places its writes by whatever identifiers the drive has",
            "name them with plids= (or fdp_pli=), such as plids=0,1",
        ));
    }
    Ok(Some(placement.clone()))
}
