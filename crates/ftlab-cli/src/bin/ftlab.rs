//! `ftlab`: a laboratory for flash translation layers.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: ftlab_hardware::Allocator = ftlab_hardware::Allocator;

fn main() -> ExitCode {
    ExitCode::from(ftlab_cli::run(std::env::args_os().skip(1), None))
}
