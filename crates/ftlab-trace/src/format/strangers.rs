//! What content looks like that no format reads: by name, with what to do about it.

/// Files by how they begin, what they are, and what to do.
const FILES: [(&[u8], &str, &str); 12] = [
    (b"PERFILE2", "a recording of perf", "print it as text: perf script -i FILE"),
    (b"\x17\x08Dtracing", "a recording of trace-cmd", "print it as text: trace-cmd report FILE"),
    (
        b"SQLite format 3\0",
        "a database of SQLite",
        "write its table as CSV: sqlite3 -header -csv FILE \"select ...\"",
    ),
    (
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file",
        "write its table as Parquet or CSV, such as with pandas",
    ),
    (b"ARROW1\0\0", "a file of Arrow", "write it as Parquet, such as with pyarrow"),
    (b"ORC", "an ORC file", "write it as Parquet, such as with pyarrow"),
    (b"Obj\x01", "an Avro file", "write it as Parquet or CSV"),
    (b"\xd4\xc3\xb2\xa1", "a capture of network packets", "take a trace of block requests"),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS instead of the file",
        "fetch the file: git lfs pull",
    ),
    (b"<!DOCTYPE", "a page of the web", "check what was downloaded"),
    (b"<html", "a page of the web", "check what was downloaded"),
    (b"<?xml", "XML", "write its table as CSV"),
];

/// Lines that are looked at.
const LINES: usize = 20;

/// What `head` is, and what to do about it, if that is known.
pub(super) fn name(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if let Some((_, what, remedy)) = FILES.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Some((what, remedy));
    }
    let lines: Vec<_> = super::first_lines(head, LINES);
    let first = lines.first()?.trim_ascii_start();
    if matches!(first, [b'{' | b'[', ..])
        && matches!(first[1..].trim_ascii_start(), [] | [b'"' | b'{' | b'[', ..])
    {
        let remedy =
            "write a table of it, such as with jq -r '[.time, .op, .offset, .length] | @csv'";
        return Some(("JSON", remedy));
    }
    if lines.iter().all(|line| has_pairs(line)) {
        let remedy = "take the names out, such as with sed -E 's/[A-Za-z_]+[=:] ?//g', and name the columns with --map";
        return Some(("rows of NAME=VALUE pairs", remedy));
    }
    None
}

/// Whether a line is mostly made of `NAME=VALUE` or `NAME: VALUE`.
fn has_pairs(line: &[u8]) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b';');
    let parts = line.split(is_separator).filter(|part| !part.is_empty());
    let is_pair = |part: &&[u8]| {
        let name = part
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            .count();
        part[0].is_ascii_alphabetic() && matches!(part.get(name), Some(b'=' | b':'))
    };
    let pairs = parts.clone().filter(is_pair).count();
    pairs >= 2 && 2 * pairs >= parts.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_named() {
        for (text, what) in [
            (
                "ts=1 op=W offset=4096 len=4096\nts=2 op=R offset=0 len=512\n",
                "rows of NAME=VALUE pairs",
            ),
            ("op: W, off: 4096, len: 512\n", "rows of NAME=VALUE pairs"),
            ("{\"op\": \"W\", \"off\": 4096}\n", "JSON"),
            ("[\n  {\"op\": \"W\"}\n]\n", "JSON"),
            ("<!DOCTYPE html>\n", "a page of the web"),
            (
                "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
                "a pointer of Git LFS instead of the file",
            ),
        ] {
            assert_eq!(name(text.as_bytes()).map(|(what, _)| what), Some(what), "{text}");
        }
        for text in ["", "op,off\nW,4096\n", "12:00:01 W 8 16\n", "[sda] W 8 16\n", "a=1 2 3 4\n"] {
            assert_eq!(name(text.as_bytes()), None, "{text}");
        }
    }
}
