//! What needs more memory than there is, is refused with the number, the limit and the remedy.

mod common;

use common::{Output, Place};
use std::process::Command;

/// `ftlab` with 2 GB of address space.
fn in_little_memory(place: &Place, arguments: &str) -> Output {
    let command = format!("ulimit -v 2000000; exec {} {arguments}", env!("CARGO_BIN_EXE_ftlab"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(place.path()).output();
    let output = output.unwrap();
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
        .fails(1, &["1 FTLs on this drive need 17.", "are available; simulate a smaller drive"]);
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
