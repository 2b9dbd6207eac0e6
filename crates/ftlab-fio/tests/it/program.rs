//! The fio that is installed.

use crate::job::Job;
use ftlab_fio::Version;
use ftlab_spec::Value;
use ftlab_trace::{Op, RequestBatch};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What is said of a fio that does not end.
pub(crate) const ENDLESS: &str = "fio does not end";

/// How long jobs take at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// A fio whose version is one of ours.
pub(crate) struct Program {
    path: OsString,
    pub(crate) version: Version,
}

impl Program {
    /// That of `FTLAB_FIO`, or else of the path; `None`, said aloud, if there is none, or another version.
    pub(crate) fn installed() -> Option<Self> {
        let path = std::env::var_os("FTLAB_FIO").unwrap_or_else(|| "fio".into());
        let Ok(output) = Command::new(&path).arg("--version").output() else {
            skip("fio is not installed (make setup-drive)");
            return None;
        };
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let Some(version) = Version::of_program(&said) else {
            skip(&format!("{said} is installed, which is not {}", Version::expects()));
            return None;
        };
        Some(Self { path, version })
    }

    /// The requests that fio logs of a job; what went wrong if it failed.
    pub(crate) fn logged(&self, job: &Job) -> Result<RequestBatch, String> {
        let folder = folder();
        self.run(job, folder.path(), &["--write_iolog=log"])?;
        let mut all = requests(&folder.path().join("log"))?;
        all.truncate(job.most(self.version).map_err(|error| error.to_string())?);
        Ok(job.own(all))
    }

    /// The requests that fio logs of jobs that run at once, each as if it came after those before it.
    pub(crate) fn logged_at_once(&self, jobs: &[Job]) -> Result<Vec<RequestBatch>, String> {
        let folder = folder();
        let text = jobs.iter().enumerate().fold(String::new(), |text, (number, job)| {
            self.make_file(job, folder.path());
            text + job.alone() + "write_iolog=log" + &number.to_string() + "\n"
        });
        self.run_text(&text, folder.path(), &[])?;
        (0..jobs.len())
            .map(|number| requests(&folder.path().join(format!("log{number}"))))
            .collect()
    }

    /// What fio says of a job, with more arguments.
    pub(crate) fn run(
        &self,
        job: &Job,
        folder: &Path,
        arguments: &[&str],
    ) -> Result<String, String> {
        self.make_file(job, folder);
        self.run_text(job.text(), folder, arguments)
    }

    /// A file that is there, without data.
    fn make_file(&self, job: &Job, folder: &Path) {
        let drive = std::fs::File::create(folder.join(job.file())).unwrap();
        drive.set_len(job.bytes(self.version).unwrap()).unwrap();
    }

    fn run_text(&self, text: &str, folder: &Path, arguments: &[&str]) -> Result<String, String> {
        std::fs::write(folder.join("job.fio"), text).unwrap();
        let said = folder.join("said");
        let out = std::fs::File::create(&said).unwrap();
        let mut child = Command::new(&self.path)
            .current_dir(folder)
            // Jobs are threads, so that none outlives the program.
            .args(["--thread", "--eta=never"])
            .args(arguments)
            .arg("job.fio")
            .stdout(Stdio::from(out.try_clone().unwrap()))
            .stderr(Stdio::from(out))
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(ENDLESS.into());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let said = std::fs::read(&said).unwrap();
        let said = String::from_utf8_lossy(&said).into_owned();
        if status.success() { Ok(said) } else { Err(said) }
    }
}

/// A folder in memory, where there is one: flushes take long elsewhere.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn skip(reason: &str) {
    // Not `eprintln!`, which is shown only if the test fails.
    std::io::stderr().write_all(format!("SKIPPED: {reason}\n").as_bytes()).unwrap();
}

/// The requests of a log.
fn requests(path: &Path) -> Result<RequestBatch, String> {
    let log = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut all = RequestBatch::new();
    for line in log.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let op = match fields.get(2) {
            Some(&"write") => Op::Write,
            Some(&"read") => Op::Read,
            Some(&"trim") => Op::Trim,
            Some(&("sync" | "datasync")) => Op::Flush,
            _ => continue,
        };
        let bytes = |index: usize| fields[index].parse::<u64>().unwrap();
        let (offset, length) = if op == Op::Flush { (0, 0) } else { (bytes(3), bytes(4)) };
        if !offset.is_multiple_of(512) || !length.is_multiple_of(512) {
            return Err(format!("no whole sectors: {line}"));
        }
        all.push(op, offset / 512, (length / 512) as u32);
    }
    Ok(all)
}
