//! `ftlab compare` and `ftlab advise` as a user types them.

use crate::common::Place;
use std::fs;
use std::time::{Duration, Instant};

const BOARD: &str = "compare zipf:theta=0.9 hotcold --logical 8MiB --pages-per-block 32 --op 25%,40% --fill none,sequential \
                     --ftl 1r-greedy --ftl hazard --ftl fk --out board";

#[test]
fn compare_writes_tables_and_a_figure() {
    let place = Place::new();
    let output = place.ftlab(BOARD);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for name in ["1r-greedy", "hazard", "fk", "sepbit"] {
        assert!(output.stdout.contains(&format!("| `{name}` |")), "{}", output.stdout);
    }
    assert!(output.stdout.contains("| zipf:theta=0.9 | hotcold |"), "{}", output.stdout);
    let read = |name: &str| fs::read_to_string(place.path().join("board").join(name)).unwrap();
    assert!(output.stdout.contains(&read("scoreboard.md")));
    // Two workloads, two fills, two sizes, four FTLs; and two of them with blocks of half and of double the size, which
    // not every drive has room for.
    assert_eq!(read("scoreboard.csv").lines().count(), 1 + 32);
    assert!((34..=36).contains(&read("cells.jsonl").lines().count()));
    let trust = output.stdout.lines().rev().nth(1).unwrap();
    assert!(
        trust.starts_with("Rests on runs too short to be steady; 4.00 drive writes; "),
        "{trust}"
    );
    assert!(read("scoreboard.svg").contains("hazard"));
}

#[test]
fn compare_goes_on_where_it_was_killed() {
    let place = Place::new();
    let file = place.path().join("board/cells.jsonl");
    let lines = || fs::read_to_string(&file).unwrap_or_default().lines().count();
    let command = BOARD.replace("8MiB", "256MiB") + " --threads 1";
    let mut child = place.command(&command).arg("--quiet").spawn().unwrap();
    let start = Instant::now();
    while lines() < 3 && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.lines().count() < 32, "it had time to finish");
    assert_eq!(place.ftlab(&command).code, 0);
    let all = fs::read_to_string(&file).unwrap();
    let whole = kept.lines().count() - usize::from(!kept.ends_with('\n'));
    assert!(all.lines().take(whole).eq(kept.lines().take(whole)), "nothing is run again");
    assert_eq!(lines(), 36 + usize::from(!kept.ends_with('\n')));
}

#[test]
fn compare_names_what_is_no_evidence_and_leaves_it_out() {
    let place = Place::new();
    let drive =
        "--logical 8MiB --pages-per-block 32 --ftl 1r-greedy --ftl 2r++ --baseline 1r-greedy";
    let output = place.ftlab(&format!(
        "compare uniform {drive} --op 20%,300% --fill none --drive-writes 3 --out board"
    ));
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in [
        "2r++ on uniform (300%, fill none) is in no mean: no block was erased\n",
        "Rests on 4 runs: 2 too short to be steady, 2 without evidence; 3.00 drive writes; ",
    ] {
        assert!(output.stdout.contains(part), "{part:?} is not in {}", output.stdout);
    }
    place.ftlab(&format!("compare uniform {drive} --op 20% --drive-writes 0.5 --out short")).fails(
        1,
        &["the baseline 1r-greedy is no evidence in any cell: 94 blocks", "--drive-writes"],
    );
}

#[test]
fn compare_compares_steady_values() {
    let place = Place::new();
    let output = place.ftlab(
        "compare uniform --logical 8MiB --pages-per-block 32 --op 20% --ftl 1r-greedy --ftl fifo --baseline fifo \
         --until steady --out board --json",
    );
    let board = output.json();
    let of = &board["scores"][0]["workloads"][0];
    assert_eq!(of["steady_cells"], 1, "{}", output.stderr);
    assert!(output.stderr.contains(" steady; runs "), "{}", output.stderr);
    assert_eq!(board["trust"]["steady"], 2);
    let ftl = board["scores"][0]["ftl"].as_str().unwrap();
    let run = place.ftlab(&format!(
        "run uniform --logical 8MiB --pages-per-block 32 --op 20% --ftl {ftl} --until steady --json"
    ));
    let run = &run.json()["runs"][0];
    assert_eq!([&of["waf_mean"], &of["run_waf_mean"]], [&run["steady_waf"], &run["waf"]]);
}

