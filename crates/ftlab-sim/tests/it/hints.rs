//! What is known of page writes beside their addresses: how long they live, and their streams.

use ftlab_sim::result::{FdpEvent, FdpEventType, FdpIsolation, StreamResult};
use ftlab_sim::{
    DriveOptions, Experiment, ExperimentResult, Fill, Length, Logical, Physical, SimError, Workload,
};
use ftlab_spec::Share;
use ftlab_trace::OpenOptions;
use std::path::PathBuf;

fn experiment(workload: &str, ftls: &[&str]) -> Experiment {
    let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
    Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(16_384),
            pages_per_block: Some(32),
            physical: Physical::OverProvisioning(Share(0.125)),
            ..DriveOptions::default()
        },
        fill: Fill::Sequential,
        length: Length::DriveWrites(6.0),
        ..Experiment::new(workload, ftls.iter().map(|ftl| ftl.parse().unwrap()).collect())
    }
}

fn relocations(result: &ExperimentResult) -> Vec<u64> {
    result.runs.iter().map(|run| run.relocations).collect()
}

/// The placements that guess, with the same victims.
const GUESSES: [&str; 11] = [
    "fk",
    "sepbit",
    "dac-cb",
    "sep-gc/cost-benefit",
    "multilog/cost-benefit",
    "sfs/cost-benefit",
    "fadac/cost-benefit",
    "warcip/cost-benefit",
    "phftl/cost-benefit",
    "sepbit-multilog/cost-benefit",
    "dogi",
];

#[test]
fn whoever_knows_the_future_moves_no_more_pages_than_those_who_guess() {
    for workload in ["zipf:theta=0.9", "zipf:theta=1.1", "hotcold", "uniform", "oltp", "lsm"] {
        for fill in [Fill::Sequential, Fill::None] {
            let experiment = Experiment { fill, ..experiment(workload, &GUESSES) };
            let found = relocations(&experiment.run(&mut ()).unwrap());
            println!("{workload} {fill}: {found:?}");
            assert!(found[1..].iter().all(|guess| found[0] <= *guess), "{workload}: {found:?}");
        }
    }
}

/// Where rates stay, those who know them do better than those who guess, and worse than those who know when
/// pages die.
#[test]
fn rates_are_worth_less_than_the_future_and_more_than_guesses() {
    for workload in ["zipf:theta=0.9", "zipf:theta=1.1", "hotcold", "uniform"] {
        let experiment = experiment(workload, &["fk", "oracle-rate", "hazard"]);
        let found = relocations(&experiment.run(&mut ()).unwrap());
        println!("{workload}: {found:?}");
        assert!(found.is_sorted() && 2 * found[0] < found[1], "{workload}: {found:?}");
    }
}

