//! Parses a line of strace.
//!
//! ```text
//! 31825 1795293337.674735 pwrite64(3</d/ib data>, ""..., 16384, 49152) = 16384
//! pid   seconds           name     arguments                             result
//! ```
//!
//! A call that is interrupted by output of another process is on two lines,
//! `NAME(... <unfinished ...>` and `<... NAME resumed>...) = RESULT`; [`Lines`] joins them. With
//! `-y`, the path of a descriptor follows it in `<>`; quotes, `<`, `>` and control characters
//! within paths are escaped.

use rustc_hash::FxHashMap;

/// A call that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) pid: u32,
    pub(super) time_us: u64,
    pub(super) name: &'a str,
    pub(super) arguments: Vec<&'a str>,
    /// The text after the equals sign.
    pub(super) result: &'a str,
}

/// The meaning of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A call that has ended, as text for [`Call::parse`].
    Call { pid: u32, time_us: u64, text: &'a str },
    /// A process that has ended.
    Exit { pid: u32 },
    /// A line without effect: a signal, or the first part of a call.
    Nothing,
    /// Not a line of strace.
    Unknown,
}

/// Joins the parts of calls.
#[derive(Debug, Default)]
pub(super) struct Lines {
    unfinished: FxHashMap<u32, String>,
    joined: String,
}

impl Lines {
    /// A process that is creating another one, and the call so far; `None` if there is none or more
    /// than one.
    pub(super) fn cloning(&self) -> Option<(u32, &str)> {
        let is_clone =
            |text: &str| ["clone", "fork(", "vfork("].iter().any(|n| text.starts_with(n));
        let mut cloning = self.unfinished.iter().filter(|(_, text)| is_clone(text));
        let (pid, text) = cloning.next()?;
        cloning.next().is_none().then_some((*pid, text.as_str()))
    }

    /// The meaning of `line`.
    pub(super) fn take<'a>(&'a mut self, line: &'a str) -> Line<'a> {
        let Some((pid, time_us, text)) = front(line) else { return Line::Unknown };
        if let Some(begun) = text.strip_suffix("<unfinished ...>") {
            self.unfinished.insert(pid, begun.trim_end().to_owned());
            return Line::Nothing;
        }
        if text.starts_with("+++") {
            self.unfinished.remove(&pid);
            return Line::Exit { pid };
        }
        if text.starts_with("---") {
            return Line::Nothing;
        }
        let Some(resumed) = text.strip_prefix("<... ") else {
            return Line::Call { pid, time_us, text };
        };
        let begun = self.unfinished.remove(&pid);
        match (begun, resumed.split_once(" resumed>")) {
            (Some(begun), Some((_, rest))) => {
                self.joined = begun + rest;
                Line::Call { pid, time_us, text: &self.joined }
            }
            _ => Line::Unknown,
        }
    }
}

/// The parts of a list such as `[{a=1, b=2}, {a=3}]`.
pub(super) fn elements(list: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut rest = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or("");
    while let Some(end) = argument_end(rest) {
        elements.push(rest[..end].trim());
        rest = &rest[end + 1..];
    }
    elements.push(rest.trim());
    elements
}

/// Process, time and the rest.
fn front(line: &str) -> Option<(u32, u64, &str)> {
    let (pid, rest) = line.trim_start().split_once(' ')?;
    let (time, rest) = rest.trim_start().split_once(' ')?;
    let (seconds, fraction) = time.split_once('.')?;
    let micros = format!("{fraction:0<6}");
    let seconds_us = seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?;
    let time_us = seconds_us.checked_add(micros.get(..6)?.parse().ok()?)?;
    Some((pid.parse().ok()?, time_us, rest.trim_start()))
}

