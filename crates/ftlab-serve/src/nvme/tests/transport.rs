//! Units: in order and in pieces, and those that end the connection.

use super::bench::{BLOCK, Disk, HOST, Pipe, admin, io_queue, subsystem};
use crate::net::Conversation;
use crate::nvme::initiator::{Initiator, Request};
use crate::nvme::layout::{Header, InitRequest, Status, Termination, kind, opcode};
use crate::nvme::{IN_CAPSULE_BYTES, SubsystemOptions, UNIT_BYTES_MAX};
use ftlab_drive::Store;
use proptest::prelude::*;
use std::io::Write;
use std::sync::Arc;

/// Sends a unit, which must end the connection: the error, and the information about it.
fn ends(pipe: &mut Pipe, unit: &[u8]) -> (u16, u32) {
    pipe.received();
    pipe.write_all(unit).unwrap();
    assert!(pipe.queue.is_closed(), "{:?}", pipe.queue.problem());
    let told = pipe.received();
    assert_eq!((told[0], told[2]), (kind::CONTROLLER_TERMINATION, 24));
    assert_eq!(told[24..32], unit[..8], "the header in error is shown");
    let Termination { status, information } = Termination::decode(&told);
    (status, information)
}

fn unit(kind: u8, flags: u8, header: u8, offset: u8, bytes: u32) -> Vec<u8> {
    let mut unit = vec![0; (bytes as usize).clamp(8, 1 << 20)];
    Header { kind, flags, length: header, data_offset: offset, bytes }.put(&mut unit);
    unit
}

#[test]
fn the_first_unit_says_how_to_go_on_and_only_the_first() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let new = || Pipe::new(&subsystem);
    assert_eq!(ends(&mut new(), &unit(kind::COMMAND, 0, 72, 0, 72)), (2, 0));
    let wrong = InitRequest { version: 1, ..InitRequest::default() };
    assert_eq!(ends(&mut new(), &wrong.encode()), (6, 8));
    let wrong = InitRequest { alignment: 32, ..InitRequest::default() };
    assert_eq!(ends(&mut new(), &wrong.encode()), (1, 10));
    let mut pipe = new();
    pipe.write_all(&InitRequest::default().encode()).unwrap();
    assert_eq!(pipe.received().len(), 128);
    assert_eq!(ends(&mut pipe, &InitRequest::default().encode()), (2, 0));
    // What follows is not looked at.
    pipe.write_all(&[0; 1000]).unwrap();
    assert_eq!(pipe.received(), [0; 0]);
}

#[test]
fn a_header_that_cannot_be_ends_the_connection_with_its_field() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    let too_long = 72 + IN_CAPSULE_BYTES + 1;
    for (wrong, field) in [
        (unit(8, 0, 72, 0, 72), 0),
        (unit(kind::RESPONSE, 0, 24, 0, 24), 0),
        (unit(kind::COMMAND, 0, 71, 0, 72), 2),
        (unit(kind::COMMAND, 1, 72, 0, 72), 1),
        (unit(kind::COMMAND, 2, 72, 72, 80), 1),
        (unit(kind::COMMAND, 0, 72, 71, 80), 3),
        (unit(kind::COMMAND, 0, 72, 81, 80), 3),
        (unit(kind::COMMAND, 0, 72, 72, too_long)[..8].to_vec(), 4),
        (unit(kind::COMMAND, 0, 72, 72, u32::MAX)[..8].to_vec(), 4),
        (unit(kind::COMMAND, 0, 72, 72, 7), 3),
        (unit(kind::HOST_DATA, 0, 24, 24, 25 + UNIT_BYTES_MAX)[..8].to_vec(), 4),
        (unit(kind::HOST_TERMINATION, 0, 24, 0, 24 + 129)[..8].to_vec(), 4),
    ] {
        let mut host = io_queue(&subsystem, controller, false);
        assert_eq!(ends(&mut host.stream, &wrong), (1, field), "{:?}", &wrong[..8]);
    }
}

#[test]
fn a_host_that_ends_the_connection_is_reported_and_not_answered() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (mut host, _) = admin(&subsystem);
    let error = Termination { status: 3, information: 0xabcd };
    host.stream.write_all(&error.encode(kind::HOST_TERMINATION, &[7; 24])).unwrap();
    assert_eq!(host.stream.received(), [0; 0]);
    let problem = host.stream.queue.problem().unwrap();
    assert_eq!(problem, "the host ended it with error 3 and information 0xabcd");
}

