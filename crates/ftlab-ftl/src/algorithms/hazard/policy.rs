//! `hazard`: lifetimes of pages, and how fast each block has been losing pages.
//!
//! # Idea
//! Of every page the lifetime is kept that is expected of it, from up to three of its lives. Pages of similar lifetimes
//! share a stream, and there are as many streams, or rungs, as pay for their open blocks. Of a block it is known what was
//! expected of its pages when they were written there, their age, and how many of them it has lost lately: that makes the
//! rate at which it loses pages. The victim is the block whose emptying gains least by waiting, for the pages that it
//! makes garbage collection move.
//!
//! # Rule
//! T is the lifetime in host writes that was expected of the pages of a block, in the geometric mean, and a
//! their mean age. The block has the prior hazard rate h = 1 / (T + 2 a). What it lost since the older of
//! two snapshots makes the posterior h_b = (lost + c) / (exposure + c / h), c = B / 20 pages. There are snapshots each
//! quarter of an epoch too, and what a block lost since the older of two of these, l in an exposure of e, makes its rate
//! (l + c') / (e + c' / h_b), c' being c / 4. That of a block sealed since is h: the pages that it loses first say little
//! of those that stay. (By the rule of moves, below, nothing is expected of pages that the host writes, so there it is
//! worked out as that of any other block.) The victim has the highest (1 - u)^2 / (u rate). Lifetimes are divided among the streams such that what
//! separation saves, less what open blocks cost, is greatest: see `sharing.rs`.
//!
//! A page's lifetime T takes two bytes, with the number n of lives that it rests on, 3 at most: a page that the host
//! rewrites at age a is expected to live for (n T + a) / (n + 1), one that is moved for T + a / n, and the two are brought
//! to one scale, r, by how long pages of each kind lived. See `pages.rs`. A first write is expected to live for L, the
//! logical pages in host writes, and goes to a stream of its own.
//!
//! What tells how long a page will live depends on the workload, so there are three rules. That of pages is the
//! above. By that of blocks, a page that the host rewrites is what its block is: what the block lost makes the
//! factor f = sqrt(h / rate), the page is expected to live for (f T + a) / 2, and the pages of a sequential run
//! share the geometric mean over the run so far. By that of moves, pages that the host rewrites are first writes,
//! and all pages of a victim are expected to live for f (T + 2 a). A drive of 65,536 pages or more has a ghost for
//! each rule, with two parts in an epoch, and takes the rule of the best one. After four to eight drive writes, when
//! what they move has settled, they rest until the sixteenth, and so on: see `ghosts.rs`. A smaller drive keeps to the
//! rule of pages. With `pages=off` nothing is kept of single pages: what the host rewrites follows the rule of blocks,
//! what is moved that of moves.
//!
//! ```text
//! place_host(page):
//!     a part of an epoch is over: end_part
//!     ghosts.on_write: one page in so many, or of the hottest pages one write     (ghosts.rs)
//!     the page holds no data yet: the stream of first writes
//!     rule of pages: step = pages.rewritten, step_of(r (n T + a) / (n + 1))       (pages.rs)
//!     of blocks: step = rewrite_step of its block; if it is open, as it was up to a 16th of its age ago
//!                runs.expected(page, step), the mean over the page's run          (runs.rs)
//!     of moves: the stream of first writes
//!     the stream is sharing.stream_of(step)                                      (sharing.rs)
//!
//! select_victims:
//!     candidates = CANDIDATES blocks of the highest kept score                    (score_board.rs)
//!     refresh each of them
//!     best_of: the candidate with the highest score now, of equals the one allocated first
//!     a block is needed and there is no candidate, or `estimates=fresh`: best_of all sealed blocks
//!
//! place_relocation(page):
//!     step = pages.moved, step_of((T + a / n) / r)                                (pages.rs)
//!         rule of moves, or pages=off: step_of(f (T + 2 a)), once for all pages of a victim
//!     the stream is sharing.stream_of(step)
//!
//! estimate(block):                                                               (estimate.rs)
//!     T = lifetime: the geometric mean of what was expected of its pages, in eighths of an octave
//!     a = age: now - the mean time at which they were written there
//!     h = 1 / (T + 2 a)
//!     rate: h_b = (lost + c) / (exposure + c / h), in turn the prior of what it lost lately
//!
//! refresh(block), when it is sealed, and whenever 1/16 of its pages is lost:
//!     rule of blocks: rewrite_step = step_of((f T + a) / 2)
//!     score = (1 - u)^2 / (u rate), kept in eighths of an octave                  (score_board.rs)
//!
//! end_part:
//!     the newer snapshot of parts becomes the older one, and the valid pages of all blocks the newer one
//!     it is the last part of an epoch:
//!         so do the snapshots of epochs
//!         ghosts.best: the rule whose ghost moved least lately                   (ghosts.rs)
//!         sharing.on_epoch: which lifetimes share a stream, pages.are_regular      (regularity.rs)
//!         r = root of (how many times T written pages lived / how many moved pages did)
//!     score_all sealed blocks again; a ghost does at the end of an epoch alone
//! ```
//!
//! # Parameters
//! `rungs` is how many streams there are beside that of first writes, at most: 0 is 6, or two fewer than there are spare
//! blocks; `epoch` is the share of the logical pages that is written between snapshots, and a quarter of it between the
//! others; `prior` is c per page of a block, where c' is half a page at least; `merge` is the weight of what open blocks cost when lifetimes are divided among streams;
//! `pages=off` keeps nothing of single pages; `rule` is what tells how long pages will live, and `best` leaves it to the
//! ghosts; `run` is how many pages of a run count, at most: 0 is no limit. `estimates=fresh` scores all blocks for every victim, and estimates a block for every page
//! of it that is rewritten. By default both are kept, and renewed when a block has lost a sixteenth of its
//! pages, and at snapshots, or of an open block when a 16th of its age has passed; the blocks whose kept scores
//! are highest are then compared by their present ones.
//!
//! # Where the paper is silent
//! It is our own. A hazard rate is per page and host write; a is at least 1.
//!
//! # Reference
//! ftlab, 2026.

