//! Where the writes come from.

use crate::SimError;
use crate::drive::Logical;
use crate::parameters::named;
use crate::sizing::{Origin, Wanted};
use ftlab_ftl::registry::OracleGroup;
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::Space;
use ftlab_trace::{
    AddressRange, Layout, OpenOptions, TraceError, TraceSource, address_range, address_range_of,
    open,
};
use ftlab_workload::fio::JobFile;
use ftlab_workload::{GENERATORS, SideBySide};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

/// A trace, a generator, or what a program holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Workload {
    /// A file of requests; `-` is standard input.
    Trace {
        /// Where it is.
        path: PathBuf,
        /// How it is read; the page size is that of the drive.
        options: OpenOptions,
    },
    /// Requests that are made up, without end or until a database has grown.
    Generator(Spec),
    /// Requests that a program holds, instead of a file.
    Requests(Requests),
    /// A trace side by side with itself, for a drive that is larger than its own.
    Copies(Box<Copies>),
}

/// A trace side by side with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Copies {
    /// The trace.
    pub(crate) of: Workload,
    trace: SideBySide,
    /// Pages of the drive that the copies fill.
    pages: u64,
    /// Decides which pages of copies continue the history of which others.
    seed: u64,
}

impl Copies {
    /// Copies of a trace whose drive has `own_pages`, as many as fill a drive of `least` pages.
    pub(crate) fn new(
        of: &Workload,
        page_bytes: u32,
        [own_pages, least]: [u64; 2],
        seed: u64,
    ) -> Result<Self, SimError> {
        let opened = of.clone();
        let open = move || {
            let source = opened.open_trace(page_bytes, false);
            let source = source.map_err(|error| io_error(&opened, &error))?;
            source.ok_or_else(|| TraceError::Unsupported {
                what: format!("{}, which is no trace,", opened.name()),
                remedy: "give a trace".into(),
            })
        };
        let trace = SideBySide::new(of.name(), page_bytes, open)?;
        let pages = least.div_ceil(own_pages.max(1)).max(1) * trace.drive_pages();
        Ok(Self { of: of.clone(), trace, pages, seed })
    }

    /// Pages of the drive that they fill.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// How many there are.
    pub(crate) fn number(&self) -> u64 {
        self.pages / self.trace.drive_pages()
    }

    /// The trace as it was read.
    pub(crate) fn trace(&self) -> &SideBySide {
        &self.trace
    }

    /// What tells them from those of the same trace on other drives.
    pub(crate) fn identity(&self) -> String {
        format!("side by side on {} pages, seed {}", self.pages, self.seed)
    }

    /// Their requests, from the first.
    pub fn open(&self, page_bytes: u32) -> Result<Box<dyn TraceSource>, TraceError> {
        self.trace.open(&Space { logical_pages: self.pages, page_bytes, seed: self.seed })
    }
}

/// An error as whoever reads requests can be told.
pub(crate) fn io_error(workload: &Workload, error: &SimError) -> TraceError {
    TraceError::Io { name: workload.name(), source: std::io::Error::other(error.to_string()) }
}

type Open = dyn Fn() -> Result<Box<dyn TraceSource>, TraceError> + Send + Sync;

/// Requests that a program holds; they are a trace for every purpose.
#[derive(Clone)]
pub struct Requests {
    name: String,
    is_read_once: bool,
    /// What tells them from any other, if they were read from traces.
    identity: Option<String>,
    /// One past their highest sector, if that is known without reading them.
    end_sector: Option<u64>,
    open: Arc<Open>,
}

