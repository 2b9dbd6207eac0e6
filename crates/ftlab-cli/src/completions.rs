//! `ftlab completions` and `ftlab man`.

use crate::error::CliError;
use crate::output::print;
use clap::{Args, Command};
use clap_complete::Shell;

/// Prints a completion script for a shell, such as `source <(ftlab completions bash)`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Prints the manual page of `ftlab` or of one of its commands.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command.
    command: Option<String>,
}

/// `command` is all of `ftlab`.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "ftlab", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// `command` is all of `ftlab`.
pub(crate) fn man(args: &ManArgs, mut command: Command) -> Result<(), CliError> {
    command.build();
    if let Some(name) = &args.command {
        let known: Vec<_> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        let subcommand = command.find_subcommand(name).cloned();
        command = subcommand.ok_or_else(|| {
            CliError::usage(format!("no command {name:?}; the commands are {}", known.join(", ")))
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.disable_help_subcommand(true)).render(&mut page)?;
    print(&String::from_utf8_lossy(&page))
}
