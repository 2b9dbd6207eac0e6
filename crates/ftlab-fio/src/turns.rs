//! Several jobs at once, without a clock: they take turns, each for as many requests as its queue depth.
//!
//! So it is on a drive that serves requests one after the other, in the order in which they come: each
//! job has as many in the queue as it is deep, and whenever one is complete, its job adds another at the
//! end. How long a request takes then does not matter.

use super::axmap::RandomMap;
use super::job::{Job, Request};
use super::plan::Plan;
use super::replay::{self, OpenReplay, Replay, open_trace};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch, TraceError, check_memory};
use std::collections::VecDeque;

/// Where the requests of a job come from.
pub(super) enum Requests {
    /// Its options make them.
    Made(Box<Job>),
    /// It replays them.
    Replayed(Box<Replay>),
}

/// A job that has not begun.
pub(super) enum Waiting {
    /// Its random map is made when it begins.
    Made(Box<Plan>),
    /// What it replays is open, and so is known to be there.
    Replayed(Box<Replay>),
}

impl Waiting {
    pub(super) fn plan(&self) -> &Plan {
        match self {
            Self::Made(plan) => plan,
            Self::Replayed(replay) => replay.plan(),
        }
    }

    pub(super) fn begin(self) -> Result<Requests, TraceError> {
        Ok(match self {
            Self::Made(plan) => Requests::Made(Box::new(Job::new(*plan)?)),
            Self::Replayed(replay) => Requests::Replayed(replay),
        })
    }
}

impl Requests {
    pub(super) fn plan(&self) -> &Plan {
        match self {
            Self::Made(job) => job.plan(),
            Self::Replayed(replay) => replay.plan(),
        }
    }

    /// The next request; `None` at the end of the job.
    #[inline]
    pub(super) fn next_request(&mut self) -> Result<Option<Request>, TraceError> {
        match self {
            Self::Made(job) => Ok(job.next_request()),
            Self::Replayed(replay) => replay.next_request(),
        }
    }
}

/// A job, and how many requests of its turn are left.
struct Running {
    job: Requests,
    left: u32,
}

/// The requests of all jobs.
pub(super) struct Turns {
    /// Groups that have not begun, the first first.
    waiting: VecDeque<Vec<Waiting>>,
    /// Jobs that have not ended, in the order of their turns.
    running: VecDeque<Running>,
    /// Whether any job places its writes.
    has_streams: bool,
}

impl Turns {
    /// Groups of jobs, of which each begins when the one before has ended.
    pub(super) fn new(groups: Vec<Vec<Plan>>) -> Result<Self, TraceError> {
        let has_streams = groups.iter().flatten().any(Plan::has_streams);
        Ok(Self {
            waiting: open_groups(groups, open_trace)?,
            running: VecDeque::new(),
            has_streams,
        })
    }

    /// Fills `batch`, which is empty; false at the end.
    pub(super) fn fill(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        while !batch.is_full() {
            let is_alone = self.running.len() == 1;
            let Some(running) = self.running.front_mut() else {
                let Some(group) = self.waiting.pop_front() else { break };
                let begin = |job: Waiting| {
                    let left = job.plan().depth;
                    Ok::<_, TraceError>(Running { job: job.begin()?, left })
                };
                self.running = group.into_iter().map(begin).collect::<Result<_, _>>()?;
                continue;
            };
            let room = batch.limit() - batch.len();
            let most = if is_alone { room } else { room.min(running.left as usize) };
            let (more, issued) = running.issue(most, batch, self.has_streams)?;
            running.left = running.left.saturating_sub(issued);
            if !more {
                self.running.pop_front();
            } else if running.left == 0 {
                running.left = running.job.plan().depth;
                self.running.rotate_left(1);
            }
        }
        Ok(!batch.is_empty())
    }
}

impl Running {
    /// Adds the next requests, `most` at most; whether there are more, and how many these were.
    fn issue(
        &mut self,
        most: usize,
        batch: &mut RequestBatch,
        has_streams: bool,
    ) -> Result<(bool, u32), TraceError> {
        let start = self.job.plan().start;
        for issued in 0..most {
            let Some(request) = self.job.next_request()? else {
                return Ok((false, issued as u32));
            };
            push(batch, request, start, has_streams);
        }
        Ok((true, most as u32))
    }
}

/// Opens what jobs replay; refuses what cannot be replayed, and random maps that the memory has no room for.
pub(super) fn open_groups(
    groups: Vec<Vec<Plan>>,
    open: OpenReplay,
) -> Result<VecDeque<Vec<Waiting>>, TraceError> {
    let waiting = |plan: Plan| {
        if plan.options.read_iolog.is_none() {
            return Ok(Waiting::Made(Box::new(plan)));
        }
        replay::check(&plan)?;
        Ok(Waiting::Replayed(Box::new(Replay::new(plan, open)?)))
    };
    let opened = |group: Vec<Plan>| {
        let maps = group.iter().filter(|plan| plan.keeps_map());
        let bytes = maps.clone().map(|plan| RandomMap::bytes(plan.map_blocks())).sum();
        check_memory(
            format!("the random maps of {} fio jobs", maps.count()),
            bytes,
            "set norandommap, or make the files smaller",
        )?;
        group.into_iter().map(waiting).collect::<Result<_, TraceError>>()
    };
    groups.into_iter().map(opened).collect()
}

/// Adds a request of a file that begins at byte `start` of the drive.
#[inline]
pub(super) fn push(batch: &mut RequestBatch, request: Request, start: u64, has_streams: bool) {
    let lba = if request.op == Op::Flush { 0 } else { (start + request.offset) / SECTOR_BYTES };
    batch.push(request.op, lba, (request.bytes / SECTOR_BYTES) as u32);
    if has_streams {
        batch.stream.push(request.stream);
    }
}
