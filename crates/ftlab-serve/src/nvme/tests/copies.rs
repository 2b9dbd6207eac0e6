//! The command Copy.

use super::bench::{BLOCK, Disk, Host, admin, io_queue, plain, subsystem};
use crate::nvme::SubsystemOptions;
use crate::nvme::initiator::{Done, Request};
use crate::nvme::layout::{Status, opcode};
use proptest::prelude::*;
use std::sync::Arc;

/// Blocks that hold their number.
const FILLED: u64 = 600;

/// Calls `test` with an I/O queue to a drive whose first blocks hold their numbers.
fn with_queue(disk: &Arc<Disk>, test: impl FnOnce(&mut Host)) {
    let subsystem = subsystem(disk, SubsystemOptions::default());
    let (_admin, controller) = admin(&subsystem);
    let mut host = io_queue(&subsystem, controller, false);
    for block in 0..FILLED {
        let mut data = vec![block as u8; BLOCK];
        data[..8].copy_from_slice(&block.to_le_bytes());
        assert_eq!(host.run(Request::write(1, block, 1, data)).unwrap().status, 0);
    }
    test(&mut host);
}

/// Copies ranges of blocks: of each, its first block and how many there are.
fn copy(host: &mut Host, to: u64, sources: &[(u64, u64)]) -> Done {
    let mut data = vec![0; 32 * sources.len()];
    for (entry, (first, blocks)) in data.chunks_exact_mut(32).zip(sources) {
        entry[8..16].copy_from_slice(&first.to_le_bytes());
        entry[16..18].copy_from_slice(&(*blocks as u16 - 1).to_le_bytes());
    }
    let dwords = [to as u32, (to >> 32) as u32, sources.len() as u32 - 1, 0, 0, 0];
    host.run(Request { opcode: opcode::io::COPY, namespace: 1, dwords, data, room: 0 }).unwrap()
}

/// The numbers in the first blocks.
fn numbers(disk: &Disk) -> Vec<u64> {
    let number = |block: u64| {
        let content = disk.content(block * BLOCK as u64, BLOCK);
        assert!(content[8..].iter().all(|byte| *byte == content[8]), "block {block} is torn");
        u64::from_le_bytes(*content.first_chunk().unwrap())
    };
    (0..FILLED).map(number).collect()
}

/// What they are after a copy: all sources are read before anything is written.
fn expected(before: &[u64], to: u64, sources: &[(u64, u64)]) -> Vec<u64> {
    let copied = sources.iter().flat_map(|(first, blocks)| *first..first + blocks);
    let copied: Vec<u64> = copied.map(|block| before[block as usize]).collect();
    let mut after = before.to_vec();
    after[to as usize..to as usize + copied.len()].copy_from_slice(&copied);
    after
}

#[test]
fn a_copy_onto_a_part_of_its_source_moves_it() {
    // Less than what is read at once, and more; forwards and backwards, and onto itself.
    for (from, to, blocks) in [(0, 1, 32), (0, 1, 33), (5, 40, 200), (40, 5, 200), (7, 7, 100)] {
        let disk = Arc::new(Disk::default());
        with_queue(&disk, |host| {
            let before = numbers(&disk);
            assert_eq!(copy(host, to, &[(from, blocks)]).status, 0);
            assert_eq!(numbers(&disk), expected(&before, to, &[(from, blocks)]), "{from} to {to}");
        });
    }
}

#[test]
fn ranges_are_exchanged_by_one_copy() {
    let disk = Arc::new(Disk::default());
    with_queue(&disk, |host| {
        let before = numbers(&disk);
        let sources = [(100, 50), (50, 50), (0, 50)];
        assert_eq!(copy(host, 0, &sources).status, 0);
        assert_eq!(numbers(&disk), expected(&before, 0, &sources));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_copy_is_that_of_what_was_there_before(
        copies in prop::collection::vec(
            (0..300_u64, prop::collection::vec((0..500_u64, 1..=70_u64), 1..4)),
            1..4,
        ),
    ) {
        let disk = Arc::new(Disk::default());
        with_queue(&disk, |host| {
            let mut before = numbers(&disk);
            for (to, sources) in &copies {
                assert_eq!(copy(host, *to, sources).status, 0);
                before = expected(&before, *to, sources);
                assert_eq!(numbers(&disk), before);
            }
        });
    }
}

#[test]
fn nothing_is_copied_if_any_range_is_wrong() {
    let disk = Arc::new(Disk::default());
    with_queue(&disk, |host| {
        let before = numbers(&disk);
        let blocks = super::bench::BYTES / BLOCK as u64;
        let (beyond, unreadable) = (Status::BEYOND.code(), Status::UNREADABLE.code());
        for sources in [[(10, 5), (blocks - 2, 3)], [(10, 5), (u64::MAX, 1)]] {
            let done = copy(host, 100, &sources);
            assert_eq!((done.status, done.result), (beyond, 0));
        }
        assert_eq!(copy(host, blocks - 4, &[(10, 5)]).status, beyond);
        let limit = copy(host, 100, &[(10, 4096), (10, 1)]);
        assert_eq!((limit.status, limit.result), (Status::SIZE_LIMIT.code(), 0));
        let mark = plain(opcode::io::WRITE_UNCORRECTABLE, 1, [21, 0, 0, 0, 0, 0]);
        assert_eq!(host.run(mark).unwrap().status, 0);
        for to in [12, 100] {
            let done = copy(host, to, &[(10, 5), (20, 2)]);
            assert_eq!((done.status, done.result), (unreadable, 0));
        }
        assert_eq!(numbers(&disk), before);
        // A copy onto it makes it readable again.
        assert_eq!(copy(host, 20, &[(30, 2)]).status, 0);
        assert_eq!(host.run(Request::read(1, 21, 1, BLOCK as u32)).unwrap().status, 0);
    });
}

#[test]
fn a_range_that_cannot_be_read_is_named() {
    let damaged = Some(41 * BLOCK as u64 + 7);
    let disk = Arc::new(Disk { unreadable: damaged, ..Disk::default() });
    with_queue(&disk, |host| {
        let done = copy(host, 300, &[(10, 5), (20, 2), (40, 3), (50, 1)]);
        assert_eq!((done.status, done.result), (Status::UNREADABLE.code(), 2));
        let content = |block: u64| disk.content(block * BLOCK as u64, 8)[0];
        assert_eq!([300, 306, 307].map(content), [10, 21, 307_u64 as u8], "as far as it got");
        // Where all is read first, nothing is written.
        let done = copy(host, 50, &[(10, 5), (40, 3), (50, 1)]);
        assert_eq!((done.status, done.result), (Status::UNREADABLE.code(), 0));
        assert_eq!(content(50), 50);
    });
}
