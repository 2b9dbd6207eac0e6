//! Options, right and wrong.

use super::client::{End, Listener, Reply, context_data, converse, go_data, hello, option};
use crate::Ram;
use crate::nbd::wire::{info, option, reply};

const FLAGS: [u8; 4] = [0, 0, 0, 3];
const BYTES: u64 = 1 << 20;
/// Flush, FUA, trim, write-zeroes, fast zeros, and several connections.
const ABILITIES: u16 = 0b1001_0110_1101;

/// What is answered to a client that sends its flags and then `options`, and how that ends.
fn answers(options: &[u8]) -> (Vec<Reply>, End) {
    let input = [&FLAGS, options].concat();
    let (sent, _, end) = converse(&Ram::new(BYTES), &input, &[input.len()]);
    let mut listener = Listener::new(&sent, false, &|_| None);
    let answers = listener.answers();
    assert_eq!(listener.left, b"");
    (answers, end)
}

fn broken(problem: &str) -> End {
    End::Broken(problem.to_owned())
}

fn answer(option: u32, kind: u32, parts: &[&[u8]]) -> Reply {
    Reply::Answer(option, kind, parts.concat())
}

#[test]
fn go_tells_size_abilities_and_block_sizes() {
    for (go, name) in [(option::GO, "disk"), (option::GO, ""), (option::INFO, "disk")] {
        let wanted = [info::NAME, info::DESCRIPTION, info::BLOCK_SIZE, 77];
        let (answers, end) = answers(&option(go, &go_data(name, &wanted)));
        let size = BYTES.to_be_bytes();
        let blocks = [1_u32, 4096, 32 << 20].map(u32::to_be_bytes).concat();
        let expected = [
            answer(go, reply::INFO, &[&[0, 0], &size, &ABILITIES.to_be_bytes()]),
            answer(go, reply::INFO, &[&[0, 3], &blocks]),
            answer(go, reply::INFO, &[&[0, 1], b"disk"]),
            answer(go, reply::INFO, &[&[0, 2], b"a disk"]),
            answer(go, reply::ACK, &[]),
        ];
        assert_eq!((answers.as_slice(), end), (&expected[..], End::Open));
    }
}

#[test]
fn structured_replies_bring_the_ability_not_to_fragment() {
    let (sent, _, _) = converse(&Ram::new(BYTES), &hello(true), &[1]);
    let mut listener = Listener::new(&sent, true, &|_| None);
    let answers = listener.answers();
    let size = BYTES.to_be_bytes();
    let abilities = (ABILITIES | 1 << 7).to_be_bytes();
    assert_eq!(answers[0], answer(option::STRUCTURED_REPLY, reply::ACK, &[]));
    assert_eq!(answers[1], answer(option::GO, reply::INFO, &[&[0, 0], &size, &abilities]));
}

#[test]
fn the_old_way_in_works_with_and_without_zeros() {
    for (flags, zeros) in [(1_u32, 124), (3, 0)] {
        let input = [&flags.to_be_bytes()[..], &option(option::EXPORT_NAME, b"disk")].concat();
        let (sent, used, end) = converse(&Ram::new(BYTES), &input, &[7]);
        let expected = [&BYTES.to_be_bytes()[..], &ABILITIES.to_be_bytes(), &vec![0; zeros]];
        assert_eq!(sent[18..], expected.concat());
        assert_eq!((used, end), (input.len(), End::Open));
    }
    let (_, end) = answers(&option(option::EXPORT_NAME, b"disc"));
    assert_eq!(end, broken("the client requests the unknown export \"disc\""));
}

#[test]
fn exports_are_listed_and_a_client_may_leave() {
    let options = [option(option::LIST, &[]), option(option::ABORT, &[])].concat();
    let expected = vec![
        answer(option::LIST, reply::SERVER, &[&[0, 0, 0, 4], b"diska disk"]),
        answer(option::LIST, reply::ACK, &[]),
        answer(option::ABORT, reply::ACK, &[]),
    ];
    assert_eq!(answers(&options), (expected, End::Left));
}

#[test]
fn wrong_options_are_refused_with_a_reason_and_the_next_one_works() {
    let go = |data: &[u8]| option(option::GO, data);
    for (wrong, kind, part) in [
        (option(99, b"abc"), reply::ERR_UNSUP, "unknown option"),
        (option(option::STARTTLS, &[]), reply::ERR_UNSUP, "needs --tls-cert and --tls-key"),
        (option(option::LIST, b"x"), reply::ERR_INVALID, "no data, not 1 bytes"),
        (option(option::STRUCTURED_REPLY, b"xy"), reply::ERR_INVALID, "no data, not 2 bytes"),
        (go(&[]), reply::ERR_INVALID, "the length of a name"),
        (go(&[0, 0, 0, 200, 1, 2]), reply::ERR_INVALID, "the length of a name"),
        (go(&[0xff; 8]), reply::ERR_INVALID, "the length of a name"),
        (
            go(&[go_data("", &[3]), vec![0]].concat()),
            reply::ERR_INVALID,
            "a list of information requests",
        ),
        (go(&go_data("disc", &[])), reply::ERR_UNKNOWN, "no export \"disc\"; request \"disk\""),
        (go(&go_data(&"x".repeat(4000), &[])), reply::ERR_UNKNOWN, "xxx\"...; request"),
        (
            option(option::SET_META_CONTEXT, &context_data("", &[])),
            reply::ERR_INVALID,
            "expected structured replies",
        ),
        (option(option::GO, &vec![0; 1 << 20]), reply::ERR_TOO_BIG, "exceeds 16384 bytes"),
    ] {
        let (answers, end) = answers(&[wrong, option(option::LIST, &[])].concat());
        let [Reply::Answer(_, refused, message), _, _] = &answers[..] else {
            panic!("{answers:?}");
        };
        let message = String::from_utf8_lossy(message);
        assert!(message.contains(part), "{message}");
        assert_eq!((*refused, end), (kind, End::Open));
    }
}

#[test]
fn the_only_context_is_listed_and_selected() {
    let (list, set) = (option::LIST_META_CONTEXT, option::SET_META_CONTEXT);
    let told = |option: u32, id: u32| {
        answer(option, reply::META_CONTEXT, &[&id.to_be_bytes(), b"base:allocation"])
    };
    for (option, queries, expected) in [
        (list, &[][..], Some(told(list, 0))),
        (list, &["base:"], Some(told(list, 0))),
        (list, &["qemu:dirty", "base:allocation"], Some(told(list, 0))),
        (list, &["qemu:"], None),
        (set, &["base:allocation"], Some(told(set, 1))),
        (set, &["base:"], None),
        (set, &[], None),
    ] {
        let input = [
            FLAGS.to_vec(),
            super::client::option(option::STRUCTURED_REPLY, &[]),
            super::client::option(option, &context_data("disk", queries)),
        ];
        let (sent, _, _) = converse(&Ram::new(BYTES), &input.concat(), &[7]);
        let answers = Listener::new(&sent, true, &|_| None).answers();
        let done = answer(option, reply::ACK, &[]);
        let expected: Vec<_> = expected.into_iter().chain([done]).collect();
        assert_eq!(answers[1..], expected, "{queries:?}");
    }
}

#[test]
fn what_is_no_handshake_ends_the_connection() {
    let (_, end) = answers(b"GET / HTTP/1.1\r\n");
    assert_eq!(end, broken("an option begins with 0x474554202f204854"));
    let (_, _, end) = converse(&Ram::new(BYTES), &[0, 0, 0, 4, 1], &[5]);
    assert_eq!(end, broken("the client sent unknown flags 0x4"));
}
