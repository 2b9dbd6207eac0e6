//! Options, each declared once: the command line, experiment files and Python take them from here.

use ftlab_spec::{ByteSize, Value as Typed};
use schemars::Schema;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

/// An option of a `T`.
pub struct OptionOf<T> {
    /// Its name as a field, which is also the keyword in Python.
    pub id: &'static str,
    /// Its name on the command line and in files: the same with hyphens.
    pub key: String,
    /// Under which heading the command line has it; under none if it has not.
    pub under: &'static str,
    /// What stands for its value in help; nothing of one that is on or off.
    pub placeholder: &'static str,
    /// What it does.
    pub help: String,
    /// What it does in short, for the schema of experiment files; none if these do not have it.
    pub brief: Option<&'static str>,
    /// The value without it, if that is one that can be typed.
    pub default: Option<&'static str>,
    /// The type of its values in Python.
    pub python: &'static str,
    /// All its values, if they are few words.
    pub values: &'static [&'static str],
    /// The option that it replaces, if any: only one of them may be given.
    pub instead_of: Option<&'static str>,
    /// What may not be given with it.
    pub without: &'static [&'static str],
    /// The option without which it has no effect.
    pub needs: Option<&'static str>,
    /// How it is told in results, where it is left out if it is off.
    pub told: Option<Told<T>>,
    /// What was given for it, as a number or a text; of those that a publication's setup may name.
    pub had: Option<fn(&T) -> Option<String>>,
    pub(crate) check: fn(&str) -> Result<(), String>,
    pub(crate) set: fn(&mut T, &str) -> Result<(), String>,
}

/// How results tell an option that is not off.
pub struct Told<T> {
    /// What it is called there.
    pub title: &'static str,
    /// What is told where it is off.
    pub off: &'static str,
    /// What its text in JSON says.
    pub doc: &'static str,
    pub(crate) print: fn(&T) -> Option<String>,
}

impl<T> fmt::Debug for OptionOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OptionOf").field(&self.key).finish()
    }
}

impl<T> OptionOf<T> {
    /// Whether it is on or off.
    pub fn is_flag(&self) -> bool {
        self.placeholder.is_empty()
    }

    /// Whether only one of both may be given.
    pub fn excludes(&self, other: &Self) -> bool {
        let one = |of: &Self, id| of.instead_of == Some(id) || of.without.contains(&id);
        one(self, other.id) || one(other, self.id)
    }

    /// Whether `text` is a value of it; what it is to be instead if it is not.
    pub fn check(&self, text: &str) -> Result<(), String> {
        (self.check)(text)
    }

    /// Its text in results; none where it is off, or not told.
    pub(crate) fn text(&self, of: &T) -> Option<String> {
        self.told.as_ref().and_then(|told| (told.print)(of))
    }
}

