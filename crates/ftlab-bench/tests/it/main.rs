//! What holds of the whole workspace: its packages, and the files of each.

mod architecture;
mod file_circles;
mod packages;
mod packaging;
