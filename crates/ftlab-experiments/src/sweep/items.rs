//! Workloads and FTLs of an experiment file: a text, or a table with a name.

use super::file_error::{Span, Wrong};
use super::scalar::Scalar;
use super::variables::Variables;
use ftlab_sim::Workload;
use ftlab_spec::ByteSize;
use ftlab_trace::{Layout, OpenOptions};
use ftlab_workload::{GENERATORS, fio};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// An FTL: `"2r-fifo:blk-util=0.4"`, or `{ name = "2R", spec = "2r-fifo:blk-util=0.4" }`.
#[derive(Debug, Clone)]
pub struct FtlItem {
    /// How it is called in results, if it has a name.
    pub name: Option<Scalar>,
    /// What it is.
    pub spec: Scalar,
}

/// A workload: `"zipf:theta={theta}"`, or a table with a name and with how a trace is read.
#[derive(Debug, Clone)]
pub struct WorkloadItem {
    /// How it is called in results, if it has a name.
    pub name: Option<Scalar>,
    /// A generator, or a trace: its path relative to the folder of the experiment file, or beginning
    /// with `$FTLAB_SHARED`, which stands for the value of that environment variable.
    pub spec: Scalar,
    table: WorkloadTable,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FtlTable {
    /// How it is called in results.
    name: Option<String>,
    /// The FTL with its parameters.
    spec: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct WorkloadTable {
    /// How it is called in results.
    name: Option<String>,
    /// A generator with its parameters, or the path of a trace.
    spec: String,
    /// Its runs are left out, with a message, if the trace does not exist.
    optional: bool,
    /// Format of the trace, with parameters; by its content if not given.
    format: Option<String>,
    /// Columns of a CSV file, such as ts:us=5,op=2,off:bytes=3,len:bytes=4.
    map: Option<String>,
    /// Percentage of lines that may be wrong.
    skip_bad: f64,
    /// Takes every request of a format without operations for a write.
    assume_write: bool,
    /// Volumes to keep; all if there are none.
    volumes: Vec<String>,
    /// Lays the volumes side by side, in pieces of this size.
    side_by_side: Option<String>,
    /// Leaves out addresses that are never used, by pieces of this size.
    compact: Option<String>,
}

/// A text, or a table.
enum TextOr<T> {
    Text(String),
    Table(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
            type Value = TextOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a table with name and spec")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<TextOr<T>, E> {
                Ok(TextOr::Text(text.to_owned()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<TextOr<T>, M::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Table)
            }
        }

        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}

/// The name and the text of an item, both at its place in the file.
fn scalars(name: Option<String>, spec: String, span: &Span) -> (Option<Scalar>, Scalar) {
    (name.map(|name| Scalar::new(name, span.clone())), Scalar::new(spec, span.clone()))
}

/// What an item is called: its name, or what it is, variables and all, since these are axes of their own.
fn label(name: Option<&Scalar>, spec: &Scalar, variables: &Variables) -> Result<String, Wrong> {
    name.map_or_else(|| Ok(spec.as_written().to_owned()), |name| name.resolve(variables))
}

impl FtlItem {
    /// How it is called in results.
    pub(crate) fn label(&self, variables: &Variables) -> Result<String, Wrong> {
        label(self.name.as_ref(), &self.spec, variables)
    }
}

impl<'de> Deserialize<'de> for FtlItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = Spanned::<TextOr<FtlTable>>::deserialize(deserializer)?;
        let span = item.span();
        let (name, spec) = match item.into_inner() {
            TextOr::Text(spec) => scalars(None, spec, &span),
            TextOr::Table(table) => scalars(table.name, table.spec, &span),
        };
        Ok(Self { name, spec })
    }
}

impl<'de> Deserialize<'de> for WorkloadItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = Spanned::<TextOr<WorkloadTable>>::deserialize(deserializer)?;
        let span = item.span();
        let table = match item.into_inner() {
            TextOr::Text(spec) => WorkloadTable { spec, ..WorkloadTable::default() },
            TextOr::Table(table) => table,
        };
        let (name, spec) = scalars(table.name.clone(), table.spec.clone(), &span);
        Ok(Self { name, spec, table })
    }
}

fn text_or_table<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [{ "type": "string" }, table] })
}

