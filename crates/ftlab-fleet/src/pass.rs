//! One pass over every trace: each is decoded once, and its requests are set apart by volume.

use crate::inputs::InputFile;
use ftlab_experiments::{ExperimentsError, lock, parallel};
use ftlab_trace::{
    Input, Layout, OpenOptions, RequestBatch, SkippedLines, TraceError, TraceSource, open_input,
    replace_file, room,
};
use ftlab_volumes::{FleetSource, PartWriter, Share, Spread, generated, generator_version};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file that says what is to be run, beside the parts.
pub const MANIFEST: &str = "manifest.json";

/// How traces are read, and into what.
pub(crate) struct Pass<'a> {
    /// Where the parts are.
    pub(crate) directory: &'a Path,
    pub(crate) options: &'a OpenOptions,
    pub(crate) threads: usize,
    /// Memory for requests that wait to be written, of all threads.
    pub(crate) waiting_bytes: u64,
    /// Whether what is wrong with a trace ends everything.
    pub(crate) strict: bool,
}

/// A trace that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Read {
    pub(crate) input: InputFile,
    /// What decides how it is read.
    options: String,
    /// Its format with parameters.
    pub(crate) format: String,
    /// Size of the drive that it was taken from, where it says so.
    pub(crate) device_bytes: Option<u64>,
    /// Whether its requests name volumes.
    pub(crate) has_volumes: bool,
    /// Lines that were passed over.
    pub(crate) skipped: Vec<SkippedLines>,
    /// What is wrong with it; requests before that are kept.
    pub(crate) problem: Option<String>,
    /// Bytes of its parts.
    pub(crate) part_bytes: u64,
    pub(crate) volumes: Vec<Share>,
}

/// Is told how many traces have been read, of how many, and which share of the present one.
pub(crate) type OnRead<'a> = &'a (dyn Fn(usize, usize, f64) + Sync);

/// Batches between two reports.
const TOLD_EVERY: u32 = 64;

