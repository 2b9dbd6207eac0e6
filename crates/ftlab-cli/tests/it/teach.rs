//! `ftlab teach` as a user runs it, and its page as a class sees it.

use crate::common::Place;
use crate::common::browser::{browser, check};
use serde_json::Value;

/// The page that `ftlab teach` with these arguments writes.
#[track_caller]
fn lesson(place: &Place, arguments: &str) -> String {
    let output = place.ftlab(&format!("teach {arguments}"));
    assert_eq!((output.code, output.stderr.as_str()), (0, "wrote teach.html\n"));
    std::fs::read_to_string(place.path().join("teach.html")).unwrap()
}

/// The data of its scripts.
fn data(page: &str) -> Value {
    let (_, from) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(from.split_once("</script>").unwrap().0).unwrap()
}

/// How many steps of a kind a run has after the fill.
fn count(run: &Value, kind: &str) -> u64 {
    let fill = run["fill"].as_u64().unwrap() as usize;
    let steps = &run["steps"].as_array().unwrap()[fill..];
    steps.iter().filter(|step| step[0] == kind).count() as u64
}

#[test]
fn a_lesson_needs_no_arguments() {
    let page = lesson(&Place::new(), "");
    for part in [
        "<h1>How do 1r-greedy and 2r-fifo collect garbage?</h1>",
        "8 blocks of 16 pages, 64 logical pages (over-provisioning 100%)",
        "<code>ftlab teach</code>",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    assert!(page.len() < 150_000, "{} bytes", page.len());
    for loading in ["<link rel=\"stylesheet\"", "<script src", "@import", "url(", "https://"] {
        assert!(!page.contains(loading), "{loading}");
    }
    let data = data(&page);
    let writes: Vec<_> =
        data["runs"].as_array().unwrap().iter().map(|run| count(run, "w")).collect();
    assert_eq!(writes, [200, 200]);
}

#[test]
fn a_lesson_has_the_counts_of_a_run_on_such_a_drive() {
    let place = Place::new();
    let ftls = "--ftl 1r-greedy --ftl sep-gc/cost-benefit";
    let page = lesson(&place, &format!("zipf:theta=0.9 {ftls} --fill random --seed 7"));
    let data = data(&page);
    let run = format!(
        "run zipf:theta=0.9 {ftls} --fill random --seed 7 --writes 200 --logical-pages {} --blocks 8 \
         --pages-per-block 16 --reserve 1 --json --quiet",
        data["logical_pages"]
    );
    let result = place.ftlab(&run).json();
    for (shown, run) in
        data["runs"].as_array().unwrap().iter().zip(result["runs"].as_array().unwrap())
    {
        assert_eq!(count(shown, "w"), run["host_writes"]);
        assert_eq!(count(shown, "m"), run["relocations"]);
        assert_eq!(count(shown, "e"), run["erases"]);
    }
}

#[test]
fn traces_of_larger_drives_and_their_trims_are_shown() {
    let place = Place::new();
    let lines = (0..300_u64).map(|line| {
        let operation = if line % 10 == 9 { "trim" } else { "write" };
        format!("{operation},{},4096\n", line * 7 % 120 * 4096 + (1 << 40))
    });
    place.write("own.csv", lines.collect::<String>());
    let map = "--map op=1,off:bytes=2,len:bytes=3";
    let data = data(&lesson(&place, &format!("own.csv {map} --ftl fifo --writes 1000")));
    let run = &data["runs"][0];
    assert_eq!(count(run, "w"), 270, "the trace ends before");
    assert!(count(run, "t") > 0 && count(run, "e") > 0);
    assert_eq!(run["formula"], "blocks opened since");
}

#[test]
fn what_cannot_be_shown_is_told_with_the_remedy() {
    let place = Place::new();
    for (arguments, parts) in [
        ("--ftl sepbit", ["sepbit needs 6 open", "give --blocks 14"]),
        ("--ftl fast", ["fast is hybrid-mapped", "name page-mapped FTLs"]),
        ("--ftl nothing", ["nothing", "1r-greedy"]),
        ("--blocks 100", ["--blocks 100", "from 1 to 32"]),
        ("--writes 5000", ["--writes 5000", "from 1 to 1000"]),
        ("--logical-pages 128", ["128 logical pages fill 8", "--logical-pages 64 or fewer"]),
        (
            "--ftl fifo --ftl 2r-fifo --ftl 2r++ --ftl 1r-greedy",
            ["4 FTLs do not fit", "name fewer"],
        ),
        ("nowhere.csv", ["nowhere.csv", "no such file"]),
    ] {
        place.ftlab(&format!("teach {arguments}")).fails(2, &parts);
        assert!(!place.path().join("teach.html").exists(), "{arguments}");
    }
    place.ftlab("teach --out no/teach.html").fails(1, &["no/teach.html"]);
}

#[test]
fn names_are_never_taken_as_html() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("<script>alert(1)<")).unwrap();
    let name = "<script>alert(1)</script>&.u32";
    place.write(name, (0..400_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    let page = lesson(&place, &format!("{name} --format lpn-u32"));
    assert!(!page.contains("<script>alert") && page.contains("alert(1)"));
}

#[test]
fn a_class_can_use_the_page_with_mouse_keys_and_screen_reader() {
    let Some(folder) = browser() else { return };
    for arguments in [
        "--ftl 1r-greedy --ftl 2r-fifo",
        "--ftl 1r-greedy --ftl 2r-greedy --ftl sep-gc/cost-benefit --fill random",
        "zipf:theta=0.9 --ftl sepbit --blocks 20 --pages-per-block 32 --fill none --writes 1000",
    ] {
        let place = Place::new();
        lesson(&place, arguments);
        check(&folder, "lesson.mjs", &place.path().join("teach.html"));
    }
}
