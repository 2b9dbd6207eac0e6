//! The options of a job: what each means, and what a job has if it does not say.
//!
//! An option is used, passed over because it cannot change which pages are written, or refused
//! ([`known`](super::known)).

pub(super) use super::direction::{Direction, READ, TRIM, WRITE};
use super::distribution::Distribution;
use super::known::{self, Fate};
use super::values::{
    Amount, Fault, KbBase, number, number_in, placements, size_split, switch, three, time_us, zones,
};
use super::version::Version;

/// Jobs that a file has at most; fio's own limit.
pub(super) const JOBS_MAX: u64 = 4096;

/// `random_generator`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Generator {
    Tausworthe,
    Tausworthe64,
    Lfsr,
}

/// `plid_select`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Select {
    RoundRobin,
    Random,
}

/// How a job places its writes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placement {
    /// `fdp=1`, or `dataplacement` other than none.
    pub(super) is_on: bool,
    /// The identifiers to use, ascending.
    pub(super) identifiers: Vec<u16>,
    pub(super) select: Select,
}

/// All that a job says, as fio keeps it before it looks at files.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "a set of independent options")]
pub(super) struct Options {
    /// Whose rules hold.
    pub(super) version: Version,
    pub(super) filename: Option<String>,
    pub(super) directory: Option<String>,
    pub(super) filename_format: String,
    pub(super) direction: Direction,
    /// `rw=randwrite:N`: a new random offset for every N requests.
    pub(super) random_every: u64,
    /// `rw=write:N`: bytes that are left out between requests, or added twice if negative.
    pub(super) gap: i64,
    /// `rw_sequencer=identical`.
    pub(super) repeats_offset: bool,
    /// `file_service_type` by shares: a file is not done at its end, but begun again.
    pub(super) begins_again: bool,
    /// Without it and `loops`, a file that is done once stays so.
    pub(super) do_verify: bool,
    pub(super) engine: String,
    pub(super) iodepth: u32,
    pub(super) size: Option<u64>,
    pub(super) size_percent: Option<u32>,
    pub(super) io_size: Option<u64>,
    pub(super) io_size_percent: Option<u32>,
    pub(super) filesize: Option<u64>,
    pub(super) offset: u64,
    pub(super) offset_percent: Option<u32>,
    pub(super) offset_increment: Amount,
    pub(super) offset_align: Option<u64>,
    pub(super) number_ios: u64,
    pub(super) bs: [u64; 3],
    /// Of `bsrange` or `bssplit`, which win over `bs`.
    pub(super) bs_range: [Option<(u64, u64)>; 3],
    pub(super) bs_split: [Vec<(u64, u32)>; 3],
    pub(super) bs_is_seq_rand: bool,
    pub(super) blockalign: [Option<u64>; 3],
    pub(super) randrepeat: bool,
    pub(super) allrandrepeat: bool,
    pub(super) randseed: Option<u64>,
    pub(super) norandommap: bool,
    /// `None` for the default, which is given up where there are too many blocks for it.
    pub(super) generator: Option<Generator>,
    pub(super) distribution: Distribution,
    pub(super) percentage_random: [u32; 3],
    pub(super) rwmixread: u32,
    pub(super) fsync: u64,
    pub(super) fdatasync: u64,
    /// `end_fsync`, `end_syncfs` and `fsync_on_close`: whether a pass ends with a flush.
    pub(super) end_flush: [bool; 3],
    pub(super) loops: u64,
    pub(super) numjobs: u32,
    pub(super) stonewall: bool,
    /// What it replays instead of making requests.
    pub(super) read_iolog: Option<String>,
    /// Whether it does so without waiting for the times of the log.
    pub(super) replay_no_stall: bool,
    pub(super) time_based: bool,
    pub(super) runtime_us: u64,
    pub(super) startdelay_us: u64,
    /// Bytes a second, of reads, writes and trims; 0 for any.
    pub(super) rate: [u64; 3],
    /// Requests a second.
    pub(super) rate_iops: [u64; 3],
    pub(super) thinktime_us: u64,
    /// Requests after which it thinks.
    pub(super) thinktime_blocks: u64,
    /// Options that are given and need a clock, by name.
    pub(super) timed: Vec<&'static str>,
    pub(super) placement: Placement,
    pub(super) kb_base: KbBase,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            version: Version::NEWEST,
            filename: None,
            directory: None,
            filename_format: "$jobname.$jobnum.$filenum".into(),
            direction: Direction { does: [true, false, false], is_random: false },
            random_every: 1,
            gap: 0,
            repeats_offset: false,
            begins_again: false,
            do_verify: true,
            engine: "psync".into(),
            iodepth: 1,
            size: None,
            size_percent: None,
            io_size: None,
            io_size_percent: None,
            filesize: None,
            offset: 0,
            offset_percent: None,
            offset_increment: Amount::Bytes(0),
            offset_align: None,
            number_ios: 0,
            bs: [4096; 3],
            bs_range: [None; 3],
            bs_split: [const { Vec::new() }; 3],
            bs_is_seq_rand: false,
            blockalign: [None; 3],
            randrepeat: true,
            allrandrepeat: false,
            randseed: None,
            norandommap: false,
            generator: None,
            distribution: Distribution::Random,
            percentage_random: [100; 3],
            rwmixread: 50,
            fsync: 0,
            fdatasync: 0,
            end_flush: [false; 3],
            loops: 1,
            numjobs: 1,
            stonewall: false,
            read_iolog: None,
            replay_no_stall: false,
            time_based: false,
            runtime_us: 0,
            startdelay_us: 0,
            rate: [0; 3],
            rate_iops: [0; 3],
            thinktime_us: 0,
            thinktime_blocks: 1,
            timed: Vec::new(),
            placement: Placement {
                is_on: false,
                identifiers: Vec::new(),
                select: Select::RoundRobin,
            },
            kb_base: KbBase(true),
        }
    }
}

