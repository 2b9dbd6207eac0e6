//! Packs: several volumes on one drive.

mod order;

pub use order::Order;

use crate::manifest::{Member, Pack, PlannedVolume, Size};
use crate::volume::Volume;
use ftlab_experiments::ExperimentsError;
use ftlab_sim::{Requests, SimError, Workload};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Layout, TraceError, lay_out};
use ftlab_volumes::Facts;
use ftlab_volumes::{Merged, Placed};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twox_hash::XxHash3_128;

/// Volumes on one drive at most: each has a file open while it is read.
pub const PACK_MAX: usize = 512;

/// Memory that a volume takes while its pack is run: a batch of requests, and what unpacks them.
pub(crate) const MEMBER_BYTES: u64 = 1 << 20;

/// How volumes share drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packing {
    /// Volumes on each drive at most.
    pub volumes: usize,
    /// By what they are put together; each order is run.
    pub orders: Vec<Order>,
    /// Placement handles of a drive. Volumes of about the same lifetime share one.
    pub handles: u16,
}

impl Packing {
    /// Puts the selected volumes together, once for each order and draw.
    pub(crate) fn packs(
        &self,
        volumes: &[PlannedVolume],
        page_bytes: u32,
        layout: Layout,
    ) -> Result<Vec<Pack>, ExperimentsError> {
        let selected: Vec<_> = (0..volumes.len()).filter(|of| volumes[*of].is_selected).collect();
        if let Some(untimed) = selected.iter().find(|of| !volumes[**of].volume.is_timed) {
            return Err(SimError::Unusable {
                what: format!(
                    "volume {} has requests without times, and those of a pack are merged by time",
                    volumes[*untimed].volume.name
                ),
                remedy: "leave it out (--select), or leave --pack out".into(),
            }
            .into());
        }
        let mut packs = Vec::new();
        for order in &self.orders {
            for draw in 0..order.draws() {
                let sorted = order.sort(&selected, volumes, draw);
                let drives = match order {
                    Order::Alone => sorted.len(),
                    _ => sorted.len().div_ceil(self.volumes.max(1)),
                };
                let draw = (order.draws() > 1).then_some(draw + 1);
                for (number, members) in shares(&sorted, drives).enumerate() {
                    let name = match draw {
                        Some(draw) => format!("{} {draw}.{}", order.name(), number + 1),
                        None => format!("{} {}", order.name(), number + 1),
                    };
                    let pack = self.pack(name, members, volumes, page_bytes, layout);
                    packs.push(Pack { order: order.name().into(), draw, ..pack });
                }
            }
        }
        Ok(packs)
    }

    /// These volumes on one drive.
    fn pack(
        &self,
        name: String,
        numbers: &[usize],
        volumes: &[PlannedVolume],
        page_bytes: u32,
        layout: Layout,
    ) -> Pack {
        let by_lifetime = Order::Lifetime.sort(numbers, volumes, 0);
        let handle = |of: usize| {
            let rank = by_lifetime.iter().position(|number| *number == of).unwrap_or(0);
            (rank * usize::from(self.handles) / numbers.len()) as u16
        };
        let mut first_page = 0;
        let place = |number: &usize| {
            let pages = pages(&volumes[*number], page_bytes, layout);
            let member = Member { volume: *number, first_page, pages, handle: handle(*number) };
            first_page += pages;
            member
        };
        let members: Vec<_> = numbers.iter().map(place).collect();
        let all: Vec<_> = numbers.iter().map(|number| &volumes[*number]).collect();
        let drive = match all.as_slice() {
            [one] => PlannedVolume {
                volume: Volume { name, shares: Vec::new(), ..one.volume.clone() },
                size_from: one.size_from.clone(),
                ..**one
            },
            all => PlannedVolume {
                volume: together(&name, all, &members),
                facts: Some(sum(all.iter().filter_map(|of| of.facts.as_ref()))),
                size: Size::Pages(first_page),
                size_from: "volumes of the pack".into(),
                is_selected: true,
            },
        };
        Pack { drive, order: String::new(), draw: None, members }
    }
}