/// On captured traces, too, which are too large to ship.
#[test]
fn whoever_knows_the_future_of_captured_traces_moves_less_too() {
    let folder = std::env::var_os("FTLAB_SHARED").map(|path| PathBuf::from(path).join("traces"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        println!("SKIPPED: no captured traces; set FTLAB_SHARED to the folder above `traces`");
        return;
    };
    for name in ["linkbench-mariadb", "pgbench-postgresql", "fio-zipf-0.9"] {
        let path = folder.join(format!("{name}.parquet"));
        let mut experiment =
            experiment(path.to_str().unwrap(), &["fk", "sepbit", "dac-cb", "hazard"]);
        experiment.drive = DriveOptions {
            logical: Logical::OfWorkload,
            pages_per_block: Some(128),
            ..DriveOptions::default()
        };
        experiment.length = Length::Writes(2_000_000);
        let found = relocations(&experiment.run(&mut ()).unwrap());
        println!("{name}: {found:?}");
        assert!(found[1..].iter().all(|guess| found[0] <= *guess), "{name}: {found:?}");
    }
}

#[test]
fn what_can_be_read_once_has_no_known_future() {
    let error = experiment("-", &["sepbit", "fk"]).prepare().err().unwrap();
    assert!(error.is_usage());
    let message = error.to_string();
    assert!(message.contains("- can be read once only"), "{message}");
    assert!(message.contains("ftlab convert - trace.parquet"), "{message}");
}

/// A hundredth of the drive takes half of the writes, and the host knows.
fn streams(persistent: &str) -> Result<ExperimentResult, SimError> {
    let ftls =
        ["1r-greedy", "nvme-fdp/greedy", &format!("nvme-fdp/greedy:persistent={persistent}")];
    let mut experiment = experiment("hotcold:writes=0.5,pages=0.01", &ftls[..2]);
    experiment.ftls.push(ftls[2].parse().unwrap());
    experiment.streams = Some("0..655360=1".parse().unwrap());
    experiment.drive.reserve_blocks = 9;
    experiment.run(&mut ())
}

#[test]
fn a_host_that_names_its_hot_pages_saves_relocations() {
    let result = streams("all").unwrap();
    let found = relocations(&result);
    assert!(10 * found[1] < 9 * found[0], "{found:?}");
    assert_eq!(result.config.streams.as_deref(), Some("0B..640KiB=1"));
    assert!(result.workload.has_streams);
}

#[test]
fn nvme_statistics_count_bytes_of_ftls_that_take_streams() {
    let result = streams("1").unwrap();
    assert_eq!(result.runs[0].fdp, None);
    for run in &result.runs[1..] {
        let fdp = run.fdp.as_ref().unwrap();
        assert_eq!(fdp.hbmw, run.host_writes * 4096);
        assert_eq!(fdp.mbmw, (run.host_writes + run.relocations) * 4096);
        assert_eq!(fdp.mbe, run.erases * 32 * 4096);
        assert_eq!(fdp.unit_bytes, 32 * 4096);
        // Half of the writes are the hot pages', and the host says so.
        assert_eq!(fdp.handles.len(), 8);
        let hbmw: Vec<u64> = fdp.handles.iter().map(|handle| handle.hbmw).collect();
        assert_eq!((hbmw[2..].iter().sum::<u64>(), hbmw[0] + hbmw[1]), (0, fdp.hbmw));
        assert!(9 * hbmw[0] < 10 * hbmw[1] && 9 * hbmw[1] < 10 * hbmw[0], "{hbmw:?}");
        for handle in &fdp.handles {
            assert_eq!(handle.running_hbmw.iter().sum::<u64>(), handle.hbmw);
            assert_eq!(handle.running_mbmw.iter().sum::<u64>(), handle.mbmw);
            assert!(handle.ruamw_bytes > 0 && handle.ruamw_bytes <= fdp.unit_bytes);
        }
        assert_eq!((fdp.unnamed_writes, fdp.events.invalid_placement_identifier), (0, 0));
        assert!(fdp.events.media_reallocated > 0 && fdp.latest_events.len() == 63);
    }
    let isolation = |run: usize, handle: usize| {
        result.runs[run].fdp.as_ref().unwrap().handles[handle].isolation
    };
    assert_eq!(isolation(1, 1), FdpIsolation::InitiallyIsolated);
    assert_eq!(isolation(2, 1), FdpIsolation::PersistentlyIsolated);
}

#[test]
fn without_streams_every_page_has_handle_0() {
    let result = experiment("zipf", &["nvme-fdp/greedy", "sep-gc/greedy"]).run(&mut ()).unwrap();
    let found = relocations(&result);
    assert_eq!(found[0], found[1], "host writes and moved pages are all that is apart");
    assert!(!result.workload.has_streams);
    let fdp = result.runs[0].fdp.as_ref().unwrap();
    assert_eq!(fdp.unnamed_writes, result.runs[0].host_writes);
    assert_eq!(fdp.handles[0].hbmw, fdp.hbmw);
}

#[test]
fn a_stream_without_a_handle_goes_to_handle_0_and_is_logged() {
    let mut experiment = experiment("hotcold:writes=0.5,pages=0.01", &["nvme-fdp:handles=2"]);
    experiment.streams = Some("0..655360=5".parse().unwrap());
    let result = experiment.run(&mut ()).unwrap();
    let fdp = result.runs[0].fdp.as_ref().unwrap();
    let invalid = fdp.events.invalid_placement_identifier;
    assert!(10 * invalid > 4 * result.runs[0].host_writes, "{invalid}");
    assert_eq!((fdp.handles[0].hbmw, fdp.handles[1].hbmw), (fdp.hbmw, 0));
    let is_invalid = |event: &&FdpEvent| event.kind == FdpEventType::InvalidPlacementIdentifier;
    let event = fdp.latest_events.iter().find(is_invalid).unwrap();
    assert_eq!((event.handle, event.named, event.pages), (0, 5, 1));
}

#[test]
fn a_unit_of_several_blocks_is_a_block_as_large_as_they_are() {
    let run = |pages_per_block, ftls: &[&str]| {
        let mut experiment = experiment("hotcold:writes=0.5,pages=0.01", ftls);
        experiment.streams = Some("0..655360=1".parse().unwrap());
        experiment.drive.pages_per_block = Some(pages_per_block);
        experiment.run(&mut ()).unwrap().runs
    };
    let large = run(128, &["nvme-fdp"]);
    let units = run(32, &["nvme-fdp:unit=4", "nvme-fdp:unit=512KiB", "nvme-fdp"]);
    for run in [&units[0], &units[1]] {
        assert_eq!((run.waf, run.relocations), (large[0].waf, large[0].relocations));
        assert_eq!(run.erases, 4 * large[0].erases);
        assert_eq!(run.fdp.as_ref().unwrap().mbe, large[0].fdp.as_ref().unwrap().mbe);
        assert_eq!(run.fdp.as_ref().unwrap().unit_bytes, 128 * 4096);
        assert_eq!(run.erase_counts, large[0].erase_counts);
        let blocks = |streams: &[StreamResult]| streams.iter().map(|s| s.blocks).sum::<u32>();
        assert_eq!(blocks(&run.streams), 4 * blocks(&large[0].streams));
    }
    assert_eq!(
        (units[0].parameters["unit"].as_str(), units[2].parameters["unit"].as_str()),
        ("4", "1")
    );
    assert_ne!(units[0].config_hash, units[2].config_hash);
    assert!(units[2].relocations < units[0].relocations, "smaller units are emptier");
    let error = |ftl| experiment("zipf", &[ftl]).prepare().err().unwrap().to_string();
    let message = error("nvme-fdp:unit=100KB");
    assert!(message.contains("unit=100KB is not a multiple of the erase block"), "{message}");
    let message = error("nvme-fdp:unit=577");
    assert!(message.contains("unit=577 is not smaller than the drive"), "{message}");
    assert!(message.contains("576 erase blocks"), "{message}");
}

/// Which rule an FTL decided by is told where it chooses, and nothing where it does not.
#[test]
fn rules_that_are_chosen_are_told_over_time_and_by_their_shares() {
    let large = DriveOptions {
        logical: Logical::Pages(65_536),
        pages_per_block: Some(64),
        physical: Physical::OverProvisioning(Share(0.07)),
        ..DriveOptions::default()
    };
    let ftls = ["hazard", "hazard:rule=moves", "sepbit"];
    let experiment =
        Experiment { drive: large, length: Length::DriveWrites(4.0), ..experiment("oltp", &ftls) };
    let result = experiment.run(&mut ()).unwrap();
    let rules =
        |run: usize| (result.runs[run].running_rule.as_ref(), result.runs[run].rules.as_ref());
    let (Some(numbers), Some(shares)) = rules(0) else { panic!("{:?}", rules(0)) };
    assert_eq!(numbers.len(), result.runs[0].running_waf.len());
    let names = ["pages", "blocks", "moves"];
    let expected = names.iter().zip(0..).filter_map(|(name, number)| {
        let count = numbers.iter().filter(|of| **of == number).count();
        (count > 0).then(|| format!("{name} {:.0}%", 100.0 * count as f64 / numbers.len() as f64))
    });
    assert_eq!(*shares, expected.collect::<Vec<_>>().join(", "));
    assert!(shares.contains(','), "more than one: {shares}");
    assert_eq!((rules(1), rules(2)), ((None, None), (None, None)));
}
