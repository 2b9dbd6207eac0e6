//! The options of a drive on the command line.

use crate::error::CliError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use ftlab_sim::{DRIVE_OPTIONS, DriveOptions, OptionOf};
use std::collections::BTreeMap;

type DriveOption = OptionOf<DriveOptions>;

/// The options that are given or have a default, as they were typed.
#[derive(Debug)]
pub(crate) struct DriveWords(BTreeMap<&'static str, String>);

impl DriveWords {
    /// The drive that they describe.
    pub(crate) fn read(&self) -> Result<DriveOptions, CliError> {
        let text_of = |option: &DriveOption| Ok(self.0.get(option.id).cloned());
        OptionOf::read(&DRIVE_OPTIONS, text_of, |option, text, message| {
            CliError::usage(format!("--{} {text}: {message}", option.key))
        })
    }
}

/// An option as clap takes it.
fn argument(option: &'static DriveOption) -> Arg {
    let check = move |text: &str| option.check(text).map(|()| text.to_owned());
    let mut argument = Arg::new(option.id)
        .long(option.key.as_str())
        .value_name(option.placeholder)
        .help(option.help.trim_end_matches('.'))
        .value_parser(check);
    if let Some(default) = option.default {
        argument = argument.default_value(default);
    }
    for other in DRIVE_OPTIONS.iter().filter(|other| other.instead_of == Some(option.id)) {
        argument = argument.conflicts_with(other.id);
    }
    if let Some(needed) = option.needs {
        argument = argument.requires(needed);
    }
    argument
}

impl Args for DriveWords {
    fn augment_args(command: Command) -> Command {
        DRIVE_OPTIONS.iter().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DriveWords {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = DRIVE_OPTIONS
            .iter()
            .filter_map(|option| Some((option.id, matches.get_one::<String>(option.id)?.clone())));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
