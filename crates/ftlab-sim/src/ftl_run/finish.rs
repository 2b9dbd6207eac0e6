//! From an FTL run to its result.

use super::run::{Base, FtlRun};
use crate::SimError;
use crate::causes::{ErasesByCause, ProgramsByCause};
use crate::erase_counts;
use crate::frames::blocks_per_cell;
use crate::likeness;
use crate::map::MapResult;
use crate::result::{
    Config, Endurance, EraseCounts, FaultsResult, FdpStatistics, Memory, Observed, RefreshResult,
    RunResult, SlcResult, StreamResult, TimingResult, TimingSummary, VictimValidShare,
};
use crate::timing::OfPage;
use crate::transactions;
use ftlab_ftl::page::Refreshed;
use ftlab_ftl::{ChosenRule, Counters, SlcCounts};
use ftlab_stack::{AnyFtl, Stop, Tally, Watch};
use std::collections::BTreeMap;

impl FtlRun {
    fn slc(&mut self, counts: SlcCounts) -> Option<SlcResult> {
        let [blocks, pages_per_block] = self.log.flash.slc_blocks?;
        let SlcCounts { writes, bypassed, folds, dropped, read_hits, erases } = counts;
        let running_folds = std::mem::take(&mut self.log.history.series.folds);
        Some(SlcResult {
            blocks,
            pages_per_block,
            writes,
            bypassed,
            folds,
            dropped,
            read_hits,
            erases,
            running_folds,
        })
    }

    /// What looking up pages cost, if the map is on flash or has units.
    fn map(&self, tally: &Tally) -> Option<MapResult> {
        let pages = self.fed.ftl.map_pages();
        let map_bytes = u64::from(pages) * u64::from(self.log.flash.geometry.page_bytes());
        self.fed
            .ftl
            .counts_map()
            .then(|| MapResult::new(tally, self.log.flash.cache_bytes, map_bytes))
    }

    /// What was rewritten in time, if the drive does that.
    fn refresh(&mut self, config: &Config, refreshed: Refreshed) -> Option<RefreshResult> {
        config.drive.option("refresh")?;
        Some(RefreshResult {
            blocks: refreshed.blocks * u64::from(self.log.flash.unit_blocks),
            relocations: refreshed.pages,
            running_relocations: std::mem::take(&mut self.log.history.series.refreshed),
        })
    }

    fn memory(&self) -> Memory {
        let bytes = self.fed.ftl.memory_bytes();
        let pages = f64::from(self.log.flash.geometry.pages());
        let metadata = self.fed.ftl.metadata();
        Memory {
            drive_bytes: bytes.drive as u64,
            policy_bytes: bytes.policy as u64,
            bytes_per_flash_page: (bytes.drive + bytes.policy) as f64 / pages,
            metadata: metadata.to_string(),
            metadata_bytes: metadata
                .total_bytes(self.log.flash.logical_pages, self.log.flash.geometry.blocks()),
        }
    }

    /// The logs of placement handles, if it has some; the host sent `host_bytes`.
    fn fdp_statistics(&mut self, host_bytes: u64) -> Option<FdpStatistics> {
        let handles = self.fed.ftl.placement_handles()?;
        Some(self.log.fdp.take()?.finish(&handles, &self.log.flash.geometry, host_bytes))
    }

    /// What failed, if anything may.
    fn faults(&mut self) -> Option<FaultsResult> {
        let faults = self.log.flash.faults?;
        let failures = self.fed.ftl.failures();
        Some(FaultsResult {
            bad_blocks: faults.bad_blocks,
            retired_blocks: self.fed.ftl.retired_blocks(),
            failed_programs: failures.programs,
            failed_erases: failures.erases,
            read_only_after: self.fed.read_only.as_ref().map(|_| self.totals().host_writes),
            read_only: self.fed.read_only.clone(),
        })
    }

    /// What was watched of pages and blocks, if it was.
    fn observed(&mut self, erases: &[u32]) -> Option<Observed> {
        let moves = self.fed.ftl.moves()?.into();
        let erase_percentiles = erase_counts::percentiles(erases);
        let host_writes = self.totals().host_writes;
        let mut frames = std::mem::take(&mut self.log.frames);
        if frames.last().is_none_or(|last| last.host_writes < host_writes) {
            frames.extend(self.log.frame(&self.fed, host_writes));
        }
        Some(Observed {
            moves,
            erase_percentiles,
            blocks_per_cell: blocks_per_cell(&self.log.flash.geometry) * self.log.flash.unit_blocks,
            frames,
        })
    }

