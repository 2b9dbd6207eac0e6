//! Measures how fast traces are read and generated, and checks that the answer is right: a fast
//! wrong answer is a failure. Rows: what, millions per second of CPU time on one core, whether
//! the count is right. Generators of databases run on two threads: theirs are millions per second that
//! passes. Run it in release: `cargo run --release -p ftlab-workload --example decode_speed`; a word after `--` leaves
//! out rows that do not have it in their names.
//!
//! The rows with captured traces need `FTLAB_SHARED`, a directory with `traces/` in it; they are
//! left out where there is none.

use ftlab_fio::JobFile;
use ftlab_trace::Space;
use ftlab_trace::pages::{PageSink, expand};
use ftlab_trace::{
    CreateOptions, Input, Op, OpenOptions, RequestBatch, RequestHasher, TraceError, TraceSource,
    create, open, open_input,
};
use ftlab_workload::build;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

const GENERATED_PAGES: u64 = 50_000_000;
const LINES: u64 = 3_000_000;
const REPEATS: usize = 3;

#[derive(Default)]
struct Count {
    page_writes: u64,
    /// Keeps the work from being optimised away.
    page_sum: u64,
}

impl PageSink for Count {
    fn write(&mut self, first_page: u64, pages: u64) {
        self.page_writes += pages;
        self.page_sum = self.page_sum.wrapping_add(first_page);
    }
}

