//! What was flushed over NVMe survives a power cut, and so do the placement handles of its pages.

use super::bench::{admin, io_queue, plain};
use crate::media::PowerCut;
use crate::nvme::initiator::Request;
use crate::nvme::layout::opcode;
use crate::nvme::{Subsystem, SubsystemOptions};
use crate::{CreateOptions, Drive, Observed, OpenOptions, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::sync::Arc;

const BLOCK: usize = 4096;

fn options() -> CreateOptions {
    let config = DriveConfig::new(Geometry::new(40, 16, BLOCK as u32).unwrap(), 24 * 16, 6);
    CreateOptions { ftl: "nvme-fdp:handles=3".parse().unwrap(), config, checkpoint_every: None }
}

/// Serves the drive, writes pages of three handles, and cuts the power; returns what is left.
fn write_and_cut(flushes: bool, forces: bool) -> (Arc<PowerCut>, Vec<u32>) {
    let bytes = Drive::backing_bytes(&options()).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    Drive::create_on(&(Arc::clone(&backing) as _), &options()).unwrap();
    let drive = Drive::open_alone(Arc::clone(&backing) as _, OpenOptions::default()).unwrap();
    let drive = Arc::new(drive);
    let subsystem = Subsystem::new(
        Arc::clone(&drive) as _,
        Arc::clone(&drive) as _,
        SubsystemOptions::default(),
    )
    .unwrap();
    let (admin, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, false);
    for step in 0..100_u64 {
        let mut write =
            Request::write(1, step, 1, vec![step as u8; BLOCK]).placed((step % 3) as u16);
        if forces && step == 99 {
            write.dwords[2] |= 1 << 30;
        }
        assert_eq!(io.run(write).unwrap().status, 0);
    }
    if flushes {
        assert_eq!(io.run(plain(opcode::io::FLUSH, 1, [0; 6])).unwrap().status, 0);
    }
    let mapping = drive.mapping();
    drop((io, admin));
    drop(subsystem);
    Arc::into_inner(drive).unwrap().abandon();
    // Nothing that no sync has covered is left.
    (Arc::new(PowerCut::new(backing.survivor(|_| 0))), mapping)
}

#[test]
fn flushed_and_forced_writes_survive_with_their_handles() {
    for (flushes, forces) in [(true, false), (false, true)] {
        let (backing, mapping) = write_and_cut(flushes, forces);
        let drive = Drive::open_alone(backing as _, OpenOptions::default()).unwrap();
        assert_eq!(drive.mapping(), mapping);
        let mut page = [0; BLOCK];
        for step in 0..100_u64 {
            drive.read(step * BLOCK as u64, &mut page).unwrap();
            assert_eq!(page, [step as u8; BLOCK]);
        }
        // 34, 33 and 33 pages in units of 16 pages.
        let left = drive.placement().unwrap().handles;
        let left: Vec<_> = left.iter().map(|handle| handle.left_bytes / BLOCK as u64).collect();
        assert_eq!(left, [14, 15, 15]);
        assert_eq!(Observed::placement(&drive).unwrap().unit_bytes, 16 * BLOCK as u64);
    }
}

#[test]
fn what_was_not_flushed_may_be_lost() {
    let (backing, _) = write_and_cut(false, false);
    let drive = Drive::open_alone(backing as _, OpenOptions::default()).unwrap();
    let mut page = [0; BLOCK];
    drive.read(99 * BLOCK as u64, &mut page).unwrap();
    assert_eq!(page, [0; BLOCK], "so a flush is what makes the difference");
}
