//! How much can be concluded from a trace: how often it writes the drive, and how much of what it writes it
//! writes again.

use ftlab_analysis::Coverage;
use ftlab_sim::evidence::{ENOUGH_DRIVE_WRITES, ENOUGH_REQUESTS};
use ftlab_sim::format::{bytes, grouped, percent, significant};
use ftlab_sim::{Experiment, Fill, SimError};
use ftlab_trace::pages::{SECTOR_BYTES, page_sectors};
use ftlab_trace::{RequestBatch, TraceSource};
use serde::Serialize;

/// A trace that rewrites less than this of what it writes says nothing of how long pages live.
const REWRITES_MIN: f64 = 0.05;

/// A trace that goes to new pages with more than this of its last half grows.
const GROWTH_MIN: f64 = 0.1;

/// A part of the drive that is not written and holds data is worth a word from here on.
const LARGE_PART: f64 = 0.5;

/// And one that holds none from here on.
const SPARE_PART: f64 = 0.05;

/// What a trace consists of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evidence {
    /// Write requests.
    pub write_requests: u64,
    /// Writes of pages, those of the same page included.
    pub page_writes: u64,
    /// Bytes that the host sends with these: fewer than the pages have where it writes pages in part.
    pub written_bytes: u64,
    /// The page writes as a multiple of the drive's logical pages.
    pub drive_writes: f64,
    /// Share of the logical pages that it writes at least once.
    pub written_share: f64,
    /// Share of its page writes that replace what it has written before.
    pub rewrite_share: f64,
    /// Share of the page writes of its last half that go to pages that it has not written before.
    pub new_share: f64,
    /// Pages that it trims while they hold data, its own or that of the fill; none if trims are ignored.
    pub trimmed_pages: u64,
    /// Share of the logical pages that it never writes and that hold nothing after it, as it trims them (whoever
    /// makes a file system does), or as the drive is not filled.
    pub empty_share: f64,
    /// Seconds from its first request to its last, if it says when they came.
    pub seconds: Option<f64>,
}

impl Evidence {
    /// Reads all of the trace of `experiment`, for its drive; none of a generator, which has no end, or of what can
    /// be read once only.
    pub(super) fn of(
        experiment: &Experiment,
        logical_pages: u32,
    ) -> Result<Option<Self>, SimError> {
        let (workload, page_bytes) = (&experiment.workload, experiment.drive.page_bytes);
        if workload.is_read_once() {
            return Ok(None);
        }
        let Some(mut source) = workload.open_trace(page_bytes, true)? else { return Ok(None) };
        Self::read(source.as_mut(), page_bytes, coverage(experiment, logical_pages)).map(Some)
    }

    fn read(
        source: &mut dyn TraceSource,
        page_bytes: u32,
        mut drive: Coverage,
    ) -> Result<Self, SimError> {
        let sectors = page_sectors(page_bytes)?;
        let mut requests = RequestBatch::default();
        while source.next_batch(&mut requests)? {
            drive.add(&requests, sectors)?;
        }
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let (writes, logical) = (drive.page_writes(), drive.logical_pages());
        let (last_half, new) = drive.last_half();
        let seconds = drive.elapsed_us().map(|elapsed| elapsed as f64 / 1e6);
        Ok(Self {
            write_requests: drive.write_requests(),
            page_writes: writes,
            written_bytes: writes * u64::from(page_bytes) - drive.lacking_sectors() * SECTOR_BYTES,
            drive_writes: share(writes, logical),
            written_share: share(drive.written_pages(), logical),
            rewrite_share: 1.0 - share(drive.written_pages(), writes),
            new_share: share(new, last_half),
            trimmed_pages: drive.trimmed_pages(),
            empty_share: share(drive.empty_pages(), logical),
            seconds: seconds.filter(|seconds| *seconds > 0.0),
        })
    }

    /// Whether the trace speaks for itself, without being repeated.
    pub fn is_enough(&self) -> bool {
        self.drive_writes >= ENOUGH_DRIVE_WRITES
    }

    /// An error if nothing can be concluded: it names what to record.
    pub(super) fn require_any(&self, name: &str, logical_bytes: u64) -> Result<(), SimError> {
        if self.page_writes == 0 {
            return Err(SimError::NoWrites { name: name.into() });
        }
        if self.rewrite_share >= REWRITES_MIN {
            return self.require_requests(name);
        }
        Err(SimError::Unusable {
            what: format!(
                "{name} rewrites only {} of the pages that it writes, so that it says nothing of how long \
                 pages live: it writes {}, {} of the drive",
                percent(self.rewrite_share),
                bytes(self.written_bytes),
                percent(self.drive_writes)
            ),
            remedy: self.what_to_record(logical_bytes),
        })
    }

    /// An error if there are too few requests to conclude from.
    fn require_requests(&self, name: &str) -> Result<(), SimError> {
        let Self { write_requests, .. } = *self;
        if write_requests >= ENOUGH_REQUESTS {
            return Ok(());
        }
        let times = ENOUGH_REQUESTS as f64 / write_requests.max(1) as f64;
        let long = self.how_long(times);
        Err(SimError::Unusable {
            what: format!(
                "{name} has {} write requests, which are no basis for an answer: {} or more are",
                grouped(write_requests),
                grouped(ENOUGH_REQUESTS)
            ),
            remedy: format!("record {} times as much{long}", significant(times, 2)),
        })
    }

    /// How long it takes to record this many times as much, if the trace has times.
    fn how_long(&self, times: f64) -> String {
        self.seconds.map_or_else(String::new, |seconds| {
            format!(", which takes {} at this rate", duration(seconds * times))
        })
    }