impl JsonSchema for FtlItem {
    fn schema_name() -> Cow<'static, str> {
        "Ftl".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        text_or_table::<FtlTable>(generator)
    }
}

impl JsonSchema for WorkloadItem {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        text_or_table::<WorkloadTable>(generator)
    }
}

/// Where captured traces are that are too large to ship.
const SHARED: &str = "FTLAB_SHARED";

impl WorkloadItem {
    /// How it is called in results.
    pub(crate) fn label(&self, variables: &Variables) -> Result<String, Wrong> {
        label(self.name.as_ref(), &self.spec, variables)
    }

    /// The workload for these variables; `None`, and why, if it is an optional trace that is absent.
    pub(crate) fn workload(
        &self,
        variables: &Variables,
        folder: &Path,
        page_bytes: u32,
    ) -> Result<Result<Workload, String>, Wrong> {
        let wrong = |message: String| Wrong::at(self.spec.span(), message);
        let text = self.spec.resolve(variables)?;
        let options = self.open_options(page_bytes).map_err(wrong)?;
        if text == "-" {
            return Err(wrong(
                "standard input can be read once only; name a file, or use ftlab run".into(),
            ));
        }
        let path = match text.strip_prefix('$') {
            Some(rest) => variable_path(rest).map_err(wrong)?,
            None => Ok(folder.join(&text)),
        };
        match path {
            Ok(path) if path.is_file() => Workload::file(&path, options)
                .map(Ok)
                .map_err(|error| Wrong::at(self.spec.span(), error)),
            Ok(path) if self.table.optional => Ok(Err(format!("{} is absent", path.display()))),
            Ok(path) if text.starts_with('$') => {
                Err(wrong(format!("there is no file {}", path.display())))
            }
            Ok(_) => Workload::parse(&text, options)
                .map(Ok)
                .map_err(|error| Wrong::at(self.spec.span(), error)),
            Err(missing) if self.table.optional => Ok(Err(missing)),
            Err(missing) => Err(wrong(missing)),
        }
    }

    /// Whether it is made up, rather than read.
    pub(crate) fn is_generator(&self, folder: &Path, variables: &Variables) -> bool {
        // The rest may need the size of the drive, which depends on this.
        let text = self.spec.as_written();
        if fio::of_command(text).is_some() {
            return true;
        }
        let start = text.split(':').next().unwrap_or(text);
        let text = variables.fill_in(start).unwrap_or_else(|_| start.to_owned());
        let name = text.split(':').next().unwrap_or(&text);
        GENERATORS.iter().any(|generator| generator.name == name) && !folder.join(&text).is_file()
    }

    fn open_options(&self, page_bytes: u32) -> Result<OpenOptions, String> {
        let table = &self.table;
        if !(0.0..=100.0).contains(&table.skip_bad) {
            return Err(format!("skip-bad = {} is not in 0..=100 percent", table.skip_bad));
        }
        Ok(OpenOptions {
            format: table.format.clone(),
            map: table.map.clone(),
            page_bytes,
            skip_bad_percent: table.skip_bad,
            need_time: true,
            volumes: table.volumes.clone(),
            layout: layout(table.compact.as_ref().or(table.side_by_side.as_ref()), page_bytes)?,
            assume_write: table.assume_write,
        })
    }
}

/// A path that begins with an environment variable; the inner error if that is not set.
fn variable_path(rest: &str) -> Result<Result<PathBuf, String>, String> {
    let (name, inside) = rest.split_once('/').unwrap_or((rest, ""));
    if name != SHARED {
        return Err(format!(
            "${name} is no variable that a path may begin with; only ${SHARED} is"
        ));
    }
    Ok(std::env::var_os(SHARED).map(|folder| Path::new(&folder).join(inside)).ok_or_else(|| {
        format!("{inside} is not looked for; set {SHARED} to the folder that holds it")
    }))
}

fn layout(piece: Option<&String>, page_bytes: u32) -> Result<Layout, String> {
    match piece.map(String::as_str) {
        None => Ok(Layout::ByFormat),
        Some("page") => Ok(Layout::Pieces(u64::from(page_bytes))),
        Some(size) => size
            .parse()
            .map(|size: ByteSize| Layout::Pieces(size.0))
            .map_err(|error| error.to_string()),
    }
}
