//! Commands of I/O queues.

use super::bench::{
    BLOCK, BYTES, Disk, Host, admin, asking, fields, io_queue, log, plain, subsystem,
};
use crate::nvme::initiator::Request;
use crate::nvme::layout::{Status, opcode};
use crate::nvme::{SubsystemOptions, TRANSFER_BYTES_MAX};
use ftlab_ftl::{HandleEvent, HandleEventKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const FORCED: u32 = 1 << 30;

fn page(byte: u8) -> Vec<u8> {
    vec![byte; BLOCK]
}

/// Calls `test` with an admin queue and an I/O queue.
fn with_queues(disk: &Arc<Disk>, namespaces: u32, test: impl FnOnce(&mut Host, &mut Host)) {
    let options = SubsystemOptions { namespaces, ..SubsystemOptions::default() };
    let subsystem = subsystem(disk, options);
    let (mut admin, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, false);
    test(&mut admin, &mut io);
}

#[track_caller]
fn status(host: &mut Host, request: Request) -> u16 {
    host.run(request).unwrap().status
}

#[track_caller]
fn ok(host: &mut Host, request: Request) {
    assert_eq!(status(host, request), 0);
}

#[test]
fn what_is_written_is_read_and_durable_as_far_as_was_asked_for() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 1, |_, io| {
        ok(io, Request::write(1, 5, 1, page(7)));
        assert_eq!((disk.content(5 * 4096, BLOCK), disk.flushes()), (page(7), 0));
        assert_eq!(io.run(Request::read(1, 5, 1, BLOCK as u32)).unwrap().data, page(7));
        let mut forced = Request::write(1, 5, 1, page(8));
        forced.dwords[2] |= FORCED;
        ok(io, forced);
        assert_eq!(disk.flushes(), 1);
        ok(io, plain(opcode::io::FLUSH, 1, [0; 6]));
        ok(io, plain(opcode::io::FLUSH, u32::MAX, [0; 6]));
        assert_eq!(disk.flushes(), 3);
        assert_eq!(
            status(io, plain(opcode::io::FLUSH, 2, [0; 6])),
            Status::INVALID_NAMESPACE.code()
        );
    });
}

#[test]
fn without_a_write_cache_every_write_is_durable() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 1, |admin, io| {
        let set = |on: u32| plain(opcode::admin::SET_FEATURES, 0, [6, on, 0, 0, 0, 0]);
        ok(admin, set(0));
        assert_eq!(disk.flushes(), 1);
        ok(io, Request::write(1, 0, 1, page(1)));
        ok(io, plain(opcode::io::WRITE_ZEROES, 1, [0, 0, 7, 0, 0, 0]));
        assert_eq!(disk.flushes(), 3);
        ok(admin, set(1));
        ok(io, Request::write(1, 0, 1, page(1)));
        assert_eq!(disk.flushes(), 3);
    });
}

#[test]
fn blocks_beyond_the_namespace_and_wrong_lengths_are_refused() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 2, |_, io| {
        let blocks = BYTES / 2 / 4096;
        ok(io, Request::write(2, blocks - 1, 1, page(3)));
        assert_eq!(disk.content(BYTES - 4096, BLOCK), page(3));
        let beyond = Status::BEYOND.code();
        assert_eq!(status(io, Request::write(1, blocks, 1, page(3))), beyond);
        assert_eq!(status(io, Request::read(1, u64::MAX, 2, 8192)), beyond);
        assert_eq!(status(io, Request::read(3, 0, 1, 4096)), Status::INVALID_NAMESPACE.code());
        assert_eq!(status(io, Request::read(0, 0, 1, 4096)), Status::INVALID_NAMESPACE.code());
        let length = Status::DATA_LENGTH.code();
        assert_eq!(status(io, Request::read(1, 0, 2, 4096)), length);
        assert_eq!(status(io, Request::write(1, 0, 2, page(3))), length);
        assert_eq!(status(io, Request::write(1, 0, 1, Vec::new())), length);
        let too_long = TRANSFER_BYTES_MAX / 4096 + 1;
        let read = Request::read(1, 0, too_long, too_long * 4096);
        assert_eq!(status(io, read), Status::INVALID_FIELD.code());
        let unknown = Status::INVALID_OPCODE.code();
        assert_eq!(status(io, plain(0x7e, 1, [0; 6])), unknown);
        assert_eq!(
            status(io, Request { opcode: 0x0d, data: page(0), ..Request::default() }),
            unknown
        );
    });
}

