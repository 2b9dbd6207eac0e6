//! The cost of a drive without a front end: CPU time of page writes, and the start of a large
//! drive after a crash. `make bench-drive`.

use ftlab_drive::{Backing, BackingFile, CreateOptions, Drive, OpenOptions, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const PAGE: usize = 4096;
const PAGES_PER_BLOCK: u32 = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir_in(std::env::args().nth(1).unwrap_or("/dev/shm".to_owned()))?;
    for ftl in ["1r-greedy", "2r++"] {
        page_writes(ftl, directory.path())?;
    }
    large_drive(directory.path())
}

/// A drive with 10% over-provisioning.
fn options(ftl: &str, gibibytes: u32) -> Result<CreateOptions, Box<dyn Error>> {
    let logical_pages = gibibytes << 18;
    let blocks = (logical_pages + logical_pages / 10).div_ceil(PAGES_PER_BLOCK);
    let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, PAGE as u32)?;
    let config = DriveConfig::new(geometry, logical_pages, 4);
    Ok(CreateOptions {
        ftl: ftl.parse()?,
        config,
        mapping: ftlab_ftl::map::Mapping::FULL,
        checkpoint_every: None,
    })
}

/// CPU time of the process, in microseconds.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Page numbers in pseudo-random order.
fn scattered(pages: u32) -> impl Iterator<Item = u64> {
    let mut bits = 1_u64;
    std::iter::repeat_with(move || {
        bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (bits >> 32) % u64::from(pages)
    })
}

/// Random writes of a page to a drive of 1 GiB: first into free blocks, then with collections.
fn page_writes(ftl: &str, directory: &Path) -> Result<(), Box<dyn Error>> {
    let path = directory.join(ftl);
    let superblock = Drive::create(&path, &options(ftl, 1)?)?;
    let drive = Drive::open(&path, OpenOptions::default())?;
    let pages = superblock.config.logical_pages;
    let mut page = [0; PAGE];
    let mut places = scattered(pages);
    for (phase, share) in [("not yet full", 1), ("collecting", 4)] {
        let (before, start, count) = (drive.snapshot(), cpu_us(), pages * share);
        for (number, place) in (0..count).zip(&mut places) {
            page[..4].copy_from_slice(&number.to_le_bytes());
            drive.write(place * PAGE as u64, &page)?;
        }
        drive.flush()?;
        let cpu = (cpu_us() - start) / f64::from(count);
        let counters = drive.snapshot().counters.since(&before.counters);
        let waf = counters.waf().unwrap_or(1.0);
        println!(
            "{ftl}, {phase}: {cpu:.2} us per page write, WAF {waf:.3}, {:.2} per program",
            cpu / waf
        );
    }
    let start = cpu_us();
    for place in scattered(pages).take(pages as usize) {
        drive.read(place * PAGE as u64, &mut page)?;
    }
    println!("{ftl}: {:.2} us per page read", (cpu_us() - start) / f64::from(pages));
    drive.close()?;
    std::fs::remove_file(path)?;
    Ok(())
}

/// A file that stores no flash pages, to measure everything else.
struct WithoutPages {
    file: BackingFile,
    pages: Range<u64>,
}

impl WithoutPages {
    fn is_page(&self, offset: u64) -> bool {
        self.pages.contains(&offset)
    }
}

impl Backing for WithoutPages {
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        if self.is_page(offset) {
            data.fill(0);
            return Ok(());
        }
        self.file.read_at(data, offset)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        if self.is_page(offset) { Ok(()) } else { self.file.write_at(data, offset) }
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn bytes(&self) -> io::Result<u64> {
        self.file.bytes()
    }
}

/// The start of a full drive of 64 GiB that was killed as late as possible after its last
/// checkpoint.
fn large_drive(directory: &Path) -> Result<(), Box<dyn Error>> {
    let options = options("2r++", 64)?;
    let path = directory.join("large");
    let superblock = Drive::create(&path, &options)?;
    let geometry = superblock.config.geometry;
    let open_with = |options| -> Result<Drive, Box<dyn Error>> {
        let file = File::options().read(true).write(true).open(&path)?;
        let pages = superblock.flash_offsets();
        let backing = WithoutPages { file: BackingFile::new(file), pages };
        Ok(Drive::open_on(Arc::new(backing), options)?)
    };
    let open = || open_with(OpenOptions::default());
    let drive = open()?;
    let pages = superblock.config.logical_pages;
    let zeros = vec![0; 1 << 20];
    for first in (0..pages / 256).map(|index| u64::from(index) << 20) {
        drive.write(first, &zeros)?;
    }
    for place in scattered(pages).take(pages as usize / 2) {
        drive.write(place * PAGE as u64, &zeros[..PAGE])?;
    }
    let start = Instant::now();
    drive.checkpoint()?;
    println!("64 GiB: a checkpoint takes {:.2} s", start.elapsed().as_secs_f64());
    let count = superblock.checkpoint_every() - 100;
    for place in scattered(pages).skip(77).take(count as usize) {
        drive.write(place * PAGE as u64, &zeros[..PAGE])?;
    }
    drive.flush()?;
    drive.write(0, &zeros[..PAGE])?;
    drive.flush()?;
    let (memory, waf) = (drive.snapshot().memory, drive.snapshot().counters.waf());
    let per_page = (memory.drive + memory.policy) as f64 / f64::from(geometry.pages());
    drive.abandon();
    search(&options, open_with)?;
    let (start, cpu) = (Instant::now(), cpu_us());
    let drive = open()?;
    println!(
        "64 GiB: {per_page:.2} bytes of memory per flash page; started in {:.2} s ({:.2} s of processor \
         time) after {} operations (WAF so far {:.2})",
        start.elapsed().as_secs_f64(),
        (cpu_us() - cpu) / 1e6,
        drive.recovery().repeated,
        waf.unwrap_or(1.0),
    );
    drive.close()?;
    let (start, cpu) = (Instant::now(), cpu_us());
    open()?.close()?;
    println!(
        "64 GiB: started in {:.2} s ({:.2} s of CPU time) after it was closed",
        start.elapsed().as_secs_f64(),
        (cpu_us() - cpu) / 1e6
    );
    Ok(())
}

/// Opens the drive as if another FTL had placed its pages.
fn search(
    options: &CreateOptions,
    open: impl Fn(OpenOptions) -> Result<Drive, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (start, cpu) = (Instant::now(), cpu_us());
    let ftl = Some(options.ftl.clone());
    let drive = open(OpenOptions { ftl, read_only: true, ..OpenOptions::default() })?;
    println!(
        "64 GiB: every page found in {:.2} s ({:.2} s of processor time); at most {} MiB of memory so far",
        start.elapsed().as_secs_f64(),
        (cpu_us() - cpu) / 1e6,
        peak_kib()? >> 10,
    );
    drop(drive);
    Ok(())
}

/// The most memory that the process has taken.
fn peak_kib() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other("no VmHWM in /proc/self/status"))
}
