//! Options for creating and opening a drive.

use crate::media::{
    HEADER_BYTES, Layout, MediaError, Notice, Superblock, batch_bytes_max, pages_max,
};
use ftlab_flash::{Lpn, NoPayload};
use ftlab_ftl::Archive;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{DriveConfig, Hints};
use ftlab_ftl::registry::{self, BuildError, DriveShape};
use ftlab_host::Timing;
use ftlab_spec::Spec;
use std::io;
use std::num::NonZeroU32;
use uuid::Uuid;

/// Options of a new drive.
#[derive(Debug, Clone)]
pub struct CreateOptions {
    /// The FTL, which must be page-mapped.
    pub ftl: Spec,
    /// Flash, logical pages and schedule of collection.
    pub config: DriveConfig,
    /// What of its map is in memory.
    pub mapping: Mapping,
    /// Operations between checkpoints; by default an eighth of the logical pages, but at least
    /// 65,536.
    pub checkpoint_every: Option<u64>,
}

/// Who watches a drive from its opening on, and as what it is opened.
#[derive(Default)]
pub struct OpenOptions {
    /// The UUID that the drive must have.
    pub uuid: Option<Uuid>,
    /// Is notified of the host's operations.
    pub observer: Option<Box<dyn HostObserver>>,
    /// Is told what the user of the drive should know.
    pub notice: Option<Notice>,
    /// Nothing is written: not even what a recovery would put in its place.
    pub read_only: bool,
    /// Operations that were flushed and are damaged may be discarded, to save the others.
    pub salvage: bool,
    /// Flash whose timing is emulated: front ends reply no earlier than it would be done.
    pub timing: Option<Timing>,
    /// Program/erase cycles that a block endures, for the share of its life that the drive has used.
    pub endurance_cycles: Option<NonZeroU32>,
    /// Takes the drive over: its pages stay where they are, and this FTL learns from the beginning. It may be that of
    /// before.
    pub ftl: Option<Spec>,
    /// Gives a drive whose map is on flash this one: one with more memory, or all of it in memory.
    pub mapping: Option<Mapping>,
}

/// Is notified of the host's operations, in the order in which they take effect.
///
/// It is called while the drive is locked, and must be fast.
pub trait HostObserver: Send {
    /// The host wrote a page of a stream; 0 if it named none.
    fn write(&mut self, lpn: Lpn, stream: u16);
    /// The host trimmed a number of pages, starting with `first`.
    fn trim(&mut self, first: Lpn, pages: u32);
    /// The host moved a placement handle to a fresh unit.
    fn renew_handle(&mut self, handle: u16);
}

/// The smallest flash page: the atomic write unit of a disk.
const PAGE_BYTES_MIN: u32 = 512;
const PAGE_BYTES_MAX: u32 = 1 << 20;

/// The most logical pages: the journal has other uses for the numbers above.
const PAGES_MAX: u32 = u32::MAX - 16;

impl Superblock {
    /// This drive, whose map is on flash, with another one, or with all of it in memory; or why it cannot have it.
    pub(crate) fn remapped(&self, mapping: Mapping) -> Result<Self, MediaError> {
        if !self.is_paged() {
            let [has, wanted] = [&self.mapping, &mapping].map(Mapping::name);
            return Err(MediaError::Mapping(format!(
                "the map of this drive is {has}, and its checkpoints have no room for what {wanted} keeps; make a new \
                 drive with `ftlab drive create --mapping`, and copy what is on this one"
            )));
        }
        let (config, checkpoint_every) = (self.config, Some(self.checkpoint_every));
        let other = CreateOptions { ftl: self.ftl.clone(), config, mapping, checkpoint_every };
        let (planned, state, _) = other.plan_with()?;
        let needs = planned.layout.checkpoint_bytes - state - lists_bytes(&config) * 3 / 4;
        let has = self.layout.checkpoint_bytes;
        if has < needs {
            return Err(MediaError::Mapping(format!(
                "{} needs {needs} bytes of a checkpoint, and this drive has {has}; give less memory",
                mapping.name()
            )));
        }
        Ok(Self { mapping, ..self.clone() })
    }

    /// This drive with another FTL, or why there is no room for that.
    pub(crate) fn taken_over(&self, ftl: Spec) -> Result<Self, MediaError> {
        let (config, checkpoint_every) = (self.config, Some(self.checkpoint_every));
        let other = CreateOptions { ftl, config, mapping: self.mapping, checkpoint_every };
        let (planned, state, streams) = other.plan_with()?;
        let taken_over = Self { ftl: planned.ftl, ..self.clone() };
        // A new drive has room for twice the state and for long lists.
        let checkpoint = planned.layout.checkpoint_bytes - state - lists_bytes(&config) * 3 / 4;
        // As much as between the beginnings of three checkpoints: two are kept.
        let journal = 3 * room_needed(streams, &config);
        for (what, has, needs) in [
            ("of a checkpoint", self.layout.checkpoint_bytes, checkpoint),
            ("of the journal", self.layout.journal_bytes, journal),
        ] {
            if has < needs {
                let ftl = taken_over.ftl.to_string();
                return Err(MediaError::NoRoomFor { ftl, what, has, needs });
            }
        }
        Ok(taken_over)
    }
}

