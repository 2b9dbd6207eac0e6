//! Drives under power cuts, kills and faults.
#![cfg(target_os = "linux")]

mod choices;
mod common;
mod crash;
mod faults;
mod frozen;
mod kill;
