//! The token of a dashboard: from a file or the environment, never from the command line, which every
//! user of the machine can read.

use crate::error::CliError;
use clap::Args;
use std::path::PathBuf;

const VARIABLE: &str = "FTLAB_TOKEN";

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The file with the token of the dashboard, which clients must send; the environment variable
    /// FTLAB_TOKEN sets it too. Required if other machines can reach the dashboard.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenArgs {
    pub(crate) fn token(&self) -> Result<Option<String>, CliError> {
        let Some(path) = &self.token_file else {
            return Ok(std::env::var(VARIABLE).ok().filter(|token| !token.is_empty()));
        };
        let wrong = |why: &str| CliError::usage(format!("--token-file {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
        match text.trim() {
            "" => {
                Err(wrong("the file is empty; write a token into it, as openssl rand -hex 16 does"))
            }
            token => Ok(Some(token.to_owned())),
        }
    }
}
