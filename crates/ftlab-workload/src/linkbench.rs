//! `linkbench`: a social graph that grows, as its page writes reach the drive.
//!
//! # Idea
//! The load and the requests of LinkBench with the mix and the skew of its Facebook workload, row by row on
//! tables and indexes of real sizes; a buffer pool decides which page writes come of it.
//!
//! - nodes are appended, and updated in place;
//! - links are inserted in two orders, that of the table and that of its index by time; an update is a
//!   change in one and a deletion and an insertion in the other, which is purged later;
//! - a count of links is updated whenever a link comes or is hidden;
//! - a node may have 20 times the links that it was loaded with, or one if it had none: what is there
//!   already is changed and not added, and what has been hidden or deleted is not again (`state`);
//! - most nodes have a link or two, and few have most of the links (`degrees`): these are many pages that
//!   are hardly written, because a node is drawn no more often for having many;
//! - nodes are drawn by Zipf distributions; those drawn most lie scattered (`shuffle`).
//!
//! # Rule
//! The initial database takes `start` of the drive; how many nodes that are follows from the sizes of rows.
//! It is loaded as LinkBench does it, through the buffer pool (`load`): ten loaders take chunks of nodes from
//! the last to the first, and insert links in batches. Then requests run one by one over what `database`
//! describes (`requests`), reads included, because they take places in the pool. When the database has grown
//! to `end` of the drive, the sequence ends.
//!
//! # Parameters
//! What describes a setup: sizes as shares of the initial database or of the drive, and what else is on
//! the drive. The defaults are those of the 2R paper as far as it says: its trace is of MySQL 5.7.2, which
//! writes twice, and has one thread that purges, against all clients that make what is to be purged;
//! `page=4` is InnoDB's 16 KiB.
//!
//! # What is simplified
//! Rows have their mean sizes. Leaves are where they are at the end of the load: they do not split while
//! rows are loaded. Nodes that are made later have no links, and a node that is deleted leaves its place
//! empty. Links that are added to a node come after those that it was loaded with, in the order in which
//! they are added. Purging follows a thousand changes later, or never (`purge=off`). See `database` for what happens below.
//!
//! # Reference
//! T. G. Armstrong et al., "LinkBench: a Database Benchmark Based on the Facebook Social Graph", SIGMOD
//! 2013, and the benchmark's FBWorkload.properties (request mix, exponents of the distributions). Kang et
//! al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 2020, section 5.1.

mod degrees;
mod inputs;
mod load;
mod requests;
mod shuffle;
mod state;
mod tables;

use super::database::{Benchmark, Layout, Setup, Sizes};
use super::generator::{End, GeneratorInfo, Make};
use super::requests::Stepped;
use super::sequence::PageSequence;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use requests::LinkBench;

ftlab_spec::parameters! {
    /// The setup.
    pub struct LinkBenchParameters {
        /// Share of the drive that the initial database takes, log and double-write area included.
        start: f64 = 0.07, "start" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1: from 2 GB to 30 GB";
        /// Share of the drive that the database grows to.
        end: f64 = 1.0, "end" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1";
        /// Share of the initial database that is for undo records of the load: it is written by the load, as
        /// far as they need it, and never again.
        idle: f64 = 0.0, "idle" in 0.0..=0.9, from "our choice";
        ..setup: Setup, except {
            page = 1, "page", from "2R (PVLDB 2020), section 5.1: 4 KB; InnoDB: 16 KiB";
            log = true, "log", from "our reading: the drive has the whole of MySQL";
            log_size = 0.06, "log-size", from "our choice";
            doublewrite = 512, "doublewrite", from "InnoDB: 2 MiB";
        };
        /// Whether undo records and entries marked as deleted are purged; off keeps all that requests make, as
        /// when the purge does not keep up with many clients.
        purge: bool = false, "purge", from "our reading of 2R (PVLDB 2020): see docs/workloads.md";
        /// Whether requests follow the load; off ends the sequence with it.
        requests: bool = true, "requests", from "our choice";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "linkbench",
    summary: "a social graph that grows, behind a buffer pool; ends when it has grown",
    source: "LinkBench (SIGMOD 2013); 2R (PVLDB 2020), section 5.1",
    parameters: LinkBenchParameters::describe,
    version: 1,
    end: End::Always,
    make: Make::Parameters {
        resolve: LinkBenchParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let LinkBenchParameters { start, end, idle, setup, purge, requests } =
        LinkBenchParameters::from_spec(spec)?;
    let sizes = Sizes { start, end, idle, added: true };
    let load = |pages, layout: &Layout, files, random| {
        LinkBench::new(pages, layout, files, random, requests, purge)
    };
    let benchmark = Benchmark::new("linkbench", &sizes, &setup, space, load)?;
    Ok(Box::new(Stepped::new(benchmark)))
}
