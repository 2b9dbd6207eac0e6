//! What has been counted on a drive, as a checkpoint keeps it: it outlives the FTL that counted.

use ftlab_ftl::{Counters, StreamCounters};
use serde::{Deserialize, Serialize};

/// The counters of a page-mapped FTL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counted {
    host_writes: u64,
    trims: u64,
    collections: u64,
    /// Relocations and erases of each stream.
    streams: Vec<(u64, u64)>,
}

impl From<&Counters> for Counted {
    fn from(counters: &Counters) -> Self {
        let Counters { host_writes, trims, collections, streams, merges: _ } = counters;
        let streams = streams.iter().map(|stream| (stream.relocations, stream.erases)).collect();
        Self { host_writes: *host_writes, trims: *trims, collections: *collections, streams }
    }
}

impl Counted {
    /// After this many more writes of pages and trims of pages that held data.
    pub(crate) fn after(&self, writes: u64, trims: u64) -> Counters {
        let stream = |&(relocations, erases)| StreamCounters { relocations, erases };
        Counters {
            host_writes: self.host_writes + writes,
            trims: self.trims + trims,
            collections: self.collections,
            streams: self.streams.iter().map(stream).collect(),
            ..Counters::default()
        }
    }
}