impl Pass<'_> {
    /// Reads every trace, several at a time; what was read before and has not changed is not read again.
    pub(crate) fn run(
        &self,
        inputs: &[InputFile],
        on_read: OnRead<'_>,
    ) -> Result<Vec<Read>, ExperimentsError> {
        fs::create_dir_all(self.directory)
            .map_err(|error| ExperimentsError::not_kept(self.directory, &error))?;
        let threads = self.threads.clamp(1, inputs.len().max(1));
        let waiting = (self.waiting_bytes / threads as u64).max(1 << 16);
        let numbered: Vec<_> = inputs.iter().enumerate().collect();
        let (done, failed) = (Mutex::new(0), Mutex::new(false));
        let told = |share| on_read(*lock(&done), inputs.len(), share);
        let reads = parallel(threads, &numbered, |(number, input)| {
            if *lock(&failed) {
                return Ok(None);
            }
            let read = self.read(*number, input, waiting, &told);
            *lock(&failed) |= read.is_err();
            *lock(&done) += 1;
            told(0.0);
            read.map(Some)
        });
        let reads: Result<Vec<_>, _> = reads.into_iter().collect();
        Ok(reads?.into_iter().flatten().collect())
    }

    fn read(
        &self,
        number: usize,
        input: &InputFile,
        waiting: u64,
        told: &dyn Fn(f64),
    ) -> Result<Read, ExperimentsError> {
        let index = self.directory.join(format!("{number:05}.json"));
        let options = self.told_options();
        if let Some(read) = kept(&index, &part_path(self.directory, number), input, &options) {
            return Ok(read);
        }
        let read = self.decode(number, input, options, waiting, told).inspect_err(|_| {
            // What is not whole is of no use; where that fails, it is written over.
            let _ = fs::remove_file(part_path(self.directory, number));
        })?;
        if let Some(problem) = read.problem.as_ref().filter(|_| self.strict) {
            return Err(ExperimentsError::Store {
                path: input.path.clone(),
                message: format!("{problem}; without --strict it is named, and the rest is run"),
            });
        }
        let text = serde_json::to_string(&read)
            .map_err(|error| ExperimentsError::store(&index, &error))?;
        replace_file(&index, |file| file.write_all(text.as_bytes()))?;
        Ok(read)
    }

    /// What decides how traces are read: threads and memory do not.
    fn told_options(&self) -> String {
        let OpenOptions {
            format, map, page_bytes, skip_bad_percent, volumes, assume_write, ..
        } = self.options;
        let versions = (ftlab_trace::format::VERSION, generator_version());
        format!(
            "{versions:?} {format:?} {map:?} {page_bytes} {skip_bad_percent} {volumes:?} {assume_write}"
        )
    }

    fn decode(
        &self,
        number: usize,
        input: &InputFile,
        options: String,
        waiting: u64,
        told: &dyn Fn(f64),
    ) -> Result<Read, ExperimentsError> {
        let reading = OpenOptions {
            layout: Layout::Keep,
            volumes: Vec::new(),
            need_time: true,
            ..self.options.clone()
        };
        let mut read = Read {
            input: input.clone(),
            options,
            format: String::new(),
            device_bytes: None,
            has_volumes: false,
            skipped: Vec::new(),
            problem: None,
            part_bytes: 0,
            volumes: Vec::new(),
        };
        let opened = match generated(&input.path) {
            Some(spec) => spec.and_then(|spec| Ok(Box::new(FleetSource::new(&spec)?) as Box<_>)),
            None => Input::open(&input.path).and_then(|input| open_input(input, &reading)),
        };
        let mut source = match opened {
            Ok(source) => source,
            Err(error) => return Ok(Read { problem: Some(error.to_string()), ..read }),
        };
        read.format.clone_from(&source.metadata().format);
        // What was planned before is of the parts that are written over.
        let _ = fs::remove_file(self.directory.with_file_name(MANIFEST));
        let parts = PartWriter::create(&part_path(self.directory, number)).map_err(unwritten)?;
        let own_name = own_name(&input.path);
        let mut spread = Spread::new(parts, waiting as usize, &self.options.volumes, own_name);
        read.problem = spread_all(source.as_mut(), &mut spread, &mut read.has_volumes, told)?;
        read.device_bytes = source.metadata().device_bytes.filter(|_| !read.has_volumes);
        read.skipped = source.skipped().iter().cloned().collect();
        (read.volumes, read.part_bytes) = spread.finish().map_err(unwritten)?;
        Ok(read)
    }
}

/// Reads a trace to its end, or to what is wrong with it.
fn spread_all(
    source: &mut dyn TraceSource,
    spread: &mut Spread<'_>,
    has_volumes: &mut bool,
    told: &dyn Fn(f64),
) -> Result<Option<String>, ExperimentsError> {
    let mut batch = RequestBatch::new();
    let mut batches = 0_u32;
    loop {
        match source.next_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                if is_whole(&batch) {
                    spread.add(&batch, source.volumes()).map_err(unwritten)?;
                }
                return Ok(Some(error.to_string()));
            }
        }
        *has_volumes |= !batch.volume.is_empty();
        spread.add(&batch, source.volumes()).map_err(unwritten)?;
        batches = batches.wrapping_add(1);
        if batches.is_multiple_of(TOLD_EVERY) {
            told(source.progress().unwrap_or(0.0));
        }
    }
}

/// Whether every request of a batch has all that others have: a reader may have ended in the middle of it.
fn is_whole(batch: &RequestBatch) -> bool {
    let optional = [batch.time_us.len(), batch.stream.len(), batch.volume.len()];
    let own = [batch.lba.len(), batch.sectors.len()];
    let requests = batch.len();
    own.iter().all(|len| *len == requests) && optional.iter().all(|len| [0, requests].contains(len))
}