use crate::algorithms::hazard::evidence::Evidence;
use crate::algorithms::hazard::ghosts::Ghosts;
use crate::algorithms::hazard::lifetimes::Scale;
use crate::algorithms::hazard::pages::Pages;
use crate::algorithms::hazard::parameters::{
    Estimates, HazardParameters, KnownPages, Rule, RuleChoice,
};
use crate::algorithms::hazard::rungs::{self, Rungs};
use crate::algorithms::hazard::runs::Runs;
use crate::algorithms::hazard::score_board::ScoreBoard;
use crate::algorithms::hazard::sharing::Sharing;
use crate::page::entry::{DriveShape, FitContext, PolicyEntry};
use crate::page::policy::{HostWrite, Policy, Relocation, SampleBytes, Victims};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{OpenSet, Stream, StreamId};
use crate::{ChosenRule, Metadata};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::SpecError;

/// Blocks with the highest kept score whose present scores are compared.
const CANDIDATES: usize = 16;

/// How often there is a snapshot, and when all blocks are scored again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// A snapshot four times in an epoch; blocks are scored after each.
    Drive,
    /// A snapshot twice in an epoch; blocks are scored after the second alone, which saves time. With one, ghosts could
    /// not tell the rule of pages from that of moves on a mail store, where the latter moves a fifth more.
    Ghost,
}

impl Pace {
    /// Parts of an epoch, each with a snapshot.
    fn parts(self) -> u32 {
        match self {
            Self::Drive => 4,
            Self::Ghost => 2,
        }
    }
}

