//! The logs of flexible data placement, as a drive would give them.

use crate::fact::{Fact, Facts, Kind, Sheet, Value, When, facts, report, table};
use ftlab_flash::Geometry;
use ftlab_ftl::{
    HandleCounters, HandleEvent, HandleEventKind, IdentifierFormat, Isolation, PlacementHandles,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

facts! {
    Run:
    /// The logs of flexible data placement (NVMe base specification 2.1, section 8.1.10) since counting began.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct FdpStatistics {
        /// Host bytes with metadata written (HBMW): as the host sent them, where it wrote pages in part.
        hbmw: u64 = Count, "bytes", from "the host" [table(Handles, 10, "HBMW", Known)];
        /// Media bytes with metadata written (MBMW).
        mbmw: u64 = Count, "bytes", from "the FTL" [table(Handles, 20, "MBMW", Known)];
        /// Media bytes erased (MBE).
        mbe: u64 = Count, "bytes", from "the FTL" [table(Handles, 30, "MBE", Known)];
        /// Bytes of a reclaim unit (RUNS).
        unit_bytes: u64;
        /// Reclaim groups (NRG).
        reclaim_groups: u16;
        /// Bits of a placement identifier that are the reclaim group (RGIF): its most significant ones.
        rgif: u32;
        /// Every reclaim unit handle of the first reclaim group in order, then of the next.
        handles: Vec<FdpHandle> => each<FdpHandle>;
        /// Units at the end that hold pages which were moved, of all initially isolated handles.
        shared_units: u32 = Count, "units", from "the FTL" [
            table(Mixed, 50, "units", Known),
            report(Mixed, 60, "units", "Reclaim units that hold pages of several handles", Known),
        ];
        /// Media bytes erased in such units.
        shared_mbe: u64 = Count, "bytes", from "the FTL" [table(Mixed, 30, "MBE", Known)];
        /// Host page writes that named no handle and went to handle 0.
        unnamed_writes: u64 = Count, "pages", from "the host";
        /// Host page writes that went to another reclaim group than they named, which held as much as it could.
        redirected_writes: u64 = Count, "pages", from "the FTL" [
            report(Events, 50, "redirected", "Page writes whose reclaim group was full, and that went to another", Known),
        ];
        /// Events by type.
        events: FdpEventCounts => tell;
        /// The latest events, oldest first; 63 at most, as in the standard's log page.
        latest_events: Vec<FdpEvent>;
    }
}

facts! {
    Handle:
    /// A reclaim unit handle in a reclaim group.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct FdpHandle {
        /// The reclaim group (RGID).
        group: u16;
        /// The handle (RUHID), which is also the placement handle.
        handle: u16;
        /// What names both (PID): the stream of a request.
        identifier: u16;
        /// How it is isolated (RUHT).
        isolation: FdpIsolation;
        /// Host bytes written by it, as the host sent them. What was trimmed in a write buffer came to no handle.
        hbmw: u64 = Count, "bytes", from "the host" [
            table(Handles, 10, "HBMW", Known),
            report(Handles, 30, "host bytes", "Bytes that the host wrote by it, as it sent them (HBMW)", Known),
        ];
        /// Media bytes written of what the host wrote by it: pages programmed for the host, and moved by collection.
        mbmw: u64 = Count, "bytes", from "the FTL" [
            table(Handles, 20, "MBMW", Known),
            report(Handles, 40, "media bytes", "Bytes of the pages programmed for these, and moved later, wherever they lay (MBMW)", Known),
        ];
        /// Media bytes erased in units that held its pages only.
        mbe: u64 = Count, "bytes", from "the FTL" [table(Handles, 30, "MBE", Known)];
        /// Units at the end that hold its pages only, the present one included.
        units: u32 = Count, "units", from "the FTL" [
            table(Handles, 50, "units\nat the end", Known),
            report(Handles, 60, "units", "Reclaim units that hold pages of this handle only, the present one included", Known),
        ];
        /// Bytes that its present unit still takes (RUAMW, which counts logical blocks).
        ruamw_bytes: u64 = Count, "bytes", from "the FTL" [
            table(Handles, 60, "room in the\npresent unit", Known),
            report(Handles, 70, "room left", "Bytes that the present unit still takes", Known),
        ];
        /// Host bytes written by it in each interval.
        running_hbmw: Vec<u64> = Series, "bytes", from "the host";
        /// Media bytes written of it in each interval.
        running_mbmw: Vec<u64> = Series, "bytes", from "the FTL";
    }
}

