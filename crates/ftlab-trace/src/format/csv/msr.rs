//! `msr`: the block traces of Microsoft Research in Cambridge, one week of 36 volumes of 13 servers.
//!
//! ```text
//! 128166400000000000,prn,1,Write,40960,8192,1520
//! Timestamp,Hostname,Disk,Type,Offset,Size,Response
//! ```
//!
//! # Columns and units
//! Times are Windows file times: tenths of a microsecond since 1601. Offset and Size are bytes. The
//! response time is not read. A volume is HOSTNAME_DISK, as in `prn_1`.
//!
//! # Where
//! SNIA IOTTA repository, "MSR Cambridge Traces", one packed file per volume (Narayanan et al., "Write
//! Off-Loading", FAST 2008).
//!
//! # Traps
//! - The timestamp is the completion on some copies; order is as in the file.
//! - Copies that other tools rewrote have seconds or nanoseconds: `msr:time=ns`.

use super::Delimiter;
use super::preset::{Preset, is_whole, is_word};
use crate::format::FormatInfo;

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &[],
    summary: "MSR Cambridge: Timestamp,Hostname,Disk,Type,Offset,Size,Response",
    source: "SNIA IOTTA, MSR Cambridge Traces",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: false,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "msr",
    columns: "Timestamp,Hostname,Disk,Type,Offset,Size,Response",
    map: "ts:100ns=1,volume:name=2+3,op=4,off:bytes=5,len:bytes=6",
    delimiter: Delimiter::Comma,
    looks: |lines| {
        let fits = lines.iter().all(|line| {
            [0, 4, 5, 6].iter().all(|column| is_whole(line[*column]))
                && is_word(line[3], &["read", "write"])
        });
        fits.into()
    },
};
