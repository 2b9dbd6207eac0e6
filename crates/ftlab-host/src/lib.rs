//! Hosts above an FTL, which is above a chip: what they ask for, when, and how long they wait.
//!
//! The [`Chip`](ftlab_flash::Chip) below the FTL has the clock, and says of each page when it is complete. A [`Host`]
//! passes time on that clock, and lets the FTL write pages.
//!
//! # When a host write arrives
//! In a closed loop, when one of the `queue-depth` page writes before it is complete; the first ones
//! at once. In an open loop, at the time of its request. Reads, trims and flushes of the host take no
//! time.
//!
//! # Requests
//! With `unit=request` the host waits for requests instead: a request lasts from its arrival to the end
//! of the last of its pages, all of which are asked for when it arrives. Reads count too: a page is read
//! from the LUN that it is on, after whatever that LUN was asked for before; a page that holds nothing
//! takes a transfer to the host, and no LUN or channel. Trims and flushes change tables only, and take no
//! time. Filling the drive is not part of it: the first request finds all LUNs at rest.
//!
//! With `unit=transaction` these are requests of the threads of a database's clients, which the caller simulates.
//!
//! While no request is under way and all LUNs are at rest, the FTL may do work of its own, up to the next arrival.
//!
//! # What requests wait for
//! With `waits=on`, the time of each request is divided by what the page of it waited for that is complete last:
//! that is what the request waited for. A LUN that has nothing to do but is kept for an operation that waits is
//! busy with that, or with what that waits for; so is a channel. A host write waits for a collection until all
//! pages are moved, and from there to the end of the erase for that.
//!
//! ```
//! use ftlab_flash::{Geometry, Lpn, NoPayload};
//! use ftlab_ftl::{PageBatch, page::DriveConfig, registry};
//! use ftlab_host::{Host, Timing};
//!
//! let drive = DriveConfig::new(Geometry::new(28, 16, 4096)?, 256, 4);
//! let timing = Timing::from_spec(&"slc:queue-depth=2".parse()?)?;
//! let flash = timing.over(NoPayload, &drive.geometry);
//! let mut host = Host::new(&timing, flash.chip(), &drive.geometry);
//! let mut ftl = registry::build_boxed(&"1r-greedy".parse()?, drive, flash, ())?;
//! let writes = (0..256).map(Lpn).collect();
//! host.write_pages(&mut *ftl, &PageBatch { writes, ..PageBatch::default() }, &[])?;
//! // One LUN, and 200 us for each page; the second page waits for the first.
//! let measured = host.measured(ftl.flash());
//! assert_eq!(measured.elapsed_ns, 256 * 200_000);
//! assert_eq!(measured.response_times.max_ns(), 400_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod arrivals;
mod by;
mod finishing;
mod groups;
mod host;
mod host_op;
mod idle;
mod interval;
mod interval_times;
mod length;
mod measured;
mod page_host;
mod parameters;
mod presets;
mod quiet;
mod request_part;
mod requests;
mod response_times;
mod responses;
mod serve;
mod slowest;
mod timing;
mod wait_times;
mod watch;
mod weights;
mod write_buffer;

pub use arrivals::Arrival;
pub use by::By;
pub use groups::{Asker, Group, GroupTimes};
pub use host::{Awaited, Host, HostedFlash, Step};
pub use host_op::HostOp;
pub use interval::Interval;
pub use measured::Measured;
pub use page_host::PageHost;
pub use parameters::{Arrivals, TimingParameters, Unit};
pub use presets::{TIMINGS, TimingPreset};
pub use request_part::RequestPart;
pub use requests::RequestTimes;
pub use response_times::{ResponseTimeRecorder, ResponseTimes};
pub use slowest::SlowRequest;
pub use timing::Timing;
pub use wait_times::{Alike, WaitTimes};
pub use weights::Weights;
pub use write_buffer::{Acknowledgement, BufferCounts, BufferedWrite, WriteBuffer};
