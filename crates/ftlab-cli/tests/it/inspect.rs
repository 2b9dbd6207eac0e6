//! `ftlab inspect`.

use crate::common::browser::{browser, check};
use crate::common::{Place, shared};

/// The lines of a text with single blanks.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

const SMALL: &str = "--logical 16MiB --writes 20000";

#[test]
fn inspect_says_what_was_parsed() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\nwrite,9,8\n# note\ntrim,0,8\nread,0,1\n");
    let text = place.ftlab("inspect t.csv").stdout;
    for part in [
        "4: 2 writes, 1 trims, 0 flushes, 1 reads",
        "3 of 4 KiB to 3 distinct pages; 1 requests do not begin and end",
        "1 x comment",
        "sectors 0 to 16",
        "12 KiB at least, from its highest address; 1.00 drive writes",
        "too short    1.0 drive writes; 2 or more speak for themselves",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    for line in ["pages written once 100.0%", "write interval, 10% up to -"] {
        assert!(lines(&text).iter().any(|own| own == line), "{line:?} is not in\n{text}");
    }
    let json = place.ftlab("inspect t.csv --json").json();
    let found = &json["workloads"][0];
    assert_eq!((&found["page_writes"], &found["requests"]["trim"]), (&3.into(), &1.into()));
    assert_eq!(found["workload"], "t.csv");
}

#[test]
fn workloads_of_any_kind_are_compared() {
    let place = Place::new();
    place.ftlab(&format!("convert zipf:theta=0.9 z.parquet {SMALL} --seed 1"));
    let inspect = format!("inspect z.parquet zipf:theta=0.9 {SMALL}");
    let text = place.ftlab(&inspect).stdout;
    for line in ["z.parquet zipf:theta=0.9", "page writes 20,000 20,000"] {
        assert!(lines(&text).iter().any(|own| own == line), "{line:?} is not in\n{text}");
    }
    let json = place.ftlab(&format!("{inspect} --json")).json();
    let [file, generator] = [0, 1].map(|number| json["workloads"][number].clone());
    for key in ["skew", "updates", "intervals", "temperature", "frozen", "footprint", "heat_map"] {
        assert_eq!(file[key], generator[key], "{key}");
    }
    assert_eq!(generator["workload"], "zipf:theta=0.9");
}

#[test]
fn a_part_is_a_phase_or_between_times() {
    let place = Place::new();
    place.write("t.csv", "t_us,op,lba,sectors\n0,W,0,16\n1500000,W,0,8\n3000000,W,80,8\n");
    let text = place.ftlab("inspect t.csv --from 1s --until 2500ms").stdout;
    let part = "from 1.000000 s until 2.500000 s; 2 pages were written before, 50.0% of them never";
    assert!(text.contains(part), "{text}");
    let found = place.ftlab("inspect t.csv --until 2s --json").json()["workloads"][0].clone();
    assert_eq!((&found["page_writes"], &found["part"]["from_us"]), (&3.into(), &0.into()));
    for (options, parts) in [
        ("--from 3s --until 3s", ["is empty", "end it later"]),
        ("--from 90", ["neither a time such as 90s", "--from"]),
        ("--from run", ["no phase \"run\"", "it names none"]),
        ("--phase run --from 1s", ["cannot be used with", "--from"]),
    ] {
        place.ftlab(&format!("inspect t.csv {options}")).fails(2, &parts);
    }
    place.write("u.csv", "op,lba,sectors\nW,0,16\n");
    place.ftlab("inspect u.csv --from 1s").fails(2, &["no times to choose by"]);
}

#[test]
fn the_log_window_is_a_share_a_size_or_pages() {
    let place = Place::new();
    let window = |window: &str| {
        let text = format!("inspect uniform {SMALL} --json --window {window}");
        place.ftlab(&text).json()["workloads"][0]["temperature"]["window_pages"].clone()
    };
    assert_eq!(["25%", "1MiB", "77"].map(window), [1024, 256, 77].map(serde_json::Value::from));
    place
        .ftlab("inspect t.csv --window 0.1")
        .fails(2, &["is not a log window", "a share of the drive such as 10%"]);
}

