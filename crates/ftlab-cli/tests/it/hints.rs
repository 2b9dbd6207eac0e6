//! Known futures and named streams as a user types them.

use crate::common::Place;

const RUN: &str = "run hotcold:writes=0.5,pages=0.01 --logical 32MiB --pages-per-block 32 --op 15% \
                   --fill sequential --drive-writes 3 --quiet";

#[test]
fn streams_by_address_reach_the_placement_handles() {
    let place = Place::new();
    let output =
        place.ftlab(&format!("{RUN} --streams 0..320KiB=1 --ftl nvme-fdp --ftl 1r-greedy"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let text = output.stdout + &output.stderr;
    let handles = ["  handle 0, initially isolated", "  handle 1, initially", "  moved and mixed"];
    for part in ["NVMe statistics", "HBMW", "MBMW", "MBE"].into_iter().chain(handles) {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("names no streams") && !text.contains("handle 2"), "{text}");
    let output = place.ftlab(&format!("{RUN} --ftl nvme-fdp"));
    let text = output.stdout + &output.stderr;
    assert!(text.contains("the workload names no streams, so everything went to"), "{text}");
}

#[test]
fn a_stream_without_a_handle_is_said_once_and_units_and_policies_go_with_handles() {
    let place = Place::new();
    let ftls = "--ftl nvme-fdp:handles=2,unit=128KiB --ftl nvme-fdp/greedy:handles=2,inner=dac,persistent=1";
    let run = RUN.replace("--pages-per-block 32", "--pages-per-block 16");
    let output =
        place.ftlab(&format!("{run} --reserve 10 --streams 0..320KiB=1,1MiB..2MiB=6 {ftls}"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let text = output.stdout + &output.stderr;
    let said =
        "page writes named a stream, such as 6, beyond its 2 handles and went to handle 0; raise";
    assert_eq!(text.matches(said).count(), 2, "once for each FTL: {text}");
    assert!(text.contains("handle 1, persistently isolated"), "{text}");
    let refused = place.ftlab(&format!("{run} --ftl nvme-fdp:inner=hazrd"));
    refused.fails(2, &["unknown FTL \"hazrd\"", "hazard"]);
}

#[test]
fn streams_name_reclaim_groups_and_handles() {
    let place = Place::new();
    // Handle 1 of the second of two groups.
    let run = format!("{RUN} --reserve 8 --streams 0..320KiB=1,1MiB..2MiB=32769,2MiB..3MiB=9");
    let ftl = "--ftl nvme-fdp/greedy:handles=2,reclaim-groups=2";
    let output = place.ftlab(&format!("{run} {ftl}"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let text = output.stdout + &output.stderr;
    for part in
        ["  group 0, handle 1, initially isolated", "  group 1, handle 1,", "  group 1, handle 0,"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let said = "named a stream, such as 9, of none of its 2 reclaim groups and their handles";
    assert!(text.contains(said), "{text}");
    let json = place.ftlab(&format!("{run} {ftl} --json")).json();
    let fdp = &json["runs"][0]["fdp"];
    assert_eq!((fdp["reclaim_groups"].as_u64(), fdp["rgif"].as_u64()), (Some(2), Some(1)));
    let named: Vec<_> = (0..4).map(|index| fdp["handles"][index]["identifier"].as_u64()).collect();
    assert_eq!(named, [0, 1, 0x8000, 0x8001].map(Some));
    let refused = place.ftlab(&format!("{run} {ftl} --gc incremental"));
    refused.fails(2, &["reclaim groups collect garbage before the host write", "leave out --gc"]);
}

#[test]
fn streams_of_a_trace_are_those_of_its_column() {
    let place = Place::new();
    let lines = (0..4000).map(|i| format!("W,{},1,{}\n", (i * 37) % 900, i % 3));
    place.write("writes.csv", lines.collect::<String>());
    let json = place
        .ftlab(
            "run writes.csv --map op=1,off:pages=2,len:pages=3,stream=4 --pages-per-block 16 --op 50% \
             --ftl nvme-fdp:handles=3 --json --quiet",
        )
        .json();
    assert_eq!(json["workload"]["has_streams"], true);
    let run = &json["runs"][0];
    assert_eq!(run["fdp"]["hbmw"].as_u64(), Some(4000 * 4096));
    let blocks = |stream: usize| run["streams"][stream]["blocks"].as_u64().unwrap();
    assert!((0..3).all(|handle| blocks(handle) > 0));
}

#[test]
fn a_wrong_map_of_streams_and_a_future_that_cannot_be_known_are_refused() {
    let place = Place::new();
    place.ftlab(&format!("{RUN} --streams 4KiB=1 --ftl nvme-fdp")).fails(2, &["1MiB..2MiB=1"]);
    let refused = place.ftlab_with_input("run - --logical 1MiB --ftl fk", b"");
    refused.fails(2, &["- can be read once only", "ftlab convert - trace.parquet"]);
}
