//! Declared options on the command line.

use crate::error::CliError;
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use ftlab_sim::{OptionOf, Options};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Which options a command takes.
pub(crate) trait Choice {
    /// The heading over them in its help, instead of their own.
    const HEADING: Option<&'static str> = None;

    /// Whether it takes the option of this name, which has this heading.
    fn takes(name: &str, heading: &str) -> bool;

    /// Whether it may be given several times: the texts are one, with commas between.
    fn repeats(_name: &str) -> bool {
        false
    }
}

/// All but those of reports.
#[derive(Debug)]
pub(crate) struct OfRun;

impl Choice for OfRun {
    fn takes(_: &str, heading: &str) -> bool {
        !heading.is_empty() && heading != "Report"
    }
}

/// Those of reports.
#[derive(Debug)]
pub(crate) struct OfReport;

impl Choice for OfReport {
    fn takes(_: &str, heading: &str) -> bool {
        heading == "Report"
    }
}

/// The options of a `T` that are given, as they were typed, of those that a command takes.
#[derive(Debug)]
pub(crate) struct Words<T, C = OfRun> {
    given: BTreeMap<&'static str, String>,
    of: PhantomData<fn() -> (T, C)>,
}

impl<T: Options, C: Choice> Words<T, C> {
    /// `one` with what they say.
    pub(crate) fn apply(&self, one: T) -> Result<T, CliError> {
        let text_of = |option: &OptionOf<T>| Ok(self.given.get(option.id).cloned());
        one.with_options(text_of, |option, text, message| {
            CliError::usage(format!("--{} {text}: {message}", option.key))
        })
    }

    /// They as they can be typed again.
    #[cfg(feature = "lab")]
    pub(crate) fn typed(&self) -> Vec<String> {
        let given = Self::options().filter_map(|option| Some((option, self.given.get(option.id)?)));
        let words = given.map(|(option, text)| {
            let value = (!option.is_flag()).then(|| text.clone());
            [Some(format!("--{}", option.key)), value].into_iter().flatten()
        });
        words.flatten().collect()
    }

    fn options() -> impl Iterator<Item = &'static OptionOf<T>> {
        T::options().iter().filter(|option| C::takes(option.id, option.under))
    }

    /// An option as clap takes it.
    fn argument(option: &'static OptionOf<T>) -> Arg {
        let mut argument = Arg::new(option.id)
            .long(option.key.as_str())
            .help_heading(C::HEADING.unwrap_or(option.under))
            .help(option.help.trim_end_matches('.'));
        if option.is_flag() {
            return argument.action(ArgAction::SetTrue);
        }
        argument = argument.value_name(option.placeholder);
        if C::repeats(option.id) {
            argument = argument.action(ArgAction::Append);
        }
        argument = if option.values.is_empty() {
            argument.value_parser(move |text: &str| option.check(text).map(|()| text.to_owned()))
        } else {
            argument.value_parser(PossibleValuesParser::new(option.values))
        };
        if let Some(default) = option.default {
            argument = argument.default_value(default);
        }
        let excluded = Self::options().filter(|other| option.excludes(other));
        argument = argument.conflicts_with_all(excluded.map(|other| other.id));
        match option.needs {
            Some(needed) => argument.requires(needed),
            None => argument,
        }
    }
}

impl<T: Options, C: Choice> Args for Words<T, C> {
    fn augment_args(command: Command) -> Command {
        Self::options().fold(command, |command, option| command.arg(Self::argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Options, C: Choice> FromArgMatches for Words<T, C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |option: &&OptionOf<T>| {
            matches.value_source(option.id) == Some(ValueSource::CommandLine)
        };
        let text = |option: &OptionOf<T>| {
            let is_flag = option.is_flag();
            if is_flag {
                Some("on".to_owned())
            } else {
                let given: Vec<_> = matches.get_many::<String>(option.id)?.cloned().collect();
                Some(given.join(","))
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