    /// What to record instead.
    fn what_to_record(&self, logical_bytes: u64) -> String {
        let (wanted, times) = match self.written_bytes {
            0 => (ENOUGH_DRIVE_WRITES * logical_bytes as f64, 1.0),
            written => {
                let times = ENOUGH_DRIVE_WRITES / self.drive_writes;
                ((written as f64 * times).round(), times)
            }
        };
        let long = self.how_long(times);
        format!(
            "record {} of writes, two drive writes{long}; or, if the workload uses only a part of a drive, take \
             a drive of that size (--logical, --compact)",
            bytes(wanted as u64)
        )
    }

    /// What to keep in mind with an answer; `is_repeated` if a short trace was.
    pub(super) fn caveats(&self, logical_bytes: u64, is_repeated: bool) -> Vec<String> {
        let mut caveats = Vec::new();
        if is_repeated && !self.is_enough() {
            caveats.push(format!(
                "The trace is short: it writes {}, {} drive writes. It is repeated until write amplification is \
                 steady, which keeps its intervals and makes pages that it does not write cold for ever. For a \
                 firm answer {}.",
                bytes(self.written_bytes),
                significant(self.drive_writes, 2),
                self.what_to_record(logical_bytes)
            ));
        }
        let still = 1.0 - self.written_share - self.empty_share;
        if still > LARGE_PART {
            caveats.push(format!(
                "The trace writes only {} of the drive: {} of it is taken to be full of data that never changes.",
                percent(self.written_share),
                percent(still)
            ));
        }
        if self.empty_share > SPARE_PART {
            caveats.push(format!(
                "{} of the drive holds nothing (making a file system trims a whole device, for one), which \
                 works as over-provisioning for as long as it stays so.",
                percent(self.empty_share)
            ));
        }
        if self.new_share > GROWTH_MIN {
            caveats.push(format!(
                "The data still grows: {} of the page writes of the trace's last half go to pages that it \
                 had not written before. Record it at its final size, or give the drive that it will have.",
                percent(self.new_share)
            ));
        }
        caveats
    }
}

/// What a trace covers of the drive of `experiment`.
fn coverage(experiment: &Experiment, logical_pages: u32) -> Coverage {
    Coverage::new(logical_pages, experiment.fill != Fill::None, experiment.ignore_trims)
}

/// A time in words.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} minutes", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{} hours", significant(seconds / 3600.0, 2)),
        seconds => format!("{} days", significant(seconds / 86_400.0, 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::Workload;
    use ftlab_trace::{Input, OpenOptions, open_input};

    fn evidence(lines: &str) -> Evidence {
        evidence_of(lines, false)
    }

    fn evidence_of(lines: &str, ignore_trims: bool) -> Evidence {
        let workload = Workload::parse("uniform", OpenOptions::default()).unwrap();
        let experiment = Experiment { ignore_trims, ..Experiment::new(workload, Vec::new()) };
        let input = Input::from_bytes("test", lines.as_bytes().to_vec()).unwrap();
        let map = Some("ts:us=1,op=2,off:pages=3,len:pages=4".to_owned());
        let options = OpenOptions { map, ..OpenOptions::default() };
        let mut source = open_input(input, &options).unwrap();
        Evidence::read(source.as_mut(), 4096, coverage(&experiment, 100)).unwrap()
    }

    #[test]
    fn rewrites_trims_and_the_time_are_counted() {
        let found = evidence("0,W,0,10\n5,W,0,5\n7,T,8,4\n9,T,8,1\n1000000,W,8,1\n");
        // Pages 8 to 11, of which the fill wrote the last two.
        assert_eq!((found.page_writes, found.trimmed_pages, found.seconds), (16, 4, Some(1.0)));
        assert!((found.empty_share - 0.02).abs() < 1e-9);
        let ignored = evidence_of("0,W,0,10\n5,W,0,5\n7,T,8,4\n", true);
        assert_eq!((ignored.trimmed_pages, ignored.empty_share), (0, 0.0));
        assert!((found.written_share - 0.1).abs() < 1e-9);
        assert!((found.rewrite_share - 6.0 / 16.0).abs() < 1e-9);
        assert!(!found.is_enough());
        assert_eq!(found.caveats(409_600, true).len(), 3);
    }

    #[test]
    fn a_trace_that_rewrites_nothing_is_refused_with_what_to_record() {
        let found = evidence("0,W,0,10\n1000000,W,50,10\n");
        let error = found.require_any("t", 409_600).unwrap_err().to_string();
        assert!(error.starts_with("t rewrites only 0% of the pages that it writes"), "{error}");
        assert!(
            error.contains("record 800 KiB of writes, two drive writes, which takes 10 s"),
            "{error}"
        );
    }

    #[test]
    fn few_requests_are_refused_with_how_much_more_to_record() {
        let line = |request: u64| format!("{},W,{},4\n", 1000 * request, 4 * (request % 20));
        let found = evidence(&(0..401).map(line).collect::<String>());
        assert_eq!((found.write_requests, found.page_writes), (401, 1604));
        let error = found.require_any("t", 409_600).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "t has 401 write requests, which are no basis for an answer: 1,000 or more are"
            ),
            "{error}"
        );
        assert!(
            error.ends_with("record 2.5 times as much, which takes 1 s at this rate"),
            "{error}"
        );
        let enough = evidence(&(0..1000).map(line).collect::<String>());
        assert!(enough.require_any("t", 409_600).is_ok());
    }

    #[test]
    fn growth_is_of_the_last_half() {
        let line = |write: u64| format!("{write},W,{},1\n", write % 100);
        let lines: String = (0..50_000).map(line).collect();
        let found = evidence(&lines);
        assert!(found.is_enough() && found.new_share < 1e-9);
        assert_eq!(found.caveats(409_600, true), [""; 0]);
    }
}
