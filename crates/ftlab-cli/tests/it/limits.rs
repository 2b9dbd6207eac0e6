//! What needs more memory than there is, is refused with the number, the limit and the remedy.

use crate::common::{Output, Place};
use std::process::Command;

/// `ftlab` with 2 GB of address space.
fn in_little_memory(place: &Place, arguments: &str) -> Output {
    within(place, 2_000_000, arguments)
}

/// Runs `ftlab` in `kib` KiB of address space; a signal is status -1.
fn within(place: &Place, kib: u64, arguments: &str) -> Output {
    let command = format!("ulimit -v {kib}; exec {} {arguments}", env!("CARGO_BIN_EXE_ftlab"));
    let mut shell = place.kept_here(Command::new("sh"));
    let output = shell.args(["-c", &command]).current_dir(place.path()).output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[cfg(feature = "live")]
#[test]
fn a_drive_beyond_the_memory_is_not_created() {
    let place = Place::new();
    let sizes = ["--size 8TiB", "--size 4TiB --pages-per-block 1048576", "--size 1TiB --op 300%"];
    for size in sizes {
        let parts =
            ["this drive needs ", "GiB of memory, and ", "GiB are available; make it smaller"];
        in_little_memory(&place, &format!("drive create d {size}")).fails(1, &parts);
        assert!(!place.path().join("d").exists());
    }
}

#[test]
fn a_simulation_beyond_the_memory_is_not_begun() {
    let command = "run uniform --logical 8TiB --ftl 2r++ --drive-writes 1";
    in_little_memory(&Place::new(), command)
        .fails(1, &["1 FTLs on this drive need 18.", "are available; simulate a smaller drive"]);
}

/// Runs a command within each limit: it succeeds, or says what it needs, what there is, and what to do. Both happen.
fn succeeds_or_says_why(place: &Place, arguments: &str, limits_mib: &[u64]) {
    let (mut succeeded, mut refused) = (0, 0);
    for limit in limits_mib {
        // Results of a sweep that are there are not run again.
        if within(place, limit << 10, "--version").code != 0 {
            // The program itself does not fit.
            continue;
        }
        let output = within(place, limit << 10, &arguments.replace("OUT", &limit.to_string()));
        let what = format!("{arguments} within {limit} MiB: {}", output.stderr);
        if output.code == 0 {
            succeeded += 1;
            continue;
        }
        refused += 1;
        assert_eq!(output.code, 1, "{what}");
        for part in ["error: ", "memory", "--logical", "fewer FTLs", "--threads 1"] {
            assert!(output.stderr.contains(part), "{what}");
        }
        assert!(!output.stderr.contains("memory allocation of"), "{what}");
    }
    assert!(succeeded > 0 && refused > 0, "{arguments}: {succeeded} of {limits_mib:?}");
}

#[test]
fn little_memory_is_enough_or_an_error() {
    let place = Place::new();
    let run = |size: &str| {
        let ftls = "--ftl midas --ftl dogi --ftl sepbit";
        format!("run uniform --logical {size} {ftls} --writes 300000 --fill none --quiet")
    };
    let limits: Vec<_> = (2..=16).map(|limit| 25 * limit).collect();
    succeeds_or_says_why(&place, &run("16GiB"), &limits);
    succeeds_or_says_why(&place, &run("64GiB"), &[100, 200, 300, 400, 450, 500, 800, 1600]);
}

#[test]
fn what_decodes_and_watches_in_little_memory_is_enough_or_an_error() {
    let place = Place::new();
    let limits: Vec<_> = (2..=10).map(|limit| 25 * limit).collect();
    let convert = "convert tpcc t.parquet --logical 1GiB --writes 200000";
    assert_eq!(place.ftlab(convert).code, 0);
    let ftls = "--ftl 2r++ --ftl hazard --ftl fk --threads 3 --quiet --fill none";
    for command in [
        format!("run t.parquet --logical 2GiB {ftls} --report r.html"),
        format!(
            "run zipf --logical 2GiB {ftls} --pages-per-block 512 --writes 200000 --timing femu:unit=request"
        ),
        format!("run tpcc --logical 2GiB --writes 50000 {ftls}"),
    ] {
        succeeds_or_says_why(&place, &command, &limits);
    }
    place.write(
        "sweep.toml",
        "title = \"small\"\nworkloads = [\"uniform\"]\nftls = [\"midas\", \"dogi\"]\n\
         [drive]\nlogical = \"4GiB\"\nop = \"{op}\"\n[run]\nwrites = 100000\nfill = \"none\"\n\
         [grid]\nop = [\"5%\", \"10%\", \"20%\"]\n",
    );
    // What does not fit beside another run waits for it.
    succeeds_or_says_why(
        &place,
        "sweep sweep.toml --threads 3 --quiet --out OUT",
        &[50, 75, 100, 150, 200, 800],
    );
}

#[test]
fn a_sweep_of_too_many_points_is_refused_at_once() {
    let place = Place::new();
    let values: Vec<_> = (1..=1000).map(|value| value.to_string()).collect();
    let axes = ["a", "b", "c"].map(|axis| format!("{axis} = [{}]\n", values.join(",")));
    place.write(
        "big.toml",
        format!(
            "title = \"big\"\nworkloads = [\"uniform\"]\nftls = [\"1r-greedy\"]\n\
             [drive]\nlogical = \"1MiB\"\n[run]\ndrive-writes = 1\n[grid]\n{}",
            axes.concat()
        ),
    );
    place.ftlab("sweep big.toml --dry-run").fails(
        1,
        &["big.toml: the plan of its 1,000,000,000 runs needs 1907.3 GiB of memory", "[grid]"],
    );
}

#[test]
fn a_footer_that_claims_too_much_is_damage() {
    let place = Place::new();
    assert_eq!(place.ftlab("convert uniform t.parquet --logical 1MiB --writes 9").code, 0);
    let file = std::fs::read(place.path().join("t.parquet")).unwrap();
    let tail = file.len() - 8;
    let length = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap()) as usize;
    let (data, footer) = file[..tail].split_at(tail - length);
    // Version 1 or 2, then the list of the columns: its length becomes 2^31 - 1.
    assert_eq!((footer[2], footer[3] & 15), (0x19, 12));
    let claim = [0xfc, 0xff, 0xff, 0xff, 0xff, 0x07];
    let footer = [&footer[..3], &claim, &footer[4..]].concat();
    let length = (footer.len() as u32).to_le_bytes();
    place.write("t.parquet", [data, &footer, &length, b"PAR1"].concat());
    for command in ["inspect t.parquet", "run t.parquet --ftl 1r-greedy"] {
        place.ftlab(command).fails(
            1,
            &[
                "t.parquet: not a readable Parquet file: the footer claims more than its",
                "complete",
            ],
        );
    }
}
