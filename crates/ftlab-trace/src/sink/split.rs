//! One trace into a file for each of its volumes.

use super::{
    Converted, CreateOptions, Part, TraceSink, Written, create, open_part, refuse_same_file,
};
use crate::{Layout, OpenOptions, RequestBatch, TraceError, TraceSource, volumes};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Requests of a volume that are gathered before they go to its file.
const GATHERED: usize = 1024;
/// Requests of a volume that Parquet gathers: a thousand volumes take about 300 MB.
const GROUP_ROWS: usize = 1 << 14;

/// Opens `from` and writes the requests of each volume of `part` of it to a file of its own: of `to`
/// with the name of the volume before its ending, as in `trace.prn_1.parquet`.
pub fn split_file(
    from: &Path,
    open_options: &OpenOptions,
    to: &Path,
    format: Option<&str>,
    part: &Part,
) -> Result<Converted, TraceError> {
    let open_options = OpenOptions { layout: Layout::Keep, ..open_options.clone() };
    let (mut source, options) = open_part(from, &open_options, format, part)?;
    let options = CreateOptions { group_rows: Some(GROUP_ROWS), ..options };
    let mut split = Split { from, to, options, files: FxHashMap::default() };
    let mut batch = RequestBatch::new();
    let mut taken = 0;
    let limit = part.requests_max.unwrap_or(u64::MAX);
    while taken < limit && source.next_batch(&mut batch)? {
        batch.truncate(usize::try_from(limit - taken).unwrap_or(usize::MAX));
        split.add(&batch, source.as_ref())?;
        taken += batch.len() as u64;
    }
    if taken == 0 {
        let format = source.metadata().format.clone();
        return Err(TraceError::NothingToWrite { format, taken });
    }
    let (written, volumes) = split.finish()?;
    Ok(Converted { written, skipped: source.skipped().clone(), volumes })
}

struct Split<'a> {
    from: &'a Path,
    to: &'a Path,
    options: CreateOptions,
    files: FxHashMap<u32, VolumeFile>,
}

struct VolumeFile {
    name: String,
    path: PathBuf,
    gathered: RequestBatch,
    sink: Box<dyn TraceSink>,
}

impl Split<'_> {
    fn add(&mut self, batch: &RequestBatch, source: &dyn TraceSource) -> Result<(), TraceError> {
        if batch.volume.len() != batch.len() {
            return Err(TraceError::Unsupported {
                what: format!("{} has no volumes to split by", self.options.metadata.format),
                remedy: "leave out --split".into(),
            });
        }
        for (index, volume) in batch.volume.iter().enumerate() {
            if !self.files.contains_key(volume) {
                let file = self.create(*volume, source)?;
                self.files.insert(*volume, file);
            }
            let file = self.files.get_mut(volume).expect("created above");
            file.gathered.push_from(batch, index);
            if file.gathered.is_full() {
                file.write()?;
            }
        }
        Ok(())
    }

    fn create(&self, volume: u32, source: &dyn TraceSource) -> Result<VolumeFile, TraceError> {
        let name = volumes::name(source.volumes(), volume);
        let mut path = path_of(self.to, &name);
        // Names that differ in letters that a path cannot have get the number as well.
        if self.files.values().any(|file| file.path == path) {
            path = path_of(self.to, &format!("{name}-{volume}"));
        }
        refuse_same_file(self.from, &path)?;
        let mut options = self.options.clone();
        options.metadata.properties.insert("converted_volume".into(), name.clone());
        let sink = create(&path, &options).map_err(|error| self.too_many(error))?;
        Ok(VolumeFile { name, path, gathered: RequestBatch::with_limit(GATHERED), sink })
    }

    /// Says more of an error if it is that too many files are open.
    fn too_many(&self, error: TraceError) -> TraceError {
        const TOO_MANY_OPEN_FILES: i32 = 24;
        match &error {
            TraceError::Io { source, .. } if source.raw_os_error() == Some(TOO_MANY_OPEN_FILES) => {
                TraceError::Unsupported {
                    what: format!("more than {} volumes are open at once", self.files.len()),
                    remedy: "choose some with --volume, or raise the limit with `ulimit -n`".into(),
                }
            }
            _ => error,
        }
    }

    /// Completes every file; totals, and the names of the volumes in order of their numbers.
    fn finish(self) -> Result<(Written, Vec<String>), TraceError> {
        let mut total = Written::default();
        let mut files: Vec<_> = self.files.into_iter().collect();
        files.sort_unstable_by_key(|(volume, _)| *volume);
        let mut names = Vec::new();
        for (_, mut file) in files {
            file.write()?;
            let written = file.sink.finish()?;
            total.requests += written.requests;
            for (op, count) in written.left_out {
                *total.left_out.entry(op).or_default() += count;
            }
            names.push(file.name);
        }
        Ok((total, names))
    }
}

impl VolumeFile {
    fn write(&mut self) -> Result<(), TraceError> {
        self.gathered.volume.clear();
        self.sink.write(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }
}

/// `to` with the name of a volume before its ending; `/` and the like become `_`.
fn path_of(to: &Path, volume: &str) -> PathBuf {
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let safe: String = volume.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    let dot = if ending.is_empty() { "" } else { "." };
    to.with_file_name(format!("{stem}.{safe}{dot}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_stands_in_front_of_the_ending() {
        let path = |to: &str, volume: &str| path_of(Path::new(to), volume).display().to_string();
        assert_eq!(path("d/t.parquet", "prn_1"), "d/t.prn_1.parquet");
        assert_eq!(path("t.csv.gz", "8,16"), "t.8_16.csv.gz");
        assert_eq!(path("t", "/d/a b"), "t._d_a_b");
    }
}
