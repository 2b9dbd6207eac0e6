//! A sample of the pages of a workload, which writes to a smaller drive as the whole writes to its own.
//!
//! A page is in a sample with all of its writes, or not at all. Pages are sorted by how often they are written, then by
//! address, and every n-th is taken: so hot and cold pages, and all areas, have their share. The pages that are written
//! most are no matter of luck: n of them together are one page of the sample, which is written at every n-th of their
//! writes.
//!
//! [`PageWrites`] counts the writes of all pages in a first pass. [`Samples`] draws any number of samples, which a
//! second pass fills; a [`Sample`] then is a source of requests, as often as wanted.

mod counts;
mod draw;
mod source;

pub use counts::{PageWrites, Reach};
pub use draw::{Draw, Samples};
pub use source::{Sample, SampleSource};
