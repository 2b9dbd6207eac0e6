//! `alibaba`: the block traces of Alibaba Cloud of January 2020, 1,000 volumes in one file.
//!
//! ```text
//! 17,W,81920,4096,1577900000000321
//! device_id,opcode,offset,length,timestamp
//! ```
//!
//! # Columns and units
//! Offset and length are bytes, times microseconds since 1970. A device is a volume.
//!
//! # Where
//! github.com/alibaba/block-traces says how to get `alibaba_block_traces_2020.tar.gz` (Li et al., "An
//! In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production", IISWC 2020).
//!
//! # Traps
//! - All volumes are in one file of 700 GB, sorted by time: choose some with `--volume`, or write a
//!   file for each with `ftlab convert --split`.
//! - Volumes are of hundreds of GiB with a small part in use: see `--compact`.

use super::Delimiter;
use super::preset::{Preset, is_whole, is_word};
use crate::format::{FormatInfo, Looks};

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &[],
    summary: "Alibaba Cloud 2020: device_id,opcode,offset,length,timestamp",
    source: "github.com/alibaba/block-traces",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: false,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "alibaba",
    columns: "device_id,opcode,offset,length,timestamp",
    map: "volume=1,op=2,off:bytes=3,len:bytes=4,ts:us=5",
    delimiter: Delimiter::Comma,
    looks: |lines| {
        let fits = lines.iter().all(|line| {
            [0, 2, 3, 4].iter().all(|column| is_whole(line[*column]))
                && is_word(line[1], &["r", "w"])
        });
        match fits {
            // Microseconds since 1970 have 16 digits until 2286.
            true if lines.iter().all(|line| line[4].len() == 16) => Looks::Certain,
            true => Looks::Possible,
            false => Looks::Unlike,
        }
    },
};
