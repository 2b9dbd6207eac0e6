//! Which `--timing` explains the latency of a real drive under load.
//!
//! What each number tells: the median of reads at a light load the command, the read and the transfer; the tail of reads
//! how programs are suspended; how both grow with the load, how busy LUNs are and what comes first on them; the writes a
//! second of a saturated drive its write amplification, and so its over-provisioning; the median of writes the command,
//! if they end in a buffer. The time of a program follows from the rate of sequential writes, which the data sheet states.
//!
//! A drive is simulated in a small copy that has its LUNs, for each load by itself ([`LoadQuestion::simulate`]). The search
//! ([`LoadQuestion::answer`]) changes times and over-provisioning by damped least squares, and what is a choice one by one.
//! Every load is also predicted by a search that does not know it.

mod answer;
mod fio;
mod inputs;
mod measured;
mod model;
mod search;
mod simulated;

pub use answer::{Accuracy, LatencyFit, LoadRow, Off, Told};
pub use measured::{LatencyTimes, MeasuredLoad, MeasuredLoads};
pub use model::DataSheet;
pub use simulated::{LoadDrive, LoadQuestion, SimulatedLoad, USUAL_PAGES_OF_LUN, USUAL_READS};
