//! Sizes of jobs that are for a larger drive than the one that is simulated.
//!
//! Percentages follow a drive that is simulated scaled down. Sizes in bytes are those of the real drive, and here
//! shrink with it: on a drive of 960g, `size=480g` comes to what `size=50%` does. What says how requests look
//! (`bs`, gaps, alignments) stays as it is, as it does with percentages.

use super::distribution::{Distribution, Zone, Zones};
use super::options::{Options, READ, TRIM, WRITE};
use super::thread::Thread;
use super::values::Amount;
use ftlab_trace::TraceError;
use std::path::Path;

/// From the bytes of the real drive to those of the simulated one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) capacity: u64,
    pub(super) drive: u64,
}

impl Scale {
    /// What `bytes` of the real drive come to, rounded down.
    fn of(self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(self.drive) / u128::from(self.capacity.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// How many times larger the real drive is.
    pub(super) fn ratio(self) -> f64 {
        self.capacity as f64 / self.drive.max(1) as f64
    }
}

/// Whether a job has sizes that depend on the drive that it is for.
pub(super) fn has_sizes(thread: &Thread) -> bool {
    let options = &thread.options;
    let is_absolute = matches!(options.distribution, Distribution::ZonedAbsolute(_));
    let given = [options.size, options.io_size, options.filesize];
    given.iter().any(Option::is_some)
        || options.offset > 0
        || !matches!(options.offset_increment, Amount::Bytes(0) | Amount::Percent(_))
        || options.number_ios > 0
        || is_absolute
        || replays_addresses(options)
}

/// Whether it replays a file, whose addresses are what they are.
fn replays_addresses(options: &Options) -> bool {
    options.read_iolog.as_deref().is_some_and(|name| Path::new(name).exists())
}

/// The job with the sizes of the simulated drive, in whole requests; where files share the drive, those end at
/// multiples of `unit`.
pub(super) fn scaled(thread: &Thread, scale: Scale, unit: u64) -> Result<Thread, TraceError> {
    refuse_what_stays(thread)?;
    let mut thread = thread.clone();
    let least = [READ, WRITE, TRIM].map(|direction| thread.options.bs_of(direction).0);
    let least = least.into_iter().min().unwrap_or(1).max(1);
    let unit = least_common_multiple(least, unit);
    let (real_offset, offset) = offset(&thread, scale, least);
    if real_offset >= scale.capacity {
        return Err(beyond(&thread, real_offset, scale));
    }
    let real_size = thread.options.size;
    let size = real_size.map(|size| {
        let real_end = real_offset.saturating_add(size);
        if real_end > scale.capacity || size == scale.capacity {
            // As far beyond the end as on the real drive; or all of it.
            return scale.of(size);
        }
        let own = if unit == least {
            scale.of(size).min(scale.drive.saturating_sub(offset))
        } else {
            (scale.of(real_end) / unit * unit).saturating_sub(offset)
        };
        own / least * least
    });
    let io_size = thread.options.io_size.map(|io_size| match (real_size, size) {
        (Some(real), Some(own)) => share(io_size, own, real),
        _ => scale.of(io_size),
    });
    let filesize = thread.options.filesize.map(|bytes| scale.of(bytes) / unit * unit);
    for (name, real, own) in [
        ("size", real_size, size),
        ("io_size", thread.options.io_size, io_size),
        ("filesize", thread.options.filesize, filesize),
    ] {
        // Nothing, or less than a request.
        if let (Some(real), Some(own)) = (real, own)
            && own < least.min(real)
        {
            return Err(too_small(&thread, name, [real, own], scale));
        }
    }
    if real_offset > 0 {
        (thread.options.offset, thread.options.offset_percent) = (offset, None);
        thread.options.offset_increment = Amount::Bytes(0);
    }
    (thread.options.size, thread.options.io_size, thread.options.filesize) =
        (size, io_size, filesize);
    thread.options.distribution = distribution(&thread, scale, least)?;
    Ok(thread)
}

/// The distribution of a thread; zones in bytes are of the simulated drive.
fn distribution(thread: &Thread, scale: Scale, least: u64) -> Result<Distribution, TraceError> {
    let Distribution::ZonedAbsolute(of_all) = &thread.options.distribution else {
        return Ok(thread.options.distribution.clone());
    };
    let zone = |zone: &Zone| match scale.of(zone.size) / least * least {
        0 if zone.size > 0 => Err(too_small(thread, "a zone of zoned_abs", [zone.size, 0], scale)),
        size => Ok(Zone { size, ..*zone }),
    };
    let zones = |Zones(zones): &Zones| zones.iter().map(zone).collect::<Result<_, _>>().map(Zones);
    let [read, write, trim] = of_all;
    Ok(Distribution::ZonedAbsolute([zones(read)?, zones(write)?, zones(trim)?]))
}

/// Where the job begins on the real drive and on the simulated one: there at a whole request, as with percentages.
fn offset(thread: &Thread, scale: Scale, least: u64) -> (u64, u64) {
    let options = &thread.options;
    let base = options.offset_percent.map_or(Amount::Bytes(options.offset), Amount::Percent);
    let subjob = u64::from(thread.subjob);
    let at = |of: &dyn Fn(Amount) -> u64| {
        of(base).saturating_add(subjob.saturating_mul(of(options.offset_increment)))
    };
    let of_drive = |amount, drive: u64, bytes: &dyn Fn(u64) -> u64| match amount {
        Amount::Bytes(own) => bytes(own),
        Amount::Percent(percent) => share(drive, u64::from(percent), 100),
    };
    let real = at(&|amount| of_drive(amount, scale.capacity, &|bytes| bytes));
    let own = at(&|amount| of_drive(amount, scale.drive, &|bytes| scale.of(bytes)));
    let align = options.offset_align.unwrap_or(least).max(1);
    (real, own.checked_next_multiple_of(align).unwrap_or(u64::MAX))
}

/// `whole * part / of`, rounded down.
fn share(whole: u64, part: u64, of: u64) -> u64 {
    let share = u128::from(whole) * u128::from(part) / u128::from(of.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a.max(1), b.max(1));
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a.max(1) / divisor).saturating_mul(b.max(1))
}

/// Refuses what is as large on a smaller drive.
fn refuse_what_stays(thread: &Thread) -> Result<(), TraceError> {
    let options = &thread.options;
    if options.number_ios > 0 {
        return Err(thread.refuse(
            format!("number_ios={} does not shrink with the drive", options.number_ios),
            "give io_size=, in percent or in bytes of the real drive",
        ));
    }
    match &options.read_iolog {
        Some(name) if replays_addresses(options) => Err(thread.refuse(
            format!("read_iolog={name}: addresses of a trace do not shrink with the drive"),
            "simulate a drive of its full size, or replay a generator",
        )),
        _ => Ok(()),
    }
}

/// The error of an offset that the real drive does not have.
fn beyond(thread: &Thread, real: u64, scale: Scale) -> TraceError {
    thread.refuse(
        format!("begins at byte {real} of a drive of {} bytes (capacity)", scale.capacity),
        "let offset and offset_increment be less, or capacity more",
    )
}

/// The error of a size that is less than a request here.
fn too_small(thread: &Thread, name: &str, [real, own]: [u64; 2], scale: Scale) -> TraceError {
    let left = match own {
        0 => "nothing".into(),
        own => format!("{own} bytes, less than a request,"),
    };
    thread.refuse(
        format!(
            "{name}={real} comes to {left} on a drive of {} bytes instead of {}",
            scale.drive, scale.capacity
        ),
        "simulate a larger drive, or let it be more",
    )
}
