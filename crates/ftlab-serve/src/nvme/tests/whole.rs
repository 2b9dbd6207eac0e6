//! A command takes effect when all of its data is there, and no part of it before.

use super::bench::{
    BLOCK, Disk, Host, admin, announce, io_queue, send_part, send_tagged, subsystem,
};
use crate::net::Conversation;
use crate::nvme::SubsystemOptions;
use crate::nvme::initiator::Request;
use crate::nvme::layout::{Header, Status, kind, opcode};
use proptest::prelude::*;
use std::sync::Arc;

/// Calls `test` with an I/O queue.
fn with_queue(disk: &Arc<Disk>, digests: bool, test: impl FnOnce(&mut Host)) {
    let subsystem = subsystem(disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    test(&mut io_queue(&subsystem, controller, digests));
}

/// The parts of data that end at `cuts`.
fn parts(data: &[u8], mut cuts: Vec<usize>) -> Vec<(usize, &[u8])> {
    cuts.extend([0, data.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|ends| (ends[0], &data[ends[0]..ends[1]])).collect()
}

fn writes(disk: &Disk) -> usize {
    disk.streams.lock().unwrap().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_write_in_several_units_is_seen_whole_or_not_at_all(
        blocks in 1..=20_u32,
        cuts in prop::collection::vec(1..20 * BLOCK, 0..6),
        digests: bool,
        stops_after in prop::option::of(0..6_usize),
        corrupts in prop::option::of(0..6_usize),
    ) {
        let disk = Arc::new(Disk::default());
        let bytes = blocks as usize * BLOCK;
        let data: Vec<u8> = (0..bytes).map(|byte| (byte >> 4) as u8 | 1).collect();
        let cuts = cuts.into_iter().filter(|cut| *cut < bytes).collect();
        with_queue(&disk, digests, |host| {
            let parts = parts(&data, cuts);
            let id = announce(host, Request::write(1, 8, blocks, data.clone()));
            for (index, (at, part)) in parts.iter().enumerate() {
                assert_eq!(disk.content(8 * BLOCK as u64, bytes), vec![0; bytes]);
                if stops_after == Some(index) {
                    return;
                }
                host.data_corrupted = corrupts == Some(index);
                send_part(host, id, *at, part, bytes);
            }
            let is_corrupt = digests && corrupts.is_some_and(|index| index < parts.len());
            let done = host.receive_done().unwrap();
            let expected = if is_corrupt { Status::TRANSPORT.code() } else { 0 };
            assert_eq!((done.id, done.status), (id, expected));
            let expected = if is_corrupt { vec![0; bytes] } else { data.clone() };
            assert!(disk.content(8 * BLOCK as u64, bytes) == expected);
            // A block is in one write to the drive, of which there is one for each copy that is saved.
            assert!(writes(&disk) <= 2);
        });
    }
}

#[test]
fn data_in_one_unit_are_written_from_where_they_were_received() {
    let disk = Arc::new(Disk::default());
    with_queue(&disk, true, |host| {
        let data = vec![7; 16 * BLOCK];
        let id = announce(host, Request::write(1, 0, 16, data.clone()));
        send_part(host, id, 0, &data, data.len());
        assert_eq!(host.receive_done().unwrap().status, 0);
        assert_eq!((writes(&disk), disk.content(0, data.len())), (1, data));
    });
}

#[test]
fn other_commands_wait_for_all_of_their_data_too() {
    let disk = Arc::new(Disk::default());
    with_queue(&disk, false, |host| {
        let data = vec![9; 4 * BLOCK];
        assert_eq!(host.run(Request::write(1, 0, 4, data.clone())).unwrap().status, 0);
        let mut range = vec![0; 16];
        range[4] = 2;
        let dwords = [0, 4, 0, 0, 0, 0];
        let trim = Request {
            opcode: opcode::io::DATASET_MANAGEMENT,
            namespace: 1,
            dwords,
            data: range.clone(),
            room: 0,
        };
        let id = announce(host, trim);
        send_part(host, id, 0, &range[..7], 16);
        assert_eq!(disk.content(0, BLOCK), [9; BLOCK]);
        send_part(host, id, 7, &range[7..], 16);
        assert_eq!(host.receive_done().unwrap().status, 0);
        assert_eq!(disk.content(0, 4 * BLOCK), [[0; 2 * BLOCK], [9; 2 * BLOCK]].concat());

        let compare = Request { opcode: opcode::io::COMPARE, ..Request::write(1, 2, 2, data) };
        let mut other = vec![9; 2 * BLOCK];
        other[BLOCK + 5] = 8;
        for (data, status) in [(vec![9; 2 * BLOCK], 0), (other, Status::COMPARE.code())] {
            let id = announce(host, Request { data: data.clone(), ..compare.clone() });
            for (at, part) in parts(&data, vec![100, 5000]) {
                send_part(host, id, at, part, data.len());
            }
            assert_eq!(host.receive_done().unwrap().status, status);
        }
    });
}

/// The kinds of the units that a host has received.
fn kinds(host: &mut Host) -> Vec<u8> {
    let received = host.stream.received();
    let (mut rest, mut kinds) = (&received[..], Vec::new());
    while let Some(header) = Header::decode(rest) {
        kinds.push(header.kind);
        rest = &rest[header.bytes as usize..];
    }
    kinds
}

#[test]
fn no_more_data_are_asked_for_than_there_is_memory_for() {
    let disk = Arc::new(Disk::default());
    with_queue(&disk, false, |host| {
        let data = vec![3; 1 << 20];
        let ids: Vec<u16> =
            (0..3).map(|at| host.submit(Request::write(1, 256 * at, 256, data.clone()))).collect();
        host.submit(Request::read(1, 0, 1, BLOCK as u32));
        host.send().unwrap();
        // Two megabytes at once; what follows and needs no memory does not wait for the third.
        let ask = kind::READY_TO_TRANSFER;
        assert_eq!(kinds(host), [ask, ask, kind::CONTROLLER_DATA]);
        assert!(host.stream.queue.is_within_request());
        for (index, part) in data.chunks(1 << 17).enumerate() {
            send_part(host, ids[0], index << 17, part, data.len());
        }
        assert_eq!(kinds(host), [kind::RESPONSE, ask]);
        send_tagged(host, ids[2], 2, 0, &data[..1 << 17], data.len());
        assert!(!host.stream.queue.is_closed());
        assert_eq!(disk.content(512 << 12, BLOCK), [0; BLOCK]);
    });
}

#[test]
fn data_that_were_not_asked_for_yet_end_the_connection() {
    let disk = Arc::new(Disk::default());
    with_queue(&disk, false, |host| {
        let data = vec![3; 1 << 20];
        for at in 0..2 {
            host.submit(Request::write(1, 256 * at, 256, data.clone()));
        }
        // The third one will have tag 2. Its host does not wait until it is asked.
        let id = host.submit(Request::write(1, 512, 256, data.clone()));
        host.send().unwrap();
        send_tagged(host, id, 2, 0, &data[..BLOCK], data.len());
        assert!(host.stream.queue.is_closed());
    });
}
