//! `systor`: the SYSTOR '17 traces of a virtual desktop infrastructure, six LUNs.
//!
//! ```text
//! 1456140000.000204000,0.00081,W,4,40960,4096
//! Timestamp,Response,IOType,LUN,Offset,Size
//! ```
//!
//! # Columns and units
//! Times are seconds since 1970 with nanoseconds, Offset and Size bytes. A LUN is a volume.
//!
//! # Where
//! SNIA IOTTA repository, "Systor '17 Traces", one packed file per hour and LUN (Lee et al.,
//! "Understanding Storage Traffic Characteristics on Enterprise Virtual Desktop Infrastructure",
//! SYSTOR 2017).
//!
//! # Traps
//! - Lines without an operation occur; they are passed over and counted.
//! - A trace is many files: concatenate those of one LUN (every one has a header, which is
//!   passed over).

use super::Delimiter;
use super::preset::{Preset, is_fraction, is_whole, is_word};
use crate::format::FormatInfo;

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &[],
    summary: "SYSTOR '17: Timestamp,Response,IOType,LUN,Offset,Size",
    source: "SNIA IOTTA, Systor '17 Traces",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: false,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "systor",
    columns: "Timestamp,Response,IOType,LUN,Offset,Size",
    map: "ts:s=1,op=3,volume=4,off:bytes=5,len:bytes=6,op:=skip,op:IOType=skip",
    delimiter: Delimiter::Comma,
    looks: |lines| {
        let fits = lines.iter().all(|line| {
            is_fraction(line[0])
                && is_word(line[2], &["r", "w", ""])
                && (3..6).all(|column| is_whole(line[column]))
        });
        fits.into()
    },
};
