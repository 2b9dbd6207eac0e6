//! Every FTL with every documented choice of every parameter, under loads that make it work hard: no write
//! fails, and the drive opens after a crash and after it was closed.

use crate::common;
use ftlab_drive::{CreateOptions, Drive, OpenOptions, PowerCut, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::map::{CdftlParameters, DftlParameters, SftlParameters, TpftlParameters};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, Entry, Kind};
use ftlab_spec::{Domain, Parameters};
use rayon::prelude::*;
use std::sync::Arc;

const PAGE_BYTES: usize = 512;

/// Logical pages, whatever the blocks.
const LOGICAL_PAGES: u32 = 16_384;

/// Pages per block.
const GEOMETRIES: [u32; 3] = [8, 16, 64];

/// What a load does to a drive that is full.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// A few pages again and again, so that all other blocks stay full.
    FewPages,
    Uniform,
    Sequential,
    /// Most writes to a tenth, and large trims.
    HotAndTrims,
    /// One page of every eight, so that all blocks are alike.
    Comb,
}

const LOADS: [Load; 5] =
    [Load::FewPages, Load::Uniform, Load::Sequential, Load::HotAndTrims, Load::Comb];

/// A page, or a trim of many.
enum Request {
    Write(u32),
    Trim(u32, u32),
}

