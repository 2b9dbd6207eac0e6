//! Requests, right and wrong, and arbitrary bytes.

use super::client::{End, Listener, Reply, context_data, converse, hello, option, request};
use super::hooked::Hooked;
use crate::Ram;
use crate::nbd::request::Refusal;
use crate::nbd::wire::{allocation, command, errno, flag, option};
use ftlab_drive::Store;
use proptest::prelude::*;
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const BYTES: u64 = 1 << 20;

/// What is replied to `requests`, in their order, and whether the connection stays.
fn replies(store: &dyn Store, structured: bool, requests: &[u8]) -> (Vec<Reply>, bool) {
    let input = [hello(structured), requests.to_vec()].concat();
    let (sent, used, end) = converse(store, &input, &[64 << 10]);
    assert!(used == input.len() || end != End::Open);
    // In these tests, the cookie of a read is the number of its bytes, and that of others 0.
    let reads = |cookie: u64| (cookie > 0).then_some(cookie as u32);
    let mut listener = Listener::new(&sent, structured, &reads);
    listener.answers();
    (listener.replies(), end == End::Open)
}

fn read(offset: u64, bytes: u32) -> Vec<u8> {
    request(0, command::READ, u64::from(bytes), offset, bytes)
}

fn write(flags: u16, offset: u64, data: &[u8]) -> Vec<u8> {
    [request(flags, command::WRITE, 0, offset, data.len() as u32), data.to_vec()].concat()
}

#[test]
fn what_is_written_is_read_until_it_is_trimmed() {
    for structured in [false, true] {
        let ram = Ram::new(BYTES);
        let requests = [
            write(0, 4096, &[7; 4096]),
            read(8000, 500),
            request(0, command::TRIM, 0, 4096, 2048),
            request(flag::NO_HOLE, command::WRITE_ZEROES, 0, 6144, 10),
            request(0, command::FLUSH, 0, 0, 0),
            read(6140, 20),
        ];
        let (sent, stays) = replies(&ram, structured, &requests.concat());
        let done = Reply::Done(0);
        let first = Reply::Data(500, [[7; 192].as_slice(), &[0; 308]].concat());
        let last = Reply::Data(20, [[0; 14].as_slice(), &[7; 6]].concat());
        assert_eq!(sent, [done.clone(), first, done.clone(), done.clone(), done, last]);
        assert!(stays);
    }
}

#[test]
fn a_request_that_cannot_be_is_refused_with_the_numbers_and_the_next_one_works() {
    let most = 32 << 20;
    let end = BYTES - 10;
    for (wrong, error, part) in [
        (read(end, 11), errno::EINVAL, "a read of 11 bytes at 1048566; there are 1048576 bytes"),
        (read(u64::MAX, 1), errno::EINVAL, "a read of 1 bytes at 18446744073709551615"),
        (request(0, command::READ, 0, 0, 0), errno::EINVAL, "a read of 0 bytes; the minimum is 1"),
        (read(0, most + 1), errno::EINVAL, "a read of 33554433 bytes; the maximum is 33554432"),
        (write(0, end, &[1; 11]), errno::ENOSPC, "a write of 11 bytes at 1048566"),
        (write(0, 0, &vec![1; most as usize + 1]), errno::EINVAL, "a write of 33554433 bytes"),
        (write(flag::DF, 0, &[1; 5000]), errno::EINVAL, "a write cannot have flags 0x4"),
        (request(0, command::TRIM, 0, end, 11), errno::EINVAL, "a trim of 11 bytes"),
        (request(0, command::WRITE_ZEROES, 0, 1, u32::MAX), errno::ENOSPC, "a write of zeros of"),
        (request(0, command::FLUSH, 0, 1, 0), errno::EINVAL, "no offset and no length"),
        (request(0, 77, 0, 0, 1), errno::EINVAL, "unknown command 77"),
        (
            request(flag::NO_HOLE | flag::FAST_ZERO, command::WRITE_ZEROES, 0, 0, 1),
            errno::ENOTSUP,
            "not faster than a write",
        ),
    ] {
        for structured in [false, true] {
            let ram = Ram::new(BYTES);
            let requests = [wrong.clone(), read(end, 10)].concat();
            let (sent, stays) = replies(&ram, structured, &requests);
            let [Reply::Failed(_, errno, message), Reply::Data(10, zeros)] = &sent[..] else {
                panic!("{sent:?}");
            };
            assert_eq!((errno, zeros), (&error, &vec![0; 10]));
            assert!(!structured || message.contains(part), "{message}");
            assert!(stays);
        }
    }
}