    /// Time on the simulated flash, if it is simulated; the host sent `host_bytes`.
    fn timing(&mut self, config: &Config, host_bytes: u64) -> Option<TimingResult> {
        let time = self.fed.ftl.measured()?;
        let is_open_loop = config.timing.as_ref().is_some_and(TimingSummary::is_open_loop);
        let intervals = self.log.intervals.iter().map(|interval| interval.elapsed_ns);
        let transactions =
            self.fed.transactions.as_ref().map(|of| transactions::result_of(of, intervals));
        let sent_bytes = host_bytes as f64 / self.totals().host_writes.max(1) as f64;
        let of_page = OfPage { bytes: self.log.flash.geometry.page_bytes(), sent_bytes };
        Some(TimingResult {
            transactions,
            ..TimingResult::new(
                &time,
                &self.log.intervals,
                of_page,
                &self.fed.tenants,
                is_open_loop,
            )
        })
    }

    /// How much the host can write, if the cycles of a block are known.
    fn endurance(&self, config: &Config, media_bytes_per_host_byte: f64) -> Option<Endurance> {
        let geometry = &self.log.flash.geometry;
        // Of the real drive, if this is a model of one.
        let page_bytes = f64::from(geometry.page_bytes()) * config.times_smaller();
        let bytes = |pages: u32| f64::from(pages) * page_bytes;
        let (physical, logical) = (bytes(geometry.pages()), bytes(self.log.flash.logical_pages));
        let cycles = config.endurance_cycles?;
        Some(Endurance::new(cycles, media_bytes_per_host_byte, physical, logical))
    }

