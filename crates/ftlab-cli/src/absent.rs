//! Commands that this binary was built without: they tell how to build them.

use crate::error::CliError;
use clap::Args;

/// Accepts any arguments.
#[derive(Debug, Args)]
pub(crate) struct AbsentArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}

/// The error of using `what`, which needs a cargo feature of `ftlab-cli`.
pub(crate) fn absent(what: &str, feature: &str) -> CliError {
    CliError::usage(format!(
        "{what} is not part of this binary, which was built without the feature {feature:?}; \
         build it with `make build`, or `cargo build --release --features ftlab-cli/{feature}`"
    ))
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
}
