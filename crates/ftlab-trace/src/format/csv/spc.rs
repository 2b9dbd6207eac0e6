//! `spc`: what the Storage Performance Council specifies, known from the UMass traces `Financial1`,
//! `Financial2` and `WebSearch1` to `3`.
//!
//! ```text
//! 3,20480,4096,w,0.0262
//! ASU,LBA,Size,Op,Seconds
//! ```
//!
//! # Columns and units
//! LBA counts blocks of 512 bytes, Size bytes, the time seconds from the start. Op is r or w in any
//! case. An ASU (application storage unit) is a volume; columns after the fifth are ignored.
//!
//! # Where
//! UMass Trace Repository, "Storage": `Financial1.spc.bz2` and others.
//!
//! # Traps
//! - LBAs begin at 0 in every ASU. The ASUs are one application's, so they lie side by side unless
//!   `--volume` chooses one.
//! - Offset and length have different units.

use super::Delimiter;
use super::preset::{Preset, is_fraction, is_whole, is_word};
use crate::format::FormatInfo;

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &["spc"],
    summary: "SPC, as the UMass traces: ASU,LBA,Size,Op,Seconds",
    source: "Storage Performance Council, SPC trace file format, revision 1.0.1",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: true,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "spc",
    columns: "ASU,LBA,Size,Op,Seconds",
    map: "volume=1,off:sectors=2,len:bytes=3,op=4,ts:s=5",
    delimiter: Delimiter::Comma,
    looks: |lines| {
        let fits = lines.iter().all(|line| {
            (0..3).all(|column| is_whole(line[column]))
                && is_word(line[3], &["r", "w"])
                && is_fraction(line[4])
        });
        fits.into()
    },
};
