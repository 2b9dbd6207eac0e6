//! Every step of a page-mapped FTL, recorded as it happens.

use ftlab_flash::{BlockId, Cause, Lpn, Ppn};
use ftlab_ftl::Observer;
use ftlab_ftl::page::{BlockScore, DriveState, Phase, Policy, StreamId, Victims};

/// One step of a page-mapped FTL.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The host is about to write this page: what follows is done for it, up to the next request or trim.
    Request(Lpn),
    /// The page is programmed; its old version, if it has one, becomes invalid.
    Write {
        /// Which page.
        lpn: Lpn,
        /// Where.
        to: Ppn,
        /// The stream of that block.
        stream: StreamId,
    },
    /// The host gives up a page that held data.
    Trim(Lpn),
    /// Victims are chosen.
    Choice {
        /// All sealed blocks, in order of their numbers.
        candidates: Vec<Candidate>,
        /// What was chosen, in the order of collection.
        victims: Vec<BlockId>,
    },
    /// The collection of a victim begins.
    Victim {
        /// The block that will be erased.
        block: BlockId,
        /// Pages to be moved.
        valid_pages: u32,
    },
    /// A valid page of the victim is moved.
    Move {
        /// Which page.
        lpn: Lpn,
        /// Out of the victim.
        from: Ppn,
        /// Into an open block.
        to: Ppn,
        /// The stream of that block.
        stream: StreamId,
    },
    /// The victim, empty by now, is erased.
    Erase(BlockId),
}

/// A sealed block when victims are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The number of the block on the drive.
    pub block: BlockId,
    /// Pages that a collection would move.
    pub valid_pages: u32,
    /// What the policy makes of it, if it gives blocks scores.
    pub score: Option<BlockScore>,
}

/// Records steps.
#[derive(Debug, Default)]
pub(crate) struct StepRecorder {
    pub(crate) steps: Vec<Step>,
    /// Of the choice that is under way.
    candidates: Vec<Candidate>,
}

impl Observer for StepRecorder {
    fn host_write_begins(&mut self, lpn: Lpn) {
        self.steps.push(Step::Request(lpn));
    }

    fn host_write(&mut self, lpn: Lpn, to: Ppn, stream: StreamId) {
        self.steps.push(Step::Write { lpn, to, stream });
    }

    fn relocation(&mut self, lpn: Lpn, from: Ppn, to: Ppn, stream: StreamId) {
        self.steps.push(Step::Move { lpn, from, to, stream });
    }

    fn choice_begins(&mut self, policy: &dyn Policy, drive: &DriveState) {
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        let sealed = blocks.filter(|&block| drive.phase(block) == Phase::Sealed);
        self.candidates = sealed
            .map(|block| Candidate {
                block,
                valid_pages: drive.valid_pages(block),
                score: policy.block_score(block, drive),
            })
            .collect();
    }

    fn choice_ends(&mut self, victims: &Victims) {
        let candidates = std::mem::take(&mut self.candidates);
        // Collection ahead of need may find nothing worth it.
        if !victims.is_empty() {
            let victims = victims.blocks().to_vec();
            self.steps.push(Step::Choice { candidates, victims });
        }
    }

    fn collection(&mut self, victim: BlockId, _: StreamId, valid_pages: u32, _: Cause) {
        self.steps.push(Step::Victim { block: victim, valid_pages });
    }

    fn erase(&mut self, block: BlockId, _: Cause) {
        self.steps.push(Step::Erase(block));
    }