/// What is described by options.
pub trait Options: Sized + 'static {
    /// Every option, in the order in which they are listed.
    fn options() -> &'static [OptionOf<Self>];

    /// Itself with the options that are given: `text_of` has their texts, and `wrong` makes an error of an option whose
    /// text is not a value. One that another replaces is passed over if that is given.
    fn with_options<E>(
        mut self,
        text_of: impl Fn(&'static OptionOf<Self>) -> Result<Option<String>, E>,
        wrong: impl Fn(&'static OptionOf<Self>, &str, String) -> E,
    ) -> Result<Self, E> {
        let mut given = Vec::new();
        for option in Self::options() {
            let Some(text) = text_of(option)? else { continue };
            if option.instead_of.is_some_and(|other| given.contains(&other)) {
                continue;
            }
            (option.set)(&mut self, &text).map_err(|message| wrong(option, &text, message))?;
            given.push(option.id);
        }
        Ok(self)
    }
}

/// The options of a `T` that are told, with their texts: those of `texts`, by name; none where one is off.
pub fn told<T: Options>(
    texts: &BTreeMap<String, String>,
) -> impl Iterator<Item = (&'static Told<T>, Option<&str>)> {
    let told = T::options().iter().filter_map(|of| Some((of.id, of.told.as_ref()?)));
    told.map(|(id, told)| (told, texts.get(id).map(String::as_str)))
}

/// What results tell of the options of `of`, by name: those that are not off.
pub(crate) fn told_by<T: Options>(of: &T) -> BTreeMap<String, String> {
    let options = T::options().iter();
    options.filter_map(|option| Some((option.id.to_owned(), option.text(of)?))).collect()
}

/// Adds the options of a `T` that are told to the schema of what tells them.
pub(crate) fn tell<T: Options>(schema: &mut Schema) {
    let told = T::options().iter().filter_map(|option| Some((option.id, option.told.as_ref()?)));
    let properties = schema.ensure_object().entry("properties");
    let Value::Object(properties) = properties.or_insert_with(|| json!({})) else { return };
    for (name, told) in told {
        let of = json!({ "description": told.doc, "type": ["string", "null"] });
        properties.insert(name.to_owned(), of);
    }
}

/// Declares the options of a struct, under the headings that they have on the command line, or under none.
///
/// Each is `/// help`, then `id: reader, "PLACEHOLDER"` with an empty one if it is on or off, and as far as it has
/// them `= "default"`, `, of "values"`, `, instead of other`, `, without others` and `, with other`; how it is set; its
/// sentence in `files`; its type in `python`; and, if results tell it only where it is not off, its
/// `results "title" or "off": "sentence"` and its text there.
macro_rules! options {
    ($name:ident of $of:ty: $(under $heading:literal { $(
        $(#[doc = $doc:literal])+
        $id:ident: $read:expr, $placeholder:literal
        $(= $default:literal)? $(, of $($choice:literal)|+)? $(, instead of $other:ident)?
        $(, without $($excluded:ident)|+)? $(, with $needed:ident)?
        => |$one:ident, $value:ident| $set:expr;
        $(files $brief:literal;)? python $python:literal;
        $(had |$had_one:ident| $had:expr;)?
        $(results $title:literal or $off:literal: $sentence:literal => |$told_one:ident| $print:expr;)?
    )+ })+) => {
        /// Every option, in the order in which they are listed.
        pub static $name: ::std::sync::LazyLock<::std::vec::Vec<$crate::option::OptionOf<$of>>> =
            ::std::sync::LazyLock::new(|| ::std::vec![$($({
                #[allow(unused_variables)]
                let told: ::std::option::Option<$crate::option::Told<$of>> = ::std::option::Option::None;
                $(let told = ::std::option::Option::Some($crate::option::Told {
                    title: $title,
                    off: $off,
                    doc: $sentence,
                    print: |$told_one: &$of| $print,
                });)?
                $crate::option::OptionOf {
                    id: ::std::stringify!($id),
                    key: ::std::stringify!($id).replace('_', "-"),
                    under: $heading,
                    placeholder: $placeholder,
                    help: $crate::option::sentence(&[$($doc),+]),
                    brief: $crate::option::first(&[$($brief)?]),
                    default: $crate::option::first(&[$($default)?]),
                    python: $python,
                    values: &[$($($choice),+)?],
                    instead_of: $crate::option::first(&[$(::std::stringify!($other))?]),
                    without: &[$($(::std::stringify!($excluded)),+)?],
                    needs: $crate::option::first(&[$(::std::stringify!($needed))?]),
                    told,
                    had: {
                        let had: &[fn(&$of) -> ::std::option::Option<String>] =
                            &[$(|$had_one| $had)?];
                        had.first().copied()
                    },
                    check: |text| ($read)(text).map(|_| ()),
                    set: |$one: &mut $of, text| {
                        let $value = ($read)(text)?;
                        $set;
                        ::std::result::Result::Ok(())
                    },
                }
            }),+),+]);

        impl $crate::option::Options for $of {
            fn options() -> &'static [$crate::option::OptionOf<Self>] {
                &$name
            }
        }
    };
}

pub(crate) use options;

/// The lines of a comment as one.
pub(crate) fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// What is given, if it is.
pub(crate) fn first(of: &[&'static str]) -> Option<&'static str> {
    of.first().copied()
}

/// Reads a type that has a text form of its own.
pub(crate) fn by_text<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Reads a value of a parameter.
pub(crate) fn by_value<T: Typed>(text: &str) -> Result<T, String> {
    T::parse(text).ok_or_else(|| format!("{text:?} is not {}", T::expects_for(text)))
}

/// Reads nothing but this word.
pub(crate) fn word(word: &'static str) -> impl Fn(&str) -> Result<(), String> {
    move |text| if text == word { Ok(()) } else { Err(format!("{text:?} is not {word}")) }
}

/// Reads a number of drive writes.
pub(crate) fn drive_writes(text: &str) -> Result<f64, String> {
    <f64 as Typed>::parse(text)
        .filter(|drives| *drives > 0.0 && *drives <= 1e9)
        .ok_or_else(|| format!("{text:?} is not a positive number such as 4 or 0.5"))
}

/// Reads a page size in bytes.
pub fn page_size(text: &str) -> Result<u32, String> {
    let size: ByteSize = by_text(text)?;
    u32::try_from(size.0)
        .ok()
        .filter(|bytes| *bytes >= 512 && bytes.is_multiple_of(512))
        .ok_or_else(|| {
            format!("{size} is not a multiple of 512 bytes below 4GiB; 4KiB and 16KiB are usual")
        })
}