/// Rungs, and what is known of every block.
pub struct Hazard {
    scale: Scale,
    /// The step of the lifetime that is expected of first writes.
    first_step: u8,
    rungs: usize,
    evidence: Evidence,
    /// What is known of every page, unless it is `pages=off`.
    pages: Option<Pages>,
    board: ScoreBoard,
    estimates: Estimates,
    pace: Pace,
    runs: Runs,
    sharing: Sharing,
    rule: Rule,
    /// Whether it chooses the rule, and those that try out which, if the drive is large enough.
    chooses: bool,
    ghosts: Option<Ghosts<Self>>,
    victim: Option<BlockId>,
    /// Where its pages go, unless each page is known.
    destination: Option<Destination>,
}

state!(
    Hazard { evidence, pages, board, runs, sharing, rule, ghosts, victim, destination }
    constant scale, first_step, rungs, estimates, pace, chooses
);

/// Where all pages of a victim go.
#[derive(Debug, Clone, Copy)]
struct Destination {
    victim: BlockId,
    /// The step of the lifetime that is expected of them.
    step: u8,
    /// The stream that takes pages of such lifetimes at present.
    stream: StreamId,
    /// The set of open blocks, and its first stream.
    set: usize,
    first: StreamId,
}

state!(Destination { victim, step, stream, set, first } blank Self::NONE);

impl Destination {
    /// To be overwritten.
    const NONE: Self =
        Self { victim: BlockId(0), step: 0, stream: StreamId(0), set: 0, first: StreamId(0) };

    /// The stream, as the drive names it.
    #[inline]
    fn on_drive(self) -> StreamId {
        StreamId(self.first.0 + self.stream.0)
    }
}

impl PolicyEntry for Hazard {
    type Parameters = HazardParameters;
    const NAME: &'static str = "hazard";
    const SUMMARY: &'static str = "lifetimes of pages from their past, rates of blocks from what they lost lately; least decline first";
    const SOURCE: &'static str = "ours";
    const DECISIONS: u32 = 11;

    fn fit(parameters: &mut HazardParameters, context: &FitContext) -> Result<(), SpecError> {
        if parameters.pages == KnownPages::Off && parameters.rule == RuleChoice::Pages {
            let expects = "best, blocks or moves where pages=off".into();
            return Err(context.refuse("rule", &parameters.rule, expects));
        }
        Ok(())
    }

    fn new(parameters: &HazardParameters, shape: DriveShape) -> Self {
        Self::with_pace(parameters, Pace::Drive, shape)
    }
}

impl Hazard {
    /// Those that try out the rules, if the drive is large enough.
    pub(super) fn ghosts(parameters: &HazardParameters, shape: DriveShape) -> Option<Ghosts<Self>> {
        Ghosts::new(shape, |rule, small| {
            let rule = RuleChoice::always(rule);
            let parameters = HazardParameters { rule, ..parameters.clone() };
            Self::with_pace(&parameters, Pace::Ghost, small)
        })
    }

    pub(super) fn with_pace(parameters: &HazardParameters, pace: Pace, shape: DriveShape) -> Self {
        let knows_pages = parameters.pages == KnownPages::On;
        let rungs = Rungs::new(parameters.rungs, knows_pages, shape);
        let rule = parameters.rule.first(knows_pages);
        let chooses = parameters.rule == RuleChoice::Best && knows_pages;
        let scale = Scale::new(shape.logical_pages);
        let first_step = scale.step_of(shape.logical_pages as f32);
        // A score is (1 - u)^2 / u times a lifetime: from a block of 1% invalid pages on.
        let lowest = shape.logical_pages as f32 / 1_048_576.0;
        let mut policy = Self {
            evidence: Evidence::new(parameters, pace.parts(), rungs.most + 1, scale, shape),
            pages: knows_pages.then(|| Pages::new(scale, shape)),
            board: ScoreBoard::new(shape.blocks, lowest),
            estimates: parameters.estimates,
            pace,
            runs: Runs::new(parameters.run),
            sharing: Sharing::new(rungs, first_step, parameters, shape),
            rule,
            chooses,
            ghosts: if chooses { Self::ghosts(parameters, shape) } else { None },
            victim: None,
            destination: None,
            scale,
            first_step,
            rungs: rungs.most,
        };
        policy.follow(rule);
        policy
    }

