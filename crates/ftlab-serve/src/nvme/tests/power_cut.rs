//! What was flushed over NVMe survives a power cut, and so do the placement handles of its pages.

use super::bench::{admin, announce, fields, io_queue, log, plain, send_part};
use crate::Observed;
use crate::nvme::initiator::Request;
use crate::nvme::layout::opcode;
use crate::nvme::{Subsystem, SubsystemOptions};
use ftlab_drive::PowerCut;
use ftlab_drive::{CreateOptions, Drive, OpenOptions, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::sync::Arc;

const BLOCK: usize = 4096;

fn options() -> CreateOptions {
    let config = DriveConfig::new(Geometry::new(40, 16, BLOCK as u32).unwrap(), 24 * 16, 6);
    CreateOptions {
        ftl: "nvme-fdp:handles=3".parse().unwrap(),
        config,
        mapping: ftlab_ftl::map::Mapping::FULL,
        checkpoint_every: None,
    }
}

/// An empty drive, and what it is on.
fn create() -> (Arc<PowerCut>, Arc<Drive>) {
    let bytes = Drive::backing_bytes(&options()).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    Drive::create_on(&(Arc::clone(&backing) as _), &options()).unwrap();
    let drive = Drive::open_alone(Arc::clone(&backing) as _, OpenOptions::default()).unwrap();
    (backing, Arc::new(drive))
}

fn present(drive: &Arc<Drive>) -> Subsystem {
    let store = || Arc::clone(drive);
    Subsystem::new(store() as _, store() as _, SubsystemOptions::default()).unwrap()
}

/// Serves the drive, writes pages of three handles, and cuts the power; returns what is left.
fn write_and_cut(flushes: bool, forces: bool) -> (Arc<PowerCut>, Vec<u32>) {
    let (backing, drive) = create();
    let subsystem = present(&drive);
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
fn a_handle_that_moved_on_stays_on_its_new_unit() {
    let (backing, drive) = create();
    let subsystem = present(&drive);
    let (mut admin, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, false);
    let enable = Request {
        opcode: opcode::admin::SET_FEATURES,
        namespace: 1,
        dwords: [0x1e, 1 << 16 | 2, 1, 0, 0, 0],
        data: vec![0],
        room: 0,
    };
    assert_eq!(admin.run(enable).unwrap().status, 0);
    for step in 0..5 {
        let write = Request::write(1, step, 1, vec![7; BLOCK]).placed(2);
        assert_eq!(io.run(write).unwrap().status, 0);
    }
    let left = |drive: &Drive| drive.placement().unwrap().handles[2].left_bytes / BLOCK as u64;
    assert_eq!(left(&drive), 11);
    let update = Request {
        opcode: opcode::io::MANAGEMENT_SEND,
        namespace: 1,
        dwords: [1, 0, 0, 0, 0, 0],
        data: vec![2, 0],
        room: 0,
    };
    assert_eq!(io.run(update.clone()).unwrap().status, 0);
    assert_eq!(left(&drive), 16);
    let told = log(&mut admin, 0x23, 1, 128);
    let event = fields(&told);
    assert_eq!((event.u32(0), event.u8(64), event.u16(66), event.u16(98)), (1, 0, 2, 2));
    // A unit that nothing was written to is not left.
    assert_eq!(io.run(update).unwrap().status, 0);
    assert_eq!(fields(&log(&mut admin, 0x23, 1, 128)).u32(0), 1);
    let write = Request::write(1, 0, 1, vec![8; BLOCK]).placed(2);
    assert_eq!(io.run(write).unwrap().status, 0);
    assert_eq!(io.run(plain(opcode::io::FLUSH, 1, [0; 6])).unwrap().status, 0);
    let (mapping, placement) = (drive.mapping(), drive.placement());
    assert_eq!(left(&drive), 15);
    drop((io, admin));
    drop(subsystem);
    Arc::into_inner(drive).unwrap().abandon();
    let backing = Arc::new(PowerCut::new(backing.survivor(|_| 0)));
    let drive = Drive::open_alone(backing as _, OpenOptions::default()).unwrap();
    assert_eq!((drive.mapping(), drive.placement()), (mapping, placement));
}

#[test]
fn what_was_not_flushed_may_be_lost() {
    let (backing, _) = write_and_cut(false, false);
    let drive = Drive::open_alone(backing as _, OpenOptions::default()).unwrap();
    let mut page = [0; BLOCK];
    drive.read(99 * BLOCK as u64, &mut page).unwrap();
    assert_eq!(page, [0; BLOCK], "so a flush is what makes the difference");
}

/// Sends `sent` of the units of a write of 2s over flushed 1s, of `unit_bytes` each. Then the connection ends, others
/// flush if `flushes`, and the power is cut, after which any part of what was not durable may be there.
fn cut_between_units(blocks: u32, unit_bytes: usize, sent: usize, flushes: bool) -> Vec<u8> {
    let (backing, drive) = create();
    let subsystem = present(&drive);
    let (mut host, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, true);
    let bytes = blocks as usize * BLOCK;
    let force = |mut write: Request| {
        write.dwords[2] |= 1 << 30;
        write
    };
    let write = |byte: u8| force(Request::write(1, 40, blocks, vec![byte; bytes]));
    assert_eq!(io.run(write(1)).unwrap().status, 0);
    let id = announce(&mut io, write(2));
    let data = vec![2; bytes];
    for (index, unit) in data.chunks(unit_bytes).enumerate().take(sent) {
        send_part(&mut io, id, index * unit_bytes, unit, bytes);
    }
    drop(io);
    if flushes {
        // A shutdown of the controller.
        host.set_property(0x14, 0x0046_4001).unwrap();
    }
    drop(host);
    drop(subsystem);
    Arc::into_inner(drive).unwrap().abandon();
    let mut random = u64::from(blocks) << 32 | (unit_bytes + sent) as u64;
    let survivor = backing.survivor(|choices| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as u32 % choices.max(1)
    });
    let drive = Drive::open_alone(Arc::new(PowerCut::new(survivor)), OpenOptions::default());
    let mut content = vec![0; bytes];
    drive.unwrap().read(40 * BLOCK as u64, &mut content).unwrap();
    content
}

#[test]
fn a_write_that_is_cut_between_its_units_has_never_been() {
    for (blocks, unit_bytes) in
        [(1, 1), (1, 512), (1, 4095), (3, 5000), (16, BLOCK), (64, 100_000), (256, 128 << 10)]
    {
        let bytes = blocks as usize * BLOCK;
        let units = bytes.div_ceil(unit_bytes);
        for sent in [0, 1, units / 2, units - 1, units] {
            for flushes in [false, true] {
                let content = cut_between_units(blocks, unit_bytes, sent, flushes);
                let expected = if sent == units { 2 } else { 1 };
                let is_whole = content.iter().all(|byte| *byte == expected);
                assert!(is_whole, "{sent} of {units} units of {blocks} blocks");
            }
        }
    }
}