/// `sorted`, divided among drives as evenly as it can be.
fn shares(sorted: &[usize], drives: usize) -> impl Iterator<Item = &[usize]> {
    let at = move |drive: usize| drive * sorted.len() / drives;
    (0..drives).map(move |drive| &sorted[at(drive)..at(drive + 1)])
}

/// Pages that a volume takes on a drive that others share: its size, and at least what its requests need.
fn pages(of: &PlannedVolume, page_bytes: u32, layout: Layout) -> u64 {
    let page = u64::from(page_bytes.max(1));
    let own = of.size.bytes(page_bytes).div_ceil(page);
    let highest = of.volume.end_sector.saturating_mul(SECTOR_BYTES);
    match layout {
        Layout::Pieces(bytes) => {
            let touched = of.facts.map_or(0, |facts| facts.working_set_pages);
            let pieces = touched.min(highest.div_ceil(bytes.max(1)));
            // A piece of less than a page is one of several in it.
            pieces.saturating_mul(bytes.div_ceil(page)).max(own)
        }
        _ => own.max(highest.div_ceil(page)),
    }
}

/// What several volumes are together; their requests are read from each.
fn together(name: &str, all: &[&PlannedVolume], members: &[Member]) -> Volume {
    let mut hasher = XxHash3_128::new();
    let mut pack = Volume::new(name, "pack");
    for (of, member) in all.iter().zip(members) {
        let volume = &of.volume;
        hasher.write(volume.hash.as_bytes());
        hasher.write(format!(" {} {} ", member.pages, member.handle).as_bytes());
        for (all, of) in pack.requests.iter_mut().zip(volume.requests) {
            *all += of;
        }
        for (all, of) in pack.sectors.iter_mut().zip(volume.sectors) {
            *all = all.saturating_add(of);
        }
        let times = volume.times_us.into_iter().chain(pack.times_us);
        pack.times_us = times.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        pack.backwards += volume.backwards;
        pack.problems.extend(volume.problems.iter().map(|of| format!("{}: {of}", volume.name)));
    }
    pack.is_timed = true;
    pack.has_streams = true;
    pack.hash = format!("{:032x}", hasher.finish_128());
    pack
}

/// What can be added up of several volumes; shares are left at zero.
fn sum<'a>(all: impl Iterator<Item = &'a Facts>) -> Facts {
    all.fold(Facts::default(), |sum, of| Facts {
        written_bytes: sum.written_bytes + of.written_bytes,
        trimmed_bytes: sum.trimmed_bytes + of.trimmed_bytes,
        read_bytes: sum.read_bytes + of.read_bytes,
        page_writes: sum.page_writes + of.page_writes,
        footprint_pages: sum.footprint_pages + of.footprint_pages,
        working_set_pages: sum.working_set_pages + of.working_set_pages,
        updated_pages: sum.updated_pages + of.updated_pages,
        ..sum
    })
}

impl Pack {
    /// The requests of its volumes, merged by time; none of a pack of one, which is that volume.
    pub(crate) fn workload(
        &self,
        volumes: &[PlannedVolume],
        parts: &Path,
        layout: Layout,
        page_bytes: u32,
    ) -> Option<Workload> {
        if self.members.len() < 2 {
            return None;
        }
        let identity = format!("pack {} {layout:?}", self.drive.volume.hash);
        let name = self.drive.volume.name.clone();
        let members: Arc<[_]> =
            self.members.iter().map(|of| (*of, volumes[of.volume].volume.clone())).collect();
        let parts: PathBuf = parts.into();
        let page_sectors = (u64::from(page_bytes) / SECTOR_BYTES).max(1);
        let open = {
            let name = name.clone();
            move || {
                let part = |(member, volume): &(Member, Volume)| {
                    Ok(Placed {
                        source: lay_out(Box::new(volume.open(&parts, true)), layout)?,
                        name: volume.name.clone(),
                        first_sector: member.first_page * page_sectors,
                        sectors: member.pages * page_sectors,
                        stream: member.handle,
                    })
                };
                let parts: Result<Vec<_>, TraceError> = members.iter().map(part).collect();
                Ok(Box::new(Merged::new(&name, parts?)) as Box<_>)
            }
        };
        Some(Workload::Requests(Requests::new(name, false, open).of_traces(identity)))
    }
}