    fn trim(&mut self, lpn: Lpn) {
        self.steps.push(Step::Trim(lpn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::workload;
    use crate::{AnyFtl, OwnPolicies};
    use ftlab_flash::{Geometry, NoPayload};
    use ftlab_ftl::map::Mapping;
    use ftlab_ftl::page::{DriveConfig, GcSchedule};
    use ftlab_ftl::registry::{DriveShape, OracleGroup, build_page_mapped, covering_names, fit};
    use std::collections::{HashMap, HashSet};

    const LOGICAL_PAGES: u32 = 256;

    /// With a trim now and then.
    const TRIM_EVERY: Option<u32> = Some(20);

    /// A drive as the steps tell it.
    #[derive(Default)]
    struct Replay {
        mapping: HashMap<Lpn, Ppn>,
        /// Programmed since their block was erased.
        programmed: HashSet<Ppn>,
        request: Option<Lpn>,
        host_writes: u64,
        relocations: u64,
        erases: u64,
        trims: u64,
        choices: u64,
    }

    impl Replay {
        fn valid_pages(&self, geometry: &Geometry, block: BlockId) -> u32 {
            let block_of = geometry.block_of();
            self.mapping.values().filter(|page| block_of.page(**page) == block).count() as u32
        }

        fn step(&mut self, step: &Step, geometry: &Geometry) {
            match step {
                Step::Request(lpn) => self.request = Some(*lpn),
                Step::Write { lpn, to, .. } => {
                    assert_eq!(self.request.take(), Some(*lpn));
                    assert!(self.programmed.insert(*to), "{to} is not erased");
                    self.mapping.insert(*lpn, *to);
                    self.host_writes += 1;
                }
                Step::Trim(lpn) => {
                    assert!(self.mapping.remove(lpn).is_some());
                    self.trims += 1;
                }
                Step::Choice { candidates, victims } => {
                    for candidate in candidates {
                        let valid_pages = self.valid_pages(geometry, candidate.block);
                        assert_eq!(candidate.valid_pages, valid_pages);
                    }
                    for victim in victims {
                        assert!(candidates.iter().any(|candidate| candidate.block == *victim));
                    }
                    self.choices += 1;
                }
                Step::Victim { block, valid_pages } => {
                    assert_eq!(self.valid_pages(geometry, *block), *valid_pages);
                }
                Step::Move { lpn, from, to, .. } => {
                    assert!(self.programmed.insert(*to), "{to} is not erased");
                    assert_eq!(self.mapping.insert(*lpn, *to), Some(*from));
                    self.relocations += 1;
                }
                Step::Erase(block) => {
                    assert_eq!(self.valid_pages(geometry, *block), 0);
                    let block_of = geometry.block_of();
                    self.programmed.retain(|page| block_of.page(*page) != *block);
                    self.erases += 1;
                }
            }
        }
    }

    #[test]
    fn steps_replayed_give_the_counters_and_the_mapping() {
        let geometry = Geometry::new(38, 16, 4096).unwrap();
        let oracle = [0.1, 0.9].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
        let workload = workload(LOGICAL_PAGES, TRIM_EVERY);
        let mut relocations = 0;
        for name in covering_names() {
            for gc in [GcSchedule::Foreground, "incremental".parse().unwrap()] {
                let config = DriveConfig { gc, ..DriveConfig::new(geometry, LOGICAL_PAGES, 7) };
                let shape = DriveShape::new(&config);
                let spec = fit(&name.parse().unwrap(), shape, &oracle).unwrap();
                let recorder = StepRecorder::default();
                let mut ftl = build_page_mapped(&spec, config, NoPayload, recorder).unwrap();
                ftl.apply(&workload).unwrap();
                let mut replay = Replay::default();
                ftl.observer().steps.iter().for_each(|step| replay.step(step, &geometry));
                let counters = ftl.counters();
                assert_eq!(replay.host_writes, counters.host_writes, "{name}");
                assert_eq!(replay.relocations, counters.relocations(), "{name}");
                assert_eq!(replay.erases, counters.erases(), "{name}");
                assert_eq!(replay.trims, counters.trims, "{name}");
                assert_eq!(replay.choices, counters.collections, "{name}");
                assert!(replay.erases > 0, "{name}");
                relocations += replay.relocations;
                for lpn in (0..LOGICAL_PAGES).map(Lpn) {
                    let replayed = replay.mapping.get(&lpn).copied();
                    assert_eq!(replayed, ftl.flash_page(lpn), "{name}, page {lpn}");
                }
                let own = OwnPolicies::default();
                let mut plain =
                    AnyFtl::new(&spec, &own, &Mapping::FULL, config, None, None, false).unwrap();
                plain.apply(&workload, &[]).unwrap();
                assert_eq!(plain.tally().counters, counters, "{name}: recording changes nothing");
            }
        }
        assert!(relocations > 0);
    }

    fn choices(ftl: &str) -> Vec<(Vec<Candidate>, Vec<BlockId>)> {
        let config = DriveConfig::new(Geometry::new(32, 16, 4096).unwrap(), LOGICAL_PAGES, 4);
        let mut ftl = AnyFtl::recorded(&ftl.parse().unwrap(), config).unwrap();
        ftl.apply(&workload(LOGICAL_PAGES, TRIM_EVERY), &[]).unwrap();
        let choices = ftl.steps().iter().filter_map(|step| match step {
            Step::Choice { candidates, victims } => Some((candidates.clone(), victims.clone())),
            _ => None,
        });
        choices.collect()
    }

    #[test]
    fn the_victim_has_the_highest_score() {
        for ftl in ["single/cost-benefit", "sep-gc/cat", "dac/fifo", "single/windowed-greedy"] {
            let choices = choices(ftl);
            assert!(choices.len() > 20, "{ftl}");
            for (candidates, victims) in choices {
                let score = |candidate: &Candidate| candidate.score.map(|score| score.value);
                let highest = candidates.iter().filter_map(score).fold(0.0, f64::max);
                let victim = candidates.iter().find(|of| of.block == victims[0]).unwrap();
                assert_eq!(score(victim), Some(highest), "{ftl}: {candidates:?}");
            }
        }
        assert!(choices("1r-greedy").iter().flat_map(|(all, _)| all).all(|of| of.score.is_none()));
    }
}