/// The facts of all handles of a drive together.
pub static OF_DRIVE: LazyLock<Vec<Fact<FdpStatistics>>> = LazyLock::new(|| {
    let units = |fdp: &FdpStatistics| {
        let own = fdp.handles.iter().map(|handle| u64::from(handle.units)).sum::<u64>();
        Some(Value::Count(own + u64::from(fdp.shared_units)))
    };
    let kind = (Kind::Count, "units", "the FTL");
    let units = Fact::new("units", kind, &["Units that hold pages at the end."], units)
        .shown(vec![table(Sheet::Handles, 50, "units", When::Known)]);
    let mut facts = FdpStatistics::facts();
    facts.extend([units, per_host_byte(|fdp: &FdpStatistics| [fdp.hbmw, fdp.mbmw])]);
    facts
});

/// The facts of a handle.
pub static OF_HANDLE: LazyLock<Vec<Fact<FdpHandle>>> = LazyLock::new(|| {
    let mut facts = FdpHandle::facts();
    facts.push(per_host_byte(|handle: &FdpHandle| [handle.hbmw, handle.mbmw]));
    facts
});

/// Media bytes per host byte, of what has such bytes.
fn per_host_byte<R: 'static>(bytes: fn(&R) -> [u64; 2]) -> Fact<R> {
    let ratio = move |of: &R| {
        let [host, media] = bytes(of);
        (host > 0).then(|| Value::Real(media as f64 / host as f64))
    };
    let kind = (Kind::Ratio(5), "", "the FTL and the host");
    let (name, meaning) = ("media bytes per host byte", "The second as a multiple of the first");
    Fact::new(name, kind, &[meaning], ratio).in_terminal(Kind::Decimals(4)).shown(vec![
        table(Sheet::Handles, 40, "media per\nhost byte", When::Known),
        report(Sheet::Handles, 50, name, meaning, When::Known),
    ])
}

/// How the pages of a handle are kept apart from those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FdpIsolation {
    /// Until collection moves them.
    InitiallyIsolated,
    /// For good.
    PersistentlyIsolated,
}

impl From<Isolation> for FdpIsolation {
    fn from(isolation: Isolation) -> Self {
        match isolation {
            Isolation::Initial => Self::InitiallyIsolated,
            Isolation::Persistent => Self::PersistentlyIsolated,
        }
    }
}

facts! {
    Run:
    /// Events by type (ETYP).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct FdpEventCounts {
        /// 0h: the host moved a handle to another unit before its unit was full.
        unit_not_fully_written: u64 = Count, "events", from "the FTL" [
            report(Events, 10, "not written to capacity", "Units that the host left before they were full", Known),
        ];
        /// 1h: the drive did, because the unit was open for too long.
        unit_time_limit_exceeded: u64 = Count, "events", from "the FTL";
        /// 2h: the drive did, because it was reset.
        reset_modified_handles: u64 = Count, "events", from "the FTL";
        /// 3h: a page write named a handle or a group that does not exist, and went to handle 0.
        invalid_placement_identifier: u64 = Count, "events", from "the FTL" [
            report(Events, 30, "invalid identifier", "Page writes that named a handle or a reclaim group that does not exist", Known),
        ];
        /// 80h: units of which collection moved pages that initially isolated handles wrote.
        media_reallocated: u64 = Count, "events", from "the FTL" [
            report(Events, 40, "media reallocated", "Units of which collection moved pages of initially isolated handles", Known),
        ];
        /// 81h: the drive moved a handle to another unit by itself.
        implicitly_modified_handle: u64 = Count, "events", from "the FTL" [
            report(Events, 20, "implicitly modified", "Units that the drive left before they were full: a program failed", Known),
        ];
    }
}

/// The type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FdpEventType {
    /// 0h.
    UnitNotFullyWritten,
    /// 1h.
    UnitTimeLimitExceeded,
    /// 2h.
    ResetModifiedHandles,
    /// 3h.
    InvalidPlacementIdentifier,
    /// 80h.
    MediaReallocated,
    /// 81h.
    ImplicitlyModifiedHandle,
}