#[test]
fn a_client_that_talks_nonsense_or_leaves_ends_the_connection() {
    let ram = Ram::new(BYTES);
    let (sent, stays) = replies(&ram, true, &[read(0, 1), vec![1; 28], read(0, 1)].concat());
    assert_eq!((sent.len(), stays), (1, false));
    let leaves = [read(0, 1), request(0, command::DISC, 0, 0, 0), read(0, 1)].concat();
    let (sent, stays) = replies(&ram, true, &leaves);
    assert_eq!((sent.len(), stays), (1, false));
    // More data than anyone would wait for.
    let (sent, stays) = replies(&ram, true, &request(0, command::WRITE, 0, 0, u32::MAX));
    let message = "a write of 4294967295 bytes; the maximum is 33554432".to_owned();
    assert_eq!((sent, stays), (vec![Reply::Failed(0, errno::EINVAL, message)], false));
}

#[test]
fn large_requests_arrive_whole() {
    let ram = Ram::new(64 << 20);
    let data: Vec<u8> = (0..32 << 20).map(|byte: u32| (byte % 251) as u8).collect();
    let (sent, _) =
        replies(&ram, true, &[write(0, 12_345, &data), read(12_345, 32 << 20)].concat());
    assert_eq!(sent[0], Reply::Done(0));
    assert!(sent[1] == Reply::Data(32 << 20, data));
}

#[test]
fn the_data_of_a_write_far_beyond_the_end_is_passed_over() {
    let ram = Ram::new(BYTES);
    let requests = [write(0, u64::MAX - 5, &[1; 100]), read(0, 1)].concat();
    let (sent, stays) = replies(&ram, true, &requests);
    let message = format!("a write of 100 bytes at {}; there are {BYTES} bytes", u64::MAX - 5);
    let refused = Reply::Failed(0, errno::ENOSPC, message);
    assert_eq!((sent, stays), (vec![refused, Reply::Data(1, vec![0])], true));
}

#[test]
fn large_blocks_are_written_whole() {
    const HALF: u64 = 1 << 19;
    let written = Mutex::new(Vec::new());
    let before_write = |offset, bytes| written.lock().unwrap().push((offset, bytes));
    let store = Hooked { ram: Ram::new(8 << 20), block_bytes: 1 << 20, before_write };
    let data = vec![7; 7 << 19];
    let (sent, _) = replies(&store, true, &write(0, HALF, &data));
    assert_eq!(sent, [Reply::Done(0)]);
    let mut at = HALF;
    for (offset, bytes) in written.into_inner().unwrap() {
        assert_eq!(offset, at);
        at += bytes as u64;
        assert!(
            at.is_multiple_of(2 * HALF),
            "a block is written in parts: {bytes} bytes at {offset}"
        );
    }
    assert_eq!(at, 8 * HALF);
}

/// A store that fails, and counts flushes.
struct Sick(io::ErrorKind, AtomicU32);

impl Store for Sick {
    fn bytes(&self) -> u64 {
        BYTES
    }

    fn block_bytes(&self) -> u32 {
        4096
    }

    fn read(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(self.0.into())
    }

    fn write(&self, offset: u64, _: &[u8]) -> io::Result<()> {
        if offset == 0 { Ok(()) } else { Err(self.0.into()) }
    }

