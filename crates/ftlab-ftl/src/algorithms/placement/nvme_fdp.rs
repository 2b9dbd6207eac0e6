//! `nvme-fdp`: the host says which pages belong together (NVMe flexible data placement).
//!
//! # Idea
//! The host knows what it writes: a log, a table, a tenant. It names a placement handle with each write,
//! and the drive keeps the handles apart in flash.
//!
//! # Rule
//! A placement handle fills one reclaim unit at a time: an erase block, or `unit` of them, which are
//! filled, collected and erased as a whole. A host write goes to the handle that is its stream's number; a
//! stream without a handle, and a write that names none, go to handle 0, the default, and are counted.
//! Handles are isolated initially: pages that collection moves share blocks whichever handle they came
//! by; or persistently: moved pages of a handle share blocks with each other only.
//!
//! With `reclaim-groups`, the blocks are divided among this many groups. Each handle has a unit in every
//! group, the most significant bits of a stream's number are its group, and nothing that is moved leaves
//! its group.
//!
//! Collection moves the valid pages of a unit in the order in which they were written, or, with `luns`, one LUN after
//! the other, as FEMU does: pages 0, n, 2n, ..., then 1, n + 1, ... of a unit that is spread over n LUNs. What was
//! written together is then no longer together when it has been moved: where a sequential writer overwrites it, units empty themselves
//! later.
//!
//! # Parameters
//! `handles` 8; `persistent`: the handles that stay isolated, `none`, `all`, or numbers as in `0+3`;
//! `unit`: the size of a reclaim unit, in erase blocks or in bytes as in `64MiB`; `reclaim-groups` 1; `luns` 1;
//! `inner`: an FTL that keeps the pages of each handle apart further, and chooses the victims.
//!
//! # Where the paper is silent
//! The specification says what may be mixed, and leaves to the drive where moved pages go and which
//! reclaim unit is collected. Moved pages have open blocks of their own here; victims are those of the
//! rule after the slash, or of `inner`. A write that names no handle goes to handle 0 in the reclaim group
//! with the fewest valid pages, and stays there until the unit is full; so does one that names a group which
//! holds as much as it can. docs/fdp.md goes through the fields.
//!
//! # Reference
//! NVM Express, TP 4146, flexible data placement, 2022 (in the NVM Express base specification since 2.1).

use crate::page::DriveState;
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use crate::page::handle_streams::{HANDLES_MAX, Handles, InnerStream};
use crate::page::policy::{Hints, HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Isolation, Metadata, bits_for};
use ftlab_flash::{BlockId, Ppn};
use ftlab_spec::{ByteSize, SpecError, Value};
use std::fmt;

/// A set of placement handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandleSet {
    /// None of them.
    None,
    /// Every one.
    All,
    /// Those with these numbers, rising.
    Some(Vec<u32>),
}

impl HandleSet {
    fn contains(&self, handle: u32) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(numbers) => numbers.contains(&handle),
        }
    }
}

impl Value for HandleSet {
    fn expects() -> String {
        "none, all, or rising numbers of handles such as 0 or 0+3".into()
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => return Some(Self::None),
            "all" => return Some(Self::All),
            _ => {}
        }
        let numbers: Vec<u32> = text.split('+').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        numbers.is_sorted_by(|a, b| a < b).then_some(Self::Some(numbers))
    }
}

impl fmt::Display for HandleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::All => f.write_str("all"),
            Self::Some(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
                f.write_str(&numbers.join("+"))
            }
        }
    }
}

/// The size of a reclaim unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitSize {
    /// Erase blocks.
    Blocks(u32),
    /// As many pages as hold these bytes.
    Bytes(ByteSize),
}

impl UnitSize {
    /// Erase blocks of `block_bytes` bytes in a unit; none if they do not make one up.
    pub(crate) fn blocks(self, block_bytes: u64) -> Option<u32> {
        let blocks = match self {
            Self::Blocks(blocks) => return Some(blocks),
            Self::Bytes(ByteSize(bytes)) => {
                bytes.is_multiple_of(block_bytes).then(|| bytes / block_bytes)?
            }
        };
        u32::try_from(blocks).ok().filter(|blocks| *blocks > 0)
    }
}

