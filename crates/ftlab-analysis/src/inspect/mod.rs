//! What is found out about a workload before it runs, or without a run.

mod coverage;
mod footprint;
mod frozen;
mod hints;
mod inspection;
mod intervals;
mod requests;
mod sample;
mod sequentiality;
mod sizes;
mod stack_distances;
mod temperature;

pub use coverage::Coverage;
pub use footprint::{Footprint, FootprintPoint};
pub use frozen::{FrozenPoint, frozen};
pub use hints::{HintCounter, HintValue, StreamLives};
pub use inspection::{
    InspectOptions, Inspection, Inspections, Inspector, LogWindow, PartSummary, inspect, schema,
};
pub use intervals::{IntervalQuantile, IntervalShare, IntervalSummary, Intervals};
pub use requests::{Operations, RequestCounter, RequestSummary};
pub use sample::{Draw, PageWrites, Reach, Sample, SampleSource, Samples};
pub use sequentiality::{SequentialCounter, SequentialShare, Sequentiality};
pub use sizes::{SizeBucket, SizeSummary, Sizes};
pub use stack_distances::StackDistances;
pub use temperature::{Temperature, TemperatureBin, TemperatureClass};
