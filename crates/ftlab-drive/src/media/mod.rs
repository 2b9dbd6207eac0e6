//! The media of a drive: the layout of the backing file, and the order in which it is written.

mod backing;
mod batch;
mod capture;
mod checkpoint;
mod checksum;
mod error;
mod fields;
mod flash;
mod format2;
mod gather;
mod held;
mod journal;
mod journal_reader;
mod layout;
mod mark;
mod named;
mod owner_capture;
mod owners;
mod power_cut;
mod reading;
mod replay;
mod ring;
mod slots;
mod superblock;
mod syncer;

pub use backing::{Backing, BackingFile};
pub use checkpoint::Totals;
pub use error::MediaError;
pub use flash::Notice;
pub use power_cut::PowerCut;
pub use superblock::Superblock;

pub(crate) use named::{NEWEST, OLDEST, VERSION};

pub(crate) use batch::Record;
pub(crate) use batch::fuzz as fuzz_journal;
pub(crate) use capture::Capture;
pub(crate) use checkpoint::fuzz as fuzz_checkpoint;
pub(crate) use checkpoint::{BodyReader, BodyWriter, Checkpoint, SLICE_PAGES, Section};
pub(crate) use checksum::checksum;
pub(crate) use flash::{Aim, Media};
pub(crate) use format2::slots_at;
pub(crate) use gather::pages_max;
pub(crate) use held::Held;
pub(crate) use journal::{Head, Journal, batch_bytes_max, new_session};
pub(crate) use journal_reader::{Half, JournalReader};
pub(crate) use layout::{HEADER_BYTES, Layout};
pub(crate) use mark::Mark;
pub(crate) use owner_capture::{NOTHING, OwnerCapture};
pub(crate) use owners::{Owner, Reads, for_each_owner, sequence};
pub(crate) use reading::{Unread, read_medium, retry_all, with_retries};
pub(crate) use replay::{Misplaced, Pages, Source, Tracker, Unplaced, last_without};
pub(crate) use slots::{Replacement, Slots};
pub(crate) use syncer::{Progress, Syncer};