impl CreateOptions {
    /// The superblock of such a drive.
    pub(crate) fn plan(&self) -> Result<Superblock, MediaError> {
        self.plan_with().map(|(superblock, ..)| superblock)
    }

    /// The superblock, the bytes of the FTL's state, and its streams.
    fn plan_with(&self) -> Result<(Superblock, u64, u64), MediaError> {
        let geometry = self.config.geometry;
        let page_bytes = geometry.page_bytes();
        if !page_bytes.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&page_bytes)
        {
            return Err(MediaError::Size {
                what: "the page size",
                value: page_bytes.into(),
                expects: format!(
                    "it must be a power of two from {PAGE_BYTES_MIN} to {PAGE_BYTES_MAX}"
                ),
            });
        }
        if self.config.logical_pages > PAGES_MAX {
            return Err(MediaError::Size {
                what: "the number of logical pages",
                value: self.config.logical_pages.into(),
                expects: format!("it must be at most {PAGES_MAX}; take larger pages"),
            });
        }
        if self.checkpoint_every == Some(0) {
            return Err(MediaError::Size {
                what: "the checkpoint interval",
                value: 0,
                expects: "it must be at least 1 operation".to_owned(),
            });
        }
        if registry::hints(&self.ftl).map_err(BuildError::from)? == Hints::Lifetimes {
            return Err(MediaError::Future(self.ftl.to_string()));
        }
        if let Some(why) = self.mapping.refused_live(&geometry) {
            return Err(MediaError::Mapping(why));
        }
        let engine = self.mapping.of_engine(self.config).map_err(BuildError::from)?;
        let ftl =
            registry::fit(&self.ftl, DriveShape::new(&engine), &[]).map_err(BuildError::from)?;
        let mut built = registry::build_for_drive(&self.mapping, &ftl, self.config, NoPayload, ())?;
        if built.placement_handles().is_some_and(|told| told.format.groups() > 1) {
            return Err(MediaError::ReclaimGroups(self.ftl.to_string()));
        }
        let mut state = Count(0);
        built.transfer(&mut state)?;
        let by_default = u64::from(self.config.logical_pages / 8).max(64 << 10);
        let checkpoint_every = self.checkpoint_every.unwrap_or(by_default);
        let streams = built.drive().streams().len() as u64;
        // Small batches are padded.
        let records = 16 * checkpoint_every.min(u64::from(geometry.pages()) * 4);
        let layout = Layout {
            geometry,
            checkpoint_bytes: checkpoint_bytes(state.0, &engine, &self.mapping),
            journal_bytes: (3 * records + 5 * room_needed(streams, &self.config))
                .next_multiple_of(HEADER_BYTES as u64),
        };
        let uuid = Uuid::new_v4();
        let superblock =
            Superblock::new(uuid, ftl, self.mapping, self.config, checkpoint_every, layout);
        Ok((superblock, state.0, streams))
    }
}

/// Counts the bytes of a state, without names: these take no room that grows.
struct Count(u64);

impl Archive for Count {
    fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.0 += bytes.len() as u64;
        Ok(())
    }
}

/// Size of a checkpoint slot in bytes: lists of blocks and of pages may grow to several times those
/// of a new drive, and unused space takes no room in a sparse file.
fn checkpoint_bytes(state: u64, config: &DriveConfig, mapping: &Mapping) -> u64 {
    let places = if mapping.is_on_flash() { config.geometry.pages() } else { config.logical_pages };
    let cache = mapping.memory_bytes(config);
    let bytes =
        HEADER_BYTES as u64 + 8 * u64::from(places) + cache + 2 * state + lists_bytes(config);
    bytes.next_multiple_of(HEADER_BYTES as u64)
}

/// Room in a checkpoint for lists that grow, in bytes.
fn lists_bytes(config: &DriveConfig) -> u64 {
    64 * u64::from(config.geometry.blocks()) + (64 << 10)
}

/// Maximum journal space of one operation in bytes, however many blocks it collects: the buffers of all
/// streams once, and a few batches; and as much again for a recovery, which may have to save from being
/// overwritten what a crash left in the places of those buffers.
pub(crate) fn room_needed(streams: u64, config: &DriveConfig) -> u64 {
    let page_bytes = config.geometry.page_bytes();
    let buffer = u64::from(pages_max(&config.geometry)) * (u64::from(page_bytes) + 16);
    2 * streams * buffer + 6 * batch_bytes_max(page_bytes)
}