impl From<HandleEventKind> for FdpEventType {
    fn from(kind: HandleEventKind) -> Self {
        match kind {
            HandleEventKind::NotFullyWritten => Self::UnitNotFullyWritten,
            HandleEventKind::TimeLimitExceeded => Self::UnitTimeLimitExceeded,
            HandleEventKind::Reset => Self::ResetModifiedHandles,
            HandleEventKind::InvalidPlacement => Self::InvalidPlacementIdentifier,
            HandleEventKind::MediaReallocated => Self::MediaReallocated,
            HandleEventKind::ImplicitlyModified => Self::ImplicitlyModifiedHandle,
        }
    }
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FdpEvent {
    /// Its type (ETYP).
    #[serde(rename = "type")]
    pub kind: FdpEventType,
    /// Counted host page writes before it.
    pub host_writes: u64,
    /// The reclaim group of the unit (RGID).
    pub group: u16,
    /// The handle whose unit it was (RUHID).
    pub handle: u16,
    /// What the host named (PID).
    pub named: u16,
    /// Pages that were moved, or left unwritten.
    pub pages: u32,
}

impl FdpEvent {
    fn new(event: &HandleEvent, format: IdentifierFormat) -> Self {
        let HandleEvent { kind, write_clock, handle, named, pages } = *event;
        let (group, handle) = (handle / format.handles(), handle % format.handles());
        Self { kind: kind.into(), host_writes: write_clock, group, handle, named, pages }
    }
}

/// What is recorded of placement handles during a run.
#[derive(Debug)]
pub(crate) struct FdpRecord {
    /// When counting began, and the write clock then.
    base: (PlacementHandles, u64),
    /// When the present interval began.
    start: PlacementHandles,
    /// Host and media bytes of each handle in each interval.
    running: Vec<[Vec<u64>; 2]>,
}

/// Host and media bytes.
fn bytes(counters: HandleCounters, page_bytes: u32) -> [u64; 2] {
    [counters.host_bytes(page_bytes), counters.media_bytes(page_bytes)]
}

impl FdpRecord {
    /// Begins to count; `handles` are as they are now.
    pub(crate) fn new(handles: PlacementHandles, write_clock: u64) -> Self {
        let running = vec![Default::default(); handles.handles.len()];
        Self { base: (handles.clone(), write_clock), start: handles, running }
    }

    pub(crate) fn end_interval(&mut self, handles: PlacementHandles, geometry: &Geometry) {
        let since = handles.since(&self.start, 0);
        for (running, handle) in self.running.iter_mut().zip(&since.handles) {
            let [host, media] = bytes(handle.counters, geometry.page_bytes());
            running[0].push(host);
            running[1].push(media);
        }
        self.start = handles;
    }

    /// What comes of it; `handles` are as they are at the end, and the host sent `host_bytes`.
    pub(crate) fn finish(
        self,
        handles: &PlacementHandles,
        geometry: &Geometry,
        host_bytes: u64,
    ) -> FdpStatistics {
        let since = handles.since(&self.base.0, self.base.1);
        let page_bytes = u64::from(geometry.page_bytes());
        let unit_bytes = u64::from(geometry.pages_per_block()) * page_bytes;
        let format = since.format;
        let each = since.handles.iter().zip(self.running).zip(0..);
        let handles: Vec<FdpHandle> = each
            .map(|((handle, [running_hbmw, running_mbmw]), number)| {
                let [hbmw, mbmw] = bytes(handle.counters, geometry.page_bytes());
                let (group, number) = (number / format.handles(), number % format.handles());
                FdpHandle {
                    group,
                    handle: number,
                    identifier: format.identifier(group, number),
                    isolation: handle.isolation.into(),
                    hbmw,
                    mbmw,
                    mbe: handle.counters.erases * unit_bytes,
                    units: handle.units,
                    ruamw_bytes: u64::from(handle.remaining_pages) * page_bytes,
                    running_hbmw,
                    running_mbmw,
                }
            })
            .collect();
        let count = |kind| since.count(kind);
        let shared_mbe = since.shared_erases * unit_bytes;
        FdpStatistics {
            hbmw: host_bytes,
            mbmw: handles.iter().map(|handle| handle.mbmw).sum(),
            mbe: handles.iter().map(|handle| handle.mbe).sum::<u64>() + shared_mbe,
            unit_bytes,
            reclaim_groups: format.groups(),
            rgif: format.group_bits(),
            handles,
            shared_units: since.shared_units,
            shared_mbe,
            unnamed_writes: since.unnamed_writes,
            redirected_writes: since.redirected_writes,
            events: FdpEventCounts {
                unit_not_fully_written: count(HandleEventKind::NotFullyWritten),
                unit_time_limit_exceeded: count(HandleEventKind::TimeLimitExceeded),
                reset_modified_handles: count(HandleEventKind::Reset),
                invalid_placement_identifier: count(HandleEventKind::InvalidPlacement),
                media_reallocated: count(HandleEventKind::MediaReallocated),
                implicitly_modified_handle: count(HandleEventKind::ImplicitlyModified),
            },
            latest_events: since.latest.iter().map(|event| FdpEvent::new(event, format)).collect(),
        }
    }
}