impl Value for UnitSize {
    fn expects() -> String {
        "a whole number of erase blocks of at least 1, or a size such as 64MiB".into()
    }

    fn parse(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(0) => None,
            Ok(blocks) => Some(Self::Blocks(blocks)),
            Err(_) => text.parse().ok().filter(|ByteSize(bytes)| *bytes > 0).map(Self::Bytes),
        }
    }
}

impl fmt::Display for UnitSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(blocks) => blocks.fmt(f),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

/// The FTL within each handle, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inner(pub Option<String>);

impl Value for Inner {
    fn expects() -> String {
        "none, a page-mapped FTL such as hazard, or a placement such as dac".into()
    }

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self((text != "none").then(|| text.to_owned())))
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("none"))
    }
}

ftlab_spec::parameters! {
    pub struct NvmeFdpParameters {
        /// Placement handles.
        handles: u32 = 8, "handles" in 1..=HANDLES_MAX as u32, from "public descriptions of drives with FDP";
        /// Handles whose pages stay apart when they are moved.
        persistent: HandleSet = HandleSet::None, "persistent", from "NVMe TP 4146: initially isolated is the weaker promise";
        /// The size of a reclaim unit: erase blocks, or bytes.
        unit: UnitSize = UnitSize::Blocks(1), "unit", from "public descriptions of drives with FDP: any number of blocks";
        /// Groups of units among which blocks are divided.
        reclaim_groups: u32 = 1, "reclaim-groups" in 1..=HANDLES_MAX as u32, from "public descriptions of drives with FDP: one";
        /// LUNs of a unit, if collection moves their pages one LUN after the other instead of in page order.
        luns: u32 = 1, "luns" in 1..=65_536, from "our choice: FEMU has as many as its units are spread over, 64";
        /// What else keeps pages apart within each handle: a page-mapped FTL, whose parameters may follow, or none.
        inner: Inner = Inner(None), "inner", from "our choice: NVMe leaves it to the drive";
    }
}

/// Where pages of a handle go that the host writes.
const HOST: StreamId = StreamId(0);
/// And those that collection moves.
const MOVED: StreamId = StreamId(1);

/// Placement handles, and where their pages go when they are moved.
pub struct NvmeFdp {
    handles: Handles,
}

state!(NvmeFdp { handles });

impl NvmeFdpParameters {
    pub(crate) fn handles(&self) -> u32 {
        self.handles
    }

    pub(crate) fn reclaim_groups(&self) -> u16 {
        self.reclaim_groups as u16
    }

    /// LUNs of a unit that are collected one after the other.
    pub(crate) fn luns(&self) -> u32 {
        self.luns
    }

    /// How each handle is isolated.
    pub(crate) fn isolation(&self) -> Vec<Isolation> {
        let of = |handle| {
            let stays = self.persistent.contains(handle);
            if stays { Isolation::Persistent } else { Isolation::Initial }
        };
        (0..self.handles).map(of).collect()
    }
}

impl PlacementEntry for NvmeFdp {
    type Parameters = NvmeFdpParameters;
    const NAME: &'static str = "nvme-fdp";
    const SUMMARY: &'static str =
        "an open block for every placement handle that the host names; moved pages mixed or apart";
    const SOURCE: &'static str = "NVMe TP 4146 (2022)";
    const HINTS: Hints = Hints::Streams;

    fn fit(parameters: &mut NvmeFdpParameters, context: &FitContext) -> Result<(), SpecError> {
        if let HandleSet::Some(numbers) = &parameters.persistent
            && numbers.last() >= Some(&parameters.handles)
        {
            let expects = format!("of handles 0 to {}, as handles says", parameters.handles - 1);
            return Err(context.refuse("persistent", &parameters.persistent, expects));
        }
        let most = HANDLES_MAX as u32 / parameters.handles;
        if parameters.reclaim_groups > most {
            let expects = format!(
                "at most {most} with {} handles: there are {HANDLES_MAX} units to write to at a time; lower \
                 handles=",
                parameters.handles
            );
            return Err(context.refuse("reclaim-groups", &parameters.reclaim_groups, expects));
        }
        if parameters.unit != UnitSize::Blocks(1) {
            let expects =
                "1, and this drive has no units but erase blocks; choose their size with \
                           --pages-per-block"
                    .to_owned();
            return Err(context.refuse("unit", &parameters.unit, expects));
        }
        Ok(())
    }