#[test]
fn blocks_are_compared_zeroed_trimmed_verified_and_copied() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 1, |_, io| {
        ok(io, Request::write(1, 0, 64, vec![9; 64 * BLOCK]));
        let compare = |blocks: u32, data: Vec<u8>| Request {
            opcode: opcode::io::COMPARE,
            ..Request::write(1, 0, blocks, data)
        };
        ok(io, compare(1, page(9)));
        ok(io, compare(64, vec![9; 64 * BLOCK]));
        let mut other = vec![9; 64 * BLOCK];
        other[50 * BLOCK] = 8;
        assert_eq!(status(io, compare(64, other)), Status::COMPARE.code());
        ok(io, plain(opcode::io::WRITE_ZEROES, 1, [1, 0, 1, 0, 0, 0]));
        assert_eq!(disk.content(4096, 3 * BLOCK), [page(0), page(0), page(9)].concat());
        ok(io, plain(opcode::io::VERIFY, 1, [0, 0, 63, 0, 0, 0]));

        let mut ranges = vec![0; 32];
        for (entry, (first, blocks)) in ranges.chunks_exact_mut(16).zip([(10_u64, 1_u32), (20, 2)])
        {
            entry[4..8].copy_from_slice(&blocks.to_le_bytes());
            entry[8..16].copy_from_slice(&first.to_le_bytes());
        }
        let manage = |dwords: [u32; 6], data: &[u8]| Request {
            opcode: opcode::io::DATASET_MANAGEMENT,
            namespace: 1,
            dwords,
            data: data.to_vec(),
            room: 0,
        };
        ok(io, manage([1, 3, 0, 0, 0, 0], &ranges));
        assert_eq!(disk.content(10 * 4096, BLOCK), page(9), "a hint changes nothing");
        ok(io, manage([1, 4, 0, 0, 0, 0], &ranges));
        let at = |block: u64| disk.content(block * 4096, 1)[0];
        assert_eq!([9, 10, 11, 19, 20, 21, 22].map(at), [9, 0, 9, 9, 0, 0, 9]);
        assert_eq!(status(io, manage([2, 4, 0, 0, 0, 0], &ranges)), Status::DATA_LENGTH.code());
        ranges[15] = 1;
        assert_eq!(status(io, manage([1, 4, 0, 0, 0, 0], &ranges)), Status::BEYOND.code());
    });
}

#[test]
fn ranges_are_copied_to_consecutive_blocks() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 1, |_, io| {
        ok(io, Request::write(1, 0, 64, (0..64).flat_map(page).collect()));
        let mut sources = vec![0; 64];
        for (entry, (first, blocks)) in sources.chunks_exact_mut(32).zip([(60_u64, 4_u16), (3, 40)])
        {
            entry[8..16].copy_from_slice(&first.to_le_bytes());
            entry[16..18].copy_from_slice(&(blocks - 1).to_le_bytes());
        }
        let copy = |to: u32, count: u32, format: u32| Request {
            opcode: opcode::io::COPY,
            namespace: 1,
            dwords: [to, 0, count | format << 8 | 2 << 20, 3 << 16, 0, 0],
            data: sources.clone(),
            room: 0,
        };
        disk.streams.lock().unwrap().clear();
        ok(io, copy(100, 1, 0));
        let expected: Vec<u8> = (60..64).chain(3..43).flat_map(page).collect();
        assert!(disk.content(100 * 4096, 44 * BLOCK) == expected);
        assert!(disk.streams.lock().unwrap().iter().all(|stream| *stream == 3));
        assert_eq!(status(io, copy(100, 1, 2)), Status::INVALID_FIELD.code());
        assert_eq!(status(io, copy(100, 2, 0)), Status::DATA_LENGTH.code());
        assert_eq!(status(io, copy(4090, 1, 0)), Status::BEYOND.code());
    });
}

#[test]
fn uncorrectable_blocks_are_errors_until_they_are_written() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 1, |_, io| {
        ok(io, plain(opcode::io::WRITE_UNCORRECTABLE, 1, [4, 0, 1, 0, 0, 0]));
        let unreadable = Status::UNREADABLE.code();
        for (first, blocks, expected) in
            [(3, 1, 0), (4, 1, unreadable), (0, 8, unreadable), (6, 1, 0)]
        {
            let read = Request::read(1, first, blocks, blocks * 4096);
            assert_eq!(status(io, read), expected, "{first}");
        }
        ok(io, Request::write(1, 4, 1, page(1)));
        ok(io, Request::read(1, 4, 1, 4096));
        assert_eq!(status(io, plain(opcode::io::VERIFY, 1, [5, 0, 0, 0, 0, 0])), unreadable);
        ok(io, plain(opcode::io::WRITE_ZEROES, 1, [5, 0, 0, 0, 0, 0]));
        ok(io, Request::read(1, 0, 8, 8 * 4096));
    });
}