#[test]
fn compare_has_a_row_for_every_ftl_with_every_map() {
    let place = Place::new();
    let drive = "--logical 8MiB --pages-per-block 32 --reserve 5";
    let ftls = "--ftl 1r-greedy --ftl 2r++ --baseline 1r-greedy";
    let maps = ["full", "dftl:cache=4KiB"];
    let output = place.ftlab(&format!(
        "compare hotcold {drive} --op 40% --fill none {ftls} --mapping full --mapping dftl:cache=4KiB --out board --json"
    ));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let read = |name: &str| fs::read_to_string(place.path().join("board").join(name)).unwrap();
    let (tables, csv, figure) =
        (read("scoreboard.md"), read("scoreboard.csv"), read("scoreboard.svg"));
    let board = output.json();
    for ftl in ["1r-greedy", "2r++"] {
        for map in maps {
            assert_eq!(tables.matches(&format!("| `{ftl}` | `{map}` |")).count(), 2, "{tables}");
            assert!(csv.contains(&format!(",{map},{ftl},")), "{csv}");
            assert!(figure.contains(&format!("{ftl} with {map}")), "{figure}");
            let scores = board["scores"].as_array().unwrap();
            let score = scores.iter().find(|of| of["ftl"] == ftl && of["mapping"] == map).unwrap();
            let run = place.ftlab(&format!(
                "run hotcold {drive} --op 40% --fill none --ftl {ftl} --mapping {map} --json"
            ));
            assert_eq!(
                score["workloads"][0]["waf_mean"],
                run.json()["runs"][0]["waf"],
                "{ftl}, {map}"
            );
        }
    }
    assert!(output.stderr.contains("that of 1r-greedy, with the same map; "), "{}", output.stderr);
    // The leaders run with blocks of other sizes with the map that they lead with.
    let sizes = &board["trust"]["block_sizes"];
    let leads = board["scores"][0]["mapping"].as_str().unwrap();
    assert!(
        sizes["what"].as_str().unwrap().contains(&format!(" with {leads} ahead of ")),
        "{sizes}"
    );
    let one_map = place.ftlab(&format!(
        "compare hotcold {drive} --op 40% --fill none {ftls} --mapping dftl:cache=4KiB --out one --json"
    ));
    let cells = fs::read_to_string(place.path().join("one/cells.jsonl")).unwrap();
    assert!(cells.lines().count() > 2, "blocks of other sizes are tried");
    for line in cells.lines() {
        assert!(line.contains("\"mapping\":\"dftl:cache=4KiB\""), "{line}");
    }
    assert!(one_map.stderr.contains("| `2r++` | `dftl:cache=4KiB` |"), "{}", one_map.stderr);
}

#[test]
fn compare_says_what_could_not_be_run_and_goes_on() {
    let place = Place::new();
    let output = place.ftlab(
        "compare uniform --logical 8MiB --pages-per-block 32 --op 20% --fill none --ftl oracle/greedy \
         --out board --json",
    );
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.json()["scores"][0]["ftl"], "sepbit");
    assert!(
        output.stderr.contains("1 cell of oracle/greedy without a result"),
        "{}",
        output.stderr
    );
    place
        .ftlab("compare uniform --logical 8MiB --op 10% --out board --ftl hazrd")
        .fails(2, &["did you mean \"hazard\"?"]);
    place
        .ftlab("compare uniform --logical 8MiB --op 1% --ftl 1r-greedy --out other")
        .fails(1, &["the baseline sepbit has no result in any cell", "blocks"]);
}

const ADVISE: &str = "advise hotcold --logical 32MiB --pages-per-block 32 --op 7%,10%,20%,40% \
                      --ftl 1r-greedy --ftl sepbit";