impl<'a> Call<'a> {
    /// Parses the text of a call; `None` if it is not one.
    pub(super) fn parse(pid: u32, time_us: u64, text: &'a str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?;
        let mut arguments = Vec::new();
        let mut rest = rest;
        loop {
            let end = argument_end(rest)?;
            let (argument, after) = rest.split_at(end);
            if !argument.trim().is_empty() {
                arguments.push(argument.trim());
            }
            rest = &after[1..];
            if after.starts_with(')') {
                break;
            }
        }
        let result = rest.trim_start().strip_prefix('=')?.trim();
        Some(Self { pid, time_us, name, arguments, result })
    }

    /// An argument, empty if there is none.
    pub(super) fn argument(&self, index: usize) -> &'a str {
        self.arguments.get(index).copied().unwrap_or_default()
    }

    /// The value returned by the call; `None` if it failed.
    pub(super) fn returned(&self) -> Option<u64> {
        number(self.result)
    }
}

/// The end of an argument: the comma or bracket after it that is not part of it.
fn argument_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += 1 + quoted_length(&bytes[at + 1..])?,
            // A path contains no `>`: strace escapes it. "=>" before a value that a call filled in
            // does not end a path, nor does "<" elsewhere begin one: shifts occur only in flags,
            // and have blanks.
            b'<' if bytes.get(at + 1) != Some(&b'<') => {
                at += bytes[at..].iter().position(|byte| *byte == b'>')?;
            }
            b'[' | b'{' | b'(' => depth += 1,
            b')' | b',' if depth == 0 => return Some(at),
            b']' | b'}' | b')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Bytes up to the closing quote.
fn quoted_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The number at the start of `text`, decimal or hexadecimal; `None` if it is negative.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('[');
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        let end = hexadecimal.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hexadecimal.len());
        return u64::from_str_radix(&hexadecimal[..end], 16).ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// A descriptor and its path: `3</d/x>`, `AT_FDCWD</d>`, `4</d/x>(deleted)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Its number; `None` for `AT_FDCWD`.
    pub(super) number: Option<i32>,
    /// The path after it; `None` if strace shows none.
    pub(super) path: Option<String>,
    /// Whether the path no longer leads to it.
    pub(super) is_deleted: bool,
}

impl Descriptor {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = number(text).and_then(|number| i32::try_from(number).ok());
        if number.is_none() && !text.starts_with("AT_FDCWD") {
            return None;
        }
        let path = text.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        let is_deleted = path.is_some_and(|(_, after)| after.starts_with("(deleted)"));
        Some(Self { number, path: path.map(|(path, _)| unescaped(path)), is_deleted })
    }
}

/// A quoted path; `None` if it is not one, or truncated.
pub(super) fn quoted_path(text: &str) -> Option<String> {
    Some(unescaped(text.strip_prefix('"')?.strip_suffix('"')?))
}