impl Load {
    fn request(self, number: u32) -> Request {
        let random = (u64::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u32;
        Request::Write(match self {
            Self::FewPages => random % 16,
            Self::Uniform => random % LOGICAL_PAGES,
            Self::Sequential => number % LOGICAL_PAGES,
            Self::HotAndTrims if number.is_multiple_of(1500) => {
                return Request::Trim(random % (LOGICAL_PAGES / 2), LOGICAL_PAGES / 3);
            }
            Self::HotAndTrims if number.is_multiple_of(8) => random % LOGICAL_PAGES,
            Self::HotAndTrims => random % (LOGICAL_PAGES / 10),
            Self::Comb => (number % (LOGICAL_PAGES / 8)) * 8 + number / (LOGICAL_PAGES / 8) % 8,
        })
    }
}

/// Values of a parameter that its documentation names: every word, both ends of a range, some in between.
fn choices(domain: &Domain, default: &str) -> Vec<String> {
    let ends = |low: &Option<f64>, high: &Option<f64>| {
        let middle = low.zip(*high).map(|(low, high)| f64::midpoint(low, high));
        [*low, *high, middle].into_iter().flatten().collect::<Vec<_>>()
    };
    let mut values: Vec<String> = match domain {
        Domain::Choice(words) => words.clone(),
        Domain::Whole { low, high } => {
            ends(low, high).into_iter().map(|value| format!("{}", value.floor())).collect()
        }
        Domain::Number { low, high } => {
            ends(low, high).into_iter().map(|value| format!("{value}")).collect()
        }
        Domain::Text => Vec::new(),
    };
    values.retain(|value| value != default);
    values
}

/// All of these as specs, and each entry with its defaults.
fn specs() -> Vec<String> {
    let part = |entry: &Entry| match entry.kind {
        Kind::Ftl => entry.name.to_owned(),
        Kind::Placement => format!("{}/cost-benefit", entry.name),
        Kind::Victim => format!("sep-gc/{}", entry.name),
    };
    let policies = registry::policy_names();
    let mut specs = Vec::new();
    for entry in registry::entries() {
        let name = part(&entry);
        if !policies.contains(&name) {
            continue;
        }
        specs.push(name.clone());
        for parameter in &entry.parameters {
            let values = choices(&parameter.domain, &parameter.default);
            specs.extend(values.iter().map(|value| format!("{name}:{}={value}", parameter.name)));
        }
    }
    specs
}

/// An FTL with every choice of every parameter of the maps that a live drive can have on flash, and each map with its
/// defaults.
fn specs_of_maps() -> Vec<String> {
    let maps = [
        ("dftl:cache=4KiB", DftlParameters::describe()),
        ("cdftl:cache=4KiB", CdftlParameters::describe()),
        ("s-ftl:cache=2KiB", SftlParameters::describe()),
        ("tpftl:cache=4KiB,by-request=off", TpftlParameters::describe()),
    ];
    let mut specs = Vec::new();
    for (number, (map, parameters)) in maps.into_iter().enumerate() {
        let ftls = ["2r++", "1r-greedy", "sepbit", "wolf", "sfs/greedy"];
        let ftl = |index: usize| ftls[(number + index) % ftls.len()];
        specs.push(format!("{} over {map}", ftl(0)));
        let choices = parameters
            .iter()
            .filter(|parameter| parameter.name != "by-request")
            .flat_map(|parameter| {
                let values = choices(&parameter.domain, &parameter.default);
                values.into_iter().map(|value| format!("{map},{}={value}", parameter.name))
            });
        specs.extend(choices.enumerate().map(|(index, map)| format!("{} over {map}", ftl(index))));
    }
    specs
}

/// A drive on which a spec can be made; none where its parameters ask for more than there is.
fn created(spec: &str, pages_per_block: u32) -> Option<Arc<PowerCut>> {
    let (spec, mapping) = spec.split_once(" over ").unwrap_or((spec, "full"));
    let mapping = mapping.parse().unwrap();
    let spec = spec.parse().unwrap();
    if !common::is_possible(&spec) {
        return None;
    }
    let blocks = LOGICAL_PAGES / pages_per_block;
    let config = |spare| {
        let geometry = Geometry::new(blocks + spare, pages_per_block, PAGE_BYTES as u32).unwrap();
        DriveConfig::new(geometry, LOGICAL_PAGES, 4)
    };
    // As little spare space as the FTL accepts.
    (blocks / 10 + 6..blocks * 2).step_by(4).find_map(|spare| {
        let options = common::options(&spec, config(spare), 3000).ok()?;
        let options = CreateOptions { mapping, ..options };
        let backing =
            Arc::new(PowerCut::new(vec![0; Drive::backing_bytes(&options).ok()? as usize]));
        Drive::create_on(&(Arc::clone(&backing) as _), &options).ok()?;
        Some(backing)
    })
}

fn content(lpn: u32, version: u32) -> [u8; PAGE_BYTES] {
    let mut page = [version as u8; PAGE_BYTES];
    page[..4].copy_from_slice(&lpn.to_le_bytes());
    page[4..8].copy_from_slice(&version.to_le_bytes());
    page
}

/// What the drive should hold: the version of each page, 0 where there is none.
struct Expected(Vec<u32>);

impl Expected {
    fn verify(&self, drive: &Drive) -> Result<(), String> {
        let mut page = [0; PAGE_BYTES];
        for (lpn, &version) in (0..).zip(&self.0) {
            drive
                .read(u64::from(lpn) * PAGE_BYTES as u64, &mut page)
                .map_err(|error| format!("page {lpn}: {error}"))?;
            let expected = if version == 0 { [0; PAGE_BYTES] } else { content(lpn, version) };
            if page != expected {
                return Err(format!("page {lpn} is not version {version}"));
            }
        }
        Ok(())
    }
}

/// Fills a drive and puts it under a load, in three lives: one ends in a crash after a flush, one in a
/// recovery that is followed by nothing, and one by closing.
fn survive(backing: &Arc<PowerCut>, load: Load, writes: u32) -> Result<(), String> {
    let open = |backing: &Arc<PowerCut>| {
        Drive::open_alone(Arc::clone(backing) as _, OpenOptions::default())
            .map_err(|error| format!("open: {error}"))
    };
    let failed = |error: std::io::Error| error.to_string();
    let mut expected = Expected(vec![0; LOGICAL_PAGES as usize]);
    let drive = open(backing)?;
    for lpn in 0..LOGICAL_PAGES {
        expected.0[lpn as usize] = 1;
        drive.write(u64::from(lpn) * PAGE_BYTES as u64, &content(lpn, 1)).map_err(failed)?;
    }
    for number in 0..writes {
        match load.request(number) {
            Request::Write(lpn) => {
                let offset = u64::from(lpn) * PAGE_BYTES as u64;
                drive.write(offset, &content(lpn, number + 2)).map_err(failed)?;
                expected.0[lpn as usize] = number + 2;
            }
            Request::Trim(first, pages) => {
                let bytes = |pages: u32| u64::from(pages) * PAGE_BYTES as u64;
                drive.trim(bytes(first), bytes(pages)).map_err(failed)?;
                expected.0[first as usize..][..pages as usize].fill(0);
            }
        }
    }
    drive.flush().map_err(failed)?;
    drive.abandon();
    let mut backing = Arc::new(PowerCut::new(backing.survivor(|_| 0)));
    for _ in 0..2 {
        let drive = open(&backing)?;
        expected.verify(&drive)?;
        drive.abandon();
        backing = Arc::new(PowerCut::new(backing.survivor(|_| 0)));
    }
    let drive = open(&backing)?;
    drive.write(0, &content(0, 1)).map_err(failed)?;
    expected.0[0] = 1;
    drive.close().map_err(failed)?;
    let drive = open(&backing)?;
    expected.verify(&drive)
}

/// Runs every `share`th combination of these specs; returns how many there were.
fn survive_all(specs: &[String], share: usize, writes: u32) -> usize {
    let combinations = GEOMETRIES.iter().flat_map(|pages| LOADS.map(|load| (*pages, load)));
    let combinations: Vec<_> = combinations.collect();
    let survived = |(index, spec): (usize, &String)| {
        let some = combinations.iter().enumerate().filter(|(at, _)| (at + index) % share == 0);
        let created =
            some.filter_map(|(_, &(pages, load))| Some((pages, load, created(spec, pages)?)));
        let told = created.map(|(pages, load, backing)| {
            let result = survive(&backing, load, writes);
            result.map_err(|error| format!("{spec}, {pages} pages per block, {load:?}: {error}"))
        });
        told.collect::<Vec<_>>()
    };
    let results: Vec<_> = specs.par_iter().enumerate().flat_map_iter(survived).collect();
    let run = results.len();
    let failures: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{} of {run}:\n{}", failures.len(), failures.join("\n"));
    run
}

/// Repeats a failure under every load: `FTLAB_CHOICE="2r-fifo:fallback=fifo"`.
#[test]
fn a_failure_is_repeated_if_asked_for() {
    if let Ok(spec) = std::env::var("FTLAB_CHOICE") {
        survive_all(&[spec], 1, 20_000);
    }
}

#[test]
fn so_does_every_choice_of_maps_on_flash() {
    let specs = specs_of_maps();
    let run = survive_all(&specs, GEOMETRIES.len() * LOADS.len() / 3, 6000);
    assert!(run > 2 * specs.len(), "{run} of {specs:?}");
}

#[test]
fn every_choice_of_every_parameter_survives_a_load() {
    let run = survive_all(&specs(), GEOMETRIES.len() * LOADS.len(), 6000);
    assert!(run > 200, "{run}");
}

#[test]
#[ignore = "long: `make fault-tests`"]
fn every_choice_of_every_parameter_survives_every_load() {
    println!("{} drives", survive_all(&specs(), 1, 20_000));
}
