//! Servers under programs that others wrote.
#![cfg(target_os = "linux")]

mod fuse;
mod nbd_clients;
mod nvmet;
mod programs;
