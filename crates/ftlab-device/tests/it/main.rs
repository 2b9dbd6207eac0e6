//! Drives under power cuts, kills and faults, and under programs that others wrote.
#![cfg(target_os = "linux")]

mod choices;
mod common;
mod crash;
mod faults;
mod frozen;
mod fuse;
mod kill;
mod nbd_clients;
mod nvmet;
