//! A client that sends arbitrary bytes in pieces of any size: the answers do not depend on the
//! pieces.
#![no_main]

use ftlab_serve::Ram;
use ftlab_serve::nbd::{Export, Session};
use ftlab_serve::net::{Conversation, Replies};

/// A client's flags, and the option that starts the transmission with or without structured
/// replies.
const STRUCTURED: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x08\0\0\0\0IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";
const SIMPLE: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";

/// The replies, and whether the connection is closed.
fn converse(input: &[u8], piece: usize) -> (Vec<u8>, bool) {
    let (ram, export) = (Ram::new(1 << 20), Export::default());
    let (mut replies, mut sent) = (Replies::default(), Vec::new());
    let mut session = Session::begin(&ram, &export, &mut replies);
    let (mut used, mut end) = (0, 0);
    loop {
        used += session.feed(&input[used..end], &mut replies);
        let was_full = replies.is_full();
        sent.extend_from_slice(replies.bytes());
        replies.clear();
        if session.is_closed() || (!was_full && end == input.len()) {
            return (sent, session.is_closed());
        }
        if !was_full {
            assert!(end - used <= session.input_bytes());
            end = input.len().min(end + piece);
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else { return };
    let start = [STRUCTURED, SIMPLE, &STRUCTURED[..4], b""][usize::from(how & 3)];
    let input = [start, rest].concat();
    let whole = converse(&input, input.len().max(1));
    assert_eq!(whole, converse(&input, usize::from(how >> 2) + 1));
});