impl Requests {
    /// Requests that `open` hands out from the first to the last, whenever it is called; or only the
    /// first time, and then `is_read_once`.
    pub fn new(
        name: impl Into<String>,
        is_read_once: bool,
        open: impl Fn() -> Result<Box<dyn TraceSource>, TraceError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            is_read_once,
            identity: None,
            end_sector: None,
            open: Arc::new(open),
        }
    }

    /// They as requests that were read from traces; `identity` tells them from any other, so that they are not read to
    /// find out.
    #[must_use]
    pub fn of_traces(self, identity: String) -> Self {
        Self { identity: Some(identity), ..self }
    }

    /// They with one past their highest sector, so that they are not read to find out.
    #[must_use]
    pub fn up_to(self, end_sector: u64) -> Self {
        Self { end_sector: Some(end_sector), ..self }
    }

    /// What tells them from any other, if they were read from traces.
    pub(crate) fn identity(&self) -> Option<&String> {
        self.identity.as_ref()
    }

    /// The requests, from the first.
    pub fn open(&self) -> Result<Box<dyn TraceSource>, TraceError> {
        (self.open)()
    }
}

impl PartialEq for Requests {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.open, &other.open)
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Workload {
    /// What `text` stands for: a path that ends in .fio, or a command such as `fio --name=a --rw=randwrite`, is the
    /// generator of its jobs; `-`, a path that exists, or a text with a path separator is a trace, anything else a
    /// generator such as `zipf:theta=0.9`.
    pub fn parse(text: &str, options: OpenOptions) -> Result<Self, SimError> {
        let path = Path::new(text);
        if let Some(spec) = ftlab_workload::fio::of_command(text).filter(|_| !path.exists()) {
            return Self::of_jobs(spec, options);
        }
        let name = text.split(':').next().unwrap_or(text);
        let is_generator = GENERATORS.iter().any(|info| info.name == name);
        let separated = text.contains(['/', MAIN_SEPARATOR]);
        if text == "-" || (separated && !is_generator) || path.exists() || is_job_file(path) {
            return Self::file(path, options);
        }
        let unknown = || SimError::UnknownWorkload {
            text: text.into(),
            generators: GENERATORS.iter().map(|info| info.name.to_owned()).collect(),
        };
        if !is_generator {
            return Err(unknown());
        }
        let spec: Spec = text.parse()?;
        if ftlab_workload::fio::is_jobs(&spec) {
            return Self::of_jobs(spec, options);
        }
        refuse_trace_options(text, &options)?;
        // Wrong parameters are found here, whatever the size of the drive will be.
        ftlab_workload::check(&spec)?;
        Ok(Self::Generator(spec))
    }

    /// The trace at `path`, or, if that ends in .fio, the generator of its jobs.
    pub fn file(path: &Path, options: OpenOptions) -> Result<Self, SimError> {
        if !is_job_file(path) {
            return Ok(Self::Trace { path: path.into(), options });
        }
        let file = path.display().to_string();
        Self::of_jobs(Spec { name: "fio".into(), arguments: vec![("file".into(), file)] }, options)
    }

    /// The jobs of fio that a spec names; of those of several devices, the jobs of one.
    fn of_jobs(spec: Spec, mut options: OpenOptions) -> Result<Self, SimError> {
        let spec = match std::mem::take(&mut options.volumes).as_slice() {
            [] => spec,
            [device] => ftlab_workload::fio::with(&spec, "device", device),
            [first, ..] => {
                return Err(SimError::Unusable {
                    what: "jobs of several devices, each a drive of its own".into(),
                    remedy: format!("give --volume once, as in --volume {first}"),
                });
            }
        };
        refuse_trace_options(&spec.to_string(), &options)?;
        // Wrong parameters and jobs are found here, whatever the size of the drive will be.
        ftlab_workload::check(&spec)?;
        Ok(Self::Generator(spec))
    }

    /// The workload on drives that are simulated instead of one of `capacity` bytes: jobs of fio that name sizes in
    /// bytes shrink them with the drive, and so do zones. All other generators follow the drive by themselves.
    pub fn of_capacity(&self, capacity: u64) -> Result<Self, SimError> {
        let Self::Generator(spec) = self else { return Ok(self.clone()) };
        let of_zones = ftlab_workload::zones::of_capacity(spec, capacity);
        if let Some(scaled) = of_zones.or_else(|| ftlab_workload::zipf::of_capacity(spec, capacity))
        {
            return Ok(Self::Generator(scaled));
        }
        let Some(jobs) = self.jobs()? else { return Ok(self.clone()) };
        if jobs.capacity().is_some() || !jobs.has_sizes() {
            return Ok(self.clone());
        }
        Ok(Self::Generator(ftlab_workload::fio::with(spec, "capacity", ByteSize(capacity))))
    }

    /// Its name for messages and results.
    pub fn name(&self) -> String {
        match self {
            Self::Trace { path, .. } => path.display().to_string(),
            Self::Generator(spec) => {
                ftlab_workload::fio::command(spec).map_or_else(|| spec.to_string(), str::to_owned)
            }
            Self::Requests(requests) => requests.name.clone(),
            Self::Copies(copies) => copies.of.name(),
        }
    }

    /// Every parameter of a generator with its value, given or by default; `None` for a trace.
    pub(crate) fn parameters(&self) -> Result<Option<BTreeMap<String, String>>, SimError> {
        let Self::Generator(spec) = self else { return Ok(None) };
        Ok(Some(named(ftlab_workload::resolve(spec)?)))
    }

    /// What an oracle may be told of a generator; nothing of a trace.
    pub(crate) fn oracle(&self, space: &Space) -> Result<Vec<OracleGroup>, SimError> {
        let Self::Generator(spec) = self else { return Ok(Vec::new()) };
        let share = |pages: u64| pages as f64 / space.logical_pages as f64;
        let areas = ftlab_workload::areas(spec, space)?.into_iter();
        Ok(areas
            .map(|area| OracleGroup { pages: share(area.pages), writes: area.writes })
            .collect())
    }

    /// Whether its requests may begin or end within a page, as far as its name tells.
    pub(crate) fn may_write_parts(&self) -> bool {
        const WHOLE: [&str; 7] =
            ["uniform", "zipf", "hotcold", "skew", "skewinc", "skewdec", "zones"];
        match self {
            Self::Generator(spec) => !WHOLE.contains(&spec.name.as_str()),
            Self::Trace { .. } | Self::Requests(_) | Self::Copies(_) => true,
        }
    }

    /// Whether it is a generator.
    pub fn is_generator(&self) -> bool {
        matches!(self, Self::Generator(_))
    }

    /// Whether it cannot be read a second time: standard input, or a pipe.
    pub fn is_read_once(&self) -> bool {
        match self {
            Self::Trace { path, .. } => path == Path::new("-") || is_pipe(path),
            Self::Generator(_) => false,
            Self::Requests(requests) => requests.is_read_once,
            Self::Copies(copies) => copies.of.is_read_once(),
        }
    }

    /// The pages of the smallest drive for it, if it is a generator that tells: the jobs of a job file do.
    pub fn own_pages(&self, page_bytes: u32) -> Result<Option<u64>, SimError> {
        let Self::Generator(spec) = self else { return Ok(None) };
        let bytes = ftlab_workload::drive_bytes(spec)?;
        Ok(bytes.map(|bytes| bytes.div_ceil(u64::from(page_bytes.max(1)))))
    }

    /// The jobs of fio that it is, if it is a job file.
    pub(crate) fn jobs(&self) -> Result<Option<JobFile>, SimError> {
        let Self::Generator(spec) = self else { return Ok(None) };
        Ok(ftlab_workload::fio::jobs(spec)?)
    }

    /// Whether it ends by itself.
    pub fn has_end(&self) -> Result<bool, SimError> {
        match self {
            Self::Trace { .. } | Self::Requests(_) | Self::Copies(_) => Ok(true),
            Self::Generator(spec) => Ok(ftlab_workload::has_end(spec)?),
        }
    }

    /// Opens the trace; `None` for a generator, which needs to know the drive first.
    pub fn open_trace(
        &self,
        page_bytes: u32,
        need_time: bool,
    ) -> Result<Option<Box<dyn TraceSource>>, SimError> {
        match self {
            Self::Trace { path, options } => {
                let options = OpenOptions { need_time, ..reading(options, page_bytes) };
                Ok(Some(open(path, &options)?))
            }
            Self::Requests(requests) => Ok(Some(requests.open()?)),
            Self::Copies(copies) => Ok(Some(copies.open(page_bytes)?)),
            Self::Generator(_) => Ok(None),
        }
    }

    /// The generator's requests for this drive, or those of the trace.
    pub fn generate(&self, space: &Space) -> Result<Box<dyn TraceSource>, SimError> {
        Ok(match self {
            Self::Generator(spec) => ftlab_workload::build_to_write(spec, space)?,
            Self::Trace { path, options } => open(path, &reading(options, space.page_bytes))?,
            Self::Requests(requests) => requests.open()?,
            Self::Copies(copies) => copies.open(space.page_bytes)?,
        })
    }

    /// The logical size: as asked, or else of the trace's device, or else from a first pass over the
    /// trace for its highest address.
    pub(crate) fn logical_size(
        &self,
        logical: Logical,
        page_bytes: u32,
        source: Option<&dyn TraceSource>,
    ) -> Result<Wanted, SimError> {
        let asked = |bytes| Ok(Wanted { bytes, origin: Origin::Asked });
        match logical {
            Logical::Bytes(size) => return asked(u128::from(size.0)),
            Logical::Pages(pages) => return asked(u128::from(pages) * u128::from(page_bytes)),
            Logical::OfWorkload => {}
        }
        if let Self::Generator(spec) = self {
            if let Some(bytes) = ftlab_workload::drive_bytes(spec)? {
                return Ok(Wanted { bytes: u128::from(bytes), origin: Origin::Jobs });
            }
            return Err(SimError::Unusable {
                what: format!("the generator {} has no size of its own", self.name()),
                remedy: "give the drive's: --logical 8GiB, or --logical-pages 2097152".into(),
            });
        }
        if let Some(bytes) = source.and_then(|source| source.metadata().device_bytes) {
            return Ok(Wanted { bytes: u128::from(bytes), origin: Origin::Device });
        }
        let range = self.address_range(page_bytes)?;
        let bytes = u128::from(range.end_sector) * u128::from(ftlab_trace::pages::SECTOR_BYTES);
        if bytes == 0 {
            return Err(SimError::NoWrites { name: self.name() });
        }
        Ok(Wanted { bytes, origin: Origin::HighestAddress })
    }

    /// The last page that a trace uses, from a pass over it; none if that is not possible.
    pub(crate) fn last_page(&self, page_bytes: u32) -> Option<u64> {
        if self.is_generator() || self.is_read_once() {
            return None;
        }
        let bytes = self.address_range(page_bytes).ok()?.device_bytes()?;
        bytes.div_ceil(u64::from(page_bytes)).checked_sub(1)
    }

    /// The addresses of a trace, from a first pass over it.
    fn address_range(&self, page_bytes: u32) -> Result<AddressRange, SimError> {
        let what = match self {
            Self::Trace { path, options } if path != Path::new("-") => {
                return Ok(address_range(path, &reading(options, page_bytes))?);
            }
            Self::Requests(Requests { end_sector: Some(end_sector), .. }) => {
                return Ok(AddressRange { end_sector: *end_sector, ..AddressRange::default() });
            }
            Self::Requests(requests) if !requests.is_read_once => {
                return Ok(address_range_of(requests.open()?.as_mut())?);
            }
            Self::Copies(copies) => {
                return Ok(address_range_of(copies.open(page_bytes)?.as_mut())?);
            }
            Self::Requests(requests) => requests.name.clone(),
            Self::Trace { .. } | Self::Generator(_) => "standard input".into(),
        };
        Err(SimError::Unusable {
            what: format!("{what} can be read once only, and the drive's size comes first"),
            remedy: "give it: --logical 8GiB, or --logical-pages 2097152".into(),
        })
    }
}