    fn new(parameters: &NvmeFdpParameters, shape: DriveShape) -> Self {
        let inner = |takes_relocations| InnerStream {
            stream: Stream { name: "", takes_relocations, cold: takes_relocations },
            takes_host_writes: !takes_relocations,
        };
        let isolation = parameters.isolation();
        let flash_pages = shape.blocks * shape.pages_per_block;
        let handles = Handles::new(&isolation, 1, &[inner(false), inner(true)], flash_pages);
        let handles = handles.expect("two streams of each of 16 handles");
        Self { handles: handles.moving_by(parameters.luns) }
    }
}

impl Placement for NvmeFdp {
    fn streams(&self) -> Vec<Stream> {
        self.handles.streams().to_vec()
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        self.handles.place_host(write.hint.stream, write.hint.lacking, HOST, drive)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        self.handles.place_relocation(page.from, MOVED)
    }

    #[inline]
    fn on_written(&mut self, to: Ppn, stream: StreamId) {
        self.handles.on_written(to, stream);
    }

    #[inline]
    fn on_moved(&mut self, from: Ppn, to: Ppn) {
        self.handles.on_moved(from, to);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.handles.on_block_erased(block, drive);
    }

    fn handles(&self) -> Option<&Handles> {
        Some(&self.handles)
    }

    fn handles_mut(&mut self) -> Option<&mut Handles> {
        Some(&mut self.handles)
    }

    /// The handle of every block, and whether its pages were moved.
    fn metadata(&self) -> Metadata {
        Metadata::per_block(bits_for(self.handles.streams().len() as u32))
    }

    /// Statistics.
    fn memory_bytes(&self) -> usize {
        self.handles.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: DriveShape =
        DriveShape { blocks: 576, pages_per_block: 128, logical_pages: 65_536, reserve_blocks: 4 };

    fn streams(handles: u32, persistent: &str) -> Vec<&'static str> {
        let persistent = HandleSet::parse(persistent).unwrap();
        let parameters = NvmeFdpParameters { handles, persistent, ..NvmeFdpParameters::default() };
        let fdp = NvmeFdp::new(&parameters, SHAPE);
        fdp.streams().iter().map(|stream| stream.name).collect()
    }

    #[test]
    fn moved_pages_share_streams_unless_their_handle_stays_isolated() {
        assert_eq!(streams(2, "none"), ["handle 0", "handle 1", "moved"]);
        assert_eq!(streams(2, "all"), ["handle 0", "handle 1", "moved 0", "moved 1"]);
        assert_eq!(streams(2, "1"), ["handle 0", "handle 1", "moved", "moved 1"]);
        assert_eq!(streams(1, "none"), ["handle 0", "moved"]);
    }

    #[test]
    fn sizes_of_units_parse_and_print() {
        for (text, blocks) in [("1", 1), ("16", 16), ("64KiB", 2), ("1MiB", 32)] {
            let size = UnitSize::parse(text).unwrap();
            assert_eq!((size.to_string().as_str(), size.blocks(32_768)), (text, Some(blocks)));
        }
        assert_eq!(UnitSize::parse("48KiB").unwrap().blocks(32_768), None);
        for wrong in ["", "0", "0B", "x", "-1"] {
            assert_eq!(UnitSize::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sets_of_handles_parse_and_print() {
        for text in ["none", "all", "0", "0+3"] {
            assert_eq!(HandleSet::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "3+0", "1+1", "x"] {
            assert_eq!(HandleSet::parse(wrong), None, "{wrong}");
        }
    }
}
