//! Commands of the admin queue (base 2.1, section 5).

use super::commands::{self, Answer, Context};
use super::layout::{Command, Status, opcode};
use super::{features, identify, logs, management};

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

/// Carries out a command; its data are there.
pub(super) fn execute(context: &Context, command: &Command, data: &[u8]) -> Result<Answer, Status> {
    let Context { subsystem, controller, .. } = *context;
    let is_known = commands::ADMIN.iter().any(|(code, _)| *code == command.opcode)
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