    /// Places pages by `rule` from now on.
    fn follow(&mut self, rule: Rule) {
        self.rule = rule;
        self.sharing.keep_first_writes(rule == Rule::Moves);
        self.evidence.expect(rule != Rule::Moves);
    }

    /// Scores `block` again, and returns its score; 0 if it is no candidate.
    fn refresh(&mut self, block: BlockId, drive: &DriveState) -> f32 {
        if !self.evidence.is_sealed(block) || self.victim == Some(block) {
            return 0.0;
        }
        let estimate = self.evidence.estimate_sealed(block, drive);
        if self.keeps_steps() {
            self.evidence.set_rewrite_step(block, self.scale.step_of(estimate.rewritten()));
        }
        let score = estimate.score(drive.pages_per_block() as f32);
        self.board.set(block, score);
        score
    }

    #[cold]
    fn take_snapshot(&mut self, drive: &DriveState) {
        let is_end = self.evidence.end_part(drive);
        if is_end {
            self.end_epoch(drive);
        }
        if self.estimates == Estimates::Kept && (is_end || self.pace == Pace::Drive) {
            self.score_all(drive);
        }
    }

    /// Scores all blocks again. Of several victims that are collected in steps, those whose pages do not move yet are
    /// scored, too: none is chosen before all of them are erased.
    fn score_all(&mut self, drive: &DriveState) {
        let keeps_steps = self.keeps_steps();
        self.board.set_all(|group| self.evidence.scores(group, keeps_steps, drive));
        if let Some(victim) = self.victim {
            self.board.clear(victim);
        }
    }

    /// Decides again what tells how long pages will live, and which lifetimes share a stream.
    fn end_epoch(&mut self, drive: &DriveState) {
        if let Some(ghosts) = &mut self.ghosts {
            let best = ghosts.best(self.rule, drive);
            self.follow(best);
        }
        let are_regular = self.pages.as_ref().is_some_and(Pages::are_regular);
        let (evidence, own) = (&self.evidence, self.streams_of_a_set());
        self.sharing.on_epoch(are_regular, |set, stream| {
            evidence.open_block(StreamId((set * own) as u8 + stream.0), drive)
        });
        self.redirect();
        if let Some(pages) = &mut self.pages {
            pages.on_epoch();
        }
    }

    /// Decides where all pages of a victim go, of which none is known by itself.
    #[inline(never)]
    fn go_to(&mut self, victim: BlockId, set: OpenSet, drive: &DriveState) -> Destination {
        let (set, first) = self.open_set(set, drive);
        self.victim = Some(victim);
        let step = self.scale.step_of(self.evidence.estimate_sealed(victim, drive).surviving());
        self.sharing.on_moved_pages(set, step, drive.valid_pages(victim));
        let stream = self.sharing.stream_of(set, step);
        *self.destination.insert(Destination { victim, step, stream, set, first })
    }

    /// Other lifetimes may share a stream now.
    fn redirect(&mut self) {
        if let Some(Destination { step, stream, set, .. }) = &mut self.destination {
            *stream = self.sharing.stream_of(*set, *step);
        }
    }

    /// Streams that have one open block each in every set.
    fn streams_of_a_set(&self) -> usize {
        self.rungs + 1
    }

    /// A set of open blocks, by number, and which stream of the drive is the first of ours there. Sets of the same
    /// streams have the same number.
    #[inline]
    fn open_set(&self, set: OpenSet, drive: &DriveState) -> (usize, StreamId) {
        let first = drive.first_in(set);
        let number = if set == OpenSet::ONLY { 0 } else { first.index() / self.streams_of_a_set() };
        (number, first)
    }

    /// Whether what is expected of pages that the host rewrites is kept for each block.
    #[inline]
    fn keeps_steps(&self) -> bool {
        self.estimates == Estimates::Kept && self.rule == Rule::Blocks
    }

