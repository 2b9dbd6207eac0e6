//! What the page-mapped engine keeps.

use crate::page::engine::progress::Progress;
use crate::page::engine::refreshing::Refreshing;
use crate::page::policy::{Policy, Victims};
use crate::page::{DriveConfig, DriveState};
use crate::stream::StreamId;
use crate::{Counters, Observer};
use ftlab_flash::{BlockId, Flash};

/// A page-mapped FTL: `policy` decides, and this carries it out over `flash`.
///
/// ```text
/// write(page):
///     stream = policy.place_host(page)
///     while stream has no room:
///         if more than `reserve` blocks are free: open one for it
///         else collect: policy.select_victims; move their valid pages, erase them
///     program the page; the old version becomes invalid
///     if something is due after the write: background.rs
/// ```
///
/// The write path is in `write.rs`, collection in `reclaim.rs`. Nothing is allocated after construction.
pub struct PageMapped<P: ?Sized, F, O> {
    pub(super) flash: F,
    pub(super) observer: O,
    pub(super) drive: DriveState,
    pub(super) counters: Counters,
    pub(super) config: DriveConfig,
    pub(super) victims: Victims,
    /// The stream of the last host write that found no room.
    pub(super) requester: StreamId,
    /// Of a collection in steps.
    pub(super) progress: Progress,
    /// While fewer blocks are free, something is due after a host write: see `background.rs`.
    pub(super) background_below: u32,
    pub(super) reserve_min: u32,
    /// Blocks are divided among reclaim groups, which no page leaves.
    pub(super) has_groups: bool,
    /// Blocks that failed and are to be taken out of use.
    pub(super) failing: Vec<BlockId>,
    /// Too many blocks are out of use.
    pub(super) is_read_only: bool,
    /// Static wear levelling is due.
    pub(super) is_worn_unevenly: bool,
    /// If blocks are rewritten in time.
    pub(super) refreshing: Option<Box<Refreshing>>,
    /// The last, so that the engine can forget its type: see [`Forgotten`].
    pub(super) policy: P,
}

/// A policy whose type the engine can forget.
///
/// What is done for each page is compiled for each policy. What is seldom done is compiled once: it is a method of
/// `PageMapped<dyn Policy, F, O>`, and calls the policy through a table.
pub trait Forgotten: Policy + 'static {
    /// The engine with any policy.
    fn any<F, O>(ftl: &mut PageMapped<Self, F, O>) -> &mut PageMapped<dyn Policy, F, O>;
}

impl<P: Policy + 'static> Forgotten for P {
    #[inline]
    fn any<F, O>(ftl: &mut PageMapped<Self, F, O>) -> &mut PageMapped<dyn Policy, F, O> {
        ftl
    }
}

impl Forgotten for dyn Policy {
    #[inline]
    fn any<F, O>(ftl: &mut PageMapped<Self, F, O>) -> &mut PageMapped<dyn Policy, F, O> {
        ftl
    }
}

impl<P: Forgotten + ?Sized, F, O> PageMapped<P, F, O> {
    /// It, whatever its policy.
    #[inline]
    pub(super) fn any(&mut self) -> &mut PageMapped<dyn Policy, F, O> {
        P::any(self)
    }
}

impl<P: Policy + 'static, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// An erased drive, or the arithmetic why `config` is too small for the policy.
    pub fn new(
        policy: P,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<Self, crate::ConfigError> {
        Self::with_tables(policy, config, flash, observer, false)
    }

    /// The same; if it is paged, its mapping is on flash, and in memory in part.
    pub(crate) fn with_tables(
        policy: P,
        config: DriveConfig,
        flash: F,
        observer: O,
        is_paged: bool,
    ) -> Result<Self, crate::ConfigError> {
        let drive = drive_of::<F>(&policy, &config, &flash, is_paged)?;
        let (streams, geometry) = (drive.streams().len(), config.geometry);
        let mut ftl = Self {
            progress: Progress::default(),
            background_below: 0,
            failing: Vec::new(),
            is_read_only: false,
            is_worn_unevenly: false,
            refreshing: Refreshing::new(config.refresh, geometry.blocks()),
            reserve_min: policy.reserve_blocks_min(),
            has_groups: has_groups(&policy),
            counters: Counters::new(streams),
            drive,
            requester: StreamId(0),
            victims: Victims::new(geometry.blocks(), geometry.pages_per_block()),
            policy,
            flash,
            observer,
            config,
        };
        ftl.any().schedule_background();
        debug_assert!(ftl.reserve_min <= ftl.config.reserve_blocks, "verified");
        Ok(ftl)
    }
}

fn has_groups(policy: &dyn Policy) -> bool {
    policy.handles().is_some_and(|handles| handles.format().groups() > 1)
}

/// The erased drive of a policy, or the arithmetic why `config` is too small for it.
fn drive_of<F: Flash>(
    policy: &dyn Policy,
    config: &DriveConfig,
    flash: &F,
    is_paged: bool,
) -> Result<DriveState, crate::ConfigError> {
    if has_groups(policy) && (F::WEARS_OUT || !config.is_plain()) {
        return Err(crate::ConfigError::GroupsNeedForeground);
    }
    let streams = policy.streams();
    let make = if is_paged { DriveState::paged } else { DriveState::new };
    let mut drive = make(config, streams.clone());
    policy.seen_as().into_iter().for_each(|seen_as| drive.show_as(seen_as));
    if F::WEARS_OUT {
        drive.retire_bad(|block| flash.is_bad(block));
    }
    let bad_blocks = drive.retired_blocks();
    config.verify(&streams, policy.reserve_blocks_min(), bad_blocks)?;
    debug_assert_eq!(drive.free_blocks() + bad_blocks, config.geometry.blocks());
    Ok(drive)
}