#[test]
fn a_write_goes_to_the_handle_that_it_names() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 2, |admin, io| {
        for (namespace, identifier, stream) in
            [(1, 0, 0), (1, 1, 1), (2, 0, 2), (2, 1, 3), (2, 2, 2), (1, 0xffff, 0)]
        {
            ok(io, Request::write(namespace, 0, 1, page(1)).placed(identifier));
            assert_eq!(disk.streams.lock().unwrap().pop(), Some(stream));
        }
        ok(io, Request::write(2, 0, 1, page(1)));
        assert_eq!(disk.streams.lock().unwrap().pop(), Some(2), "handle 0 of its namespace");
        let mut streams = Request::write(1, 0, 1, page(1)).placed(1);
        streams.dwords[2] = 1 << 20;
        assert_eq!(status(io, streams), Status::INVALID_FIELD.code());

        // Events are told once they are enabled.
        assert_eq!(fields(&log(admin, 0x23, 1, 128)).u32(0), 0);
        let enable = |types: Vec<u8>| Request {
            opcode: opcode::admin::SET_FEATURES,
            namespace: 2,
            dwords: [0x1e, (types.len() as u32) << 16, 1, 0, 0, 0],
            data: types,
            room: 0,
        };
        assert_eq!(status(admin, enable(vec![3, 0x81])), Status::INVALID_FIELD.code());
        ok(admin, enable(vec![3]));
        let get = asking(opcode::admin::GET_FEATURES, 2, [0x1e, 255 << 16, 0, 0, 0, 0], 64);
        let types = admin.run(get).unwrap();
        assert_eq!((types.result, &types.data[..6]), (3, &[0, 0, 3, 1, 0x80, 0][..]));
        ok(io, Request::write(2, 0, 1, page(1)).placed(9));
        ok(io, Request::write(1, 0, 1, page(1)).placed(9));
        let told = log(admin, 0x23, 1, 128);
        let event = fields(&told);
        assert_eq!((event.u32(0), event.u8(64), event.u16(66)), (1, 3, 9));
        assert_eq!((event.u32(76), event.u16(98)), (2, 2));
        assert_eq!(fields(&log(admin, 0x23, 0, 128)).u32(0), 0, "none of the controller");
    });
}

#[test]
fn handles_tell_how_much_fits_into_their_units() {
    let disk = Arc::new(Disk::default());
    with_queues(&disk, 2, |_, io| {
        let receive = |operation: u32, bytes: u32| {
            let dwords = [operation, bytes / 4 - 1, 0, 0, 0, 0];
            asking(opcode::io::MANAGEMENT_RECEIVE, 2, dwords, bytes)
        };
        let done = io.run(receive(1, 4096)).unwrap();
        let told = fields(&done);
        assert_eq!((told.u16(14), told.u16(16), told.u16(18), told.u64(24)), (2, 0, 2, 48));
        assert_eq!((told.u16(48), told.u16(50), told.u64(56)), (1, 3, 64));
        assert_eq!(io.run(receive(1, 16)).unwrap().data.len(), 16);
        assert_eq!(status(io, receive(2, 16)), Status::INVALID_FIELD.code());
        let send =
            |operation: u32| plain(opcode::io::MANAGEMENT_SEND, 2, [operation, 0, 0, 0, 0, 0]);
        ok(io, send(0));
        assert_eq!(status(io, send(2)), Status::INVALID_FIELD.code());
    });
}

/// Reclaim Unit Handle Update of placement handles of namespace 2, said to be `count`.
fn update(count: u32, identifiers: &[u16]) -> Request {
    let data = identifiers.iter().flat_map(|identifier| identifier.to_le_bytes()).collect();
    let dwords = [1 | (count - 1) << 16, 0, 0, 0, 0, 0];
    Request { opcode: opcode::io::MANAGEMENT_SEND, namespace: 2, dwords, data, room: 0 }
}

#[test]
fn handles_move_on_to_other_units_all_or_none() {
    let disk = Arc::new(Disk::default());
    let renewed =
        || -> Vec<u16> { disk.events.lock().unwrap().iter().map(|event| event.handle).collect() };
    with_queues(&disk, 2, |_, io| {
        ok(io, update(1, &[1]));
        assert_eq!(renewed(), [3], "placement handle 1 of namespace 2");
        ok(io, update(2, &[0, 1]));
        assert_eq!(renewed(), [3, 2, 3]);
        assert_eq!(status(io, update(2, &[0, 2])), Status::INVALID_FIELD.code());
        assert_eq!(status(io, update(2, &[0])), Status::DATA_LENGTH.code());
        assert_eq!(status(io, update(129, &[0; 129])), Status::INVALID_FIELD.code());
        assert_eq!(renewed().len(), 3, "nothing has happened");
    });
    let disk = Arc::new(Disk { is_read_only: true, ..Disk::default() });
    with_queues(&disk, 2, |_, io| {
        assert_eq!(status(io, update(1, &[0])), Status::WRITE_PROTECTED.code());
    });
}

