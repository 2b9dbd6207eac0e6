//! `disksim`: the ASCII traces of DiskSim and of simulators built on it, such as FlashSim.
//!
//! ```text
//! 0.5231 0 2048 8 0
//! time device block count flags
//! ```
//!
//! # Columns and units
//! Times are milliseconds with a fraction, block and count sectors of 512 bytes; flags are **0 for a
//! write, 1 for a read**. A device is a volume. Blanks stand between columns.
//!
//! # Where
//! The DiskSim 4.0 manual, section on input traces (Bucy et al., CMU-PDL-08-101).
//!
//! # Traps
//! - Nothing but numbers: the format must be named (`mqsim` has nanoseconds in the same columns).
//! - Other bits of flags (such as 2, asynchronous) are not known: such lines are wrong.

use super::Delimiter;
use super::mqsim::is_extent_and_type;
use super::preset::{Preset, is_fraction, is_whole};
use crate::format::{FormatInfo, Looks};

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &[],
    summary: "DiskSim ASCII: time in ms, device, block, count, flags with 0 for write and 1 for read",
    source: "DiskSim 4.0 reference manual, input traces",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: false,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "disksim",
    columns: "time,device,block,count,flags",
    map: "ts:ms=1,volume=2,off:sectors=3,len:sectors=4,op=5,op:0=W,op:1=R",
    delimiter: Delimiter::Blank,
    looks: |lines| {
        let is_number = |text: &[u8]| is_whole(text) || is_fraction(text);
        let fits = lines.iter().all(|line| is_number(line[0]) && is_extent_and_type(line));
        if fits { Looks::Possible } else { Looks::Unlike }
    },
};
