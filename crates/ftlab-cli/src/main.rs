//! The ftlab command.
fn main() {}
