//! Response times by size, tenant and stream (`by=size/tenant/stream`).

use crate::by::By;
use crate::host_op::HostOp;
use crate::response_times::{ResponseTimeRecorder, ResponseTimes};
use ftlab_flash::Owner;
use std::collections::BTreeMap;

/// Tenants and streams of which each has response times of its own, some hundred KiB; the rest share one.
const NUMBERS_MAX: u32 = 64;

/// Who asks, and for which stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asker {
    /// The number of its tenant.
    pub tenant: u16,
    /// The stream that it names; 0 if it names none.
    pub stream: u16,
}

/// Requests that have something in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// This many pages at most, a power of two, and more than half of that.
    Size(u32),
    /// Those of a tenant; none of one of those beyond the first 64.
    Tenant(Option<u16>),
    /// Those of a stream; none of one of those beyond the first 64.
    Stream(Option<u16>),
}

/// Requests of a group, of one operation.
#[derive(Debug, Clone)]
pub struct GroupTimes {
    /// The size, tenant or stream that they share.
    pub group: Group,
    /// What they asked for.
    pub op: HostOp,
    /// Their pages, in sum.
    pub pages: u64,
    /// Sectors of 512 bytes of these pages that they did not ask for.
    pub lacking: u64,
    /// Their response times.
    pub times: ResponseTimes,
}

/// Pages that were asked for, and the sectors of them that were not.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    pages: u32,
    lacking: u32,
}

/// The response times of each group.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    by: By,
    /// Request under way -> what it asked for so far, and who asks.
    open: Vec<(Asked, Asker)>,
    of: BTreeMap<(Group, u8), ([u64; 2], ResponseTimeRecorder)>,
}

impl Groups {
    pub(crate) fn new(by: By) -> Option<Box<Self>> {
        let groups = Self { by, open: Vec::new(), of: BTreeMap::new() };
        (!by.is_none()).then(|| Box::new(groups))
    }

    pub(crate) fn begin(&mut self, request: Owner) {
        let index = request as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, Default::default());
        }
        self.open[index] = Default::default();
    }

    /// A request asks for further pages, but not for `lacking` sectors of them.
    pub(crate) fn ask(&mut self, request: Owner, pages: u32, lacking: u32, asker: Asker) {
        let (asked, by) = &mut self.open[request as usize];
        asked.pages = asked.pages.saturating_add(pages);
        asked.lacking = asked.lacking.saturating_add(lacking);
        *by = asker;
    }

    /// A request is complete.
    pub(crate) fn end(&mut self, request: Owner, op: HostOp, response_ns: u64) {
        let (Asked { pages, lacking }, Asker { tenant, stream }) = self.open[request as usize];
        let numbered = |number: u16| Some(number).filter(|number| u32::from(*number) < NUMBERS_MAX);
        let By { size, tenant: by_tenant, stream: by_stream } = self.by;
        // A flush has no pages.
        let of_size = (size && pages > 0).then(|| Group::Size(power_of_two(pages)));
        let of_tenant = by_tenant.then(|| Group::Tenant(numbered(tenant)));
        let of_stream = by_stream.then(|| Group::Stream(numbered(stream)));
        for group in [of_size, of_tenant, of_stream].into_iter().flatten() {
            let (sum, times) = self.of.entry((group, op as u8)).or_default();
            *sum = [sum[0] + u64::from(pages), sum[1] + u64::from(lacking)];
            times.record(response_ns);
        }
    }

    /// Measures from here on.
    pub(crate) fn measure(&mut self) {
        self.of.clear();
    }

    pub(crate) fn measured(&self) -> Vec<GroupTimes> {
        let of = self.of.iter();
        of.map(|((group, op), ([pages, lacking], times))| GroupTimes {
            group: *group,
            op: HostOp::ALL[*op as usize],
            pages: *pages,
            lacking: *lacking,
            times: times.times(),
        })
        .collect()
    }
}

/// The least power of two that is not less.
fn power_of_two(pages: u32) -> u32 {
    pages.checked_next_power_of_two().unwrap_or(1 << 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_spec::Value;

    #[test]
    fn a_request_is_in_a_group_of_each_kind_that_was_asked_for() {
        let mut groups = Groups::new(By::parse("size/tenant/stream").unwrap()).unwrap();
        for (request, (tenant, stream, parts)) in
            [(0, 5, &[3, 2][..]), (0, 6, &[8]), (1, 6, &[1]), (100, 700, &[5])].iter().enumerate()
        {
            let request = request as Owner;
            groups.begin(request);
            for pages in *parts {
                groups.ask(request, *pages, 7, Asker { tenant: *tenant, stream: *stream });
            }
        }
        (0..4).for_each(|request| groups.end(request, HostOp::Write, 100));
        groups.begin(0);
        groups.end(0, HostOp::Flush, 7);
        let of = |of: &GroupTimes| (of.group, of.op, of.times.count(), of.pages);
        let lacking = groups.measured().iter().map(|of| of.lacking).collect::<Vec<_>>();
        assert_eq!(lacking, [7, 28, 7, 21, 0, 7, 7, 0, 14, 14], "7 for each part");
        let measured: Vec<_> = groups.measured().iter().map(of).collect();
        let write = HostOp::Write;
        assert_eq!(
            measured,
            [
                (Group::Size(1), write, 1, 1),
                (Group::Size(8), write, 3, 18),
                (Group::Tenant(None), write, 1, 5),
                (Group::Tenant(Some(0)), write, 2, 13),
                (Group::Tenant(Some(0)), HostOp::Flush, 1, 0),
                (Group::Tenant(Some(1)), write, 1, 1),
                (Group::Stream(None), write, 1, 5),
                (Group::Stream(Some(0)), HostOp::Flush, 1, 0),
                (Group::Stream(Some(5)), write, 1, 5),
                (Group::Stream(Some(6)), write, 2, 9),
            ]
        );
        groups.measure();
        assert!(groups.measured().is_empty());
        assert!(Groups::new(By::default()).is_none());
    }

    #[test]
    fn sizes_are_powers_of_two() {
        let sizes = [1, 2, 3, 4, 5, 8, 9, u32::MAX].map(power_of_two);
        assert_eq!(sizes, [1, 2, 4, 4, 8, 8, 16, 1 << 31]);
    }
}