/// Time on the processor, which others on the machine do not take, where Linux tells it; else time
/// that passes.
struct Clock {
    on_cpu_ns: Option<u64>,
    start: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { on_cpu_ns: Self::on_cpu_ns(), start: Instant::now() }
    }

    fn on_cpu_ns() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }

    fn seconds(&self) -> f64 {
        match (self.on_cpu_ns, Self::on_cpu_ns()) {
            (Some(start), Some(end)) => (end - start) as f64 / 1e9,
            _ => self.seconds_passed(),
        }
    }

    fn seconds_passed(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// Runs `work` a few times; prints the best rate and whether every answer was `expected`.
fn row(
    what: &str,
    unit: &str,
    expected: u64,
    mut work: impl FnMut() -> Result<u64, TraceError>,
) -> Result<bool, TraceError> {
    row_by(Clock::seconds, what, unit, expected, &mut work)
}

/// Prints a row by a time that the clock of a run tells.
fn row_by(
    seconds: impl Fn(&Clock) -> f64,
    what: &str,
    unit: &str,
    expected: u64,
    work: &mut dyn FnMut() -> Result<u64, TraceError>,
) -> Result<bool, TraceError> {
    if std::env::args().nth(1).is_some_and(|word| !what.contains(&word)) {
        return Ok(true);
    }
    let mut best_seconds = f64::INFINITY;
    let mut is_right = true;
    for _ in 0..REPEATS {
        let clock = Clock::start();
        is_right &= work()? == expected;
        best_seconds = best_seconds.min(seconds(&clock));
    }
    let rate = expected as f64 / best_seconds / 1e6;
    let answer = if is_right { "right" } else { "WRONG" };
    println!("{what:44} {rate:9.1} M {unit}/s  answer {answer}");
    Ok(is_right)
}

fn page_writes(source: &mut dyn TraceSource, limit: u64) -> Result<u64, TraceError> {
    let mut count = Count::default();
    let mut batch = RequestBatch::new();
    while count.page_writes < limit && source.next_batch(&mut batch)? {
        expand(&batch, 8, &mut count)?;
    }
    std::hint::black_box(count.page_sum);
    Ok(count.page_writes)
}

fn requests(source: &mut dyn TraceSource) -> Result<u64, TraceError> {
    let mut batch = RequestBatch::new();
    let mut count = 0;
    while source.next_batch(&mut batch)? {
        count += batch.len() as u64;
    }
    Ok(count)
}

fn generators() -> Result<bool, TraceError> {
    let mut is_right = true;
    let space = Space { logical_pages: 1 << 21, page_bytes: 4096, seed: 1 };
    let expected = GENERATED_PAGES.next_multiple_of(8192);
    for spec in [
        "uniform",
        "uniform:map=on",
        "fio-randwrite",
        "hotcold",
        "zipf:theta=0.9",
        "zipf:theta=1.1",
        "skew:x=90",
        "skewinc",
        "swap",
        "mix:of=uniform*0.3;hotcold*0.7",
        "join:of=uniform*2;hotcold*2",
    ] {
        let mut source = build(&spec.parse()?, &space)?;
        is_right &= row(&format!("generate {spec}"), "pages", expected, || {
            page_writes(source.as_mut(), GENERATED_PAGES)
        })?;
    }
    Ok(is_right & caches()? & jobs()? & databases()?)
}

/// Jobs of fio, with the pages of whole passes over the drive.
fn jobs() -> Result<bool, TraceError> {
    let mut is_right = true;
    let space = Space { logical_pages: 1 << 21, page_bytes: 4096, seed: 1 };
    let passes = GENERATED_PAGES / space.logical_pages;
    for (what, options) in [
        ("randwrite", "rw=randwrite\nrandrepeat=0"),
        ("randwrite, lfsr", "rw=randwrite\nrandom_generator=lfsr\nrandrepeat=0"),
        ("randwrite, norandommap", "rw=randwrite\nnorandommap"),
        ("zipf:0.9", "rw=randwrite\nrandom_distribution=zipf:0.9"),
        ("zoned", "rw=randwrite\nrandom_distribution=zoned:80/20:10/20:10/60"),
        ("bssplit", "rw=randwrite\nbssplit=4k/70:16k/30\nnorandommap"),
        ("write", "rw=write"),
        ("4 at once", "rw=randwrite\nnumjobs=4\niodepth=32\noffset_increment=25%\nsize=25%"),
    ] {
        let text = format!(
            "[job]\nioengine=io_uring\nfilename=/dev/drive\n{options}\ntime_based\nruntime=1\n"
        );
        let jobs = JobFile::parse(&text, what)?;
        let mut requests = jobs.requests(&space)?;
        let mut batch = RequestBatch::new();
        let pages = passes * space.logical_pages;
        is_right &= row(&format!("fio {what}"), "pages", pages, || {
            let mut count = Count::default();
            while count.page_writes < pages {
                batch.clear();
                requests.fill(&mut batch)?;
                expand(&batch, 8, &mut count)?;
            }
            // What the last batch has beyond the passes.
            Ok(pages.min(count.page_writes))
        })?;
    }
    Ok(is_right & map_is_whole()?)
}

/// Whether a pass with a random map writes each page once, in another order than the one before.
fn map_is_whole() -> Result<bool, TraceError> {
    let space = Space { logical_pages: 1 << 21, page_bytes: 4096, seed: 1 };
    let mut source = build(&"fio-randwrite".parse()?, &space)?;
    let mut batch = RequestBatch::with_limit(1 << 21);
    let mut passes = Vec::new();
    for _ in 0..2 {
        source.next_batch(&mut batch)?;
        passes.push(batch.lba.clone());
    }
    let is_new = passes[0] != passes[1];
    let are_whole = passes.iter_mut().all(|pass| {
        pass.sort_unstable();
        pass.iter().copied().eq((0..1 << 21).map(|page| page * 8))
    });
    if !(is_new && are_whole) {
        println!("fio-randwrite: a pass does not write each page once, in a new order");
    }
    Ok(is_new && are_whole)
}

/// Caches on 32 GiB of flash, whose requests have many pages or one.
fn caches() -> Result<bool, TraceError> {
    let mut is_right = true;
    let space = Space { logical_pages: 1 << 23, page_bytes: 4096, seed: 1 };
    for (spec, pages) in [
        ("cachelib", GENERATED_PAGES / 20),
        ("cachelib:soc=0.4", GENERATED_PAGES / 20),
        ("cachelib:small=0.2,large-bytes=30000", GENERATED_PAGES / 5),
        ("lmcache", GENERATED_PAGES * 2),
    ] {
        let mut source = build(&spec.parse()?, &space)?;
        is_right &= row(&format!("generate {spec}"), "pages", pages, || {
            // The last request may go beyond.
            Ok(page_writes(source.as_mut(), pages)?.min(pages))
        })?;
    }
    Ok(is_right)
}

/// The databases of the 2R paper at their full sizes: 1 to 10 GB and 2 to 30 GB.
fn databases() -> Result<bool, TraceError> {
    let mut is_right = true;
    for (spec, logical_pages, pages) in [
        // It ends after 107 M pages, fewer than all runs of this would take.
        ("tpcc", 2_621_440, GENERATED_PAGES / 2),
        ("tpcc:log=on,doublewrite=512", 2_621_440, GENERATED_PAGES),
        ("linkbench", 7_864_320, GENERATED_PAGES),
        // Where most of what it reads is not in its pool, each of its page writes takes many operations.
        ("ycsb", 2_621_440, GENERATED_PAGES / 10),
        ("lsm:wal=off", 2_621_440, GENERATED_PAGES / 10),
    ] {
        let space = Space { logical_pages, page_bytes: 4096, seed: 1 };
        let mut source = build(&spec.parse()?, &space)?;
        let mut generate = || {
            // The last request may go beyond.
            Ok(page_writes(source.as_mut(), pages)?.min(pages))
        };
        is_right &= row_by(
            Clock::seconds_passed,
            &format!("generate {spec}"),
            "pages",
            pages,
            &mut generate,
        )?;
    }
    Ok(is_right)
}

/// Page expansion and hashing alone, over one batch again and again.
fn kernels() -> Result<bool, TraceError> {
    let mut batch = RequestBatch::new();
    for request in 0..8192u64 {
        batch.push(Op::Write, request.wrapping_mul(0x9e37_79b9) % (1 << 24) * 8, 8);
    }
    let rounds = GENERATED_PAGES / 8192;
    let mut is_right = true;
    for page_sectors in [8, 24] {
        let mut count = Count::default();
        expand(&batch, page_sectors, &mut count)?;
        let expected = count.page_writes * rounds;
        is_right &=
            row(&format!("expand, {page_sectors} sectors a page"), "pages", expected, || {
                let mut count = Count::default();
                for _ in 0..rounds {
                    expand(std::hint::black_box(&batch), page_sectors, &mut count)?;
                }
                Ok(count.page_writes)
            })?;
    }
    is_right &= row("request hash (x 16 bytes)", "requests", 8192 * rounds, || {
        let mut hasher = RequestHasher::new();
        for _ in 0..rounds {
            hasher.update(&batch);
        }
        std::hint::black_box(hasher.finish());
        Ok(8192 * rounds)
    })?;
    Ok(is_right)
}

/// Text that our own writers made, read from memory.
fn text_formats() -> Result<bool, TraceError> {
    let space = Space { logical_pages: 1 << 21, page_bytes: 4096, seed: 1 };
    let directory = std::env::temp_dir().join(format!("ftlab-decode-speed-{}", std::process::id()));
    let io = |source| TraceError::Io { name: "temporary directory".into(), source };
    std::fs::create_dir_all(&directory).map_err(io)?;
    let mut is_right = true;
    for (format, map) in
        [("blkparse", None), ("fio-iolog", None), ("csv", Some("op=1,off:sectors=2,len:sectors=3"))]
    {
        let path = directory.join(format);
        let options = CreateOptions { format: Some(format.into()), ..CreateOptions::default() };
        let mut generator = build(&"uniform".parse()?, &space)?;
        ftlab_trace::convert(generator.as_mut(), create(&path, &options)?, Some(LINES))?;
        let text: &'static [u8] = std::fs::read(&path).map_err(io)?.leak();
        let options = OpenOptions { map: map.map(Into::into), ..OpenOptions::default() };
        is_right &= row(&format!("read {format} from memory"), "lines", LINES, || {
            requests(open_input(Input::from_bytes(format, text)?, &options)?.as_mut())
        })?;
    }
    std::fs::remove_dir_all(&directory).map_err(io)?;
    Ok(is_right)
}

/// A line (or record) of a format, for a page and the number of the line.
type MakeLine = fn(page: u64, number: u64) -> Vec<u8>;

/// Every format that has no writer, with lines as long as real ones have.
const FOREIGN: [(&str, MakeLine); 12] = [
    ("msr", |page, n| {
        let time = 128_166_400_000_000_000 + n * 7919;
        format!("{time},prn,1,Write,{},4096,{}\n", page * 4096, n % 90_000).into_bytes()
    }),
    ("spc", |page, n| {
        format!("3,{},4096,w,{}.{:06}\n", page * 8, n / 1000, n % 1000 * 1000).into_bytes()
    }),
    ("alibaba", |page, n| {
        format!("17,W,{},4096,{}\n", page * 4096, 1_577_900_000_000_000 + n * 97).into_bytes()
    }),
    ("tencent", |page, n| {
        format!("{},{},8,1,1063\n", 1_538_350_007 + n / 1000, page * 8 + 1).into_bytes()
    }),
    ("systor", |page, n| {
        let seconds = 1_456_140_000 + n / 1000;
        format!("{seconds}.{:09},0.000811,W,4,{},4096\n", n % 1000 * 1_000_000, page * 4096)
            .into_bytes()
    }),
    ("mqsim", |page, n| format!("{} 0 {} 8 0\n", n * 9973, page * 8).into_bytes()),
    ("disksim", |page, n| {
        format!("{}.{:06} 0 {} 8 0\n", n / 100, n % 100 * 10_000, page * 8).into_bytes()
    }),
    ("fiu", |page, n| {
        let hash = u128::from(n) * 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835 % (1 << 127);
        format!("{} 2211 imapd {} 8 W 6 0 {hash:032x}\n", n * 9973, page * 8).into_bytes()
    }),
    ("ftrace", |page, n| {
        let seconds = 2583 + n / 1000;
        format!(
            "       mariadbd-16369   [000] .....  {seconds}.{:06}: block_rq_issue: 7,2 WS 4096 () \
             {} + 8 be,0,4 [mariadbd]\n",
            n % 1000 * 1000,
            page * 8
        )
        .into_bytes()
    }),
    ("strace", |page, n| {
        let seconds = 1_795_294_609 + n / 1000;
        format!(
            "4444  {seconds}.{:06} pwrite64(3</var/lib/mysql/ibdata1>, \"\\0\\1\\2\"..., 4096, {}) = 4096\n",
            n % 1000 * 1000,
            page * 4096
        )
        .into_bytes()
    }),
    ("cloudphysics", |page, n| {
        let mut record = [1u32, 4096, 1, 0x0100_002a].map(u32::to_le_bytes).concat();
        record.extend([page * 8, n * 97].map(u64::to_le_bytes).concat());
        record
    }),
    ("blktrace", |page, n| {
        let mut record = [0x6561_7407u32, 0].map(u32::to_le_bytes).concat();
        record.extend([n * 9973, page * 8].map(u64::to_le_bytes).concat());
        record.extend([4096u32, 0x0002_0007, 551, 7 << 20, 0, 0].map(u32::to_le_bytes).concat());
        record
    }),
];

/// Foreign formats, read from memory; each must be recognised by itself or be named.
fn foreign_formats() -> Result<bool, TraceError> {
    let mut is_right = true;
    for (format, line) in FOREIGN {
        let page = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 43;
        let bytes: Vec<u8> = (0..LINES).flat_map(|n| line(page(n), n)).collect();
        let bytes: &'static [u8] = bytes.leak();
        let options = OpenOptions { format: Some(format.into()), ..OpenOptions::default() };
        is_right &= row(&format!("read {format} from memory"), "lines", LINES, || {
            requests(open_input(Input::from_bytes(format, bytes)?, &options)?.as_mut())
        })?;
    }
    Ok(is_right)
}

fn captured(shared: &Path) -> Result<bool, TraceError> {
    let mut is_right = true;
    let options = OpenOptions { need_time: false, ..OpenOptions::default() };
    for (file, expected) in [
        ("tpcc-mariadb.parquet", 23_582_882),
        ("linkbench-mariadb.parquet", 8_617_751),
        ("fio-zipf-0.9.parquet", 1_000_000),
    ] {
        let path = shared.join("traces").join(file);
        is_right &= row(&format!("read and expand {file}"), "page writes", expected, || {
            page_writes(open(&path, &options)?.as_mut(), u64::MAX)
        })?;
    }
    // The sample is short; a hundred copies in a row show the steady rate.
    let path = shared.join("traces/samples/blkparse.txt.gz");
    let mut text = Vec::new();
    let file = std::fs::File::open(&path)
        .map_err(|source| TraceError::Io { name: path.display().to_string(), source })?;
    flate2::read::MultiGzDecoder::new(file)
        .read_to_end(&mut text)
        .map_err(|source| TraceError::Io { name: path.display().to_string(), source })?;
    let lines = memchr::memchr_iter(b'\n', &text).count() as u64 * 100;
    let text: &'static [u8] = text.repeat(100).leak();
    is_right &= row("read blkparse sample x 100", "lines", lines, || {
        let mut source = open_input(Input::from_bytes("blkparse", text)?, &options)?;
        Ok(requests(source.as_mut())? + source.skipped().total())
    })?;
    Ok(is_right)
}

fn main() -> Result<(), TraceError> {
    let shared = std::env::var_os("FTLAB_SHARED").map(PathBuf::from);
    let mut is_right = kernels()? & generators()? & text_formats()? & foreign_formats()?;
    if let Some(shared) = shared.filter(|shared| shared.join("traces").is_dir()) {
        is_right &= captured(&shared)?;
    } else {
        println!("SKIPPED: no traces; set FTLAB_SHARED to the folder that holds traces and golden");
    }
    assert!(is_right, "a rate above belongs to a wrong answer");
    Ok(())
}
