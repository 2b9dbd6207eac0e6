//! The command, as users type it: all that the feature `lab` brings.
#![cfg(feature = "lab")]

mod common;
mod curve;
mod docs_site;
mod drive;
mod drive_hostile;
mod drive_programs;
mod drive_serve;
mod errors;
mod figures;
mod fio;
mod fit;
mod fleet;
mod full_disk;
mod hints;
mod inspect;
mod limits;
mod model;
mod nvme_guest;
mod other_commands;
mod paths;
mod record;
mod report;
mod reproduce;
mod reuse;
mod run;
mod scoreboard;
mod sweep;
mod teach;
mod tune;
mod written_by;
mod written_files;
