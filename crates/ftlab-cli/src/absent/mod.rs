//! What this binary was built without: it tells how to build it.

#[cfg(not(feature = "lab"))]
pub(crate) mod files;

use crate::error::CliError;
use std::ffi::OsString;

/// Commands, the cargo feature of `ftlab-cli` that each needs, and whether it is on.
const COMMANDS: [(&str, &str, bool); 18] = [
    ("advise", "lab", cfg!(feature = "lab")),
    ("compare", "lab", cfg!(feature = "lab")),
    ("convert", "lab", cfg!(feature = "lab")),
    ("curve", "lab", cfg!(feature = "lab")),
    ("fit", "lab", cfg!(feature = "lab")),
    ("fleet", "lab", cfg!(feature = "lab")),
    ("inspect", "lab", cfg!(feature = "lab")),
    ("model", "lab", cfg!(feature = "lab")),
    ("report", "lab", cfg!(feature = "lab")),
    ("reproduce", "lab", cfg!(feature = "lab")),
    ("start", "lab", cfg!(feature = "lab")),
    ("sweep", "lab", cfg!(feature = "lab")),
    ("teach", "lab", cfg!(feature = "lab")),
    ("tune", "lab", cfg!(feature = "lab")),
    ("drive", "live", cfg!(feature = "live")),
    ("record", "record", cfg!(feature = "record")),
    ("completions", "completions", cfg!(feature = "completions")),
    ("man", "completions", cfg!(feature = "completions")),
];

/// The error of using `what`, which needs a cargo feature of `ftlab-cli`.
pub(crate) fn absent(what: &str, feature: &str) -> CliError {
    CliError::usage(format!(
        "{what} is not part of this binary, which was built without the feature {feature:?}; \
         build it with `make build`, or `cargo build --release --features ftlab-cli/{feature}`"
    ))
}

/// The error of a command, or of asking for help with it, that this binary lacks.
pub(crate) fn absent_command(typed: &[OsString]) -> Option<CliError> {
    let word = match typed {
        [first, second, ..] if first == "help" => second,
        [first, ..] => first,
        [] => return None,
    };
    let lacks = |(name, _, is_built): &&(&str, &str, bool)| !is_built && word == *name;
    let (name, feature, _) = COMMANDS.iter().find(lacks)?;
    Some(absent(&format!("ftlab {name}"), feature))
}

/// The lines of `examples` whose commands are there, and the names of those that are not.
pub(crate) fn without_absent(examples: &str) -> String {
    let is_absent = |name: &str| COMMANDS.iter().any(|(of, _, is_built)| !is_built && *of == name);
    let command = |line: &str| line.trim_start().split(' ').nth(1).unwrap_or_default().to_owned();
    let lines = examples.lines().filter(|line| !is_absent(&command(line)));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    let absent: Vec<_> =
        COMMANDS.iter().map(|(name, ..)| *name).filter(|name| is_absent(name)).collect();
    if !absent.is_empty() {
        text += "\n\nNot part of this binary (`make build` has all): ";
        text += &absent.join(", ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_command_names_its_feature_and_the_remedy() {
        let error = format!("{:?}", absent("ftlab drive", "live"));
        assert!(
            error.contains("ftlab drive is not part") && error.contains("ftlab-cli/live"),
            "{error}"
        );
    }

    #[test]
    fn a_command_is_absent_if_its_feature_is_off() {
        for (name, _, is_built) in COMMANDS {
            for typed in [vec![name], vec!["help", name], vec![name, "--help"]] {
                let typed: Vec<_> = typed.into_iter().map(OsString::from).collect();
                assert_eq!(absent_command(&typed).is_none(), is_built, "{typed:?}");
            }
            let example = format!("  ftlab {name} x");
            assert_eq!(without_absent(&example).contains(&example), is_built, "{name}");
        }
        assert!(absent_command(&["run".into(), "convert".into()]).is_none());
    }
}
