//! An entry point for fuzzers: a host that does anything. Nothing may panic, and the answers do not depend on the
//! pieces in which its bytes arrive.

use super::initiator::prologue;
use super::layout::{Command, Data, Header, SGL_IN_CAPSULE, SGL_TRANSPORT, Sgl, flag, kind};
use super::{Subsystem, SubsystemOptions};
use crate::net::{Link, Protocol, Replies};
use crate::{Observed, Ram, ServeError};
use ftlab_drive::{Backing, PowerCut};
use ftlab_drive::{CreateOptions, Drive, OpenOptions};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::sync::{Arc, OnceLock};

/// Bits of the first byte: whether digests are in use, how far the host has come, and whether the drive has
/// placement handles; then the number of namespaces, less one.
const DIGESTS: u8 = 1 << 0;
const IS_IO: u8 = 1 << 1;
const IS_RAW: u8 = 1 << 2;
const IS_PLACED: u8 = 1 << 3;
const NAMESPACES_SHIFT: u32 = 6;

/// Lets a host send what `bytes` say: how it begins, the size of the pieces, and units.
pub fn fuzz(bytes: &[u8]) {
    let [how, piece, rest @ ..] = bytes else { return };
    let namespaces = 1 + (u32::from(*how) >> NAMESPACES_SHIFT);
    let subsystem = || {
        let options = SubsystemOptions { namespaces, ..SubsystemOptions::default() };
        let presented = if how & IS_PLACED == 0 {
            present(Ram::new(1 << 20), options)
        } else {
            let image: Arc<dyn Backing> = Arc::new(PowerCut::new(placed().to_vec()));
            present(Drive::open_alone(image, OpenOptions::default()).expect("a drive"), options)
        };
        presented.expect("a subsystem")
    };
    let (one, other) = (subsystem(), subsystem());
    let whole = converse(&one, *how, rest, usize::MAX);
    let in_pieces = converse(&other, *how, rest, usize::from(*piece) + 1);
    // Times may differ, sizes may not.
    assert_eq!(whole, in_pieces);
}

fn present(
    drive: impl Observed + 'static,
    options: SubsystemOptions,
) -> Result<Subsystem, ServeError> {
    let drive = Arc::new(drive);
    Subsystem::new(Arc::clone(&drive) as _, drive, options)
}

/// An empty drive with placement handles.
fn placed() -> &'static [u8] {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let config = DriveConfig::new(Geometry::new(40, 8, 512).expect("a geometry"), 160, 11);
        let ftl = "nvme-fdp:handles=5,persistent=2".parse().expect("an FTL");
        let options = CreateOptions {
            ftl,
            config,
            mapping: ftlab_ftl::map::Mapping::FULL,
            checkpoint_every: Some(300),
        };
        let bytes = Drive::backing_bytes(&options).expect("a size") as usize;
        let image = Arc::new(PowerCut::new(vec![0; bytes]));
        Drive::create_on(&(Arc::clone(&image) as _), &options).expect("a drive");
        image.survivor(|_| 0)
    })
}

/// How many bytes the host receives, and whether the connection is closed.
fn converse(subsystem: &Subsystem, how: u8, rest: &[u8], piece: usize) -> (usize, bool) {
    let digests = how & DIGESTS != 0;
    let mut admin_replies = Replies::default();
    let mut admin = subsystem.begin(Link::default(), &mut admin_replies);
    admin.feed(&prologue(subsystem.nqn(), 0, u16::MAX, false), &mut admin_replies);
    let mut input = match (how & IS_RAW != 0, how & IS_IO != 0) {
        (true, _) => Vec::new(),
        (false, false) => prologue(subsystem.nqn(), 0, u16::MAX, digests),
        (false, true) => prologue(subsystem.nqn(), 1, 1, digests),
    };
    input.extend(units(rest, how & IS_RAW != 0));
    let mut replies = Replies::default();
    let mut queue = subsystem.begin(Link::default(), &mut replies);
    let (mut used, mut end, mut sent) = (0, 0, 0);
    loop {
        used += queue.feed(&input[used..end], &mut replies);
        let was_full = replies.is_full();
        sent += replies.bytes().len();
        replies.clear();
        if queue.is_closed() || (!was_full && end == input.len()) {
            return (sent, queue.is_closed());
        }
        if !was_full {
            assert!(end - used <= queue.input_bytes());
            end = input.len().min(end.saturating_add(piece));
        }
    }
}

/// Units of which parts are arbitrary: each begins with its kind and its length; what is more than its fields is the
/// begin of its data.
fn units(mut bytes: &[u8], is_raw: bool) -> Vec<u8> {
    let mut units = Vec::new();
    while !is_raw && let [what, length, rest @ ..] = bytes {
        let (part, after) = rest.split_at(rest.len().min(usize::from(*length)));
        bytes = after;
        let mut fields = [0; Command::BYTES];
        let filled = part.len().min(fields.len());
        fields[..filled].copy_from_slice(&part[..filled]);
        let mut data = vec![*what; usize::from(*what & 0x78) << 6];
        let given = part.len().saturating_sub(filled).min(data.len());
        data[..given].copy_from_slice(&part[filled..filled + given]);
        match what & 3 {
            0 => units.extend_from_slice(part),
            1 => {
                let sgl = Sgl { address: 0, bytes: data.len() as u32, kind: SGL_IN_CAPSULE };
                let command = Command { flags: 0x40, sgl, ..Command::decode(&fields) };
                put(&mut units, kind::COMMAND, 0, &command.encode(), &data);
            }
            2 => {
                let asked = u32::from(*what) << 10;
                let sgl = Sgl { address: 0, bytes: asked, kind: SGL_TRANSPORT };
                let command = Command { flags: 0x40, sgl, ..Command::decode(&fields) };
                put(&mut units, kind::COMMAND, 0, &command.encode(), &[]);
            }
            _ => {
                let mut header = [0; Data::BYTES];
                let unit = Data { bytes: data.len() as u32, ..Data::decode(&fields) };
                unit.put(&mut header);
                let flags = if length & 1 == 0 { flag::LAST } else { 0 };
                put(&mut units, kind::HOST_DATA, flags, &header[Header::BYTES..], &data);
            }
        }
    }
    units.extend_from_slice(bytes);
    units
}

fn put(units: &mut Vec<u8>, kind: u8, flags: u8, rest: &[u8], data: &[u8]) {
    let length = Header::BYTES + rest.len();
    let header = Header {
        kind,
        flags,
        length: length as u8,
        data_offset: if data.is_empty() { 0 } else { length as u8 },
        bytes: (length + data.len()) as u32,
    };
    let at = units.len();
    units.resize(at + Header::BYTES, 0);
    header.put(&mut units[at..]);
    units.extend_from_slice(rest);
    units.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_bytes_are_too_strange(
            bytes in prop::collection::vec(any::<u8>(), 0..5000),
            zeros in 0..5000_usize,
        ) {
            let sparse = [&bytes[..bytes.len() / 8], &vec![0; zeros][..]].concat();
            fuzz(&bytes);
            fuzz(&sparse);
        }
    }
}
