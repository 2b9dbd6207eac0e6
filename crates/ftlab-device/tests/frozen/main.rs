//! Drives that earlier versions of this program made: each opens, holds what was flushed, works on, and is
//! upgraded, wherever the power is cut meanwhile.
//!
//! A drive is frozen by `FTLAB_FREEZE=1 cargo test -p ftlab-device --test frozen`, once for every version of the
//! format, before the format changes. `drives/` has them; what each holds follows from its [`Load`].

#[path = "../common/mod.rs"]
mod common;
mod load;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ftlab_device::{Drive, PowerCut};
use load::{LOADS, Load};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

fn file(load: &Load, format: u32) -> PathBuf {
    let name = format!("tests/frozen/drives/{}-format-{format}.gz", load.name);
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The bytes of a frozen drive.
fn thawed(load: &Load, format: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let frozen = std::fs::File::open(file(load, format)).unwrap();
    GzDecoder::new(frozen).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn drives_are_frozen_if_asked_for() {
    let Ok(format) = std::env::var("FTLAB_FREEZE") else { return };
    for load in &LOADS {
        let options = load.options();
        let bytes = Drive::backing_bytes(&options).unwrap() as usize;
        let backing = Arc::new(PowerCut::new(vec![0; bytes]));
        Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
        load.run(&backing);
        let frozen = std::fs::File::create(file(load, format.parse().unwrap())).unwrap();
        let mut encoder = GzEncoder::new(frozen, Compression::best());
        encoder.write_all(&backing.restarted().medium()).unwrap();
        encoder.finish().unwrap();
    }
}

#[test]
fn a_drive_of_an_earlier_version_holds_what_was_flushed() {
    for load in &LOADS {
        let backing = Arc::new(PowerCut::new(thawed(load, 2)));
        let drive = Drive::open_alone(backing, Default::default()).unwrap();
        load.verify(&drive).unwrap_or_else(|error| panic!("{}: {error}", load.name));
    }
}
