//! The command as it was typed, in a form that can be typed again.

use std::borrow::Cow;
use std::ffi::OsString;

/// The command whose arguments are `typed`, in a form that can be typed again.
pub(crate) fn command(typed: &[OsString]) -> String {
    let texts: Vec<_> = typed.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    quoted(texts.iter().map(String::as_str))
}

fn quoted<'a>(arguments: impl Iterator<Item = &'a str>) -> String {
    arguments.fold("ftlab".to_owned(), |command, argument| command + " " + &quote(argument))
}

/// An argument as a shell takes it, quoted if it has to be.
pub(crate) fn quote(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "%+,-./:=@_".contains(letter);
    match text {
        _ if !text.is_empty() && text.chars().all(is_plain) => text.into(),
        // Arguments never contain the zero byte, the only one that cannot be quoted.
        _ => shlex::try_quote(text).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_where_a_shell_would_take_them_apart() {
        let typed =
            ["run", "my trace.parquet", "--ftl", "2r++:blk-util=0.4", "--op", "10%", "it's"];
        assert_eq!(
            quoted(typed.into_iter()),
            "ftlab run 'my trace.parquet' --ftl 2r++:blk-util=0.4 --op 10% \"it's\""
        );
    }
}
