//! Declared options on the command line.

use crate::error::CliError;
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use ftlab_sim::{OptionOf, Options};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// The options of a `T` that are given, as they were typed: those under the heading Report, or the
/// others.
#[derive(Debug)]
pub(crate) struct Words<T, const REPORT: bool = false> {
    given: BTreeMap<&'static str, String>,
    of: PhantomData<fn() -> T>,
}

impl<T: Options, const REPORT: bool> Words<T, REPORT> {
    /// `one` with what they say.
    pub(crate) fn apply(&self, one: T) -> Result<T, CliError> {
        let text_of = |option: &OptionOf<T>| Ok(self.given.get(option.id).cloned());
        one.with_options(text_of, |option, text, message| {
            CliError::usage(format!("--{} {text}: {message}", option.key))
        })
    }

    fn options() -> impl Iterator<Item = &'static OptionOf<T>> {
        let here = |option: &&OptionOf<T>| {
            !option.under.is_empty() && (option.under == "Report") == REPORT
        };
        T::options().iter().filter(here)
    }
}

/// An option as clap takes it.
fn argument<T: Options>(option: &'static OptionOf<T>) -> Arg {
    let mut argument = Arg::new(option.id)
        .long(option.key.as_str())
        .help_heading(option.under)
        .help(option.help.trim_end_matches('.'));
    if option.is_flag() {
        return argument.action(ArgAction::SetTrue);
    }
    argument = argument.value_name(option.placeholder);
    argument = if option.values.is_empty() {
        argument.value_parser(move |text: &str| option.check(text).map(|()| text.to_owned()))
    } else {
        argument.value_parser(PossibleValuesParser::new(option.values))
    };
    if let Some(default) = option.default {
        argument = argument.default_value(default);
    }
    let excluded = T::options().iter().filter(|other| option.excludes(other));
    argument = argument.conflicts_with_all(excluded.map(|other| other.id));
    match option.needs {
        Some(needed) => argument.requires(needed),
        None => argument,
    }
}

impl<T: Options, const REPORT: bool> Args for Words<T, REPORT> {
    fn augment_args(command: Command) -> Command {
        Self::options().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Options, const REPORT: bool> FromArgMatches for Words<T, REPORT> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |option: &&OptionOf<T>| {
            matches.value_source(option.id) == Some(ValueSource::CommandLine)
        };
        let text = |option: &OptionOf<T>| {
            let is_flag = option.is_flag();
            if is_flag {
                Some("on".to_owned())
            } else {
                matches.get_one::<String>(option.id).cloned()
            }
        };
        let given =
            Self::options().filter(typed).filter_map(|option| Some((option.id, text(option)?)));
        Ok(Self { given: given.collect(), of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
