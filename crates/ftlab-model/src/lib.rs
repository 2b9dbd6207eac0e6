//! Closed forms of write amplification: what theory says before anything is simulated.
//!
//! Over-provisioning is given as `op_ratio` = (physical - logical) / logical, so that
//! alpha = physical / logical = 1 + `op_ratio`; blocks that the FTL holds in reserve are not part of
//! the physical pages.
//!
//! ```
//! // Uniform writes on a drive with 17.6% over-provisioning (15% of the flash is spare).
//! let fifo = ftlab_model::uniform::fifo(0.1765);
//! let greedy = ftlab_model::uniform::greedy(0.1765, 64);
//! assert!((fifo - 3.52).abs() < 0.01 && (greedy - 3.35).abs() < 0.01);
//! ```

#![forbid(unsafe_code)]

pub mod exhaustive;
pub mod hot_cold;
mod lambert;
mod root;
pub mod split;
pub mod uniform;