#[cfg(feature = "print")]
#[test]
fn figures_are_svg_and_png() {
    let place = Place::new();
    let inspect = format!("inspect zipf:theta=0.9 hotcold {SMALL}");
    let output = place.ftlab(&format!("{inspect} --figures figures --figure skew=s.png"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let figures = place.path().join("figures");
    for (name, part) in [
        ("skew", "the most-written first"),
        ("intervals", "log window 410"),
        ("temperature", "hot: "),
        ("frozen", "frozen, of the pages written so far"),
        ("footprint", "in sizes of the drive"),
        ("sizes", "4 KiB"),
        ("updates", "writes of a page"),
        ("heat-map", "page writes so far"),
    ] {
        let svg = std::fs::read_to_string(figures.join(name).with_extension("svg")).unwrap();
        for part in [part, "hotcold", "zipf:theta=0.9", "</svg>"] {
            assert!(svg.contains(part), "{part:?} is not in {name}");
        }
    }
    let png = std::fs::read(place.path().join("s.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "{}", png.len());
    let output =
        place.ftlab("inspect uniform --logical 4KiB --writes 1 --figures f --figure-kind png");
    assert_eq!(output.code, 0, "the least that there can be: {}", output.stderr);
    assert_eq!(std::fs::read_dir(place.path().join("f")).unwrap().count(), 8);
}

#[test]
fn a_page_has_the_statistics_and_the_figures() {
    let place = Place::new();
    let output = place.ftlab(&format!("inspect zipf:theta=0.9 uniform {SMALL} --report page.html"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stderr.contains("wrote page.html\n"), "{}", output.stderr);
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    for part in [
        "<h1 id=\"question\">What do the writes of zipf:theta=0.9 and uniform look like?</h1>",
        "<th scope=\"row\">pages written once</th>",
        "ftlab inspect zipf:theta=0.9 uniform <span>--logical</span> 16MiB",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    // Every statistic of the terminal is on the page.
    for line in output.stdout.lines().filter(|line| line.contains("  ") && line.contains('%')) {
        let value = line.split_whitespace().last().unwrap();
        assert!(page.contains(value), "{line}");
    }
    place
        .ftlab(&format!("inspect uniform {SMALL} --report page.svg"))
        .fails(2, &["page.svg", "an HTML page"]);
}

#[test]
fn readers_can_use_the_page_of_one_workload_and_of_several() {
    let Some(folder) = browser() else { return };
    let place = Place::new();
    place.write("reads.csv", "op,lba,sectors\nread,0,8\n");
    for arguments in [
        "zipf:theta=0.9 --logical 16MiB --writes 20000",
        "zipf:theta=0.9 uniform hotcold:writes=0.9,pages=0.1 --logical 16MiB --writes 20000",
        "uniform --logical 4KiB --writes 1",
        "reads.csv",
    ] {
        let output = place.ftlab(&format!("inspect {arguments} --report page.html"));
        assert_eq!(output.code, 0, "{}", output.stderr);
        check(&folder, "inspection.mjs", &place.path().join("page.html"));
    }
}

#[test]
fn a_workload_without_writes_has_figures_too() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nread,0,8\n");
    let output = place.ftlab("inspect t.csv --figures f");
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
}

#[test]
fn what_cannot_be_inspected_or_drawn_is_refused_with_what_can() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\n");
    for (arguments, parts) in [
        ("uniform", ["has neither size nor end", "--logical 8GiB --writes 10000000"]),
        ("uniform --writes 10", ["has no size of its own", "--logical 8GiB"]),
        ("uniform --logical 1MiB", ["uniform has no end", "--writes 10000000"]),
        (
            "uniform --logical 1MiB --writes 9 --from run",
            ["--from, --until and --phase are for traces", "--writes N takes"],
        ),
        ("t.csv --seed 2", ["--seed is for generators", "t.csv is a trace"]),
        ("t.csv --figure skew", ["is not NAME=FILE", "skew=skew.svg"]),
        ("t.csv --figure waf=x.svg", ["no figure \"waf\"", "skew, intervals"]),
        ("t.csv --figure skew=x.gif", ["x.gif does not say which format", ".svg, .png or .pdf"]),
        ("t.csv --figure-kind png", ["--figures", "required"]),
        ("", ["WORKLOAD", "required"]),
    ] {
        place.ftlab(&format!("inspect {arguments}")).fails(2, &parts);
    }
    place.ftlab("inspect t.csv --memory 1KiB").fails(2, &["1KiB of memory", "--memory"]);
}

#[test]
fn a_captured_trace_has_its_published_numbers() {
    let Some(path) = shared("traces/linkbench-mariadb.parquet") else { return };
    let place = Place::new();
    let text = place.ftlab(&format!("inspect {} --from run", path.display())).stdout;
    for part in [
        "from 130.876881 s; 146,353 pages were written before, 45.9% of them never in it",
        "872,375 writes, 5 trims, 192,835 flushes, 0 reads",
        "6,175,821 of 4 KiB to 91,975 distinct pages; 83,097 requests do not begin",
        "1 GiB according to the workload; 23.56 drive writes",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}