    fn trim(&self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn write_zeroes(&self, _: u64, _: u64, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn failures_of_the_store_become_errors_of_the_protocol() {
    for (kind, expected) in [
        (io::ErrorKind::InvalidData, errno::EIO),
        (io::ErrorKind::ReadOnlyFilesystem, errno::EPERM),
        (io::ErrorKind::StorageFull, errno::ENOSPC),
        (io::ErrorKind::OutOfMemory, errno::ENOMEM),
    ] {
        let sick = Sick(kind, AtomicU32::new(0));
        let large = write(flag::FUA, 4096, &vec![0; 1 << 19]);
        let requests = [read(0, 5), write(flag::FUA, 4096, b"x"), large].concat();
        let (sent, stays) = replies(&sick, false, &requests);
        let failed = |cookie| Reply::Failed(cookie, expected, String::new());
        assert_eq!((sent, stays), (vec![failed(5), failed(0), failed(0)], true));
        assert_eq!(sick.1.into_inner(), 0, "what failed is not flushed");
    }
}

#[test]
fn the_error_behind_an_error_counts() {
    #[derive(Debug, thiserror::Error)]
    #[error("the medium: {0}")]
    struct OfMedium(#[source] io::Error);

    let full = || io::Error::from_raw_os_error(28);
    for error in [full(), io::Error::other(full()), io::Error::other(OfMedium(full()))] {
        assert_eq!(Refusal::from(error).errno, errno::ENOSPC);
    }
    assert_eq!(Refusal::from(io::Error::other("x")).errno, errno::EIO);
}

#[test]
fn a_client_that_selected_it_is_told_which_parts_hold_data() {
    let ram = Ram::new(BYTES);
    ram.write(256 << 10, &vec![1; 128 << 10]).unwrap();
    let set = option(option::SET_META_CONTEXT, &context_data("", &["base:allocation"]));
    let query =
        |flags, cookie, offset, bytes| request(flags, command::BLOCK_STATUS, cookie, offset, bytes);
    let hole = allocation::HOLE | allocation::ZERO;
    for selects in [true, false] {
        let (start, go) = (hello(true), hello(false)[4..].to_vec());
        let (start, _) = start.split_at(start.len() - go.len());
        let set = if selects { set.clone() } else { Vec::new() };
        let requests = [
            query(0, 1, 0, BYTES as u32),
            query(flag::REQ_ONE, 2, 4096, BYTES as u32 - 4096),
            query(0, 3, (256 << 10) + 1, 100),
            query(0, 4, BYTES, 1),
        ];
        let input = [start, &set, &go, &requests.concat()].concat();
        let (sent, _, _) = converse(&ram, &input, &[input.len()]);
        let mut listener = Listener::new(&sent, true, &|_| None);
        listener.answers();
        let replies = listener.replies();
        if selects {
            let status = |cookie, parts: &[(u32, u32)]| Reply::Status(cookie, parts.to_vec());
            let parts = [(256 << 10, hole), (128 << 10, 0), (640 << 10, hole)];
            assert_eq!(replies[0], status(1, &parts));
            assert_eq!(replies[1], status(2, &[(252 << 10, hole)]));
            assert_eq!(replies[2], status(3, &[(100, 0)]));
            assert!(matches!(replies[3], Reply::Failed(4, errno::EINVAL, _)));
        } else {
            let refused = |reply: &Reply| matches!(reply, Reply::Failed(_, errno::EINVAL, _));
            assert!(replies.iter().all(refused), "{replies:?}");
        }
    }
}

#[test]
fn fua_flushes_once_the_data_is_written() {
    let sick = Sick(io::ErrorKind::Other, AtomicU32::new(0));
    let requests = [
        write(0, 0, b"x"),
        write(flag::FUA, 0, b"x"),
        write(flag::FUA, 0, &[0; 4096]),
        request(flag::FUA, command::TRIM, 0, 0, 1),
        request(flag::FUA, command::WRITE_ZEROES, 0, 0, 1),
        request(flag::FUA, command::FLUSH, 0, 0, 0),
    ];
    assert_eq!(replies(&sick, true, &requests.concat()).0, vec![Reply::Done(0); 6]);
    assert_eq!(sick.1.into_inner(), 5);
}

/// A request of any kind near the edges of what is possible, with its data.
fn any_request() -> impl Strategy<Value = (u16, u16, u64, u32)> {
    let offset = prop_oneof![4 => 0..BYTES, 1 => BYTES - 5000..BYTES + 100, 1 => any::<u64>()];
    let bytes = prop_oneof![4 => 0..5000_u32, 1 => 100_000..400_000_u32];
    let flags = prop_oneof![3 => Just(0), 1 => 0..32_u16];
    (flags, prop_oneof![6 => 0..8_u16, 1 => any::<u16>()], offset, bytes)
}

proptest! {
    /// The answers, and what the store then holds, are those of an array of bytes.
    #[test]
    fn a_session_is_an_array_of_bytes(
        requests in prop::collection::vec(any_request(), 1..24),
        pieces in prop::collection::vec(1..90_000_usize, 1..5),
        structured: bool,
    ) {
        let ram = Ram::new(BYTES);
        let mut twin = vec![0_u8; BYTES as usize];
        let (mut input, mut expected) = (hello(structured), HashMap::new());
        let mut reads = HashMap::new();
        for (cookie, (flags, command, offset, bytes)) in requests.iter().copied().enumerate() {
            let cookie = cookie as u64;
            input.extend(request(flags, command, cookie, offset, bytes));
            let data = vec![cookie as u8 + 1; bytes as usize];
            if command == command::WRITE {
                input.extend(&data);
            }
            if command == command::DISC && flags & !1 == 0 {
                break;
            }
            let fits = bytes > 0 && offset.checked_add(u64::from(bytes)).is_some_and(|e| e <= BYTES);
            let range = || offset as usize..offset as usize + bytes as usize;
            let flags_of_read = if structured { 0b101 } else { 1 };
            let outcome = match command {
                command::READ => {
                    reads.insert(cookie, bytes);
                    (flags & !flags_of_read == 0 && fits).then(|| twin[range()].to_vec())
                }
                command::WRITE if flags & !1 == 0 && fits => {
                    twin[range()].copy_from_slice(&data);
                    Some(Vec::new())
                }
                command::TRIM if flags & !1 == 0 && fits => {
                    twin[range()].fill(0);
                    Some(Vec::new())
                }
                command::WRITE_ZEROES
                    if flags & !0b1_0011 == 0 && fits && flags & 0b1_0010 != 0b1_0010 =>
                {
                    twin[range()].fill(0);
                    Some(Vec::new())
                }
                command::FLUSH => (flags & !1 == 0 && offset == 0 && bytes == 0).then(Vec::new),
                _ => None,
            };
            expected.insert(cookie, outcome);
        }
        let (sent, _, _) = converse(&ram, &input, &pieces);
        let reads = |cookie: u64| reads.get(&cookie).copied();
        let mut listener = Listener::new(&sent, structured, &reads);
        listener.answers();
        let replies = listener.replies();
        prop_assert_eq!(replies.len(), expected.len());
        for reply in replies {
            match reply {
                Reply::Done(cookie) => prop_assert_eq!(&expected[&cookie], &Some(Vec::new())),
                Reply::Failed(cookie, ..) => prop_assert_eq!(&expected[&cookie], &None),
                Reply::Data(cookie, data) => prop_assert!(expected[&cookie] == Some(data)),
                Reply::Status(..) => unreachable!("the context is not selected"),
                Reply::Answer(..) => unreachable!("the handshake is over"),
            }
        }
        let mut left = vec![1; BYTES as usize];
        ram.read(0, &mut left).unwrap();
        prop_assert!(left == twin);
    }

    /// Rubbish, however it is cut into pieces, has one meaning, and no bad end.
    #[test]
    fn arbitrary_bytes_do_no_harm(
        starts_well: Option<bool>,
        rubbish in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            any_request().prop_map(|(flags, command, offset, bytes)| {
                request(flags, command, 0, offset, bytes)
            }),
            (0..12_u32, prop::collection::vec(any::<u8>(), 0..40))
                .prop_map(|(option, data)| super::client::option(option, &data)),
        ], 0..8),
        pieces in prop::collection::vec(1..500_usize, 1..5),
    ) {
        let mut input = starts_well.map_or_else(|| vec![0, 0, 0, 1], hello);
        input.extend(rubbish.concat());
        let (one, other) = (Ram::new(BYTES), Ram::new(BYTES));
        let whole = converse(&one, &input, &[input.len()]);
        let in_pieces = converse(&other, &input, &pieces);
        prop_assert_eq!(&whole.0, &in_pieces.0);
        prop_assert_eq!(&whole.2, &in_pieces.2);
    }
}
