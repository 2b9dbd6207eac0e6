//! `nvme-fdp`: the host says which pages belong together (NVMe flexible data placement).
//!
//! # Idea
//! The host knows what it writes: a log, a table, a tenant. It names a placement handle with each write,
//! and the drive keeps the handles apart in flash.
//!
//! # Rule
//! A placement handle fills one reclaim unit at a time, which here is an erase block of the simulated
//! drive (its `--pages-per-block` are those of the reclaim unit). A host write goes to the handle that
//! is its stream's number; a stream without a handle, and a write that names none, go to handle 0.
//! Handles are isolated initially: pages that collection moves share blocks whichever handle they came
//! by; or persistently: moved pages of a handle share blocks with each other only.
//!
//! # Parameters
//! `handles` 8; `persistent`: the handles that stay isolated, `none`, `all`, or numbers as in `0+3`.
//!
//! # Where the paper is silent
//! The specification says what may be mixed, and leaves to the drive where moved pages go and which
//! reclaim unit is collected. Moved pages have open blocks of their own here; victims are those of the
//! rule after the slash. One reclaim group: placement among several is a matter of parallel flash.
//!
//! # Reference
//! NVM Express, TP 4146, flexible data placement, 2022 (in the NVM Express base specification since 2.1).

use crate::page::Drive;
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use crate::page::policy::{Hints, HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, bits_for};
use ftlab_spec::{SpecError, Value};
use std::fmt;

/// A set of placement handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handles {
    /// None of them.
    None,
    /// Every one.
    All,
    /// Those with these numbers, rising.
    Some(Vec<u32>),
}

impl Handles {
    fn contains(&self, handle: u32) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(numbers) => numbers.contains(&handle),
        }
    }
}

impl Value for Handles {
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

impl fmt::Display for Handles {
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

ftlab_spec::parameters! {
    /// Parameters of flexible data placement.
    pub struct NvmeFdpParameters {
        /// Placement handles.
        handles: u32 = 8, "handles" in 1..=HANDLES_MAX as u32, from "public descriptions of drives with FDP";
        /// Handles whose pages stay apart when they are moved.
        persistent: Handles = Handles::None, "persistent", from "NVMe TP 4146: initially isolated is the weaker promise";
    }
}

/// The most placement handles that there can be.
const HANDLES_MAX: usize = 16;

const HOST_NAMES: [&str; HANDLES_MAX] = [
    "handle 0",
    "handle 1",
    "handle 2",
    "handle 3",
    "handle 4",
    "handle 5",
    "handle 6",
    "handle 7",
    "handle 8",
    "handle 9",
    "handle 10",
    "handle 11",
    "handle 12",
    "handle 13",
    "handle 14",
    "handle 15",
];

const MOVED_NAMES: [&str; HANDLES_MAX] = [
    "moved 0", "moved 1", "moved 2", "moved 3", "moved 4", "moved 5", "moved 6", "moved 7",
    "moved 8", "moved 9", "moved 10", "moved 11", "moved 12", "moved 13", "moved 14", "moved 15",
];

/// Placement handles, and where their pages go when they are moved.
pub struct NvmeFdp {
    handles: u8,
    streams: Vec<Stream>,
    /// Stream -> the stream of pages that are moved out of its blocks.
    moved_to: Vec<StreamId>,
}

state!(NvmeFdp {} constant handles, streams, moved_to);

impl PlacementEntry for NvmeFdp {
    type Parameters = NvmeFdpParameters;
    const NAME: &'static str = "nvme-fdp";
    const SUMMARY: &'static str =
        "an open block for every placement handle that the host names; moved pages mixed or apart";
    const SOURCE: &'static str = "NVMe TP 4146 (2022)";
    const HINTS: Hints = Hints::Streams;

    fn fit(parameters: &mut NvmeFdpParameters, context: &FitContext) -> Result<(), SpecError> {
        if let Handles::Some(numbers) = &parameters.persistent
            && numbers.last() >= Some(&parameters.handles)
        {
            let expects = format!("of handles 0 to {}, as handles says", parameters.handles - 1);
            return Err(context.refuse("persistent", &parameters.persistent, expects));
        }
        Ok(())
    }

    fn new(parameters: &NvmeFdpParameters, _shape: DriveShape) -> Self {
        let handles = parameters.handles;
        let host = HOST_NAMES.iter().take(handles as usize);
        let mut streams: Vec<_> =
            host.map(|&name| Stream { name, takes_relocations: false, cold: false }).collect();
        let mut moved_to = vec![StreamId(0); handles as usize];
        let mut add = |name, sources: Vec<u32>| {
            let stream = StreamId(streams.len() as u8);
            streams.push(Stream { name, takes_relocations: true, cold: true });
            for source in sources {
                moved_to[source as usize] = stream;
            }
            moved_to.push(stream);
        };
        let (apart, mixed): (Vec<u32>, Vec<u32>) =
            (0..handles).partition(|&handle| parameters.persistent.contains(handle));
        if !mixed.is_empty() {
            add("moved", mixed);
        }
        for handle in apart {
            add(MOVED_NAMES[handle as usize], vec![handle]);
        }
        Self { handles: handles as u8, streams, moved_to }
    }
}

impl Placement for NvmeFdp {
    fn streams(&self) -> Vec<Stream> {
        self.streams.clone()
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, _drive: &Drive) -> StreamId {
        let handle = write.hint.stream;
        StreamId(if handle < u16::from(self.handles) { handle as u8 } else { 0 })
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &Drive) -> StreamId {
        self.moved_to[page.from.index()]
    }

    /// The handle of every block, and whether its pages were moved.
    fn metadata(&self) -> Metadata {
        Metadata::per_block(bits_for(self.streams.len() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: DriveShape =
        DriveShape { blocks: 576, pages_per_block: 128, logical_pages: 65_536, reserve_blocks: 4 };

    fn moved(handles: u32, persistent: &str) -> Vec<u8> {
        let persistent = Handles::parse(persistent).unwrap();
        let fdp = NvmeFdp::new(&NvmeFdpParameters { handles, persistent }, SHAPE);
        assert_eq!(fdp.streams.len(), fdp.moved_to.len());
        fdp.moved_to.iter().map(|stream| stream.0).collect()
    }

    #[test]
    fn moved_pages_are_mixed_unless_their_handle_stays_isolated() {
        assert_eq!(moved(3, "none"), [3, 3, 3, 3]);
        assert_eq!(moved(3, "all"), [3, 4, 5, 3, 4, 5]);
        assert_eq!(moved(3, "1"), [3, 4, 3, 3, 4]);
        assert_eq!(moved(1, "none"), [1, 1]);
    }

    #[test]
    fn sets_of_handles_parse_and_print() {
        for text in ["none", "all", "0", "0+3"] {
            assert_eq!(Handles::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "3+0", "1+1", "x"] {
            assert_eq!(Handles::parse(wrong), None, "{wrong}");
        }
    }
}