/// Parts cannot be written: what was read whole before is kept.
fn unwritten(error: TraceError) -> ExperimentsError {
    match error {
        TraceError::NotWritten { name, source, .. } | TraceError::Io { name, source } => {
            let remedy = room(&source).map_or_else(String::new, |room| {
                format!("; traces that were read whole are kept; {room}, and repeat the command")
            });
            ExperimentsError::Store { path: name.into(), message: format!("{source}{remedy}") }
        }
        error => error.into(),
    }
}

/// The file with the requests of a trace.
pub(crate) fn part_path(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("{number:05}.part"))
}

/// What the volume of a trace without volumes is called: the name of the file, without its endings.
fn own_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let known = [".gz", ".zst", ".lz4", ".bz2", ".xz", ".csv", ".txt", ".log", ".parquet"];
    let mut rest = name.as_str();
    while let Some(shorter) = known.iter().find_map(|ending| rest.strip_suffix(ending)) {
        rest = shorter;
    }
    if rest.is_empty() { name } else { rest.to_owned() }
}

/// What is kept of a trace that was read before, if it is still the same.
fn kept(index: &Path, part: &Path, input: &InputFile, options: &str) -> Option<Read> {
    let text = fs::read_to_string(index).ok()?;
    let read: Read = serde_json::from_str(&text).ok()?;
    let is_known = input.stamp.is_some() || generated(&input.path).is_some();
    let is_same = is_known && read.input == *input && read.options == options;
    let has_part = || fs::metadata(part).is_ok_and(|file| file.len() == read.part_bytes);
    // What was wrong may have been put right.
    (is_same && read.problem.is_none() && has_part()).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::inputs;

    const LINES: &str = "3,W,0,4096,1577900000000001\n5,W,8192,4096,1577900000000002\n3,R,4096,512,1577900000000003\n";

    fn pass(place: &Path, names: &[PathBuf], strict: bool) -> Result<Vec<Read>, ExperimentsError> {
        let options = OpenOptions { format: Some("alibaba".into()), ..OpenOptions::default() };
        let parts = place.join("parts");
        let pass = Pass {
            directory: &parts,
            options: &options,
            threads: 2,
            waiting_bytes: 1 << 20,
            strict,
        };
        pass.run(&inputs(names).unwrap().0, &|_, _, _| ())
    }

    #[test]
    fn a_trace_is_read_once_and_what_is_wrong_is_named() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("a.csv"), LINES).unwrap();
        fs::write(at("b.csv"), LINES.replace("3,R", "3,X")).unwrap();
        let names = [at("a.csv"), at("b.csv"), at("absent.csv")];
        let reads = pass(place.path(), &names, false).unwrap();
        let volumes = |read: &Read| read.volumes.iter().map(|of| of.requests).collect::<Vec<_>>();
        assert_eq!(volumes(&reads[0]), [[1, 0, 0, 1], [1, 0, 0, 0]]);
        assert!(reads[0].problem.is_none() && reads[0].has_volumes);
        assert_eq!(volumes(&reads[1]), [[1, 0, 0, 0], [1, 0, 0, 0]], "what comes before stays");
        assert!(reads[1].problem.as_ref().unwrap().contains("b.csv, line 3"));
        assert!(reads[2].problem.as_ref().unwrap().contains("absent.csv"));
        let part = part_path(&at("parts"), 0);
        let written = fs::metadata(&part).unwrap().modified().unwrap();
        assert_eq!(pass(place.path(), &names, false).unwrap(), reads);
        assert_eq!(fs::metadata(&part).unwrap().modified().unwrap(), written, "not read again");
        let error = pass(place.path(), &names, true).unwrap_err().to_string();
        assert!(error.contains("without --strict"), "{error}");
    }

    #[test]
    fn a_trace_without_volumes_is_one_with_its_name() {
        for (path, name) in
            [("x/a.csv.gz", "a"), ("a.b.parquet", "a.b"), (".csv", ".csv"), ("-", "-")]
        {
            assert_eq!(own_name(Path::new(path)), name);
        }
    }
}