    /// The host rewrites a page whose present version lies in `block`: the stream of a set that takes it, and the step of
    /// the lifetime that is expected of it.
    #[inline]
    fn place_rewritten(
        &mut self,
        lpn: Lpn,
        block: BlockId,
        set: usize,
        drive: &DriveState,
    ) -> (StreamId, u8) {
        let mut step = self.first_step;
        if let Some(pages) = &mut self.pages {
            step = pages.rewritten(lpn, self.evidence.age(block, drive));
        }
        match self.rule {
            Rule::Pages => {}
            Rule::Blocks => {
                let kept = self.evidence.rewrite_step(block).filter(|_| self.keeps_steps());
                let alone = kept.unwrap_or_else(|| self.judge(block, drive));
                step = self.runs.expected(lpn, alone);
            }
            Rule::Moves => return (self.sharing.on_first_write(set), self.first_step),
        }
        (self.sharing.on_host_page(set, step), step)
    }

    /// The step of the lifetime of a page that the host rewrites, its present version lying in `block`, of which no such
    /// step is kept.
    #[inline(never)]
    fn judge(&mut self, block: BlockId, drive: &DriveState) -> u8 {
        if let Some(kept) = self.evidence.rewrite_step_of_open(block, drive) {
            return kept;
        }
        let estimate = self.evidence.estimate(block, drive);
        let step = self.scale.step_of(estimate.rewritten());
        if self.keeps_steps() {
            self.evidence.keep_for_open(block, step, estimate.age, drive);
        }
        step
    }

    /// The best now of those with the highest kept score.
    fn best_candidate(&mut self, most: u32, drive: &DriveState) -> Option<BlockId> {
        let highest = self.board.highest();
        if highest == 0 {
            return None;
        }
        let mut candidates = [(0.0, BlockId(0)); CANDIDATES];
        let mut count = 0;
        for block in self.board.with_byte(highest).take(CANDIDATES) {
            candidates[count].1 = block;
            count += 1;
        }
        for (score, block) in &mut candidates[..count] {
            *score = self.refresh(*block, drive);
        }
        best_of(candidates[..count].iter().copied(), most, drive)
    }
}

/// The best by score of the blocks that have at most `most` valid pages.
fn best_of(
    scored: impl Iterator<Item = (f32, BlockId)>,
    most: u32,
    drive: &DriveState,
) -> Option<BlockId> {
    let fitting = scored.filter(|&(_, block)| drive.valid_pages(block) <= most);
    let earlier = |a: BlockId, b: BlockId| drive.allocated(b).cmp(&drive.allocated(a));
    let best = fitting.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| earlier(a.1, b.1)));
    best.map(|(_, block)| block)
}

/// True at those counts of valid pages at which a block is estimated again: every sixteenth of them
/// at least. Of such counts, all binary digits but the first five are zeros.
#[inline]
fn refresh_is_due(pages: u32) -> bool {
    let zeros_at_end = pages.wrapping_sub(1) & !pages;
    pages >> 5 <= zeros_at_end
}

impl Policy for Hazard {
    fn streams(&self) -> Vec<Stream> {
        rungs::streams_of(self.rungs)
    }

