//! Drives that earlier versions of this program made: each opens, holds what was flushed, works on, and is
//! upgraded, wherever the power is cut meanwhile.
//!
//! A drive is frozen by `FTLAB_FREEZE=1 cargo test -p ftlab-drive --test it frozen::`, once for every version of
//! the format, before the format changes. `drives/` has them; what each holds follows from its [`Load`].

mod load;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ftlab_drive::{Drive, OpenOptions, PowerCut};
use load::{LOADS, Load};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

/// The formats that this program reads.
const OLDEST: u32 = 2;
const NEWEST: u32 = 3;

fn file(load: &Load, format: u32) -> PathBuf {
    let name = format!("tests/it/frozen/drives/{}-format-{format}.gz", load.name);
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
    for (load, format) in frozen() {
        let context = |error| panic!("{}, format {format}: {error}", load.name);
        let backing = Arc::new(PowerCut::new(thawed(load, format)));
        let checked = Drive::check_on(&(Arc::clone(&backing) as _)).unwrap();
        assert!(checked.damage.is_empty(), "{:?}", checked.damage);
        let options = OpenOptions { read_only: true, ..OpenOptions::default() };
        let drive = Drive::open_alone(Arc::clone(&backing) as _, options).unwrap();
        load.verify(&drive).unwrap_or_else(context);
        drop(drive);
        let drive = opened(&backing);
        assert_eq!(drive.recovery().older_format, Some(format).filter(|old| *old < NEWEST));
        let decides_otherwise = load.name == "hazard-killed";
        assert_eq!(drive.recovery().by_map.is_some(), decides_otherwise, "{}", load.name);
        load.verify(&drive).unwrap_or_else(context);
        drive.close().unwrap();
        let drive = opened(&backing);
        assert_eq!(drive.recovery().older_format, None, "it has been upgraded");
        load.verify(&drive).unwrap_or_else(context);
    }
}

/// A drive of each format is taken over by another FTL.
#[test]
fn its_pages_are_found_without_its_ftl() {
    let ftl = "hazard";
    for (load, format) in frozen() {
        let context = |error| panic!("{}, format {format}, {ftl}: {error}", load.name);
        let backing = Arc::new(PowerCut::new(thawed(load, format)));
        let options = OpenOptions { ftl: Some(ftl.parse().unwrap()), ..OpenOptions::default() };
        let drive = Drive::open_alone(Arc::clone(&backing) as _, options).unwrap();
        load.verify(&drive).unwrap_or_else(context);
        drive.close().unwrap();
        let drive = opened(&backing);
        assert_eq!(drive.recovery().by_map, None, "it is now a drive of {ftl}");
        load.verify(&drive).unwrap_or_else(context);
    }
}

#[test]
fn an_ftl_for_which_there_is_no_room_is_refused() {
    let load = &LOADS[3];
    let backing = Arc::new(PowerCut::new(thawed(load, NEWEST)));
    let options = OpenOptions { ftl: Some("wolf".parse().unwrap()), ..OpenOptions::default() };
    let error = Drive::open_alone(Arc::clone(&backing) as _, options).err().unwrap().to_string();
    let expected = "bytes of a checkpoint, and this drive has 94208; make a new drive of it with `ftlab drive copy";
    assert!(error.contains(expected), "{error}");
    load.verify(&opened(&backing)).unwrap();
}

/// The power is cut at one write or another of an upgrade: near its beginning at each.
#[test]
fn an_upgrade_may_be_cut_off_anywhere() {
    for (load, format) in frozen() {
        let frozen = thawed(load, format);
        for ftl in [None, Some("hazard")] {
            for cut in (0..8).chain((3..12).map(|power| 1_u32 << power)) {
                let backing = Arc::new(PowerCut::new(frozen.clone()));
                backing.cut_after(cut.into());
                let ftl = ftl.map(|ftl: &str| ftl.parse().unwrap());
                let options = OpenOptions { ftl, ..OpenOptions::default() };
                let upgraded = Drive::open_alone(Arc::clone(&backing) as _, options);
                let is_finished = upgraded.as_ref().is_ok_and(|drive| drive.read_only().is_none());
                upgraded.into_iter().for_each(Drive::abandon);
                let mut kept = cut;
                let survivor = backing.survivor(|end| {
                    kept = kept.wrapping_mul(0x9e37_79b9).wrapping_add(1);
                    kept % end.max(1)
                });
                let drive = opened(&Arc::new(PowerCut::new(survivor)));
                let verified = load.verify(&drive);
                verified.unwrap_or_else(|error| panic!("{}, write {cut}: {error}", load.name));
                if is_finished {
                    break;
                }
            }
        }
    }
}

/// Every frozen drive.
fn frozen() -> impl Iterator<Item = (&'static Load, u32)> {
    LOADS.iter().flat_map(|load| (OLDEST..=NEWEST).map(move |format| (load, format)))
}

fn opened(backing: &Arc<PowerCut>) -> Drive {
    Drive::open_alone(Arc::clone(backing) as _, OpenOptions::default()).unwrap()
}
