//! `ftlab run --report` and `ftlab report` as a user runs them, and their page as a reader sees it.

use crate::common::Place;
use crate::common::browser::{browser, check};
use std::path::Path;

const SMALL: &str = "--logical 16MiB --pages-per-block 64 --op 20% --fill sequential";

/// A report as text.
fn report(place: &Place, arguments: &str) -> String {
    let output = place.ftlab(&format!("run {arguments} --report page.html --quiet"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    std::fs::read_to_string(place.path().join("page.html")).unwrap()
}

/// The data of a page's scripts.
fn data(page: &str) -> serde_json::Value {
    let (_, from) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(from.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_answers_the_question_and_tells_how_to_ask_it_again() {
    let page = report(&Place::new(), &format!("zipf:theta=0.9 {SMALL} --ftl 1r-greedy --ftl 2r++"));
    for part in [
        "<h1 id=\"question\">How much do 1r-greedy and 2r++ amplify the writes of zipf:theta=0.9?</h1>",
        "2r++ writes ",
        "<code id=\"command\">ftlab run zipf:theta=0.9 <span>--logical</span> 16MiB",
        "<span>--report</span> page.html <span>--quiet</span></code>",
        "20% requested, 20.31% actual",
        "second-chance",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    let data = data(&page);
    let runs = data["runs"].as_array().unwrap();
    assert_eq!(runs[1]["series"]["waf"].as_array().unwrap().len(), 16);
    assert_eq!(runs[1]["flash"]["frames"].as_array().unwrap().len(), 61);
}

#[test]
fn what_is_unlike_a_drive_is_said_in_every_output() {
    let place = Place::new();
    let command = format!("uniform {SMALL} --ftl 1r-greedy --ftl fifo --timing femu:luns=1");
    let few = "has 77 blocks of 64 pages (8 on each of 8 LUNs), fewer than 256";
    let erases = "of the time that LUNs are busy, more than 10%";
    let page = report(&place, &command);
    let text = place.ftlab(&format!("run {command}")).stdout;
    assert!(text.contains("warning ") && text.contains(&format!(" the drive {few}")), "{text}");
    for said in [&page, &text] {
        assert!(said.contains(&format!("The drive {few}")), "{said}");
        assert!(said.contains("1r-greedy: erases take ") && said.contains(erases), "{said}");
    }
    let runs = place.ftlab(&format!("run {command} --json --quiet")).json()["runs"].clone();
    for run in runs.as_array().unwrap() {
        let doubts = &run["doubts"];
        assert!(doubts[0].as_str().unwrap().contains(few) && doubts[2].is_null(), "{doubts}");
        assert!(doubts[1].as_str().unwrap().contains(erases), "{doubts}");
    }
    let refused = place.ftlab("run uniform --logical 16MiB --ftl fifo --timing femu");
    refused.fails(2, &["16,384 pages (256 on each of 64 LUNs)", "--logical 15GiB", "fewer LUNs"]);
}

#[test]
fn a_page_needs_nothing_else() {
    let page = report(&Place::new(), &format!("uniform {SMALL} --ftl 1r-greedy --timing slc"));
    assert!(page.len() < 300_000, "{} bytes", page.len());
    // What is named is a namespace, and in the comment at the head of uPlot.
    for (at, _) in page.match_indices("://") {
        let known = ["\"http://www.w3.org/2000/svg\"", "/*! https://github.com/leeoniya/uPlot"];
        let is_known = known.iter().any(|text| page[at.saturating_sub(10)..].contains(text));
        assert!(is_known, "{}", &page[at - 20..at + 40]);
    }
    for loading in ["<link rel=\"stylesheet\"", "<script src", "@import", "url(http"] {
        assert!(!page.contains(loading), "{loading}");
    }
}

#[test]
fn results_of_an_earlier_run_make_the_same_page() {
    let place = Place::new();
    let page = report(&place, &format!("uniform {SMALL} --ftl 2r-fifo --ftl dac-cb --out results"));
    let output = place.ftlab("report results");
    assert_eq!((output.code, output.stderr.as_str()), (0, "wrote results/report.html\n"));
    let again = |path: &str| std::fs::read_to_string(place.path().join(path)).unwrap();
    assert!(again("results/report.html") == page);
    assert_eq!(place.ftlab("report results --out other.html").code, 0);
    assert!(again("other.html") == page);
}

#[test]
fn the_flash_of_an_earlier_run_can_be_drawn() {
    let place = Place::new();
    report(&place, &format!("uniform {SMALL} --ftl 2r-fifo --ftl dac-cb --out results"));
    assert_eq!(place.ftlab("report results --flash flash.svg").code, 0);
    let svg = std::fs::read_to_string(place.path().join("flash.svg")).unwrap();
    for part in ["2r-fifo", "dac-cb", "after 0", "cold pages"] {
        assert!(svg.contains(part), "{part}");
    }
    place.ftlab("report results --flash flash.txt").fails(2, &["flash.txt", ".svg, .png or .pdf"]);
}

#[test]
fn watching_changes_no_count() {
    let place = Place::new();
    for arguments in
        ["--ftl 2r++ --ftl faster", "--ftl sepbit --gc incremental", "--ftl 2r-fifo --faults bad=2"]
    {
        let counts = |more: &str| {
            let command = format!("run zipf:theta=0.9 {SMALL} {arguments} --json --quiet {more}");
            let result = place.ftlab(&command).json();
            let run = |run: &serde_json::Value| {
                let moves = &run["observed"]["moves"];
                let classes = ["hot", "warm", "cold", "frozen", "undecided"];
                let moved: u64 = classes.iter().filter_map(|class| moves[class].as_u64()).sum();
                let counted = ["relocations", "merge_copies"].map(|key| run[key].as_u64().unwrap());
                assert!(more.is_empty() || moved == counted.iter().sum::<u64>(), "{run}");
                [&run["waf"], &run["erases"], &run["running_waf"], &run["erase_counts"]]
                    .map(Clone::clone)
            };
            result["runs"].as_array().unwrap().iter().map(run).collect::<Vec<_>>()
        };
        assert_eq!(counts(""), counts("--report page.html"), "{arguments}");
    }
}

#[test]
fn names_are_never_taken_as_html() {
    let place = Place::new();
    // The slash makes a directory of the first part.
    let name = "<script>alert(1)</script>&.u32";
    std::fs::create_dir(place.path().join("<script>alert(1)<")).unwrap();
    place.write(
        name,
        (0..20_000_u32).flat_map(|page| (page * 7 % 4096).to_le_bytes()).collect::<Vec<_>>(),
    );
    let arguments = format!("run {name} --format lpn-u32 {SMALL} --ftl fifo --report page.html");
    assert_eq!(place.ftlab(&arguments).code, 0);
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(!page.contains("<script>alert") && page.contains("alert(1)"));
}

#[test]
fn what_cannot_be_written_is_known_before_the_run() {
    let place = Place::new();
    let many = (1..=65).map(|number| format!("--ftl 2r-fifo:blk-util=0.{number:02}"));
    let many = many.collect::<Vec<_>>().join(" ");
    place
        .ftlab(&format!("run uniform {SMALL} {many} --report page.html --quiet"))
        .fails(2, &["a report of 65 FTLs", "64 are allowed: name fewer"]);
    place
        .ftlab(&format!("run uniform {SMALL} --ftl fifo --report no/page.html --quiet"))
        .fails(1, &["no/page.html"]);
    place
        .ftlab("report nowhere")
        .fails(2, &["nowhere/results.json: No such file", "`ftlab run --out`"]);
    std::fs::create_dir(place.path().join("old")).unwrap();
    place.write("old/results.json", "{}");
    place.ftlab("report old").fails(2, &["old/results.json: missing field", "run it again"]);
}

#[track_caller]
fn reads_well(folder: &Path, arguments: &str) {
    let place = Place::new();
    report(&place, arguments);
    check(folder, "check.mjs", &place.path().join("page.html"));
}

#[test]
fn readers_can_use_the_page_with_mouse_keys_and_screen_reader() {
    let Some(folder) = browser() else { return };
    reads_well(
        &folder,
        &format!(
            "zipf:theta=0.9 {SMALL} --ftl 1r-greedy --ftl 2r++ --ftl faster --ftl multilog/greedy \
             --timing slc:channels=2,queue-depth=4 --endurance 3000"
        ),
    );
    // No complete interval, nothing collected, no cold region, and retired blocks.
    reads_well(
        &folder,
        "uniform --logical 16MiB --pages-per-block 64 --op 20% --writes 300 --ftl fifo --ftl 1r-greedy \
         --faults bad=3",
    );
}

#[test]
fn the_slowest_request_is_drawn_with_what_luns_did() {
    let place = Place::new();
    let arguments = format!(
        "zipf:theta=0.9 {SMALL} --ftl 1r-greedy --ftl 2r++ --timing \
         slc:luns=4,unit=request,queue-depth=8,waits=on,by=size --timeline slow.json"
    );
    let page = report(&place, &arguments);
    for part in [
        "id=\"tail-write\"",
        "id=\"over-time-write\"",
        "id=\"groups\"",
        "waiting per LUN",
        "aria-label=\"2r++: the slowest request, write ",
        "class=\"work-4\" d=\"M",
        "4 LUNs, the",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<figure class=\"timeline\">").count(), 2);
    let text = std::fs::read_to_string(place.path().join("slow.json")).unwrap();
    let events: serde_json::Value = serde_json::from_str(&text).unwrap();
    let is_request = |event: &&serde_json::Value| event["cat"] == "request";
    assert_eq!(events["traceEvents"].as_array().unwrap().iter().filter(is_request).count(), 20);
    place
        .ftlab("run uniform --logical 16MiB --ftl fifo --timing slc --timeline slow.json")
        .fails(2, &["unit=request"]);
    if let Some(folder) = browser() {
        check(&folder, "check.mjs", &place.path().join("page.html"));
    }
}

#[test]
fn readers_can_use_the_page_of_one_ftl_and_that_of_twelve() {
    let Some(folder) = browser() else { return };
    reads_well(&folder, &format!("zipf:theta=0.9 {SMALL} --ftl 2r++ --timing slc"));
    let many = "1r-greedy 2r-greedy 2r-fifo 2r++ sepbit fifo dac-cb faster multilog/greedy midas wolf lfs-cb";
    let many = many.replace(' ', " --ftl ");
    reads_well(
        &folder,
        &format!(
            "hotcold:writes=0.9,pages=0.1 --logical 16MiB --pages-per-block 32 --op 20% --ftl {many}"
        ),
    );
}

#[test]
fn every_handle_of_a_drive_with_placement_handles_has_a_line() {
    let place = Place::new();
    let arguments = format!(
        "zipf:theta=0.9 {} --op 30% --reserve 8 --streams 0..1MiB=1,1MiB..2MiB=32768,2MiB..3MiB=7 \
         --ftl nvme-fdp:handles=2 --ftl nvme-fdp/greedy:handles=2,reclaim-groups=2 --ftl 1r-greedy",
        SMALL.replace("--op 20%", "")
    );
    let page = report(&place, &arguments);
    for part in [
        "<h2 id=\"handles-title\">Placement handles</h2>",
        "1 in group 0</td>",
        "0 in group 1</td>",
        "moved and mixed</td>",
        "not written to capacity</button>",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    let plain = report(&Place::new(), &format!("uniform {SMALL} --ftl 1r-greedy"));
    assert!(!plain.contains("handles-title"));
    if let Some(folder) = browser() {
        check(&folder, "check.mjs", &place.path().join("page.html"));
    }
}

#[test]
fn the_page_has_a_picture_of_the_workload_and_other_runs_do_not_take_it() {
    let place = Place::new();
    let arguments = format!("hotcold:writes=0.9,pages=0.1 {SMALL} --ftl 1r-greedy");
    let plain = place.ftlab(&format!("run {arguments} --json --quiet")).json();
    assert!(plain["workload"]["observed"].is_null());
    let page = report(&place, &arguments);
    assert!(page.contains("<h2 id=\"workload-title\">"));
    // It is what `ftlab inspect` finds in the same writes.
    let inspect =
        "inspect hotcold:writes=0.9,pages=0.1 --logical 16MiB --writes 16384 --report i.html";
    assert_eq!(place.ftlab(inspect).code, 0);
    let inspected = std::fs::read_to_string(place.path().join("i.html")).unwrap();
    let (workload, inspected) = (&data(&page)["workload"], &data(&inspected)["runs"][0]);
    for part in ["map", "skew"] {
        assert!(!workload[part].is_null() && workload[part] == inspected[part], "{part}");
    }
    let erases = data(&page)["runs"][0]["erases"].as_array().unwrap().len();
    assert_eq!(erases, 101);
}
