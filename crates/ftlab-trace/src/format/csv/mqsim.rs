//! `mqsim`: the traces that MQSim replays.
//!
//! ```text
//! 500 0 2048 8 0
//! time device sector count type
//! ```
//!
//! # Columns and units
//! Times are nanoseconds, sector and count sectors of 512 bytes; type is **0 for a write, 1 for a
//! read**. A device is a volume, unless `volume=ignore`: some traces have any numbers there. Blanks stand between columns.
//!
//! # Where
//! The folder `traces` of github.com/CMU-SAFARI/MQSim (Tavakkol et al., FAST 2018) has two examples.
//!
//! # Traps
//! - Nothing but numbers: the format must be named, because `disksim` and others look the same, and 0
//!   and 1 mean the opposite in `tencent`.

use super::Delimiter;
use super::preset::{Line, Preset, is_whole};
use crate::format::{FormatInfo, Looks};

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &[],
    summary: "MQSim: time in ns, device, sector, count, type with 0 for write and 1 for read",
    source: "github.com/CMU-SAFARI/MQSim, ASCII traces",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: false,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "mqsim",
    columns: "time,device,sector,count,type",
    map: "ts:ns=1,volume=2,off:sectors=3,len:sectors=4,op=5,op:0=W,op:1=R",
    delimiter: Delimiter::Blank,
    looks: |lines| {
        let fits = lines.iter().all(|line| is_whole(line[0]) && is_extent_and_type(line));
        if fits { Looks::Possible } else { Looks::Unlike }
    },
};

/// Whether the columns after the time are three whole numbers and 0 or 1.
pub(super) fn is_extent_and_type(line: &Line<'_>) -> bool {
    (1..4).all(|column| is_whole(line[column])) && matches!(line[4], b"0" | b"1")
}
