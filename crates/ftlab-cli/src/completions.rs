//! `ftlab completions` and `ftlab man`.

use crate::error::CliError;
use crate::output::print;
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use ftlab_ftl::page::GC_SCHEDULES;
use ftlab_ftl::registry::known_ftls;
use ftlab_sim::TIMINGS;
use ftlab_trace::format::FORMATS;
use ftlab_trace::replace_file;
use std::io::Write;
use std::path::{Path, PathBuf};

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
    #[arg(conflicts_with = "out")]
    command: Option<String>,
    /// Writes the pages of ftlab and of all its commands to this directory instead.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Names that an option or argument completes, wherever a command has it under that name.
fn names_of(argument: &str) -> Vec<String> {
    let fills = || vec!["sequential".into(), "random".into(), "twice".into(), "none".into()];
    match argument {
        "ftl" | "ftls" | "baseline" => known_ftls().names,
        "timing" => TIMINGS.iter().map(|timing| timing.name.to_owned()).collect(),
        "format" => FORMATS.iter().map(|format| format.name.to_owned()).collect(),
        "gc" => GC_SCHEDULES.map(str::to_owned).into(),
        "fill" => fills(),
        _ => Vec::new(),
    }
}

/// `command`, and all below it, with names to complete. They are checked where they are used, not by the parser:
/// a name may have parameters.
fn with_names(command: Command) -> Command {
    let subcommands: Vec<_> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    let command = subcommands
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, with_names));
    command.mut_args(|argument| {
        let names = names_of(argument.get_id().as_str());
        if names.is_empty() || !argument.get_action().takes_values() {
            return argument;
        }
        let defaults: Vec<_> =
            argument.get_default_values().iter().map(std::borrow::ToOwned::to_owned).collect();
        argument.default_values(defaults).value_parser(PossibleValuesParser::new(names))
    })
}

/// `command` is all of `ftlab`.
pub(crate) fn completions(args: &CompletionsArgs, command: Command) -> Result<(), CliError> {
    let mut command = with_names(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "ftlab", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// `command` is all of `ftlab`.
pub(crate) fn man(args: &ManArgs, mut command: Command) -> Result<(), CliError> {
    command.build();
    if let Some(directory) = &args.out {
        return write_all(&command, directory);
    }
    if let Some(name) = &args.command {
        let known: Vec<_> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        let subcommand = command.find_subcommand(name).cloned();
        command = subcommand.ok_or_else(|| {
            CliError::usage(format!("no command {name:?}; the commands are {}", known.join(", ")))
        })?;
    }
    print(&page(command)?)
}

/// The pages of a command and of all below it, as `ftlab-drive-create.1`.
fn write_all(command: &Command, directory: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(directory).map_err(|error| {
        CliError::failure(format!("cannot create {}: {error}", directory.display()))
    })?;
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let path = directory.join(format!("{name}.1"));
    let text = page(command.clone())?;
    replace_file(&path, |file| file.write_all(text.as_bytes()))?;
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    shown.into_iter().try_for_each(|subcommand| write_all(subcommand, directory))
}

/// The page of a command; the examples at the end of its help are a section of their own, line by line.
fn page(command: Command) -> Result<String, CliError> {
    let mut page = Vec::new();
    Man::new(command.disable_help_subcommand(true)).render(&mut page)?;
    let page = String::from_utf8_lossy(&page).into_owned();
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else { return Ok(page) };
    let (extra, after) = extra.split_once("\n.SH ").map_or((extra, None), |(a, b)| (a, Some(b)));
    let examples = extra.trim_start_matches("Examples:").trim_matches('\n');
    let after = after.map_or_else(String::new, |text| format!(".SH {text}"));
    Ok(format!("{before}.SH EXAMPLES\n.nf\n{examples}\n.fi\n{after}"))
}