#[test]
fn advise_answers_in_a_sentence_with_what_it_costs() {
    let place = Place::new();
    let output = place.ftlab(&format!("{ADVISE} --target-waf 1.8 --figure curve.svg"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let sentence = output.stdout.lines().find(|line| line.contains(" reaches ")).unwrap();
    for part in ["sepbit reaches a write amplification of 1.8 with ", " for 32 MiB", "metadata"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    assert!(fs::read_to_string(place.path().join("curve.svg")).unwrap().contains("target"));
    let json = place.ftlab(&format!("{ADVISE} --dwpd 0.01 --endurance 1000 --json")).json();
    assert!(json["curves"][0]["needs"]["tbw"].as_f64().unwrap() > 0.0);
    assert_eq!(json["target"]["endurance"]["cycles"], 1000);
}

/// Two thirds of a drive of 2,000 pages, a part of them again and again.
fn short_trace(trims: bool) -> String {
    let line = |n: u64| {
        let page = if n.is_multiple_of(4) { n % 900 } else { n * 7919 % 300 };
        format!("{},W,{},4096\n", n * 1000, page * 4096)
    };
    let mut lines: Vec<String> = (0..1500).map(line).collect();
    if trims {
        lines.insert(900, "900000,T,1228800,409600\n".to_owned());
    }
    lines.concat()
}

const SHORT: &str = "--map ts:us=1,op=2,off:bytes=3,len:bytes=4 --logical 8MiB --op 10%,20%,40% \
                     --target-waf 1.5 --ftl 1r-greedy --ftl 2r-fifo";

#[test]
fn advise_weighs_a_short_trace_and_answers_with_a_range() {
    let place = Place::new();
    place.write("t.csv", short_trace(true));
    let output = place.ftlab(&format!("advise t.csv {SHORT}"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in [
        "1,500 page writes in 1.50 s; 0.732 drive writes",
        "trimmed   ",
        " Without discard, ",
        "If all of the drive is used as the part that the trace writes, ",
        " So plan with ",
        "- The trace is short: it writes 5.859 MiB, 0.73 drive writes.",
        "record 16 MiB of writes, two drive writes, which takes 4 s at this rate",
        "See it at work: ftlab run t.csv --ftl ",
        "\nRests on ",
    ] {
        assert!(output.stdout.contains(part), "{part:?} is not in {}", output.stdout);
    }
    let json = place.ftlab(&format!("advise t.csv {SHORT} --json --report a.html")).json();
    let page = fs::read_to_string(place.path().join("a.html")).unwrap();
    for part in
        ["<svg", "Without discard", "To keep in mind", "0.732 drive writes", "ftlab run t.csv"]
    {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert_eq!(json["evidence"]["page_writes"], 1500);
    let line = json["trust"]["line"].as_str().unwrap();
    assert!(line.contains("blocks of") && page.contains("Rests on "), "{line}");
    assert_eq!(json["otherwise"][0]["circumstance"], "without_trims");
    let once = place.ftlab(&format!("advise t.csv {SHORT} --once")).stdout;
    assert!(!once.contains("is short") && !once.contains("--until"), "{once}");
}

#[test]
fn the_command_of_an_answer_runs_the_drive_that_it_rests_on() {
    let place = Place::new();
    let long = short_trace(false).repeat(3);
    for (trace, options, run_options) in [
        (short_trace(true), "--fill random --seed 3 --reserve 5", "--until steady --repeat"),
        (long, "", "--until steady --repeat"),
        (short_trace(true), "--once --compact", ""),
    ] {
        place.write("t.csv", trace);
        let mut short = SHORT.to_owned();
        if options.contains("--compact") {
            short = short.replace("--logical 8MiB", "--pages-per-block 16");
        }
        let arguments = format!("advise t.csv {short} {options} --json");
        let output = place.ftlab(&arguments);
        let mut lines = output.stderr.lines();
        let command = lines.find_map(|line| line.strip_prefix("See it at work: ftlab "));
        let command = command.unwrap_or_else(|| panic!("{}", output.stderr));
        let command = command.replace('\'', "");
        for word in options.split_whitespace().filter(|word| *word != "--once") {
            assert!(command.contains(word), "{word} is not in {command}");
        }
        assert!(command.contains(run_options), "{command}");
        let needs = &output.json()["curves"][0]["needs"];
        let result = place.ftlab(&format!("{command} --json")).json();
        let run = &result["runs"][0];
        let waf = match &run["settling"]["window_waf"] {
            window if window.is_number() && result["config"]["until_steady"] == true => window,
            _ => &run["waf"],
        };
        assert_eq!(waf, &needs["waf"], "{command}");
        assert_eq!(result["config"]["drive"]["op_ratio"], needs["op_ratio"], "{command}");
    }
}

const REAL: &str = "--map ts:us=1,op=2,off:bytes=3,len:bytes=4 --once --ftl 1r-greedy";

#[test]
fn advise_tells_what_a_drive_does_that_can_be_bought() {
    let place = Place::new();
    place.write("t.csv", short_trace(false));
    let output = place.ftlab(&format!("advise t.csv {REAL} --drive 960GB,7% --json"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in [
        "a drive of 960 GB with 7% of over-provisioning, 2,048 units of 468.8 MB (assumed)",
        "262,821 pages in units of 128; the trace 293 times, side by side",
        "With 7.0% of over-provisioning, a drive of 960 GB amplifies ",
        " in units of half the size, ",
        " in units of double the size",
        " So expect ",
        "assumed: a drive filled in order, 2,048 units of 468.8 MB, which span all LUNs",
    ] {
        assert!(output.stderr.contains(part), "{part:?} is not in {}", output.stderr);
    }
    let json = output.json();
    assert_eq!(json["drive"]["capacity_bytes"], 960_000_000_000_u64);
    let point = &json["curves"][0]["points"][0];
    let command = format!("run t.csv {} --drive 960GB,7% --json", REAL.replace("--once", ""));
    let run = place.ftlab(&command).json();
    assert_eq!(run["runs"][0]["waf"], point["waf"]);
    assert_eq!(run["config"]["drive"]["logical_pages"], 262_821);
}

#[test]
fn what_is_known_of_a_drive_is_used_and_gives_way_to_what_is_asked_for() {
    let place = Place::new();
    place.write("t.csv", short_trace(false));
    let map = "--map ts:us=1,op=2,off:bytes=3,len:bytes=4";
    let run = format!("run t.csv {map} --drive solidigm-p5520 --ftl 1r-greedy --json");
    let drive = |asked: &str| {
        let output = place.ftlab(&format!("{run} {asked}"));
        assert_eq!(output.code, 0, "{}", output.stderr);
        let beside = "This drive writes 10.3% of that beside";
        assert!(output.stderr.contains(beside), "{}", output.stderr);
        let json = output.json();
        let (known, waf) = (&json["known_drive"], &json["runs"][0]["media_bytes_per_host_byte"]);
        assert_eq!(known["name"], "solidigm-p5520");
        assert!((known["overhead"].as_f64().unwrap() - 0.103).abs() < 1e-9, "{known}");
        let counted = known["media_bytes_per_host_byte"][0].as_f64().unwrap();
        assert!((counted / waf.as_f64().unwrap() - 1.103).abs() < 1e-9, "{known}");
        let config = &json["config"]["drive"];
        (config["gc"].to_string(), config["reserve_blocks"].to_string())
    };
    assert_eq!(drive(""), ("\"gradual:from=0.02\"".into(), "4".into()));
    let asked = drive("--gc foreground --reserve 4");
    assert_eq!(asked, ("\"foreground\"".into(), "4".into()));
    assert_eq!(place.ftlab(&format!("{run} --report a.html")).code, 0);
    let page = fs::read_to_string(place.path().join("a.html")).unwrap();
    assert!(page.contains("<p class=\"trust\">This drive writes 10.3% of that beside"));
    assert!(
        page.contains("Rests on what was fitted to Solidigm D7-P5520"),
        "it is as it was fitted"
    );
    for (asked, differs) in [
        ("--op 10%", "over-provisioning differs."),
        ("--gc foreground --reserve 8", "reserve, gc differ."),
        ("--mapping dftl:cache=1GiB", "mapping differs."),
        ("--ftl fifo", "FTL differs."),
    ] {
        let other = place.ftlab(&format!("{run} {asked}"));
        let told = format!("1.92 TB as it was fitted: {differs}");
        assert!(other.stdout.contains(&told), "{asked}: {}{}", other.stdout, other.stderr);
    }
    let drives = place.ftlab("list drives").stdout;
    assert!(drives.contains("off the half of its series that was left out"), "{drives}");
    let zones = place.ftlab("advise zones --zones 0 --drive fdp-a");
    zones.fails(2, &["--zones 0 is no size above 0; give --zones 1GiB,2GiB"]);
    let blocks = place.ftlab("run zipf --drive fdp-a --ftl fast");
    blocks.fails(2, &["fast merges blocks", "leave out --drive"]);
    let file = place.ftlab("run zipf --drive missing.toml");
    file.fails(2, &["missing.toml is of no drive: No such file", "ftlab list drives"]);
    let zones = place.ftlab("advise zones --zones 1KiB,2KiB --drive fdp-a");
    zones.fails(2, &["size=1KiB", "a page of the drive at least and half of it at most"]);
    let advise = place.ftlab(&format!("advise t.csv {REAL} --drive solidigm-p5520"));
    assert_eq!(advise.code, 0, "{}", advise.stderr);
    for part in [
        " with the least over-provisioning that the fit does not exclude",
        " in the largest units that the fit does not exclude",
        "- Write amplification includes the overhead of this drive: 10.3%",
        "- Rests on what was fitted to Solidigm D7-P5520, 1.92 TB, 8.6% off what it was fitted to; compared with no series",
        "19.6% to 22.7% are not excluded",
    ] {
        assert!(advise.stdout.contains(part), "{part:?} is not in {}", advise.stdout);
    }
    for asked in ["--op 5%", "--report a.html", "--figure a.svg", "--fill random"] {
        let zones = format!("advise zones --zones 1GiB --drive fdp-a {asked}");
        let refused = place.ftlab(&zones);
        assert_eq!(refused.code, 2, "{asked}: {}", refused.stdout);
        assert!(refused.stderr.contains("cannot be used with"), "{asked}: {}", refused.stderr);
    }
}

#[test]
fn advise_answers_in_the_size_of_the_real_drive() {
    let place = Place::new();
    place.write("t.csv", short_trace(false));
    let ask = "--drive 960GB,7%,3.75GB --op 40% --target-waf 2.5 --report a.html";
    let output = place.ftlab(&format!("advise t.csv {REAL} {ask}"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in [
        "For a write amplification of 2.5, a drive of 960 GB needs ",
        " of over-provisioning if its FTL is like 1r-greedy: 1",
        " It has 7.0%",
        "See it at work: ftlab run t.csv --ftl 1r-greedy --drive '960GB, 7%, 3.75GB' --blocks ",
    ] {
        assert!(output.stdout.contains(part), "{part:?} is not in {}", output.stdout);
    }
    assert!(fs::read_to_string(place.path().join("a.html")).unwrap().contains("a drive of 960 GB"));
    for (wrong, part) in [
        ("--drive 7%", "a drive: its capacity"),
        ("--drive 1.92TB,16KiB", "64 to 65,536 units"),
        ("--drive 960GB --logical 8MiB", "cannot be used with"),
    ] {
        place.ftlab(&format!("advise t.csv {REAL} {wrong}")).fails(2, &[part]);
    }
}

#[test]
fn compare_runs_on_models_of_a_drive() {
    let place = Place::new();
    place.write("t.csv", short_trace(false));
    let map = REAL.replace("--once", "");
    let command =
        format!("compare t.csv {map} --ftl 2r++ --baseline 1r-greedy --drive 960GB,28% --out b");
    let output = place.ftlab(&command);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in
        ["models of a drive of 960 GB with 28%", "2,048 units of 468.8 MB", "with blocks of"]
    {
        assert!(output.stdout.contains(part), "{part:?} is not in {}", output.stdout);
    }
    let small = place.ftlab(&format!("compare t.csv {map} --ftl 2r++ --logical 8MiB --out s"));
    assert!(small.stdout.contains("far from one that can be bought"), "{}", small.stdout);
}

#[test]
fn advise_counts_flash_over_the_years() {
    let place = Place::new();
    let years = "--endurance 3000 --daily-writes 4GiB --years 5 --price 0.1";
    let output = place.ftlab(&format!("{ADVISE} {years} --json"));
    let lifelong = &output.json()["lifelong"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (point, life) = (&lifelong["point"], &lifelong["life"]);
    let worn = number(&point["tbw"]) * 1e12 / (365.0 * 4.0 * f64::from(1 << 30));
    assert!((number(&life["worn_years"]) / worn - 1.0).abs() < 1e-9);
    assert!((number(&life["drives"]) / (5.0 / worn) - 1.0).abs() < 1e-9);
    let gigabytes = number(&point["physical_bytes"]) / 1e9 * number(&life["drives"]);
    assert!((number(&life["price"]) / (0.1 * gigabytes) - 1.0).abs() < 1e-9);
    assert!(
        output.stderr.contains("Over 5 years of 4 GiB a day, the least flash is used by sepbit")
    );
}

#[test]
fn advise_refuses_a_trace_that_rewrites_nothing() {
    let place = Place::new();
    let lines: Vec<_> = (0..500).map(|n| format!("{n},W,{},4096\n", n * 4096)).collect();
    place.write("t.csv", lines.concat());
    let why = "t.csv rewrites only 0% of the pages that it writes";
    place.ftlab(&format!("advise t.csv {SHORT}")).fails(2, &[why, "record 16 MiB of writes"]);
    let lines: Vec<_> = (0..400).map(|n| format!("{n},W,{},4096\n", n % 40 * 4096)).collect();
    place.write("t.csv", lines.concat());
    let why = "t.csv has 400 write requests, which are no basis for an answer: 1,000 or more are";
    place.ftlab(&format!("advise t.csv {SHORT}")).fails(2, &[why, "record 2.5 times as much"]);
}

#[test]
fn advise_tells_how_much_memory_a_map_needs() {
    let place = Place::new();
    let run = |rest: &str| {
        place.ftlab(&format!(
            "advise hotcold --logical 16MiB --pages-per-block 32 --op 20% --ftl 1r-greedy --once {rest}"
        ))
    };
    let output = run("--mapping-cache --figure memory.svg");
    for part in ["hits of", "tpftl", "1r-greedy with", "5% of a map in memory", "Rests on"] {
        assert!(output.stdout.contains(part), "{}{}", output.stdout, output.stderr);
    }
    let figure = std::fs::read_to_string(place.path().join("memory.svg")).unwrap();
    for part in ["found by plain LRU", "1r-greedy, dftl", "write amplification", "8KiB", "32KiB"] {
        assert!(figure.contains(part), "{part}");
    }
    let missed = run("--mapping-cache=8KiB --target-waf 1.01").stdout;
    assert!(
        missed.contains("so no memory for it reaches 1.010; more over-provisioning"),
        "{missed}"
    );
    let advice = run("--mapping-cache=8KiB,16KiB --target-waf 20 --json").json();
    assert_eq!(advice["all_bytes"], 32_768);
    let curve = &advice["curves"][0];
    assert_eq!((&curve["map"], &curve["needs_bytes"]), (&"dftl".into(), &8192.into()));
    let hits = advice["hits"].as_array().unwrap();
    let share = hits.iter().find(|point| point["cache_bytes"] == 16_384).unwrap()["share"].as_f64();
    assert_eq!(share, curve["points"][1]["hit_share"].as_f64());
    for (rest, code, part) in [
        ("--mapping-cache --op 10%,20%", 2, "give one --op"),
        ("--mapping-cache=1TiB", 2, "whose entries take 32KiB of 8 bytes each on this drive"),
        ("--mapping-cache=1KiB", 2, "at least one translation page of 4096 bytes"),
        ("--mapping-cache --tbw 5 --endurance 100", 2, "cannot be used with"),
    ] {
        let refused = place.ftlab(&format!("advise hotcold --logical 16MiB {rest}"));
        refused.fails(code, &[part]);
    }
}

#[test]
fn advise_refuses_targets_that_make_no_sense() {
    let place = Place::new();
    for (arguments, part) in [
        ("--target-waf 1", "not a number above 1, such as 1.3"),
        ("--tbw 100", "--endurance"),
        ("--slo read-p99.9=1ms", "--load"),
        ("--load 50k", "--slo"),
        ("--slo read-p98=1ms --load 50k", "read-p99.9=1ms"),
        ("--slo read-p99=1ms --load fast", "50k"),
        ("--slo read-p99=1ms --load 50k --timing slc:unit=page", "add unit=request"),
        ("--endurance 3000", "add --tbw, --dwpd or --daily-writes"),
        ("--daily-writes 1GiB", "--endurance"),
        ("--endurance 10 --daily-writes 1GiB --price 0", "not a positive number"),
        ("--target-waf 1.5 --op 10%,7%", "--op is not ascending"),
    ] {
        place.ftlab(&format!("advise uniform --logical 8MiB {arguments}")).fails(2, &[part]);
    }
}