/// Undoes strace's escapes: `\n`, `\"`, `\\`, octal and hexadecimal bytes.
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let octal = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        let (byte, used) = match rest {
            _ if octal > 0 => {
                let value =
                    rest[..octal].iter().fold(0_u32, |v, digit| v * 8 + u32::from(digit - b'0'));
                (value as u8, octal)
            }
            [b'x', high, low, ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0) as u8;
                (digit(high) << 4 | digit(low), 3)
            }
            [letter, ..] => {
                let escapes = [(b'n', b'\n'), (b't', b'\t'), (b'r', b'\r'), (b'v', 11), (b'f', 12)];
                let found = escapes.iter().find(|(name, _)| name == letter);
                (found.map_or(*letter, |(_, byte)| *byte), 1)
            }
            [] => (b'\\', 0),
        };
        bytes.push(byte);
        rest = &rest[used..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(text: &str) -> Call<'_> {
        Call::parse(1, 2, text).unwrap()
    }

    #[test]
    fn a_call_is_cut_into_its_arguments() {
        let text =
            r#"pwritev2(3</d/a, b (1)>, [{iov_base="x,\"]"..., iov_len=5}, {}], 2, 4096, 0) = 10"#;
        let call = call(text);
        assert_eq!((call.name, call.arguments.len(), call.returned()), ("pwritev2", 5, Some(10)));
        let descriptor = Descriptor::parse(call.argument(0)).unwrap();
        assert_eq!(descriptor.path.as_deref(), Some("/d/a, b (1)"));
        assert_eq!((descriptor.number, number(call.argument(3))), (Some(3), Some(4096)));
    }

    #[test]
    fn results_of_all_kinds_are_told_apart() {
        assert_eq!(call("sync() = 0").arguments.len(), 0);
        assert_eq!(call(r#"unlink("x") = -1 ENOENT (No such file)"#).returned(), None);
        assert_eq!(call(r#"openat(AT_FDCWD</w>, "x", O_RDWR) = 3</w/x>"#).returned(), Some(3));
        assert_eq!(call("write(1</d/x>, 0x7f, 5) = ? ERESTARTSYS (x)").returned(), None);
        let text = "clone3({flags=CLONE_VM|CLONE_FILES, stack=0x7f} => {parent_tid=[9]}, 88) = 9";
        assert_eq!(call(text).arguments.len(), 2);
    }

    #[test]
    fn a_call_on_two_lines_is_one() {
        let mut lines = Lines::default();
        assert_eq!(
            lines.take("7 1.000001 write(3</d/x>, \"\"..., 5 <unfinished ...>"),
            Line::Nothing
        );
        assert_eq!(lines.take("8 1.000002 +++ exited with 0 +++"), Line::Exit { pid: 8 });
        let text = "write(3</d/x>, \"\"..., 5) = 5";
        assert_eq!(
            lines.take("7 1.5 <... write resumed>) = 5"),
            Line::Call { pid: 7, time_us: 1_500_000, text }
        );
        assert_eq!(lines.take("7 1.5 <... write resumed>) = 5"), Line::Unknown);
        assert_eq!(lines.take("strace: Process 9 attached"), Line::Unknown);
    }

    #[test]
    fn escapes_in_paths_are_taken_back() {
        assert_eq!(quoted_path(r#""/d/a\"\\\n\303\244\74""#).unwrap(), "/d/a\"\\\nä<");
        assert_eq!(quoted_path("\"cut\"..."), None);
        let deleted = Descriptor::parse("3</d/a\\76b>(deleted)").unwrap();
        assert_eq!((deleted.path.unwrap().as_str(), deleted.is_deleted), ("/d/a>b", true));
        assert_eq!(Descriptor::parse("AT_FDCWD</w>").unwrap().number, None);
        assert_eq!(Descriptor::parse("-1"), None);
    }

    proptest! {
        #[test]
        fn nothing_that_strace_might_print_does_harm(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "1 ", "1.5 ", "write", "(", ")", "3", "</d/x>", "<", ">", "\"", "\\", "[", "]", "{",
                    "}", ", ", " = ", "=", "<unfinished ...>", "<... ", " resumed>", "+++", "0x", "7",
                    "18446744073709551615", "ä", "AT_FDCWD", "(deleted)", "\\x", "\\7",
                ]),
                0..16,
            ),
        ) {
            let text = parts.concat();
            let mut lines = Lines::default();
            for line in [format!("1 1.5 {text}"), text.clone(), format!("1 1.5 <... x resumed>{text}")] {
                let Line::Call { pid, time_us, text } = lines.take(&line) else { continue };
                for argument in Call::parse(pid, time_us, text).map_or(vec![], |call| call.arguments) {
                    prop_assert!(text.contains(argument));
                    prop_assert!(elements(argument).iter().all(|part| argument.contains(part)));
                }
            }
            Descriptor::parse(&text);
            quoted_path(&format!("\"{text}\""));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "write", "write(", "write(3", "write(3)", "write(\"", "w(]) = 1"] {
            assert_eq!(Call::parse(1, 1, text), None, "{text}");
        }
    }
}
