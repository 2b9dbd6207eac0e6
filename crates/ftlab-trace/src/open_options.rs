//! How a trace is to be read.

use crate::TraceError;
use ftlab_spec::Spec;

/// What is done with the addresses of several volumes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// A second volume is an error, unless the volumes of the format belong together (SPC, strace):
    /// those lie side by side.
    #[default]
    ByFormat,
    /// Addresses stay as they are, with the number of the volume beside them.
    Keep,
    /// The address space of every volume is cut into pieces of this many bytes, and each piece has
    /// its place in the order in which a request first touches it. Large pieces lay volumes side by
    /// side; small ones also leave out what is never touched.
    Pieces(u64),
}

impl Layout {
    /// Volumes side by side: pieces of 1 GiB.
    pub const SIDE_BY_SIDE: Self = Self::Pieces(1 << 30);
}

/// How the bytes of a file become requests: format, columns, volumes, what may be wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenOptions {
    /// `NAME` or `NAME:key=value,...` of a [format](crate::format::FORMATS); by content if `None`.
    pub format: Option<String>,
    /// Columns of a CSV file; see [`mod@crate::format::csv`]. Implies `format` "csv".
    pub map: Option<String>,
    /// Bytes per page, for formats that count in pages.
    pub page_bytes: u32,
    /// Percentage of lines that may be wrong; they are counted and passed over.
    pub skip_bad_percent: f64,
    /// Whether the caller looks at times. Readers may leave `time_us` empty where this is off.
    pub need_time: bool,
    /// Volumes to keep, by name; all if empty.
    pub volumes: Vec<String>,
    /// What is done with the addresses of several volumes.
    pub layout: Layout,
    /// Takes every request of a format without operations for a write. Implies `format`
    /// "oracle-general".
    pub assume_write: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            format: None,
            map: None,
            page_bytes: 4096,
            skip_bad_percent: 0.0,
            need_time: true,
            volumes: Vec::new(),
            layout: Layout::ByFormat,
            assume_write: false,
        }
    }
}

impl OpenOptions {
    /// The format that is asked for, if one is.
    pub(crate) fn format_spec(&self) -> Result<Option<Spec>, TraceError> {
        let implied = [("csv", self.map.is_some()), ("oracle-general", self.assume_write)];
        let implied = implied.into_iter().find(|(_, is_implied)| *is_implied);
        let mut spec = match (&self.format, implied) {
            (None, None) => return Ok(None),
            (None, Some((name, _))) => Spec::bare(name),
            (Some(text), _) => text.parse()?,
        };
        if let Some(map) = &self.map {
            add(&mut spec, "--map", ("csv", "map"), map.replace(',', ";"))?;
        }
        if self.assume_write {
            add(&mut spec, "--assume-write", ("oracle-general", "assume-write"), "on".into())?;
        }
        Ok(Some(spec))
    }
}

/// Adds what an option says to the parameters of the format that it belongs to.
fn add(
    spec: &mut Spec,
    option: &str,
    (format, key): (&str, &str),
    value: String,
) -> Result<(), TraceError> {
    if spec.name != format || spec.get(key).is_some() {
        return Err(TraceError::Unsupported {
            what: format!("{option} cannot be combined with --format {spec}"),
            remedy: format!("use {option} with --format {format} or alone"),
        });
    }
    spec.arguments.push((key.into(), value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_for_csv_only() {
        let options = |format: Option<&str>| OpenOptions {
            format: format.map(Into::into),
            map: Some("off=1,len=2".into()),
            ..OpenOptions::default()
        };
        let spec = options(None).format_spec().unwrap().unwrap();
        assert_eq!(spec.to_string(), "csv:map=off=1;len=2");
        let error = options(Some("blkparse")).format_spec().unwrap_err().to_string();
        assert!(error.contains("use --map with --format csv or alone"), "{error}");
    }
}