impl Options {
    /// Takes an option over, if it is used.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) -> Result<Fate, Fault> {
        let known = known::find(name).ok_or_else(|| known::unknown(name))?;
        match known.fate {
            Fate::PassedOver => return Ok(Fate::PassedOver),
            Fate::Refused(refusal) if refusal.is_harmless(value) => return Ok(Fate::PassedOver),
            Fate::Refused(refusal) => return Err(refusal.fault(name)),
            Fate::Used => {}
        }
        let name = known.name;
        if self.set_switch(name, value)? {
            return Ok(Fate::Used);
        }
        let value = value.filter(|value| !value.is_empty()).ok_or_else(|| {
            Fault::new(format!("{name} has no value"), format!("write {name}=VALUE"))
        })?;
        let is_used = self.set_place(name, value)?
            || self.set_sizes(name, value)?
            || self.set_random(name, value)?
            || self.set_course(name, value)?
            || self.set_placement(name, value)?;
        if is_used { Ok(Fate::Used) } else { Err(known::unknown(name)) }
    }

    /// Options that need no value.
    fn set_switch(&mut self, name: &str, value: Option<&str>) -> Result<bool, Fault> {
        let target = match name {
            "norandommap" => &mut self.norandommap,
            "bs_is_seq_rand" => &mut self.bs_is_seq_rand,
            "do_verify" => &mut self.do_verify,
            "randrepeat" => &mut self.randrepeat,
            "allrandrepeat" if self.version.seeds_follow_randseed() => &mut self.randrepeat,
            "allrandrepeat" => &mut self.allrandrepeat,
            "stonewall" => &mut self.stonewall,
            "time_based" => &mut self.time_based,
            "replay_no_stall" => &mut self.replay_no_stall,
            "fdp" => &mut self.placement.is_on,
            "end_fsync" => &mut self.end_flush[0],
            "end_syncfs" => &mut self.end_flush[1],
            "fsync_on_close" => &mut self.end_flush[2],
            _ => return Ok(false),
        };
        *target = switch(value)?;
        Ok(true)
    }

    /// Files, direction, and how requests are issued.
    fn set_place(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        match name {
            "filename" => {
                // One more name, and not another one: so fio takes it.
                let before = self.filename.take().map_or_else(String::new, |names| names + ":");
                self.filename = Some(before + value);
            }
            "directory" => self.directory = Some(value.into()),
            "read_iolog" => self.read_iolog = Some(value.into()),
            "filename_format" => self.filename_format = value.into(),
            "rw" => self.set_direction(value)?,
            "rw_sequencer" => {
                self.repeats_offset = match value {
                    "sequential" => false,
                    "identical" => true,
                    _ => return Err(Fault::value(value, "sequential or identical")),
                }
            }
            "file_service_type" => self.begins_again = begins_again(value)?,
            "ioengine" => {
                known::check_engine(value)?;
                self.engine = value.into();
            }
            "iodepth" => self.iodepth = number_in(value, 1, u64::from(u32::MAX))? as u32,
            "fsync" => self.fsync = number(value)?,
            "fdatasync" => self.fdatasync = number(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_direction(&mut self, value: &str) -> Result<(), Fault> {
        let (name, after) = value.split_once(':').unwrap_or((value, ""));
        let direction = Direction::parse(name.trim()).ok_or_else(|| {
            let known = "read, write, trim, randread, randwrite, randtrim, rw, randrw, trimwrite or \
                         randtrimwrite";
            Fault::value(name, known)
        })?;
        (self.direction, self.random_every, self.gap) = (direction, 1, 0);
        let after = after.trim();
        if after.is_empty() {
            return Ok(());
        }
        if direction.is_random {
            self.random_every = self.random_every(after)?;
        } else {
            let bytes = self.kb_base.bytes(after.trim_start_matches(['+', '-']))?;
            self.gap = bytes.cast_signed() * if after.starts_with('-') { -1 } else { 1 };
        }
        Ok(())
    }

    /// The number of requests to a random offset.
    fn random_every(&self, text: &str) -> Result<u64, Fault> {
        const MOST: u64 = u32::MAX as u64;
        let wrong = || Fault::value(text, &format!("a whole number in 1..={MOST}"));
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let every = if self.version.reads_suffix_of_random() {
            self.kb_base.bytes(text).map_err(|_| wrong())?
        } else {
            number(&text[..digits]).map_err(|_| wrong())?
        };
        if (1..=MOST).contains(&every) { Ok(every) } else { Err(wrong()) }
    }

    /// How much, from where, in what pieces.
    fn set_sizes(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        let base = self.kb_base;
        match name {
            "kb_base" => self.kb_base = KbBase::parse(value)?,
            "size" => match base.amount(value)? {
                Amount::Bytes(bytes) => self.size = Some(bytes).filter(|bytes| *bytes > 0),
                Amount::Percent(percent) => {
                    (self.size, self.size_percent) = (None, Some(percent));
                }
            },
            "io_size" => match base.amount(value)? {
                Amount::Bytes(bytes) => self.io_size = Some(bytes).filter(|bytes| *bytes > 0),
                Amount::Percent(percent) => {
                    (self.io_size, self.io_size_percent) = (None, Some(percent));
                }
            },
            "offset" => match base.amount(value)? {
                Amount::Bytes(bytes) => self.offset = bytes,
                Amount::Percent(percent) => {
                    (self.offset, self.offset_percent) = (0, Some(percent).filter(|p| *p > 0));
                }
            },
            "filesize" => self.filesize = Some(base.bytes(value)?).filter(|bytes| *bytes > 0),
            "offset_increment" => self.offset_increment = base.amount(value)?,
            "offset_align" => self.offset_align = Some(base.bytes(value)?).filter(|b| *b > 0),
            "number_ios" => self.number_ios = number(value)?,
            "bs" => three(value, &mut self.bs, |part| positive(base, part))?,
            "ba" => {
                three(value, &mut self.blockalign, |part| positive(base, part).map(Some))?;
            }
            "bsrange" => {
                three(value, &mut self.bs_range, |part| range(base, part).map(Some))?;
            }
            "bssplit" => self.set_split(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_split(&mut self, value: &str) -> Result<(), Fault> {
        let base = self.kb_base;
        three(value, &mut self.bs_split, |part| {
            let split = size_split(part, base)?;
            let has_nothing = split.iter().any(|(size, _)| *size == 0);
            if has_nothing { Err(Fault::value(part, "a list of sizes above 0")) } else { Ok(split) }
        })?;
        for (range, split) in self.bs_range.iter_mut().zip(&self.bs_split) {
            let sizes = split.iter().map(|(size, _)| *size);
            if let (Some(least), Some(most)) = (sizes.clone().min(), sizes.max()) {
                *range = Some((least, most));
            }
        }
        Ok(())
    }

    /// Random numbers and what is made of them.
    fn set_random(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        match name {
            "randseed" => self.randseed = Some(number(value)?),
            "random_generator" => {
                self.generator = Some(match value {
                    "tausworthe" => Generator::Tausworthe,
                    "tausworthe64" => Generator::Tausworthe64,
                    "lfsr" => Generator::Lfsr,
                    _ => return Err(Fault::value(value, "tausworthe, tausworthe64 or lfsr")),
                });
            }
            "random_distribution" => {
                if value.contains(',') && !self.version.reads_zones_of_each() {
                    return Err(Fault::new(
                        format!("{value:?}: fio {} reads no zones with commas", self.version),
                        "give reads, writes and trims the same zones, or name another version",
                    ));
                }
                self.distribution = distribution(value, self.kb_base)?;
            }
            "percentage_random" => {
                three(value, &mut self.percentage_random, |part| {
                    Ok(number_in(part, 0, 100)? as u32)
                })?;
            }
            "rwmixread" => self.rwmixread = number_in(value, 0, 100)? as u32,
            "rwmixwrite" => self.rwmixread = 100 - number_in(value, 0, 100)? as u32,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// How often, how many, how long.
    fn set_course(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        const SECOND_US: u64 = 1_000_000;
        match name {
            "loops" => self.loops = number_in(value, 0, u64::from(u32::MAX))?.max(1),
            "numjobs" => self.numjobs = number_in(value, 1, JOBS_MAX)? as u32,
            "runtime" => {
                self.runtime_us = time_us(value, SECOND_US)?;
                self.note_timed("runtime", self.runtime_us > 0);
            }
            "startdelay" => {
                if value.contains('-') {
                    return Err(Fault::new(
                        format!("startdelay={value} is drawn at random"),
                        "name one time",
                    ));
                }
                self.startdelay_us = time_us(value, SECOND_US)?;
                self.note_timed("startdelay", self.startdelay_us > 0);
            }
            "rate" => {
                let base = self.kb_base;
                three(value, &mut self.rate, |part| base.bytes(part))?;
                self.note_timed("rate", self.rate != [0; 3]);
            }
            "rate_iops" => {
                three(value, &mut self.rate_iops, number)?;
                self.note_timed("rate_iops", self.rate_iops != [0; 3]);
            }
            "thinktime" => {
                self.thinktime_us = time_us(value, 1)?;
                self.note_timed("thinktime", self.thinktime_us > 0);
            }
            "thinktime_blocks" => self.thinktime_blocks = number(value)?.max(1),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes note of an option that means nothing without a clock, or that it was taken back.
    fn note_timed(&mut self, name: &'static str, is_given: bool) {
        self.timed.retain(|other| *other != name);
        if is_given {
            self.timed.push(name);
        }
    }

    /// Placement identifiers, under their old names and their new.
    fn set_placement(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        match name {
            "dataplacement" => {
                self.placement.is_on = match value {
                    "none" => false,
                    "fdp" | "streams" => true,
                    _ => return Err(Fault::value(value, "none, fdp or streams")),
                }
            }
            "plids" => self.placement.identifiers = placements(value)?,
            "plid_select" => {
                self.placement.select = match value {
                    "roundrobin" => Select::RoundRobin,
                    "random" => Select::Random,
                    "scheme" => {
                        return Err(Fault::new(
                            format!("{name}=scheme takes identifiers from a file of addresses"),
                            "name the streams of addresses with --streams 0..1GiB=1,1GiB..2GiB=2",
                        ));
                    }
                    _ => return Err(Fault::value(value, "roundrobin or random")),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether a pass ends with a flush.
    pub(super) fn ends_with_flush(&self) -> bool {
        self.direction.does[WRITE] && self.end_flush.contains(&true)
    }

    /// Sizes of the requests of one direction: the least and the most.
    pub(super) fn bs_of(&self, direction: usize) -> (u64, u64) {
        self.bs_range[direction].unwrap_or((self.bs[direction], self.bs[direction]))
    }
}

/// Whether files that are done are begun again, as they are where they are drawn by shares.
fn begins_again(file_service_type: &str) -> Result<bool, Fault> {
    match file_service_type.split_once(':').map_or(file_service_type, |(name, _)| name).trim() {
        "random" | "roundrobin" | "sequential" => Ok(false),
        "zipf" | "pareto" | "normal" | "gauss" => Ok(true),
        name => {
            Err(Fault::value(name, "random, roundrobin, sequential, zipf, pareto, normal or gauss"))
        }
    }
}

/// A size above 0.
fn positive(base: KbBase, text: &str) -> Result<u64, Fault> {
    match base.bytes(text)? {
        0 => Err(Fault::value(text, "a size above 0")),
        bytes => Ok(bytes),
    }
}

/// Two sizes, the lesser first.
fn range(base: KbBase, text: &str) -> Result<(u64, u64), Fault> {
    let wrong = || Fault::value(text, "a range of sizes, such as 4k-64k");
    let (first, second) = text.split_once(['-', ':']).ok_or_else(wrong)?;
    let (first, second) = (positive(base, first.trim())?, positive(base, second.trim())?);
    Ok((first.min(second), first.max(second)))
}

fn distribution(text: &str, base: KbBase) -> Result<Distribution, Fault> {
    let (name, after) = text.split_once(':').unwrap_or((text, ""));
    let (first, centre) = after.split_once(':').unwrap_or((after, ""));
    let real = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let value = |default: f64, expects: &str, is_right: &dyn Fn(f64) -> bool| {
        let given = if first.trim().is_empty() { Some(default) } else { real(first) };
        given.filter(|value| is_right(*value)).ok_or_else(|| Fault::value(first, expects))
    };
    let centre = || match centre.trim() {
        "" => Ok(None),
        text => match real(text).filter(|centre| (0.0..=1.0).contains(centre)) {
            Some(centre) => Ok(Some(centre)),
            None => Err(Fault::value(text, "a centre in 0..=1")),
        },
    };
    let three_zones = |is_absolute| {
        let mut of_all = [const { super::distribution::Zones(Vec::new()) }; 3];
        three(after, &mut of_all, |part| zones(part, base, is_absolute)).map(|()| of_all)
    };
    Ok(match name.trim() {
        "random" => Distribution::Random,
        "zipf" => Distribution::Zipf {
            theta: value(1.1, "an exponent in 0..=10 other than 1", &|theta| {
                (0.0..=10.0).contains(&theta) && (theta - 1.0).abs() > f64::EPSILON
            })?,
            centre: centre()?,
        },
        "pareto" => Distribution::Pareto {
            h: value(0.2, "a number above 0 and below 1", &|h| h > 0.0 && h < 1.0)?,
            centre: centre()?,
        },
        "normal" => Distribution::Normal {
            deviation: value(0.0, "a percentage from 0 to below 100", &|deviation| {
                (0.0..100.0).contains(&deviation)
            })?,
            centre: centre()?,
        },
        "zoned" => Distribution::Zoned(three_zones(false)?),
        "zoned_abs" => Distribution::ZonedAbsolute(three_zones(true)?),
        _ => {
            return Err(Fault::value(name, "random, zipf, pareto, normal, zoned or zoned_abs"));
        }
    })
}
