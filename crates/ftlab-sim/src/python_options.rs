//! Options as Python has them: arguments with their types, and what is told of them.

use crate::drive::DriveOptions;
use crate::option::{OptionOf, Options};
use crate::run_options::Experiment;

/// Columns of a line at most.
const COLUMNS: usize = 110;

/// The options of a drive that may be given by their place, in this order.
const PLACED: [&str; 8] =
    ["logical", "op", "pages_per_block", "page_size", "logical_pages", "blocks", "reserve", "gc"];

/// The file `python/ftlab/_drive.py` with the options that a drive has.
pub(crate) fn drive_file(text: &str) -> String {
    let mut options: Vec<_> = DriveOptions::options().iter().collect();
    options.sort_by_key(|of| PLACED.iter().position(|id| *id == of.id).unwrap_or(PLACED.len()));
    let described = options.iter().map(|of| described(of)).collect::<String>();
    let fields = options.iter().map(|of| format!("    {}: {} | None = None\n", of.id, of.python));
    let text = between(text, "    Parameters\n    ----------\n", "\n    See Also", &described);
    between(&text, "'7%'\n    \"\"\"\n\n", "\n    @classmethod", &fields.collect::<String>())
}

/// The file `python/ftlab/_run.py` with the options that a run has.
pub(crate) fn run_file(text: &str) -> String {
    let options = Experiment::options();
    let described = options.iter().map(described).collect::<String>();
    let arguments = options.iter().map(argument).collect::<String>();
    let settings = options.iter().map(|of| format!("        \"{0}\": {0},\n", of.id));
    let drive = "    drive: Drive | str | int | None = None,\n";
    let text = between(text, drive, "    progress: Progress", &arguments);
    let drive = "        The drive, or its logical size.\n";
    let text = between(&text, drive, "    progress : bool", &described);
    between(&text, "drive._settings() | {\n", "    }\n", &settings.collect::<String>())
}

/// `text` with `new` between the first `after` and the next `before`.
fn between(text: &str, after: &str, before: &str, new: &str) -> String {
    let Some((head, tail)) = text.split_once(after) else { return text.to_owned() };
    let Some((_, tail)) = tail.split_once(before) else { return text.to_owned() };
    [head, after, new, before, tail].concat()
}

/// An argument of a function.
fn argument<T: Options>(of: &OptionOf<T>) -> String {
    let OptionOf { id, python, .. } = of;
    match default::<T>(of) {
        Some(default) => format!("    {id}: {python} = {default},\n"),
        None => format!("    {id}: {python} | None = None,\n"),
    }
}

/// The value by default in Python; none of one that another replaces, which is not given then.
fn default<T: Options>(of: &OptionOf<T>) -> Option<String> {
    let is_replaced = T::options().iter().any(|other| other.instead_of == Some(of.id));
    if of.is_flag() {
        return Some("False".into());
    }
    let text = of.default.filter(|_| !is_replaced)?;
    Some(if of.python == "int" { text.to_owned() } else { format!("\"{text}\"") })
}

/// What is told of an option in a docstring.
fn described<T: Options>(of: &OptionOf<T>) -> String {
    let kind = match of.python.strip_prefix("Literal[") {
        Some(values) => format!("{{{}}}", values.trim_end_matches(']')),
        None => of.python.replace(" | ", " or "),
    };
    let optional =
        default(of).map_or_else(|| ", optional".into(), |value| format!(", default {value}"));
    format!("    {} : {kind}{optional}\n{}", of.id, wrapped(&in_python(&of.help)))
}

/// A help text with the names that options have in Python.
fn in_python(help: &str) -> String {
    let word = |word: &str| {
        let Some(start) = word.find("--") else { return word.replace('`', "``") };
        let name = &word[start + 2..];
        let end = name.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(name.len());
        format!("{}`{}`{}", &word[..start], name[..end].replace('-', "_"), &name[end..])
    };
    help.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A text in lines, as far in as docstrings have it.
fn wrapped(text: &str) -> String {
    let mut lines = vec!["       ".to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().filter(|line| line.len() + 1 + word.len() <= COLUMNS);
        match last {
            Some(line) => line.extend([" ", word]),
            None => lines.push(format!("        {word}")),
        }
    }
    lines.join("\n") + "\n"
}
