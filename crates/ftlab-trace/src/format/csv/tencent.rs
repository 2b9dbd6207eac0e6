//! `tencent`: the traces of Tencent's cloud block storage (CBS) of October 2018, 5,584 volumes.
//!
//! ```text
//! 1538350007,204800,16,1,1063
//! Timestamp,Offset,Size,IOType,VolumeID
//! ```
//!
//! # Columns and units
//! Times are seconds since 1970, Offset and Size sectors of 512 bytes. IOType is 0 for a read, 1 for a
//! write.
//!
//! # Where
//! SNIA IOTTA repository, "Tencent Block Storage Traces" (Zhang et al., "OSCA: An Online-Model Based
//! Cache Allocation Scheme in Cloud Block Storage Systems", USENIX ATC 2020).
//!
//! # Traps
//! - 0 and 1 mean the opposite in `mqsim`.
//! - Public copies exist whose offsets and sizes are bytes: `tencent:offset=bytes,length=bytes`. If
//!   every offset at the beginning of a file is a multiple of 512, the format must be named.
//! - Thousands of volumes are in one file: `--volume`, or `ftlab convert --split`.

use super::Delimiter;
use super::preset::{Line, Preset, is_whole};
use crate::format::fields::decimal;
use crate::format::{FormatInfo, Looks};

pub(in crate::format) const FORMAT: FormatInfo = FormatInfo {
    name: PRESET.name,
    extensions: &[],
    summary: "Tencent CBS: Timestamp,Offset,Size,IOType,VolumeID with 0 for read and 1 for write",
    source: "SNIA IOTTA, Tencent Block Storage Traces",
    parameters: || PRESET.parameters(),
    detect: |head| PRESET.detect(head),
    volumes_together: false,
    open: |input, spec, options| PRESET.open(input, spec, options),
};

const PRESET: Preset = Preset {
    name: "tencent",
    columns: "Timestamp,Offset,Size,IOType,VolumeID",
    map: "ts:s=1,off:sectors=2,len:sectors=3,op=4,op:0=R,op:1=W,volume=5",
    delimiter: Delimiter::Comma,
    looks,
};

fn looks(lines: &[Line<'_>]) -> Looks {
    let fits = lines
        .iter()
        .all(|line| line.iter().all(|field| is_whole(field)) && matches!(line[3], b"0" | b"1"));
    if !fits {
        return Looks::Unlike;
    }
    // Seconds since 1970 have ten digits from 2001 to 2286.
    let are_seconds = lines.iter().all(|line| line[0].len() == 10);
    let may_be_bytes =
        lines.iter().all(|line| decimal(line[1]).is_some_and(|offset| offset % 512 == 0));
    if are_seconds && !may_be_bytes { Looks::Certain } else { Looks::Possible }
}