    /// Ends what is under way, and makes sure that nothing is broken.
    fn end(&mut self) -> Result<(), SimError> {
        if !self.is_read_only() {
            match self.fed.ftl.empty_buffer() {
                Ok(()) => {}
                Err(Stop::ReadOnly(reason)) => self.fed.read_only = Some(reason),
                Err(Stop::Error(reason)) => return Err(self.failed(reason)),
            }
        }
        // A drive that becomes read-only leaves a collection half done.
        if !self.is_read_only() {
            let broken = |broken| self.failed(format!("{broken}; please report the command"));
            self.fed.ftl.check().map_err(broken)?;
        }
        match &self.fed.read_only {
            Some(reason) if self.totals().host_writes == 0 => {
                Err(self.failed(format!("before any write was counted, {reason}")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn finish(mut self, config: &Config) -> Result<RunResult, SimError> {
        self.end()?;
        let base = self.log.base.get_or_insert_with(|| Base::of(&self.fed.ftl));
        let tally = self.fed.ftl.tally().since(&base.tally);
        let seen = self.fed.ftl.watch().since(&base.watch);
        Ok(self.result(config, &tally, &seen))
    }

    /// What came of it, with what was tallied and seen since counting began.
    fn result(mut self, config: &Config, tally: &Tally, seen: &Watch) -> RunResult {
        let settling = self.log.settling(&self.fed, config.may_end_early());
        let seconds = self.fed.spent.processor.as_secs_f64();
        let collecting = self.fed.spent.processor_seconds_of(seen.collecting());
        let totals = self.totals();
        let last_tenth = self.log.history.last_tenth(totals);
        let cold_region_share = self.log.cold_region_share(&self.fed);
        let rule = self.fed.ftl.rule();
        let Counters { merges, trims, collections, .. } = tally.counters;
        let page_bytes = self.log.flash.geometry.page_bytes();
        let host_bytes = totals.host_bytes(page_bytes);
        let media_bytes_per_host_byte = totals.media_bytes_per_host_byte(page_bytes);
        let unit_blocks = self.log.flash.unit_blocks;
        let (memory, faults, slc) = (self.memory(), self.faults(), self.slc(tally.slc));
        let (fdp, observed) = (self.fdp_statistics(host_bytes), self.observed(seen.erases()));
        let refresh = self.refresh(config, tally.refreshed);
        let map = self.map(tally);
        let timing = self.timing(config, host_bytes);
        let doubts = likeness::doubts(
            config,
            timing.as_ref().and_then(|time| time.lun_seconds.share_of_erases()),
        );
        let endurance = self.endurance(config, media_bytes_per_host_byte);
        let series = self.log.history.series;
        RunResult {
            parameters: self.log.label.parameters,
            config_hash: self.log.label.config_hash,
            mapping: self.log.label.mapping,
            host_writes: totals.host_writes,
            host_bytes,
            relocations: totals.relocations,
            refresh,
            slc,
            map,
            erases: totals.erases,
            programs_by_cause: Some(ProgramsByCause::new(tally, seen)),
            erases_by_cause: Some(ErasesByCause::new(tally, seen, unit_blocks)),
            trims,
            unwritten_trims: self.fed.taken.trimmed.saturating_sub(trims + tally.map.kept_trims),
            collections,
            merge_copies: merges.copies,
            full_merges: merges.full,
            partial_merges: merges.partial,
            switch_merges: merges.switch,
            progressive_merges: merges.progressive,
            hurried_merges: merges.hurried,
            merged_log_blocks: (!seen.merged().is_empty()).then(|| seen.merged().to_vec()),
            steady_waf: settling.steady_waf(),
            waf: totals.waf(),
            media_bytes_per_host_byte,
            waf_last_tenth: last_tenth.waf_of_part(),
            last_tenth_host_writes: last_tenth.host_writes,
            // It depends on what the workload brought.
            evidence: None,
            settling,
            running_waf: series.waf,
            running_host_bytes: (totals.lacking > 0).then_some(series.host_bytes),
            running_relocations: series.relocations,
            running_erases: series.erases,
            running_cold_region_share: cold_region_share.map(|_| self.log.cold_region_shares),
            cold_region_share,
            running_groups: self.fed.ftl.groups().map(|_| self.log.groups),
            running_rule: rule.map(|_| self.log.rules.iter().map(|rule| rule.number).collect()),
            rules: rule.map(|rule| shares_of(&self.log.rules, rule)),
            victim_valid_share: valid_share(seen),
            streams: streams(&self.fed.ftl, &tally.counters, seen, unit_blocks),
            erase_counts: EraseCounts::of(seen.erases()),
            endurance,
            fdp,
            faults,
            memory,
            seconds,
            nanoseconds_per_program: 1e9 * seconds / totals.programs() as f64,
            nanoseconds_per_host_write: 1e9 * (seconds - collecting) / totals.host_writes as f64,
            nanoseconds_per_relocation: (collecting > 0.0 && totals.relocations > 0)
                .then(|| 1e9 * collecting / totals.relocations as f64),
            timing,
            doubts,
            own_workload: None,
            observed,
            ftl: self.fed.name,
        }
    }
}

fn valid_share(seen: &Watch) -> VictimValidShare {
    VictimValidShare { mean: seen.valid_share(), histogram: seen.victims().to_vec() }
}

/// The rules of intervals by name, each with its share of them; of none, the `last` one.
fn shares_of(intervals: &[ChosenRule], last: ChosenRule) -> String {
    let all = if intervals.is_empty() { &[last] } else { intervals };
    let mut counts: BTreeMap<u32, (&str, usize)> = BTreeMap::new();
    for rule in all {
        counts.entry(rule.number).or_insert((rule.name, 0)).1 += 1;
    }
    let share = |count: usize| 100.0 * count as f64 / all.len() as f64;
    let texts = counts.values().map(|(name, count)| format!("{name} {:.0}%", share(*count)));
    texts.collect::<Vec<_>>().join(", ")
}

fn streams(ftl: &AnyFtl, counters: &Counters, seen: &Watch, unit_blocks: u32) -> Vec<StreamResult> {
    let streams = ftl.streams().into_iter().zip(&counters.streams).enumerate();
    streams
        .map(|(index, (stream, counts))| StreamResult {
            name: stream.name.to_owned(),
            cold: stream.cold,
            blocks: stream.blocks * unit_blocks,
            erases: counts.erases * u64::from(unit_blocks),
            relocations: counts.relocations,
            victim_valid_share: seen.stream_valid_share(index),
        })
        .collect()
}
