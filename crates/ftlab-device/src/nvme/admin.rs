//! Commands of the admin queue (base 2.1, section 5).

use super::controller::Controller;
use super::layout::{Command, Status, opcode};
use super::subsystem::Subsystem;
use super::{features, identify, logs, management};
use std::ops::Range;

/// What a command that succeeds is answered with.
#[derive(Debug)]
pub(super) enum Answer {
    /// A completion, with dwords 0 and 1.
    Done(u64),
    /// Data, as far as the host wants them.
    Data(Vec<u8>),
    /// Data, and dwords 0 and 1 of the completion.
    DataAnd(Vec<u8>, u64),
    /// This range of the drive.
    Read(Range<u64>),
    /// A completion: so many bytes have been written.
    Written(u64),
    /// A completion: so many bytes have been compared.
    Compared(u64),
    /// An answer follows when there is something to tell.
    Later,
    /// The command with this number is aborted, and then a completion.
    Aborted(u16),
    /// A completion, after which the connection ends.
    Leave,
}

/// Codes of the commands that there are, and whether they change data; those of fabrics are not among them.
pub(super) const COMMANDS: [(u8, bool); 10] = [
    (opcode::admin::GET_LOG_PAGE, false),
    (opcode::admin::IDENTIFY, false),
    (opcode::admin::ABORT, false),
    (opcode::admin::SET_FEATURES, false),
    (opcode::admin::GET_FEATURES, false),
    (opcode::admin::ASYNC_EVENT, false),
    (opcode::admin::KEEP_ALIVE, false),
    (opcode::admin::DIRECTIVE_RECEIVE, false),
    (opcode::admin::FORMAT, true),
    (opcode::admin::SANITIZE, true),
];

/// Whether a discovery controller has the command.
fn is_for_discovery(code: u8) -> bool {
    let all = [
        opcode::admin::GET_LOG_PAGE,
        opcode::admin::IDENTIFY,
        opcode::admin::ABORT,
        opcode::admin::SET_FEATURES,
        opcode::admin::GET_FEATURES,
        opcode::admin::ASYNC_EVENT,
        opcode::admin::KEEP_ALIVE,
    ];
    all.contains(&code)
}

/// What a command needs to know of its queue.
pub(super) struct Context<'a> {
    pub(super) subsystem: &'a Subsystem,
    pub(super) controller: &'a Controller,
    /// Where the host has connected to.
    pub(super) local: Option<std::net::SocketAddr>,
}

/// Carries out a command; its data are there.
pub(super) fn execute(context: &Context, command: &Command, data: &[u8]) -> Result<Answer, Status> {
    let Context { subsystem, controller, .. } = *context;
    let is_known = COMMANDS.iter().any(|(code, _)| *code == command.opcode)
        && (!controller.is_discovery || is_for_discovery(command.opcode));
    if !is_known {
        return Err(Status::INVALID_OPCODE);
    }
    if !controller.is_ready() {
        return Err(Status::SEQUENCE);
    }
    match command.opcode {
        opcode::admin::IDENTIFY => identify::identify(subsystem, controller, command),
        opcode::admin::GET_LOG_PAGE => logs::get(context, command),
        opcode::admin::GET_FEATURES => features::get(subsystem, controller, command),
        opcode::admin::SET_FEATURES => features::set(subsystem, controller, command, data),
        opcode::admin::ASYNC_EVENT => {
            controller.state().events.request(command.id)?;
            Ok(Answer::Later)
        }
        opcode::admin::KEEP_ALIVE => Ok(Answer::Done(0)),
        opcode::admin::DIRECTIVE_RECEIVE => management::directives(subsystem, command),
        opcode::admin::FORMAT => management::format(subsystem, command),
        opcode::admin::SANITIZE => management::sanitize(subsystem, command),
        _ => Err(Status::INVALID_OPCODE),
    }
}
