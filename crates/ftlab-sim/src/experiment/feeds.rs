//! What feeds the FTLs of an experiment: the requests of its workload, cut by its schedule.

use crate::SimError;
use crate::evidence::ENOUGH_DRIVE_WRITES;
use crate::hosts::{self, WhichHosts};
use crate::precondition::fill;
use crate::repeated::Repeated;
use crate::run_options::Experiment;
use ftlab_feed::{Bounds, Feed, Footprint, Hosted, Schedule};
use ftlab_ftl::page::Hints;
use ftlab_host::{Arrivals, Timing};
use ftlab_trace::{Space, TraceSource, name_streams};

/// All feeds of a run.
pub(super) struct Feeds {
    /// Fill and workload for the first pass; empty if there is none.
    pub(super) ahead: Vec<Feed>,
    /// Fill, if there is one, and workload, which all FTLs share.
    pub(super) shared: Vec<Feed>,
    /// The workload of each FTL, where each has its own order.
    pub(super) hosted: Vec<Hosted>,
}

impl Experiment {
    /// Feeds with what their readers ask for: times, parts of requests, streams.
    pub(super) fn feeds_of_run(
        &self,
        source: Box<dyn TraceSource>,
        space: &Space,
        bounds: Bounds,
        schedule: Schedule,
        timing: Option<&Timing>,
        hosts: Option<&WhichHosts>,
    ) -> Result<Feeds, SimError> {
        let ahead = if self.asks_for(Hints::Lifetimes)? {
            self.feeds(self.workload.generate(space)?, space, bounds, schedule.clone())?
        } else {
            Vec::new()
        };
        let reads_count = timing.is_some_and(Timing::has_requests);
        let mut hosted = self.hosted(hosts, space, bounds, &schedule, reads_count)?;
        let mut shared = self.feeds(source, space, bounds, schedule)?;
        let footprint = || Footprint::new(bounds.logical_pages, ENOUGH_DRIVE_WRITES);
        // The fill, which comes first, is written page by page, and has no times.
        for hosted in &mut hosted {
            hosted.feed.measure_footprint(footprint());
        }
        if let Some(workload) = shared.last_mut() {
            if hosted.is_empty() {
                workload.measure_footprint(footprint());
            }
            if timing.is_some_and(|timing| timing.arrivals() == Arrivals::Trace) {
                workload.keep_times();
            }
            if reads_count {
                workload.keep_requests();
            }
            if self.observe {
                workload.watch(bounds.logical_pages);
            }
        }
        if reads_count {
            for hosted in &mut hosted {
                hosted.feed.keep_requests();
            }
        }
        self.keep_streams(timing, &mut shared, &mut hosted)?;
        Ok(Feeds { ahead, shared, hosted })
    }

    /// The fill, if there is one, and then the workload.
    fn feeds(
        &self,
        source: Box<dyn TraceSource>,
        space: &Space,
        bounds: Bounds,
        schedule: Schedule,
    ) -> Result<Vec<Feed>, SimError> {
        let filled = Schedule::uncounted(self.fill.writes(space.logical_pages));
        let sources = fill(self.fill, space, self.drive.mapping.ask_for_requests())?
            .map(|source| (source, filled));
        let sources = sources.into_iter().chain([(source, schedule)]);
        sources.map(|(source, schedule)| self.feed(source, bounds, schedule)).collect()
    }

    /// Hosts on a clock, for each FTL in their own order.
    fn hosted(
        &self,
        hosts: Option<&WhichHosts>,
        space: &Space,
        bounds: Bounds,
        schedule: &Schedule,
        reads_count: bool,
    ) -> Result<Vec<Hosted>, SimError> {
        let mut hosted = Vec::new();
        for hosts in hosts.iter().flat_map(|hosts| std::iter::repeat_n(hosts, self.runs())) {
            let (source, shared) = hosts::open(hosts, &self.workload.name(), space, reads_count)?;
            let feed = self.feed(source, bounds, schedule.clone())?;
            hosted.push(Hosted::new(feed, shared, reads_count));
        }
        Ok(hosted)
    }

    /// Keeps the streams that requests name, if an FTL asks for them or response times are told apart by them.
    fn keep_streams(
        &self,
        timing: Option<&Timing>,
        feeds: &mut [Feed],
        hosted: &mut [Hosted],
    ) -> Result<(), SimError> {
        let by_stream = timing.is_some_and(|timing| timing.by().stream);
        if by_stream || self.asks_for(Hints::Streams)? {
            let hosted = hosted.iter_mut().map(|hosted| &mut hosted.feed);
            feeds.iter_mut().chain(hosted).for_each(Feed::keep_streams);
        }
        Ok(())
    }

    /// Requests, with the streams that this experiment gives them.
    pub(crate) fn feed(
        &self,
        source: Box<dyn TraceSource>,
        bounds: Bounds,
        schedule: Schedule,
    ) -> Result<Feed, SimError> {
        let source = match &self.streams {
            Some(map) => name_streams(source, map.clone()),
            None => source,
        };
        let mut feed = Feed::new(source, bounds, schedule, self.batch_writes)?;
        if self.repeats() {
            feed.expect_passes();
        }
        if self.drive.mapping.ask_for_requests() {
            feed.keep_following();
        }
        Ok(feed)
    }

    /// The requests: of a trace that is repeated again and again.
    pub(crate) fn source(
        &self,
        trace: Option<Box<dyn TraceSource>>,
        space: &Space,
        need_time: bool,
    ) -> Result<Box<dyn TraceSource>, SimError> {
        let Some(trace) = trace else { return self.workload.generate(space) };
        if !self.repeat {
            return Ok(trace);
        }
        let page_bytes = space.page_bytes;
        Ok(Box::new(Repeated::new(&self.workload, page_bytes, need_time, trace)?))
    }
}
