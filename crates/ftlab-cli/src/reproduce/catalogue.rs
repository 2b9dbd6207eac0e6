//! The experiments included in ftlab, and those of the user.

use crate::error::CliError;
use ftlab_experiments::sweep::ExperimentFile;
use std::path::Path;

/// An experiment included in ftlab: its name, and the text of its file.
type Shipped = (&'static str, &'static str);

/// Names experiments, whose files are `experiments/NAME.toml`.
macro_rules! shipped {
    ($($id:literal),+ $(,)?) => {
        &[$(($id, include_str!(concat!("../../experiments/", $id, ".toml")))),+]
    };
}

const SHIPPED: &[Shipped] = shipped![
    "2r/fig-1",
    "2r/fig-2",
    "2r/fig-3",
    "2r/fig-4",
    "2r/fig-6",
    "2r/fig-7",
    "2r/fig-8",
    "2r/fig-9",
    "2r/fig-10",
    "2r/fig-11",
    "2r/fig-12",
    "2r/fig-13",
    "2r/fig-14",
    "2r/tail-latency",
    "2r/blk-util",
    "2r/transactions",
    "2r++/table-3",
    "2r++/table-4",
    "2r++/fig-9",
    "2r++/fig-10",
    "2r++/fig-11",
    "wolf/fig-1",
    "wolf/fig-2",
    "wolf/fig-3",
    "wolf/fig-6",
    "wolf/fig-8",
    "wolf/fig-9",
    "wolf/fig-10",
    "systor13/fig-1",
    "systor13/fig-2",
    "systor13/recognition",
    "systor13/table-2",
    "faster/table-2",
    "faster/fig-2",
    "faster/fig-3",
    "faster/fig-4",
    "faster/fig-6",
    "faster/fig-7",
    "faster/fig-8",
    "dftl/response",
    "tpftl/cache",
    "leaftl/segments",
    "learnedftl/double-reads",
    "ssd-iq/2r",
    "real/fio-a",
    "real/fio-b",
    "real/three-streams",
    "real/three-streams-persistent",
    "real/cachelib",
    "real/databases",
    "real/databases-waf",
    "placements/zipf",
    "devices/pm9a3",
    "devices/pe8110",
];

/// An experiment with its name.
type Named = (String, ExperimentFile);

fn parse((id, text): &Shipped) -> Result<Named, CliError> {
    let path = format!("experiments/{id}.toml");
    Ok(((*id).to_owned(), ExperimentFile::parse(Path::new(&path), *text).map_err(from)?))
}

fn from(error: ftlab_experiments::sweep::FileError) -> CliError {
    ftlab_experiments::ExperimentsError::from(error).into()
}

/// Every experiment included in ftlab.
pub(super) fn all() -> Result<Vec<Named>, CliError> {
    SHIPPED.iter().map(parse).collect()
}

/// The experiments requested: `all`, experiments, papers, or files.
pub(super) fn find(what: &[String]) -> Result<Vec<Named>, CliError> {
    let mut found = Vec::new();
    for name in what {
        let paper = name.strip_suffix("/all").unwrap_or(name);
        let is_asked =
            |id: &str| name == "all" || id == name || id.split('/').next() == Some(paper);
        let path = Path::new(name);
        let before = found.len();
        for shipped in SHIPPED.iter().filter(|(id, _)| is_asked(id)) {
            found.push(parse(shipped)?);
        }
        if found.len() == before && path.extension().is_some_and(|ending| ending == "toml") {
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            found.push((id, ExperimentFile::read(path)?));
        }
        if found.len() == before {
            let ids: Vec<_> = SHIPPED.iter().map(|(id, _)| *id).collect();
            return Err(CliError::usage(format!(
                "there is no experiment {name:?}; give all, {}, or your own files that end in .toml",
                ids.join(", ")
            )));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_experiments::sweep::{Plan, Recorded, Scale, stated};
    use std::fs;
    use std::path::PathBuf;

    #[test]
    fn every_experiment_file_is_shipped_and_can_be_run() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut files = Vec::new();
        for paper in fs::read_dir(&folder).unwrap() {
            let paper = paper.unwrap().path();
            for file in fs::read_dir(&paper).unwrap() {
                let file = file.unwrap().path();
                let name = file.strip_prefix(&folder).unwrap().with_extension("");
                files.push(name.display().to_string());
            }
        }
        let mut ids: Vec<_> = SHIPPED.iter().map(|(id, _)| (*id).to_owned()).collect();
        files.sort();
        ids.sort();
        assert_eq!(files, ids);
        for scale in ["1", "1/8"] {
            for (id, file) in all().unwrap() {
                let plan = Plan::new(file, scale.parse::<Scale>().unwrap());
                let plan = plan.unwrap_or_else(|error| panic!("{error}"));
                assert!(!plan.points.is_empty() || !plan.absent.is_empty(), "{id}");
            }
        }
    }

    /// Experiments of papers; the others repeat series of drives.
    fn of_papers() -> impl Iterator<Item = (String, Plan)> {
        let papers = ["2r", "2r++", "ssd-iq", "wolf", "systor13", "faster"];
        let is_of_paper =
            move |id: &str| papers.contains(&id.split('/').next().unwrap_or_default());
        let files = all().unwrap().into_iter().filter(move |(id, _)| is_of_paper(id));
        files.map(|(id, file)| (id, Plan::new(file, Scale::FULL).unwrap()))
    }

    #[test]
    fn numbers_of_each_setup_are_matched_or_named_as_unmatched() {
        for (id, plan) in of_papers() {
            assert!(!plan.file.stated.is_empty(), "{id}: it lists no number of the paper's setup");
            let unmeasured = Recorded::parse(&plan, "seed").unwrap();
            for line in stated(&plan, &unmeasured).unwrap() {
                assert_ne!(line.matches, Some(false), "{id}: {}: {}", line.says, line.here);
            }
        }
    }

    #[test]
    fn rows_that_compare_say_whose_configuration_they_run() {
        for (id, plan) in of_papers() {
            for expect in &plan.file.expect {
                let compares = expect.value.or(expect.at_least).or(expect.at_most).is_some()
                    || !(expect.values.is_empty() && expect.ascending.is_empty());
                let row = format!("{id}: {} {}", expect.what, expect.metric.as_written());
                assert_eq!(expect.kind.is_some(), compares, "{row}");
            }
        }
    }
}
