//! `ftlab`: a laboratory for flash translation layers.

#![forbid(unsafe_code)]

use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: ftlab_memory::Allocator = ftlab_memory::Allocator;

fn main() -> ExitCode {
    // A file that would become too large is then an error, which says more than a signal. Commands that
    // are recorded are not affected. Where this fails, it is a signal.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    ExitCode::from(ftlab_cli::run(std::env::args_os().skip(1), None))
}