#[test]
fn a_wrong_digest_of_a_header_ends_the_connection_and_one_of_data_the_command() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    for blocks in [1, 16] {
        // The data are in the capsule, or asked for.
        let mut host = io_queue(&subsystem, controller, true);
        host.data_corrupted = true;
        let data = vec![5; BLOCK * blocks as usize];
        let done = host.run(Request::write(1, 3, blocks, data.clone())).unwrap();
        assert_eq!(done.status, Status::TRANSPORT.code());
        assert_eq!(disk.content(3 * BLOCK as u64, BLOCK), [0; BLOCK]);
        host.data_corrupted = false;
        assert_eq!(host.run(Request::write(1, 3, blocks, data)).unwrap().status, 0);
        assert_eq!(disk.content(3 * BLOCK as u64, BLOCK), [5; BLOCK]);
        disk.ram.trim(0, disk.ram.bytes()).unwrap();
    }
    let mut host = io_queue(&subsystem, controller, true);
    let mut wrong = unit(kind::COMMAND, 1, 72, 0, 76);
    wrong[72..].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(ends(&mut host.stream, &wrong), (3, 0x0403_0201));
}

#[test]
fn data_that_nobody_asked_for_or_in_a_wrong_place_end_the_connection() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    // Of a write of 64 KiB, tag 0: the first 4 KiB in other ways than the first of several units.
    let send = |command: u16, tag: u16, offset: u32, bytes: u32, flags: u8| {
        let mut host = io_queue(&subsystem, controller, false);
        let id = host.submit(Request::write(1, 0, 16, vec![1; 16 * BLOCK]));
        host.send().unwrap();
        let mut data = unit(kind::HOST_DATA, flags, 24, 24, 24 + BLOCK as u32);
        let command = if command == 0 { id } else { command };
        data[8..10].copy_from_slice(&command.to_le_bytes());
        data[10..12].copy_from_slice(&tag.to_le_bytes());
        data[12..16].copy_from_slice(&offset.to_le_bytes());
        data[16..20].copy_from_slice(&bytes.to_le_bytes());
        host.stream.received();
        host.stream.write_all(&data).unwrap();
        assert!(host.stream.queue.is_within_request() || host.stream.queue.is_closed());
        let told = host.stream.received();
        (!told.is_empty()).then(|| Termination::decode(&told)).map(|t| (t.status, t.information))
    };
    let bytes = BLOCK as u32;
    assert_eq!(send(0, 0, 0, bytes, 0), None);
    assert_eq!(send(0, 1, 0, bytes, 0), Some((1, 10)));
    assert_eq!(send(99, 0, 0, bytes, 0), Some((1, 10)));
    assert_eq!(send(0, 0, 0, bytes - 1, 0), Some((1, 16)));
    assert_eq!(send(0, 0, bytes, bytes, 0), Some((4, bytes)));
    assert_eq!(send(0, 0, u32::MAX, bytes, 0), Some((4, u32::MAX)));
    assert_eq!(send(0, 0, 0, bytes, 4), Some((2, 0)), "it cannot be the last");
    let mut host = io_queue(&subsystem, controller, false);
    let unasked = unit(kind::HOST_DATA, 4, 24, 24, 32);
    assert_eq!(ends(&mut host.stream, &unasked), (1, 10));
    let mut early = Pipe::new(&subsystem);
    early.write_all(&InitRequest::default().encode()).unwrap();
    assert_eq!(ends(&mut early, &unasked), (2, 0));
}

#[test]
fn more_commands_than_the_queue_has_entries_end_the_connection() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    let mut host = Initiator::begin(Pipe::new(&subsystem), false).unwrap();
    host.connect(1, 4, controller, subsystem.nqn(), HOST).unwrap();
    for _ in 0..4 {
        host.submit(Request::write(1, 0, 16, vec![1; 16 * BLOCK]));
    }
    host.send().unwrap();
    assert!(!host.stream.queue.is_closed());
    host.submit(Request::read(1, 0, 1, BLOCK as u32));
    host.send().unwrap();
    assert!(host.stream.queue.is_closed());
    let told = host.stream.received();
    let error = Termination::decode(&told[told.len() - 24 - 72..]);
    assert_eq!((error.status, error.information), (5, 0));
}

