//! `ftlab record` on real devices, file systems and databases. Needs root, loop devices, tracefs,
//! strace and databases; each test says what it lacks and passes without it.
#![cfg(feature = "record")]

mod devices;
mod on_devices;
mod on_directories;
mod signals;
mod wrong;
