//! Response times of requests that have something in common.

use crate::format::grouped;
use crate::response_summary::ResponseSummary;
use ftlab_host::{Group, GroupTimes};
use ftlab_trace::pages::SECTOR_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of one operation that are of one size, tenant or stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupResult {
    /// What they have in common: size, tenant or stream.
    pub by: String,
    /// Their pages, such as 5-8; the name of the tenant; the number of the stream; or others, those of all tenants or
    /// streams beyond the first 64.
    pub name: String,
    /// What they asked for: read, write, trim, flush.
    pub operation: String,
    /// How many there were.
    pub count: u64,
    /// How many a second.
    pub per_second: f64,
    /// Bytes that they asked for a second, as the host sends them or wants them.
    pub bytes_per_second: f64,
    /// From the arrival of a request to the end of its last page.
    pub response_ns: ResponseSummary,
}

impl GroupResult {
    pub(crate) fn new(
        of: &GroupTimes,
        elapsed_ns: u64,
        page_bytes: u32,
        tenants: &[String],
    ) -> Self {
        let others = || "others".to_owned();
        let (by, name) = match of.group {
            Group::Size(most) => ("size", sizes(most)),
            Group::Tenant(tenant) => {
                let name = tenant.and_then(|tenant| tenants.get(usize::from(tenant)));
                ("tenant", name.cloned().unwrap_or_else(others))
            }
            Group::Stream(stream) => ("stream", stream.map_or_else(others, |of| of.to_string())),
        };
        let bytes =
            of.pages as f64 * f64::from(page_bytes) - of.lacking as f64 * SECTOR_BYTES as f64;
        let per_second = |count: f64| count * 1e9 / elapsed_ns.max(1) as f64;
        Self {
            by: by.to_owned(),
            name,
            operation: of.op.name().to_owned(),
            count: of.times.count(),
            per_second: per_second(of.times.count() as f64),
            bytes_per_second: per_second(bytes),
            response_ns: ResponseSummary::new(&of.times),
        }
    }
}

/// The sizes of a group whose largest is a power of two.
fn sizes(most: u32) -> String {
    match most {
        1 | 2 => most.to_string(),
        _ => format!("{}-{}", grouped(u64::from(most / 2 + 1)), grouped(u64::from(most))),
    }
}
