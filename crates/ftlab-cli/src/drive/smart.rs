//! `ftlab drive smart`.

use super::token::TokenArgs;
use crate::error::CliError;
use crate::output::{print, print_json};
use clap::Args;
use ftlab_serve::Smart;
use ftlab_serve::http::get_json;

/// Shows the health of a drive that is served with --http, with the names of `nvme smart-log` and
/// `nvme ocp smart-add-log`.
#[derive(Debug, Args)]
pub(crate) struct SmartArgs {
    /// The address of its dashboard, such as http://127.0.0.1:8080.
    url: String,
    #[command(flatten)]
    token: TokenArgs,
    /// Writes JSON to standard output, with the names of nvme-cli's JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn smart(args: &SmartArgs) -> Result<(), CliError> {
    let smart: Smart = get_json(&args.url, "/api/smart", args.token.token()?.as_deref())?;
    if args.json {
        return print_json(&smart);
    }
    let mut text = format!("Smart Log for ftlab drive: {}\n", args.url);
    for (name, value) in smart.lines() {
        text.extend([&format!("{name:<36}: "), value.as_str(), "\n"]);
    }
    print(&text)
}