/// Whether a file is one of fio's job files, by its name.
pub(crate) fn is_job_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fio"))
}

/// A file that is there, and is neither a regular file nor a directory.
fn is_pipe(path: &Path) -> bool {
    path.exists() && !path.is_file() && !path.is_dir()
}

/// What says how a trace is read says nothing of a generator.
fn refuse_trace_options(generator: &str, options: &OpenOptions) -> Result<(), SimError> {
    let given = [
        ("--format", options.format.is_some()),
        ("--map", options.map.is_some()),
        ("--skip-bad", options.skip_bad_percent > 0.0),
        ("--assume-write", options.assume_write),
        ("--volume", !options.volumes.is_empty()),
        ("--side-by-side or --compact", options.layout != Layout::ByFormat),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(SimError::Unusable {
            what: format!("{option} is for traces, and {generator} is a generator"),
            remedy: format!("leave out {option}, or name a file"),
        }),
    }
}

fn reading(options: &OpenOptions, page_bytes: u32) -> OpenOptions {
    OpenOptions { page_bytes, need_time: false, ..options.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Workload, String> {
        Workload::parse(text, OpenOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn paths_win_over_generators() {
        assert!(!parse("-").unwrap().is_generator());
        assert!(!parse("./uniform").unwrap().is_generator());
        assert!(!parse("Cargo.toml").unwrap().is_generator(), "it exists");
        assert!(parse("zipf:theta=1.1").unwrap().is_generator());
    }

    #[test]
    fn a_job_file_is_a_generator_that_may_know_its_size_and_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.fio");
        let of = |text: &str| {
            std::fs::write(&path, text).unwrap();
            parse(&path.display().to_string())
        };
        let known = of("[a]\nrw=randwrite\nsize=10k\n").unwrap();
        assert!(known.is_generator() && known.has_end().unwrap());
        assert_eq!(known.own_pages(4096).unwrap(), Some(3));
        let open = of("[a]\nrw=randwrite\ntime_based\nruntime=1\n").unwrap();
        assert!(!open.has_end().unwrap() && open.own_pages(4096).unwrap().is_none());
        let error = of("[a]\nrw=randwrite\nzonemode=zbd\n").unwrap_err();
        assert!(error.contains("line 3: zonemode: zones of the drive"), "{error}");
        let error = parse("absent.fio").unwrap_err();
        assert!(error.contains("absent.fio"), "{error}");
    }

    #[test]
    fn a_command_of_fio_is_a_generator_whose_name_can_be_typed_again() {
        let command = "fio --name=a --filename=/dev/d --rw=randwrite --bssplit=4k/50,8k/50 --size=";
        let bytes = parse(&format!("{command}10m")).unwrap();
        assert!(bytes.is_generator() && bytes.name() == format!("{command}10m"));
        let scaled = bytes.of_capacity(1_000_000_000).unwrap();
        assert_eq!(scaled.name(), format!("fio:capacity=1000000000B,command={command}10m"));
        for workload in [&bytes, &scaled] {
            assert_eq!(parse(&workload.name()).as_ref(), Ok(workload));
        }
        assert_eq!(scaled.of_capacity(5).unwrap(), scaled, "it has one");
        let percent = parse(&format!("{command}50%")).unwrap();
        assert_eq!(percent.of_capacity(5).unwrap(), percent);
        let device = OpenOptions { volumes: vec!["d".into()], ..OpenOptions::default() };
        let device = Workload::parse(&bytes.name(), device).unwrap();
        assert_eq!(device.name(), format!("fio:device=d,command={command}10m"));
        for (text, part) in [
            ("fio", "give it or a command"),
            ("fio:command=ls -l", "a command of fio"),
            ("fio:file=a.fio,command=fio --name=a", "give it or a command"),
            ("fio --name=a --zonemode=zbd", "argument 2: zonemode: zones"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn wrong_names_and_parameters_say_what_is_right() {
        let error = parse("zipff").unwrap_err();
        assert!(error.contains("did you mean \"zipf\"") && error.contains("./zipff"), "{error}");
        let error = parse("zipf:theta=x").unwrap_err();
        assert_eq!(error, "zipf: theta=x is not a number");
        let error = parse("hotcold:hot=1").unwrap_err();
        assert!(error.contains("it has writes, pages"), "{error}");
    }
}