    /// The pages of a victim fill what is open for their lifetime, and then open one block at most.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        if let Some(pages) = &self.pages {
            pages.prefetch(lpn);
        }
    }

    #[inline]
    fn fetch_block_ahead(&self, block: BlockId) {
        self.evidence.prefetch(block);
    }

    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        if self.evidence.snapshot_is_due(drive) {
            self.take_snapshot(drive);
        }
        if let Some(ghosts) = &mut self.ghosts {
            let is_hottest =
                || self.pages.as_ref().is_some_and(|pages| pages.is_hottest(write.lpn));
            ghosts.on_write(write.lpn, is_hottest, drive);
        }
        let (set, first) = self.open_set(write.set, drive);
        let (stream, step) = match drive.flash_page(write.lpn) {
            None => {
                if let Some(pages) = &mut self.pages {
                    pages.first_written(write.lpn);
                }
                (self.sharing.on_first_write(set), self.first_step)
            }
            Some(page) => self.place_rewritten(write.lpn, drive.block_of(page), set, drive),
        };
        self.evidence.on_page(StreamId(first.0 + stream.0), step, drive);
        stream
    }

    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let mut known = None;
        if let Some(pages) = &mut self.pages {
            let age = self.evidence.age_of_sealed(page.victim, drive);
            known = Some(pages.moved(page.lpn, age));
        }
        let (stream, on_drive, step) = match known {
            Some(step) if self.rule != Rule::Moves => {
                self.victim = Some(page.victim);
                let (set, first) = self.open_set(page.set, drive);
                let stream = self.sharing.on_moved_page(set, step);
                (stream, StreamId(first.0 + stream.0), step)
            }
            _ => {
                let all = match self.destination {
                    Some(all) if all.victim == page.victim => all,
                    _ => self.go_to(page.victim, page.set, drive),
                };
                (all.stream, all.on_drive(), all.step)
            }
        };
        self.evidence.on_page(on_drive, step, drive);
        stream
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        (self.victim, self.destination) = (None, None);
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let kept = match self.estimates {
            Estimates::Kept => self.best_candidate(most, drive),
            Estimates::Fresh => None,
        };
        // Blocks that have lost few pages may have no score yet.
        let is_urgent = most + 1 == drive.pages_per_block();
        let all = || {
            let blocks = drive.host_blocks();
            let sealed = blocks.filter(|&block| drive.phase(block) == Phase::Sealed);
            let pages = drive.pages_per_block() as f32;
            let score = |block| self.evidence.estimate_sealed(block, drive).score(pages);
            best_of(sealed.map(|block| (score(block), block)), most, drive)
        };
        let best = kept.or_else(|| (is_urgent || self.estimates == Estimates::Fresh).then(all)?);
        if let Some(block) = best {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn on_block_opened(&mut self, block: BlockId, _drive: &DriveState) {
        self.evidence.on_opened(block);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.evidence.on_sealed(block, drive);
        let set = drive.frontier_of(block).index() / self.streams_of_a_set();
        let first = (set * self.streams_of_a_set()) as u8;
        let evidence = &self.evidence;
        self.sharing
            .on_sealed(set, |stream| evidence.open_block(StreamId(first + stream.0), drive));
        self.redirect();
        self.refresh(block, drive);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        if refresh_is_due(drive.valid_pages(block)) {
            self.refresh(block, drive);
        }
    }

    fn on_block_erased(&mut self, block: BlockId, _drive: &DriveState) {
        self.evidence.on_erased(block);
        self.board.clear(block);
        if self.victim == Some(block) {
            (self.victim, self.destination) = (None, None);
        }
    }

    fn on_trim(&mut self, lpn: Lpn, _drive: &DriveState) {
        if let Some(ghosts) = &mut self.ghosts {
            ghosts.on_trim(lpn);
        }
    }

    fn rule(&self) -> Option<ChosenRule> {
        let rule = ChosenRule { number: self.rule as u32, name: self.rule.name() };
        self.ghosts.as_ref().map(|_| rule)
    }

    fn metadata(&self) -> Metadata {
        let pages = self.pages.as_ref().map_or(Metadata::NONE, |_| Pages::metadata());
        let ghosts = self.ghosts.as_ref().map_or(Metadata::NONE, Ghosts::metadata);
        Evidence::metadata() + Metadata::per_block(8) + pages + ghosts
    }

    fn memory_bytes(&self) -> usize {
        let pages = self.pages.as_ref().map_or(0, Pages::bytes);
        let ghosts = self.ghosts.as_ref().map_or(0, Ghosts::bytes);
        self.evidence.bytes() + self.board.bytes() + pages + ghosts
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        let ghosts = self.ghosts.as_ref();
        if self.chooses {
            Ghosts::sample_bytes(ghosts, logical_pages)
        } else {
            SampleBytes::default()
        }
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.board.check()?;
        self.evidence.check(drive)?;
        self.ghosts.as_ref().map_or(Ok(()), Ghosts::check)
    }
}
