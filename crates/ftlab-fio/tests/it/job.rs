//! One job for fio and for us.

use ftlab_fio::{JobFile, Taken, Version};
use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A job file or a log of the tests.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Requests that are compared of jobs without an end; the others are compared to their last.
const OF_ENDLESS: usize = 5_000;

/// Bytes of a drive where the job does not say.
const DRIVE_BYTES: u64 = 1 << 20;

/// All jobs, of this version.
pub(crate) fn of_version(version: Version) -> Taken {
    Taken { version: Some(version), ..Taken::default() }
}

/// A job file with a single job, maybe after some others.
pub(crate) struct Job {
    name: String,
    /// Without the others.
    alone: String,
    text: String,
    /// How many jobs come first, of a request each.
    before: usize,
}

impl Job {
    fn new(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), alone: text.clone(), text, before: 0 }
    }

    /// Puts it after `before` others, so that it has another number. They read its file.
    pub(crate) fn after(mut self, before: usize) -> Self {
        let file = self.file();
        let other = |number| {
            format!("[before-{number}]\nfilename={file}\nrw=read\nsize=100%\nnumber_ios=1\n")
        };
        let others: String = (0..before).map(other).collect();
        let own = self.alone.replacen("]\n", "]\nstonewall\n", 1);
        (self.text, self.before) = (others + &own, before);
        self
    }

    /// The job file `name` of the fixtures.
    pub(crate) fn fixture(name: &str) -> Self {
        let text = std::fs::read_to_string(fixture(&format!("{name}.fio"))).unwrap();
        Self::new(name, text)
    }

    /// Whether it is one of the job files of the fixtures.
    pub(crate) fn is_file(&self) -> bool {
        fixture(&format!("{}.fio", self.name)).exists()
    }

    /// A job with a file called `name`, by its options, with blanks between them.
    pub(crate) fn of_options(name: &str, options: &str) -> Self {
        Self::new(name, format!("[{name}]\n{}\n", options.replace(' ', "\n")))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Its text without the others.
    pub(crate) fn alone(&self) -> &str {
        &self.alone
    }

    /// The file that it writes to, as its text says.
    pub(crate) fn file(&self) -> String {
        let filename = self.text.lines().find_map(|line| line.strip_prefix("filename="));
        filename.map_or_else(|| format!("{}.0.0", self.name), str::to_owned)
    }

    /// How large that is.
    pub(crate) fn bytes(&self, version: Version) -> Result<u64, TraceError> {
        let alone = JobFile::parse_for(&self.alone, &self.name, &of_version(version))?;
        Ok(alone.drive_bytes().unwrap_or(DRIVE_BYTES))
    }

    fn jobs(&self, version: Version) -> Result<JobFile, TraceError> {
        JobFile::parse_for(&self.text, &self.name, &of_version(version))
    }

    /// How many of its requests are compared.
    pub(crate) fn most(&self, version: Version) -> Result<usize, TraceError> {
        Ok(if self.jobs(version)?.has_end() { usize::MAX } else { OF_ENDLESS })
    }

    pub(crate) fn made(&self, version: Version) -> Result<RequestBatch, TraceError> {
        self.made_in_batches(version, 8192)
    }

    /// Its requests, made in batches of `limit`.
    pub(crate) fn made_in_batches(
        &self,
        version: Version,
        limit: usize,
    ) -> Result<RequestBatch, TraceError> {
        let drive_bytes = self.jobs(version)?.drive_bytes().unwrap_or(DRIVE_BYTES);
        let most = self.most(version)?;
        let space = Space { logical_pages: drive_bytes.div_ceil(4096), page_bytes: 4096, seed: 1 };
        let mut requests = self.jobs(version)?.requests(&space)?;
        let (mut all, mut batch) = (RequestBatch::new(), RequestBatch::with_limit(limit));
        while all.len() < most && requests.fill(&mut batch)? {
            assert!(batch.len() <= limit);
            all.extend_from(&batch);
            batch.clear();
        }
        all.truncate(most);
        Ok(self.own(all))
    }

    /// What the last of the jobs issued, in a log of all.
    pub(crate) fn own(&self, all: RequestBatch) -> RequestBatch {
        if self.before == 0 {
            return all;
        }
        let mut own = RequestBatch::new();
        for (op, lba, sectors) in all.iter().skip(self.before) {
            own.push(op, lba, sectors);
        }
        own
    }
}

/// The job files of the fixtures, and the jobs of `random.txt`, by name.
pub(crate) fn fixtures() -> Vec<Job> {
    let files = std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "fio"));
    let names = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
    let mut jobs: Vec<Job> = names.map(|name| Job::fixture(&name)).collect();
    let random = std::fs::read_to_string(fixture("random.txt")).unwrap();
    jobs.extend(random.lines().map(|line| {
        let [name, before, options] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        Job::of_options(name, options).after(before.parse().unwrap())
    }));
    jobs.sort_by(|a, b| a.name.cmp(&b.name));
    jobs
}

/// Where requests differ, with those around it; `None` if they do not.
pub(crate) fn difference(ours: &RequestBatch, theirs: &RequestBatch) -> Option<String> {
    let at = ours.iter().zip(theirs.iter()).position(|(ours, theirs)| ours != theirs);
    let at = match at {
        Some(at) => at,
        None if ours.len() == theirs.len() => return None,
        None => ours.len().min(theirs.len()),
    };
    let from = at.saturating_sub(3);
    let mut text = format!("request {at} of our {} and fio's {}", ours.len(), theirs.len());
    for (name, requests) in [("ours", ours), ("fio's", theirs)] {
        write!(text, "\n{name} from {from} on:").unwrap();
        for (op, lba, sectors) in requests.iter().skip(from).take(8) {
            write!(text, " {}:{lba}+{sectors}", op.name()).unwrap();
        }
    }
    Some(text)
}
