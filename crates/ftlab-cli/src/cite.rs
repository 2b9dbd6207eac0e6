//! `ftlab cite`: BibTeX of ftlab and of the FTLs that were compared.

use crate::error::CliError;
use crate::ftls::Ftls;
use crate::output::print;
use clap::Args;
use ftlab_ftl::registry;
use ftlab_spec::Spec;

/// Prints BibTeX of ftlab, and of the papers that FTLs come from.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab cite
  ftlab cite 2r++ sepbit hazard >> paper.bib
  ftlab cite dac/greedy")]
pub(crate) struct CiteArgs {
    /// FTLs, placements or victim rules, with or without parameters.
    #[arg(value_name = "FTL")]
    ftls: Vec<Ftls>,
}

/// The works, by key.
const WORKS: &str = include_str!("../assets/works.bib");

/// How the sources of the registry begin, and which work that is.
const SOURCES: [(&str, &str); 26] = [
    ("2R (", "2r"),
    ("2R++ (", "2rpp"),
    ("Wolf (", "wolf"),
    ("FASTer (", "faster"),
    ("FAST (", "fast"),
    ("BAST (", "bast"),
    ("KAST (", "kast"),
    ("LAST (", "last"),
    ("Lee and Kim (", "hotcold"),
    ("SepBIT (", "sepbit"),
    ("MiDAS (", "midas"),
    ("DAC (", "dac"),
    ("Chiang et al. (SPE", "dac"),
    ("LFS (", "lfs"),
    ("Desnoyers (", "desnoyers"),
    ("Van Houdt (Performance", "vanhoudt2014"),
    ("Van Houdt (SIGMETRICS", "vanhoudt2013"),
    ("Stoica and Ailamaki (", "stoica"),
    ("SFS (", "sfs"),
    ("FADaC (", "fadac"),
    ("WARCIP (", "warcip"),
    ("PHFTL (", "phftl"),
    ("DOGI (", "dogi"),
    ("LearnedFTL (", "learnedftl"),
    ("Hu et al. (", "hu"),
    ("NVMe TP 4146", "fdp"),
];

pub(crate) fn cite(args: &CiteArgs) -> Result<(), CliError> {
    let mut keys = Vec::new();
    for ftl in &Ftls::all(&args.ftls) {
        for key in keys_of(ftl)? {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let works = keys.into_iter().map(|key| format!("\n{}\n", work(key)));
    print(&(own() + &works.collect::<String>()))
}

/// Of ftlab itself, which is also the reference of what is its own.
fn own() -> String {
    format!(
        "@software{{ftlab,\n  author  = {{{{The ftlab developers}}}},\n  title   = {{ftlab: a Laboratory for \
         Flash Translation Layers}},\n  version = {{{}}},\n  year    = {{2026}}\n}}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The works that a name comes from: one for each of its parts.
fn keys_of(ftl: &Spec) -> Result<Vec<&'static str>, CliError> {
    let entries = registry::entries();
    let source = |name: &str| entries.iter().find(|entry| entry.name == name).map(|e| e.source);
    let sources = if let Some(source) = source(&ftl.name) {
        vec![source]
    } else {
        registry::resolve(ftl)?;
        ftl.name.split('/').filter_map(source).collect()
    };
    Ok(sources.into_iter().flat_map(keys).collect())
}

/// Every work that a source names.
fn keys(source: &str) -> Vec<&'static str> {
    let begins = |part: &str, work: &str| {
        part.match_indices(work).any(|(at, _)| at == 0 || part[..at].ends_with([' ', ';']))
    };
    SOURCES.iter().filter(|(work, _)| begins(source, work)).map(|(_, key)| *key).collect()
}

/// The entry of a key.
fn work(key: &str) -> &'static str {
    let mut works = WORKS.split("\n\n").map(str::trim);
    works.find(|work| work.contains(&format!("{{{key},"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_name_has_a_work() {
        for entry in registry::entries() {
            let found = keys(entry.source);
            assert!(
                entry.source == "ours" || !found.is_empty(),
                "{}: {}",
                entry.name,
                entry.source
            );
            for key in found {
                assert!(work(key).starts_with('@') && work(key).ends_with('}'), "{key}");
            }
        }
        assert_eq!(keys("FAST (TECS 2007); FASTer (SNAPI 2010), section III"), ["faster", "fast"]);
        assert_eq!(keys("FK of SepBIT (FAST 2022), section 4.1"), ["sepbit"]);
    }

    #[test]
    fn every_work_is_of_some_source_once() {
        let works = WORKS.split("\n\n").filter(|work| !work.trim().is_empty()).count();
        let mut keys: Vec<_> = SOURCES.iter().map(|(_, key)| *key).collect();
        keys.dedup();
        assert_eq!(works, keys.len());
    }

    #[test]
    fn pairs_cite_both_parts() {
        let keys = |name: &str| keys_of(&name.parse().unwrap()).unwrap();
        assert_eq!(keys("dac/greedy"), ["dac", "2r"]);
        assert_eq!(keys("sepbit"), ["sepbit"]);
        assert!(keys("hazard:rungs=8").is_empty());
    }
}