#[test]
fn events_of_the_ftl_are_logged_from_when_they_are_enabled() {
    let disk = Arc::new(Disk::default());
    let happen = |kind, handle, pages| {
        let event = HandleEvent { kind, write_clock: 9, handle, named: handle, pages };
        disk.events.lock().unwrap().push(event);
    };
    with_queues(&disk, 3, |admin, io| {
        let told = |admin: &mut Host, of_host| log(admin, 0x23, of_host, 192);
        happen(HandleEventKind::MediaReallocated, 0, 5);
        ok(io, update(1, &[0]));
        for namespace in 1..=3 {
            let dwords = [0x1e, 2 << 16, 1, 0, 0, 0];
            let (opcode, data) = (opcode::admin::SET_FEATURES, vec![0, 0x80]);
            ok(admin, Request { opcode, namespace, dwords, data, room: 0 });
        }
        assert_eq!(fields(&told(admin, 0)).u32(0), 0, "what was before is not told");
        happen(HandleEventKind::MediaReallocated, 1, 6);
        happen(HandleEventKind::ImplicitlyModified, 1, 1);
        happen(HandleEventKind::MediaReallocated, 2, 70_000);
        ok(io, update(1, &[0]));
        let done = told(admin, 0);
        let event = fields(&done);
        // Handle 1 is placement handle 0 of namespace 2, and handle 2 that of namespace 3.
        assert_eq!((event.u32(0), event.u8(64), event.u8(128)), (2, 0x80, 0x80));
        assert_eq!((event.u16(128 + 18), event.u16(128 + 34)), (6, 1));
        assert_eq!((event.u8(129), event.u16(130), event.u32(128 + 12)), (7, 0, 2));
        assert_eq!((event.u16(64 + 18), event.u16(64 + 34)), (u16::MAX, 2));
        let done = told(admin, 1);
        let event = fields(&done);
        assert_eq!((event.u32(0), event.u8(64), event.u8(65), event.u16(98)), (1, 0, 7, 1));
    });
}

#[test]
fn a_drive_without_handles_has_nothing_of_them() {
    let disk = Arc::new(Disk { handles: 0, ..Disk::default() });
    with_queues(&disk, 1, |admin, io| {
        ok(io, Request::write(1, 0, 1, page(1)));
        let placed = Request::write(1, 0, 1, page(1)).placed(0);
        assert_eq!(status(io, placed), Status::INVALID_FIELD.code());
        assert_eq!(log(admin, 0x20, 0, 64).status, Status::INVALID_LOG.code());
        let receive = asking(opcode::io::MANAGEMENT_RECEIVE, 1, [1, 3, 0, 0, 0, 0], 16);
        assert_eq!(status(io, receive), Status::INVALID_FIELD.code());
    });
}

#[test]
fn a_drive_that_can_only_be_read_says_so() {
    let disk = Arc::new(Disk { is_read_only: true, ..Disk::default() });
    with_queues(&disk, 1, |admin, io| {
        let protected = Status::WRITE_PROTECTED.code();
        assert_eq!(status(io, Request::write(1, 0, 1, page(1))), protected);
        let mark = plain(opcode::io::WRITE_UNCORRECTABLE, 1, [0; 6]);
        assert_eq!(status(io, mark), protected);
        ok(io, Request::read(1, 0, 1, 4096));
        assert_eq!(fields(&log(admin, 2, 0, 512)).u8(0), 1 << 3);
        let errors = log(admin, 1, 0, 64);
        let newest = fields(&errors);
        assert_eq!((newest.u64(0), newest.u16(8), newest.u32(24)), (2, 1, 1));
    });
}

#[test]
fn a_thousand_small_commands_are_answered_in_order() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, false);
    let ids: Vec<_> = (0..1000_u32)
        .map(|step| {
            let byte = step as u8;
            io.submit(match step % 2 {
                0 => Request::write(1, u64::from(step / 2), 1, page(byte)),
                _ => Request::read(1, u64::from(step / 2), 1, BLOCK as u32),
            })
        })
        .collect();
    for (id, step) in ids.into_iter().zip(0..) {
        let done = io.wait().unwrap();
        assert_eq!((done.id, done.status), (id, 0));
        assert!(step % 2 == 0 || done.data == page((step - 1) as u8));
    }
    assert_eq!(disk.flushes.load(Ordering::Relaxed), 0);
}