#[test]
fn commands_with_more_data_than_any_has_are_refused() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (mut host, _) = admin(&subsystem);
    // None of it fits into a capsule.
    host.in_capsule_bytes = 0;
    let behavior = || Request {
        opcode: opcode::admin::SET_FEATURES,
        dwords: [0x16, 0, 0, 0, 0, 0],
        data: vec![0; 8192],
        ..Request::default()
    };
    let too_long = Request { data: vec![0; 8193], ..behavior() };
    assert_eq!(host.run(too_long).unwrap().status, Status::INVALID_FIELD.code());
    let ids: Vec<u16> = (0..30).map(|_| host.submit(behavior())).collect();
    for id in ids {
        let done = host.wait().unwrap();
        assert_eq!((done.id, done.status), (id, 0));
    }
}

#[test]
fn data_for_the_host_begin_where_it_wants() {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    let mut host = io_queue(&subsystem, controller, true);
    // 32 times 4 bytes; the same queue, greeted in another way.
    let request = InitRequest { alignment: 31, digests: 3, ..InitRequest::default() };
    host.stream.write_all(&[]).unwrap();
    let mut aligned = Pipe::new(&subsystem);
    aligned.write_all(&request.encode()).unwrap();
    aligned.received();
    std::mem::swap(&mut host.stream, &mut aligned);
    host.connect(2, 16, controller, subsystem.nqn(), HOST).unwrap();
    host.run(Request::write(1, 0, 1, vec![3; BLOCK])).unwrap();
    host.submit(Request::read(1, 0, 1, BLOCK as u32));
    host.send().unwrap();
    let unit = host.stream.received();
    assert_eq!((unit[0], unit[3], unit.len()), (kind::CONTROLLER_DATA, 128, 128 + BLOCK + 4));
    assert_eq!(unit[28..128], [0; 100]);
    assert_eq!(unit[128..128 + BLOCK], [3; BLOCK]);
}

/// What a host receives for some commands if they arrive in pieces of this size.
fn converse(piece: usize, digests: bool, sizes: &[u32]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    let mut host = io_queue(&subsystem, controller, digests);
    host.stream.piece = piece;
    let mut read = Vec::new();
    for (at, &blocks) in sizes.iter().enumerate() {
        let bytes = blocks * BLOCK as u32;
        let data = (0..bytes).map(|byte| ((byte as usize * (at + 3)) >> 7) as u8).collect();
        let first = at as u64 * 256;
        assert_eq!(host.run(Request::write(1, first, blocks, data)).unwrap().status, 0);
        let done = host.run(Request::read(1, first, blocks, bytes)).unwrap();
        assert_eq!(done.status, 0);
        read.push(done.data);
    }
    (read, disk.content(0, 8 << 20))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_depends_on_the_pieces_in_which_it_arrives(
        piece in prop_oneof![1..400_usize, 1000..200_000_usize],
        digests: bool,
        sizes in prop::collection::vec(1..=256_u32, 1..4),
    ) {
        let piece = if sizes.iter().sum::<u32>() > 64 { piece.max(100) } else { piece };
        let (read, content) = converse(piece, digests, &sizes);
        for (at, (data, &blocks)) in read.iter().zip(&sizes).enumerate() {
            prop_assert_eq!(data.len(), blocks as usize * BLOCK);
            prop_assert!(content[at * 256 * BLOCK..][..data.len()] == data[..]);
            let is_right = |(byte, value): (usize, &u8)| ((byte * (at + 3)) >> 7) as u8 == *value;
            prop_assert!(data.iter().enumerate().all(is_right));
        }
    }

    #[test]
    fn arbitrary_bytes_end_the_connection_or_are_answered(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        greets: bool,
        code in prop::sample::select(vec![0_u8, 2, 3, 4, 5, 6, 7, 9]),
    ) {
        let disk = Arc::new(Disk::default());
        let subsystem = subsystem(&disk, SubsystemOptions::default());
        let mut pipe = Pipe::new(&subsystem);
        if greets {
            pipe.write_all(&InitRequest::default().encode()).unwrap();
        }
        let mut likely = unit(code, 0, 72, 72, 72 + bytes.len() as u32);
        likely.truncate(8);
        likely.extend_from_slice(&bytes);
        pipe.write_all(&likely).unwrap();
    }
}
