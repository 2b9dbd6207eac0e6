//! The volumes of a trace that has several.

use crate::error::CliError;
use crate::table::ruled;
use ftlab_sim::Workload;
use ftlab_sim::format::{bytes, grouped};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Layout, Op, OpenOptions, RequestBatch, TraceError, open};
use std::collections::BTreeMap;
use std::path::Path;

/// What is asked of a volume.
#[derive(Debug, Default)]
struct Volume {
    requests: u64,
    writes: u64,
    written_bytes: u64,
}

/// A table of the volumes of `workload`, in the order of their numbers; empty if it is no file or has one. Takes a
/// pass over it.
pub(super) fn volumes(workload: &Workload) -> Result<String, CliError> {
    let Workload::Trace { path, options } = workload else { return Ok(String::new()) };
    if path.as_os_str() == "-" {
        return Ok(String::new());
    }
    let options = OpenOptions { layout: Layout::Keep, volumes: Vec::new(), ..options.clone() };
    let (names, volumes) = count(path, &options)?;
    if volumes.len() < 2 {
        return Ok(String::new());
    }
    let rows = volumes.iter().map(|(number, volume)| {
        let name = names.get(*number as usize).cloned().unwrap_or_else(|| number.to_string());
        [name, grouped(volume.requests), grouped(volume.writes), bytes(volume.written_bytes)]
    });
    Ok(ruled(&["volume", "requests", "writes", "written"].map(str::to_owned), rows))
}

type Counted = (Vec<String>, BTreeMap<u32, Volume>);

fn count(path: &Path, options: &OpenOptions) -> Result<Counted, TraceError> {
    let mut source = open(path, options)?;
    let mut volumes: BTreeMap<u32, Volume> = BTreeMap::new();
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        for (index, op) in batch.op.iter().enumerate() {
            let number = batch.volume.get(index).copied().unwrap_or(0);
            let volume = volumes.entry(number).or_default();
            volume.requests += 1;
            if *op == Op::Write {
                volume.writes += 1;
                volume.written_bytes += u64::from(batch.sectors[index]) * SECTOR_BYTES;
            }
        }
    }
    Ok((source.volumes().to_vec(), volumes))
}
