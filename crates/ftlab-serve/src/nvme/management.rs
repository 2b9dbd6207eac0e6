//! Format, Sanitize and directives (base 2.1, sections 5.1.10, 5.1.22 and 5.1.6): all data of a namespace or of
//! the drive are trimmed.

use super::ALL_NAMESPACES;
use super::commands::Answer;
use super::events::Event;
use super::io::failure;
use super::layout::{Command, Status, Writer};
use super::subsystem::Subsystem;
use std::ops::Range;

/// Format NVM.
pub(super) fn format(subsystem: &Subsystem, command: &Command) -> Result<Answer, Status> {
    let fields = command.dword(10);
    // Format of blocks, in two parts; metadata, protection information.
    if fields & 15 != 0 || fields >> 4 & 31 != 0 || fields >> 12 & 3 != 0 {
        return Err(Status::INVALID_FORMAT);
    }
    // Nothing more than formatting, user data erase, cryptographic erase.
    if fields >> 9 & 7 > 2 {
        return Err(Status::INVALID_FIELD);
    }
    match command.namespace {
        ALL_NAMESPACES => erase(subsystem, 0..subsystem.store.bytes())?,
        id => {
            let namespace = subsystem.namespace(id).ok_or(Status::INVALID_NAMESPACE)?;
            erase(subsystem, namespace.whole())?;
        }
    }
    Ok(Answer::Done(0))
}

pub(super) fn sanitize(subsystem: &Subsystem, command: &Command) -> Result<Answer, Status> {
    /// Exit failure mode, which does nothing where nothing has failed.
    const EXIT_FAILURE: u32 = 1;
    const BLOCK_ERASE: u32 = 2;
    const OVERWRITE: u32 = 3;
    const CRYPTO_ERASE: u32 = 4;
    match command.dword(10) & 7 {
        EXIT_FAILURE => {}
        BLOCK_ERASE | OVERWRITE | CRYPTO_ERASE => {
            erase(subsystem, 0..subsystem.store.bytes())?;
            subsystem.set_sanitized(command.dword(10));
            subsystem.announce(Event::Sanitized);
        }
        _ => return Err(Status::INVALID_FIELD),
    }
    Ok(Answer::Done(0))
}

/// Trims a range, durably.
fn erase(subsystem: &Subsystem, range: Range<u64>) -> Result<(), Status> {
    let store = &subsystem.store;
    let done = store.trim(range.start, range.end - range.start).and_then(|()| store.flush());
    done.map_err(|error| failure(&error, Status::WRITE_FAULT))?;
    subsystem.uncorrectable.clear(&range);
    Ok(())
}

/// Directive Receive: the parameters of the directive Identify (base 2.1, section 8.1.8.2): which directives
/// there are, which are enabled, and which stay so after a reset.
pub(super) fn directives(subsystem: &Subsystem, command: &Command) -> Result<Answer, Status> {
    const RETURN_PARAMETERS: u32 = 1;
    const IDENTIFY: u8 = 1 << 0;
    const DATA_PLACEMENT: u8 = 1 << 2;
    let (operation, kind) = (command.dword(11) & 0xff, command.dword(11) >> 8 & 0xff);
    if !subsystem.placements.is_enabled() {
        return Err(Status::INVALID_OPCODE);
    }
    if (operation, kind) != (RETURN_PARAMETERS, 0) {
        return Err(Status::INVALID_FIELD);
    }
    let mut data = vec![0; 4096];
    let mut fields = Writer(&mut data);
    for at in [0, 32] {
        fields.u8(at, IDENTIFY | DATA_PLACEMENT);
    }
    fields.u8(64, DATA_PLACEMENT);
    Ok(Answer::Data(data))
}
