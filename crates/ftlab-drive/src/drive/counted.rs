//! What has been counted on a drive, as a checkpoint keeps it: it outlives the FTL that counted.

use ftlab_ftl::{Counters, MapCounts, StreamCounters};
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
    /// Of a map on flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<CountedMap>,
}

/// The counts of a map that writes alone change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct CountedMap {
    lookups: u64,
    hits: u64,
    loads: u64,
    update_reads: u64,
    write_backs: u64,
    move_updates: u64,
    lazy_updates: u64,
    relocations: u64,
}

impl Counted {
    /// Of an FTL, and of its map, if that is on flash.
    pub(crate) fn of(counters: &Counters, map: Option<MapCounts>) -> Self {
        let map = map.map(|map| CountedMap {
            lookups: map.write_lookups,
            hits: map.write_hits,
            loads: map.loads,
            update_reads: map.update_reads,
            write_backs: map.write_backs,
            move_updates: map.move_updates,
            lazy_updates: map.lazy_updates,
            relocations: map.relocations,
        });
        let Counters { host_writes, trims, collections, streams, merges: _ } = counters;
        let streams = streams.iter().map(|stream| (stream.relocations, stream.erases)).collect();
        let (host_writes, trims, collections) = (*host_writes, *trims, *collections);
        Self { host_writes, trims, collections, streams, map }
    }

    /// Those of the map.
    pub(crate) fn map(&self) -> MapCounts {
        let map = self.map.clone().unwrap_or_default();
        MapCounts {
            write_lookups: map.lookups,
            write_hits: map.hits,
            loads: map.loads,
            update_reads: map.update_reads,
            write_backs: map.write_backs,
            move_updates: map.move_updates,
            lazy_updates: map.lazy_updates,
            relocations: map.relocations,
            ..MapCounts::default()
        }
    }

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
