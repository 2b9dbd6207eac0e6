//! Streams of files by their names.

use std::fmt;
use std::str::FromStr;

/// The stream of the files that a pattern matches, such as `*.sst=1` or `wal/=2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStream {
    pattern: String,
    stream: u16,
}

impl FileStream {
    /// Whether a file has this stream: its name if the pattern has no slash, or else its path below the directory that is
    /// recorded. A pattern that ends with a slash matches all files below such a directory.
    fn matches(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        match self.pattern.strip_suffix('/') {
            Some(directory) => path
                .match_indices('/')
                .any(|(at, _)| is_match(directory.as_bytes(), &path.as_bytes()[..at])),
            None if self.pattern.contains('/') => {
                is_match(self.pattern.as_bytes(), path.as_bytes())
            }
            None => {
                let name = path.rsplit('/').next().unwrap_or(path);
                is_match(self.pattern.as_bytes(), name.as_bytes())
            }
        }
    }
}

impl fmt::Display for FileStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.stream)
    }
}

impl FromStr for FileStream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=').filter(|(pattern, _)| !pattern.is_empty());
        let parsed = parts.and_then(|(pattern, stream)| {
            Some(Self { pattern: pattern.to_owned(), stream: stream.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            format!(
                "{text:?} is not PATTERN=STREAM with a stream of 0 to 65535; give *.log=2 for files of this name, \
                 or wal/=1 for all below a directory"
            )
        })
    }
}

/// The stream of the file at `path`, below the directory: that of the first pattern that matches, or else 0.
pub(crate) fn stream_of(streams: &[FileStream], path: &str) -> u16 {
    streams.iter().find(|of| of.matches(path)).map_or(0, |of| of.stream)
}

/// Whether `text` is as the pattern says, in which `*` is any text and `?` any byte.
fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut in_text) = (0, 0);
    // The last star, and where the text after it begins as far as it was tried.
    let mut star = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((star_at, tried)) = star else { return false };
                star = Some((star_at, tried + 1));
                (at, in_text) = (star_at + 1, tried + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_stream_of_the_first_pattern_that_matches() {
        let streams = ["*.sst=1", "db/??????.log=2", "wal/=3", "a=b=4", "*=5"];
        let streams = streams.map(|text| text.parse::<FileStream>().unwrap());
        for (path, stream) in [
            ("/000012.sst", 1),
            ("/db/x/000012.sst", 1),
            ("/db/000007.log", 2),
            ("/wal/deep/7", 3),
            ("/a=b", 4),
            ("/walnut", 5),
            ("/other/db/000007.log", 5),
        ] {
            assert_eq!(stream_of(&streams, path), stream, "{path}");
        }
        assert_eq!(stream_of(&streams[..3], "/db/LOCK"), 0);
    }

    #[test]
    fn stars_match_as_much_as_they_have_to() {
        for (pattern, text, is) in [
            ("*", "", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("*.l?g", "x.log", true),
            ("*.l?g", "x.lg", false),
            ("", "x", false),
            ("**a", "bca", true),
        ] {
            assert_eq!(is_match(pattern.as_bytes(), text.as_bytes()), is, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_no_pattern_says_what_is_right() {
        for text in ["*.sst", "*.sst=", "=1", "*.sst=65536", "*.sst=x"] {
            let error = text.parse::<FileStream>().unwrap_err();
            assert!(error.contains("PATTERN=STREAM") && error.contains("wal/=1"), "{error}");
        }
    }
}
