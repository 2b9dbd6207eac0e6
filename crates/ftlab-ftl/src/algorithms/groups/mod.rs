//! Groups of pages of one temperature, over-provisioned by what that saves: Wolf, and FDP-Freq, which
//! shares all but the choice of victims.

mod allocation;
mod detector;
mod fdp_freq;
mod group;
mod grouped;
mod levelling;
mod life;
mod membership;
mod movement;
mod surplus;
mod wolf;

pub use fdp_freq::FdpFreq;
pub use wolf::Wolf;
