//! `ftlab run` as a user runs it.

use crate::common::{Output, Place, shared};
use serde_json::Value;
use std::process::Stdio;

const SMALL: &str = "--logical 16MiB --pages-per-block 64 --op 20%";

/// JSON without what differs from run to run: times, and the command with its number of threads.
fn without_times(mut result: Value) -> Value {
    let command = result.as_object_mut().unwrap().remove("command").unwrap();
    assert!(command.as_str().unwrap().starts_with("ftlab run "), "{command}");
    for run in result["runs"].as_array_mut().unwrap() {
        let run = run.as_object_mut().unwrap();
        for time in [
            "seconds",
            "nanoseconds_per_program",
            "nanoseconds_per_host_write",
            "nanoseconds_per_relocation",
        ] {
            assert!(run.remove(time).unwrap().is_f64(), "{time}");
        }
    }
    result
}

#[test]
fn a_golden_sequence_gives_the_golden_counts() {
    let Some(trace) = shared("golden/U.u32.zst") else { return };
    let output = Place::new().ftlab(&format!(
        "run {} --format lpn-u32 --logical-pages 65536 --pages-per-block 128 --blocks 576 --reserve 4 \
         --warmup-writes 65536 --ftl 2r-fifo --json",
        trace.display()
    ));
    let run = &output.json()["runs"][0];
    assert_eq!((&run["host_writes"], &run["relocations"]), (&1_000_000.into(), &3_821_491.into()));
    assert_eq!(format!("{:.4}", run["waf"].as_f64().unwrap()), "4.8215");
}

#[test]
fn a_captured_trace_runs_with_nothing_but_an_ftl() {
    let Some(trace) = shared("traces/pgbench-postgresql.parquet") else { return };
    let arguments = format!("run {} --op 10% --ftl 2r++ --json", trace.display());
    let result = Place::new().ftlab(&arguments).json();
    assert_eq!(result["config"]["drive"]["size_from"], "device of the trace");
    assert_eq!(result["config"]["drive"]["logical_pages"], 393_216);
    assert_eq!(result["runs"][0]["host_writes"], 2_557_183);
    assert_eq!(result["workload"]["requests"]["trim"], 228);
}

#[test]
fn every_ftl_runs_with_every_map_and_tables_name_it() {
    let run = |rest: &str| {
        Place::new().ftlab(&format!("run hotcold {SMALL} --ftl 1r-greedy,2r++ {rest}"))
    };
    let maps = "--mapping full,dftl:cache=8KiB --mapping tpftl:cache=16KiB";
    let output = run(maps);
    for name in ["1r-greedy with full", "2r++ with dftl:cache=8KiB", "2r++ with tpftl:cache=16KiB"]
    {
        assert!(output.stdout.contains(&format!("\n{name} ")), "{}", output.stdout);
    }
    let result = run(&format!("{maps} --json")).json();
    let runs = result["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &result["config"]["ftls"][1]), (6, &runs[1]["ftl"]));
    assert_eq!(runs[1]["mapping"], "dftl:cache=8KiB,entry-bytes=8,protected=0.5");
    let alone = run("--mapping dftl:cache=8KiB --json").json();
    assert_eq!(alone["runs"][0]["config_hash"], runs[1]["config_hash"]);
    assert!(alone["runs"][0]["mapping"].is_null());
    for (rest, message) in [
        ("--mapping full --mapping full", "mapping: full is given twice; give it once"),
        ("--mapping full,dftl", "give cache=2MiB"),
        ("--mapping dftl:cache=8KiB,hmb=1KiB", "hmb=1KiB is not at least one translation page"),
        ("--mapping full,iu:size=16KiB --timing slc", "add unit=request to --timing, or leave out"),
        (
            "--mapping full,iu:size=16KiB --timing slc:unit=request,write-buffer=1MiB",
            "leave out write-buffer, or units",
        ),
    ] {
        let refused = run(rest).stderr;
        assert!(refused.contains(message), "{rest}: {refused}");
    }
}

#[test]
fn a_model_of_a_drive_has_as_much_less_memory_for_the_map() {
    let place = Place::new();
    let run = |drive: &str, rest: &str| {
        place.ftlab(&format!(
            "run zipf:theta=0.9 --drive {drive} --drive-writes 0.5 --ftl 1r-greedy {rest}"
        ))
    };
    // 2,048 and 8,192 units of the same drive: 1 GiB, and twice as much.
    let of =
        |drive: &str| run(drive, "--mapping full,dftl:cache=1GiB --endurance 3000 --json").json();
    let [small, large] = ["7.68TB,7%", "7.68TB,7%,937.5MB"].map(of);
    let pages = |of: &serde_json::Value| of["config"]["drive"]["logical_pages"].as_u64().unwrap();
    assert_eq!(pages(&large), 2 * pages(&small));
    let hits = |of: &serde_json::Value| of["runs"][1]["map"]["write_hit_share"].as_f64().unwrap();
    assert!((0.05..0.95).contains(&hits(&small)), "{}", hits(&small));
    assert!((hits(&small) - hits(&large)).abs() < 0.02, "{} {}", hits(&small), hits(&large));
    for result in [&small, &large] {
        let model_of = &result["config"]["model_of"];
        assert_eq!(model_of["mapping"], "full,dftl:cache=1GiB");
        assert_eq!(result["runs"][1]["ftl"], "1r-greedy with dftl:cache=1GiB");
        assert_eq!(model_of["logical_bytes"], 7_680_000_000_000_u64);
        let share = pages(result) as f64 * 4096.0 / 7.68e12;
        let cache = result["runs"][1]["map"]["cache_bytes"].as_f64().unwrap();
        assert!((cache - share * f64::from(1 << 30)).abs() <= 0.5, "{cache}");
        // What can be written is that of the drive.
        let run = &result["runs"][0];
        let physical = result["config"]["drive"]["physical_bytes"].as_f64().unwrap() / share;
        let tbw = 3000.0 * physical / 1e12 / run["waf"].as_f64().unwrap();
        assert!((run["endurance"]["tbw"].as_f64().unwrap() / tbw - 1.0).abs() < 1e-9);
    }
    let text =
        run("7.68TB,7%", "--mapping dftl:cache=1GiB --endurance 3000 --report model.html").stdout;
    let page = std::fs::read_to_string(place.path().join("model.html")).unwrap();
    for part in ["model of a drive of", "7.68 TB", "map of that drive", "dftl:cache=1GiB"] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    let line = "1/7,153 of a drive of 7.68 TB, and of the memory of its dftl:cache=1GiB; what can be written is that of \
                the drive";
    assert!(text.contains(line) && text.contains("\nmap  "), "{text}");
    for (mapping, message) in [
        (
            "dftl:cache=16MiB",
            "dftl:cache=16MiB: cache=16MiB of a drive of 7.68 TB is 2,346 bytes of its model, which takes 4,096 at \
             least; give cache=28MiB or more, or a larger model",
        ),
        (
            "dftl:cache=1GiB,hmb=16MiB",
            "hmb=16MiB of a drive of 7.68 TB is 2,346 bytes of its model",
        ),
    ] {
        run("7.68TB,7%", &format!("--mapping {mapping}")).fails(2, &[message]);
    }
}

#[test]
fn what_can_be_written_to_a_drive_is_what_advice_tells() {
    let place = Place::new();
    let drive = "zipf:theta=0.9 --drive 7.68TB,28% --endurance 3000 --ftl 1r-greedy --json";
    let run = place.ftlab(&format!("run {drive} --until steady")).json();
    let advice = place.ftlab(&format!("advise {drive} --dwpd 0.1")).json();
    let tbw = |of: &serde_json::Value| of["tbw"].as_f64().unwrap();
    let op_ratio = &run["config"]["drive"]["op_ratio"];
    let points = advice["curves"][0]["points"].as_array().unwrap();
    let point = points.iter().find(|point| point["op_ratio"] == *op_ratio).unwrap();
    let share = tbw(point) / tbw(&run["runs"][0]["endurance"]);
    // Advice counts by the last window, a run by all of it.
    assert!((share - 1.0).abs() < 0.05, "{share}");
}

#[test]
fn what_is_wrong_with_a_map_is_told_in_pages_and_with_its_parameters() {
    let run = |rest: &str| Place::new().ftlab(&format!("run hotcold --ftl 1r-greedy {rest}"));
    for (rest, message) in [
        (
            "--logical 4MiB --mapping iu:size=16KiB,cache=1MiB",
            "it has size, and on flash, units are those of dftl:cache=2MiB,unit=16KiB",
        ),
        (
            "--logical 4MiB --mapping dftl:foo=1",
            "it has cache, entry-bytes, protected, unit, hmb, hmb-us",
        ),
        (
            "--logical 64MiB --op 7% --pages-per-block 2048 --mapping iu:size=16KiB",
            "9 blocks of 2048 pages are too few: 16384 logical pages fill 8",
        ),
        (
            "--logical 64MiB --op 50% --pages-per-block 1024 --reserve 8 --mapping iu:size=16KiB",
            "--pages-per-block 512 is enough",
        ),
    ] {
        run(rest).fails(2, &[message]);
    }
    let taken = "--logical 64MiB --op 50% --pages-per-block 512 --reserve 8 --mapping iu:size=16KiB --drive-writes 1";
    assert_eq!(run(taken).code, 0);
    let timed = "--logical 64MiB --op 28% --pages-per-block 64 --reserve 8 --drive-writes 1 --timing slc:unit=request";
    for mapping in ["dftl:cache=4KiB", "iu:size=16KiB", "full"] {
        let output = run(&format!("{timed} --mapping {mapping} --wide"));
        // Of the row of LUNs: least, mean and most busy, and then what they are busy with.
        let table = output.stdout.split("\nLUNs ").nth(1).unwrap();
        let row = table.lines().find(|line| line.starts_with("1r-greedy")).unwrap();
        let shares =
            row.split_whitespace().filter_map(|cell| cell.strip_suffix("%")?.parse::<f64>().ok());
        let busy: f64 = shares.skip(3).sum();
        assert!((busy - 100.0).abs() < 0.5, "{mapping}: {busy}% in {}", output.stdout);
    }
}

#[test]
fn units_are_rewritten_in_whole_unless_a_request_covers_them() {
    let place = Place::new();
    let lines = (0..30_000_u32).map(|number| {
        let page = number.wrapping_mul(2_654_435_761) >> 20;
        let (op, pages) = if number % 100 == 0 { ("d", 6) } else { ("w", 1 + number % 8) };
        format!("{op},{page},{pages}\n")
    });
    place.write("requests.csv", lines.collect::<String>());
    let run = |mapping: &str, rest: &str| {
        place.ftlab(&format!(
            "run requests.csv --map op=1,off:pages=2,len:pages=3 --wrap {SMALL} --ftl 1r-greedy --mapping {mapping} {rest}"
        ))
    };
    let json = run("iu:size=16KiB", "--json").json();
    let map = &json["runs"][0]["map"];
    let of = |name: &str| map[name].as_u64().unwrap();
    assert!(of("rewrite_reads") > 0 && of("rewrite_reads") <= of("rewrites"), "{map}");
    assert!(of("kept_trims") > 0 && json["runs"][0]["trims"].as_u64().unwrap() > 0, "{map}");
    let waf = |name: &str| map[name].as_f64().unwrap();
    let parts = 1.0 + waf("data_relocations_per_write") + waf("rewrites_per_write");
    assert!((parts - json["runs"][0]["waf"].as_f64().unwrap()).abs() < 1e-9);
    assert!(run("iu:size=16KiB", "").stdout.contains("rewritten"));
    // Batches cut requests anywhere.
    let again = run("iu:size=16KiB", "--json --interval 7").json();
    assert_eq!(again["runs"][0]["map"], *map);
    // Time changes no count, wherever requests are cut.
    for rest in ["", " --interval 7"] {
        let timed = "--timing slc:channels=4,unit=request,priority=read-first --json";
        let timed = run("iu:size=16KiB", &format!("{timed}{rest}")).json();
        assert_eq!(timed["runs"][0]["map"], *map, "{rest}");
    }
    for (mapping, message) in [
        (
            "iu:size=4KiB",
            "iu: size=4KiB is not several pages of 4096 bytes; give a multiple of them",
        ),
        ("iu:size=24KiB", "is not 6 pages, which divide blocks of 64 pages"),
        (
            "dftl:cache=8KiB,unit=16KiB",
            "cache=8KiB is not a size of at least one translation page of 16384 bytes",
        ),
    ] {
        run(mapping, "").fails(2, &[message]);
    }
}

#[test]
fn memory_of_the_host_saves_reads_of_translation_pages() {
    let run = |rest: &str| {
        Place::new()
            .ftlab(&format!("run hotcold {SMALL} --ftl 2r++ --mapping dftl:cache=8KiB{rest}"))
    };
    let [none, some] = ["", ",hmb=64KiB"].map(|hmb| run(&format!("{hmb} --json")).json());
    let [none, some] = [&none, &some].map(|json| &json["runs"][0]["map"]);
    let of = |map: &serde_json::Value, name: &str| map[name].as_u64().unwrap();
    assert_eq!(of(none, "host_reads"), 0);
    assert_eq!(of(some, "reads") + of(some, "host_reads"), of(none, "reads"), "{some}");
    assert_eq!(some["writes"], none["writes"]);
    let table = run(",hmb=64KiB").stdout;
    assert!(table.contains("from the") && !run("").stdout.contains("from the"), "{table}");
}

#[test]
fn json_has_standard_output_for_itself() {
    let output = Place::new().ftlab(&format!("run uniform {SMALL} --ftl fifo --ftl 2r++ --json"));
    assert!(output.stdout.starts_with('{') && output.stdout.ends_with("}\n"));
    assert_eq!(output.json()["runs"].as_array().unwrap().len(), 2);
    assert!(output.stderr.contains("flash pages per host page"), "{}", output.stderr);
    let quiet = Place::new().ftlab(&format!("run uniform {SMALL} --ftl fifo --json --quiet"));
    assert!(!quiet.stderr.contains("workload"), "{}", quiet.stderr);
}

#[test]
fn a_table_and_a_sentence_are_on_standard_output_without_json() {
    let output = Place::new().ftlab(&format!("run uniform {SMALL} --ftl fifo --ftl 1r-greedy"));
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    for part in [
        "workload     uniform (generator, seed 1)",
        "16 MiB = 4,096 pages of 4 KiB (as requested)",
        "20% requested, 20.31% actual",
        "16,384 page writes = 4.000 drive writes",
        "relocations",
        "1r-greedy writes",
    ] {
        assert!(output.stdout.contains(part), "{part:?} is not in\n{}", output.stdout);
    }
}

#[test]
fn hybrid_mapped_ftls_run_beside_page_mapped_ones_and_show_their_merges() {
    let place = Place::new();
    let arguments = format!("run uniform {SMALL} --fill sequential --ftl faster --ftl 1r-greedy");
    let text = place.ftlab(&arguments).stdout;
    assert!(text.contains("merge") && text.contains("copies"), "{text}");
    assert!(text.contains("when 4 free blocks are left"), "{text}");
    let alone = place.ftlab(&format!("run uniform {SMALL} --ftl faster --ftl page")).stdout;
    assert!(alone.contains("there is no reserve") && !alone.contains("4 free"), "{alone}");
    let result = place.ftlab(&format!("{arguments} --json")).json();
    let (faster, greedy) = (&result["runs"][0], &result["runs"][1]);
    let count = |key: &str| faster[key].as_u64().unwrap();
    let programs = count("host_writes") + count("relocations") + count("merge_copies");
    let waf = programs as f64 / count("host_writes") as f64;
    assert!((faster["waf"].as_f64().unwrap() - waf).abs() < 1e-12);
    assert_eq!(count("merge_copies"), 64 * count("full_merges"));
    assert!(count("progressive_merges") > 0);
    assert_eq!((&greedy["merge_copies"], &greedy["full_merges"]), (&0.into(), &0.into()));
    let text = place.ftlab(&format!("run uniform {SMALL} --ftl 1r-greedy")).stdout;
    assert!(!text.contains("merge"), "{text}");
}

#[test]
fn threads_do_not_change_a_byte() {
    let run = |threads: u32| {
        let arguments = format!(
            "run zipf:theta=0.9 {SMALL} --fill random --ftl fifo --ftl 2r++ --ftl 2r-fifo --json \
             --threads {threads}"
        );
        without_times(Place::new().ftlab(&arguments).json()).to_string()
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let run = |seed: u32| {
        let arguments =
            format!("run uniform {SMALL} --fill random --seed {seed} --ftl fifo --json");
        without_times(Place::new().ftlab(&arguments).json())
    };
    assert_eq!(run(7).to_string(), run(7).to_string());
    assert_ne!(run(7)["trace_hash"], run(8)["trace_hash"]);
}

#[test]
fn a_warm_up_may_be_given_in_drive_writes() {
    let place = Place::new();
    let run = |warm_up: &str| {
        let run = format!("run uniform {SMALL} --writes 300 --ftl fifo --json --quiet {warm_up}");
        place.ftlab(&run)
    };
    let pages = run("").json()["config"]["drive"]["logical_pages"].as_u64().unwrap();
    let warm_up = |of: &str| run(of).json()["config"]["warmup_writes"].clone();
    assert_eq!(warm_up("--warmup-drive-writes 0.5"), pages / 2);
    assert_eq!(warm_up("--warmup-writes 7"), 7);
    run("--warmup-drive-writes 1 --warmup-writes 7").fails(2, &["cannot be used with"]);
    run("--warmup-drive-writes 0").fails(2, &["\"0\" is not a positive number such as 4 or 0.5"]);
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\n");
    place.ftlab("run t.csv --ftl fifo --warmup-drive-writes 1").fails(
        2,
        &[
            "--warmup-drive-writes 1",
            "not possible without the size of the drive; give logical too",
        ],
    );
}

#[test]
fn counts_exclude_fill_and_warm_up() {
    let arguments = format!(
        "run uniform {SMALL} --fill sequential --warmup-writes 5000 --writes 3000 --interval 500 --ftl fifo --json"
    );
    let result = Place::new().ftlab(&arguments).json();
    let run = &result["runs"][0];
    assert_eq!(
        (&run["host_writes"], &result["workload"]["page_writes"]),
        (&3000.into(), &8000.into())
    );
    let intervals: Vec<u64> = run["running_relocations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    assert_eq!(intervals.len(), 6);
    assert_eq!(intervals.iter().sum::<u64>(), run["relocations"].as_u64().unwrap());
    let waf = 1.0 + run["relocations"].as_f64().unwrap() / 3000.0;
    assert!((run["waf"].as_f64().unwrap() - waf).abs() < 1e-12);
}

#[test]
fn results_are_written_as_files_too() {
    let place = Place::new();
    let output =
        place.ftlab(&format!("run uniform {SMALL} --ftl fifo --ftl 2r++ --out results --json"));
    let file = std::fs::read_to_string(place.path().join("results/results.json")).unwrap();
    assert_eq!(file, output.stdout);
    let series = std::fs::read(place.path().join("results/series.parquet")).unwrap();
    assert!(series.starts_with(b"PAR1") && series.ends_with(b"PAR1"));
    assert!(output.stderr.contains("wrote results/results.json and results/series.parquet"));
    let names = std::fs::read_dir(place.path().join("results")).unwrap().count();
    assert_eq!(names, 2, "nothing provisional is left");
}

#[test]
fn a_workload_that_fits_in_the_free_blocks_is_told_so() {
    let output =
        Place::new().ftlab(&format!("run uniform {SMALL} --fill none --writes 1000 --ftl fifo"));
    let expected = "free blocks were left: the workload wrote 0.244 drive sizes";
    assert!(output.stdout.contains(expected), "{}", output.stdout);
}

#[test]
fn standard_input_is_a_workload() {
    let place = Place::new();
    let trace = b"op,lba,sectors\nwrite,0,8\nwrite,8,16\n";
    let output =
        place.ftlab_with_input(&format!("run - {SMALL} --format csv --ftl fifo --json"), trace);
    assert_eq!(output.json()["runs"][0]["host_writes"], 3, "{}", output.stderr);
}

#[test]
fn a_trace_without_a_device_size_is_sized_by_its_highest_address() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\nwrite,4001,1\n");
    let result = place.ftlab("run t.csv --op 200% --pages-per-block 16 --ftl fifo --json").json();
    let drive = &result["config"]["drive"];
    assert_eq!(drive["logical_pages"], 501);
    assert_eq!(drive["size_from"], "highest address of the trace");
    assert_eq!(drive["rounded_bytes"], 501 * 4096 - 4002 * 512);
}

#[test]
fn what_was_parsed_and_passed_over_is_said() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,80\n# note\ntrim,0,8\nread,0,8\n");
    let text =
        place.ftlab("run t.csv --logical 1MiB --pages-per-block 16 --op 100% --ftl fifo").stdout;
    assert!(text.contains("1 writes of 10 pages, 1 trims, 0 flushes, 1 reads"), "{text}");
    assert!(text.contains("1 x comment, first line 3: \"# note\""), "{text}");
    let text = place
        .ftlab("run t.csv --logical 1MiB --pages-per-block 16 --op 100% --ftl fifo --ignore-trims")
        .stdout;
    assert!(text.contains("1 trims (ignored), 0 flushes"), "{text}");
}

#[test]
fn early_collection_keeps_blocks_free() {
    let waf = |options: &str| {
        let arguments =
            format!("run uniform {SMALL} --fill sequential {options} --ftl 1r-greedy --json");
        Place::new().ftlab(&arguments).json()["runs"][0]["waf"].as_f64().unwrap()
    };
    assert!(waf("--gc-start 12% --gc-min-invalid 20%") > waf(""));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let mut child =
        place.command("list ftls").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_figure_shows_every_ftl_and_a_bad_path_is_an_error() {
    let place = Place::new();
    let run = format!("run uniform {SMALL} --ftl 1r-greedy --ftl 2r++ --figure");
    let output = place.ftlab(&format!("{run} waf.svg"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let figure = std::fs::read_to_string(place.path().join("waf.svg")).unwrap();
    for part in ["<svg", "1r-greedy", "2r++", "write amplification"] {
        assert!(figure.contains(part), "{part}");
    }
    let output = place.ftlab(&format!("{run} no/such/folder.svg"));
    output.fails(1, &["no/such/folder.svg", "No such file"]);
    assert!(!output.stdout.contains("steady"), "known before the run: {}", output.stdout);
}

#[test]
fn a_figure_without_a_whole_interval_is_refused() {
    let place = Place::new();
    place
        .ftlab(&format!("run uniform {SMALL} --ftl fifo --writes 1000 --figure waf.svg --quiet"))
        .fails(2, &["1,000 counted writes do not fill an interval of 1,024", "--interval"]);
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\n");
    let output =
        place.ftlab(&format!("run t.csv {SMALL} --ftl fifo --figure waf.svg --quiet --json"));
    output.fails(1, &["1 counted writes do not fill an interval of 1,024", "--interval"]);
    assert_eq!(output.json()["runs"][0]["host_writes"], 1, "the result is not lost");
    assert!(!place.path().join("waf.svg").exists());
}

#[test]
fn a_directory_that_cannot_be_made_is_known_before_the_run() {
    let place = Place::new();
    place.write("file", "");
    let output = place.ftlab(&format!("run uniform {SMALL} --ftl fifo --out file/results --json"));
    output.fails(1, &["file/results"]);
    assert_eq!(output.stdout, "");
}

#[cfg(unix)]
#[test]
fn results_replace_no_pipes_and_follow_links() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let place = Place::new();
    let at = |name: &str| place.path().join(name);
    let mkfifo = std::process::Command::new("mkfifo").arg(at("results.json")).status().unwrap();
    assert!(mkfifo.success());
    let run = format!("run uniform {SMALL} --ftl fifo --quiet");
    place.ftlab(&format!("{run} --out .")).fails(2, &["results.json is a device, pipe or socket"]);
    place.ftlab(&format!("{run} --figure results.json")).fails(2, &["pipe"]);
    place
        .ftlab("convert uniform results.json --to csv --logical 1MiB --writes 9")
        .fails(2, &["results.json is a device, pipe or socket", "name a regular file"]);
    assert!(std::fs::metadata(at("results.json")).unwrap().file_type().is_fifo());
    place.write("old.csv", "old");
    symlink("old.csv", at("link.csv")).unwrap();
    assert_eq!(place.ftlab("convert uniform link.csv --logical 1MiB --writes 9").code, 0);
    assert!(at("link.csv").is_symlink());
    assert!(std::fs::read_to_string(at("old.csv")).unwrap().starts_with("op,lba,sectors"));
}

#[test]
fn results_record_every_parameter_given_or_not() {
    let run = format!("run zipf:theta=.5 {SMALL} --ftl 2r++ --ftl 2r++:blk-util=.4 --json");
    let result = Place::new().ftlab(&run).json();
    assert_eq!(result["config"]["workload"], "zipf:theta=.5");
    let parameters = &result["config"]["workload_parameters"];
    assert_eq!((&parameters["theta"], &parameters["hash"]), (&"0.5".into(), &"new".into()));
    let runs = &result["runs"];
    assert_eq!(runs[1]["ftl"], "2r++:blk-util=.4");
    assert_eq!(runs[0]["parameters"]["blk-util"], "0.5");
    assert_eq!(runs[1]["parameters"]["blk-util"], "0.4");
    assert_eq!(runs[0]["parameters"]["scan-depth"], runs[1]["parameters"]["scan-depth"]);
}

#[test]
fn collections_that_move_nothing_have_no_time_per_move() {
    let place = Place::new();
    place.write("a.csv", "W,0,16777216\n".repeat(4));
    let run = format!("run a.csv --map op=1,off:bytes=2,len:bytes=3 {SMALL} --ftl fifo --json");
    let run = &place.ftlab(&run).json()["runs"][0];
    assert_ne!(run["erases"], 0);
    assert_eq!((&run["relocations"], &run["victim_valid_share"]["mean"]), (&0.into(), &0.0.into()));
    assert!(run["nanoseconds_per_relocation"].is_null());
    let text = place
        .ftlab(&format!("run a.csv --map op=1,off:bytes=2,len:bytes=3 {SMALL} --ftl fifo --quiet"));
    assert!(!text.stdout.contains("inf"), "{}", text.stdout);
}

#[test]
fn what_means_the_same_has_the_same_hash() {
    let hash = |workload: &str, op: &str, ftl: &str| {
        let run =
            format!("run {workload} --logical 16MiB --pages-per-block 64 {op} --ftl {ftl} --json");
        Place::new().ftlab(&run).json()["runs"][0]["config_hash"].clone()
    };
    let plain = hash("zipf", "--blocks 77", "2r++");
    assert_eq!(plain, hash("zipf", "--blocks 77", "2r++:blk-util=0.50"));
    assert_eq!(plain, hash("zipf:theta=.9", "--op 20%", "2r++"));
    let timed = hash("zipf", "--timing slc", "fifo");
    assert_eq!(timed, hash("zipf", "--timing slc:read-us=25.0", "fifo"));
    assert_ne!(timed, hash("zipf", "--timing slc:read-us=24", "fifo"));
    let mixed = hash("mix:of=zipf*1", "", "fifo");
    assert_eq!(mixed, hash("mix:of=zipf(theta=.90)*1", "", "fifo"));
    for other in [
        hash("zipf", "--blocks 77", "2r++:blk-util=0.4"),
        hash("zipf", "--blocks 77", "2r-fifo"),
        hash("zipf", "--blocks 78", "2r++"),
        hash("zipf:theta=0.8", "--blocks 77", "2r++"),
        hash("uniform", "--blocks 77", "2r++"),
    ] {
        assert_ne!(plain, other);
    }
}

#[test]
fn time_has_tables_and_its_place_in_json() {
    let arguments = format!(
        "run uniform {SMALL} --fill random --ftl 1r-greedy --ftl 2r-fifo --timing \
         slc:channels=4,luns=2,queue-depth=8 --gc incremental:pages=64"
    );
    let output = Place::new().ftlab(&arguments);
    for part in [
        "slc: 25 us to read, 200 to program, 1500 to erase, 0 to transfer; 4 channels x 2 LUNs",
        "incremental:pages=64, when 4 free blocks are left",
        "p99.99   longest",
        "relocations   erases",
    ] {
        assert!(output.stdout.contains(part), "{part} is not in:\n{}", output.stdout);
    }
    let result = Place::new().ftlab(&format!("{arguments} --json")).json();
    assert_eq!(result["config"]["timing"]["parameters"]["queue-depth"], "8");
    for run in result["runs"].as_array().unwrap() {
        let time = &run["timing"];
        assert_eq!(time["lun_busy_share"].as_array().unwrap().len(), 8);
        let (p50, max) = (&time["response_ns"]["p50"], &time["response_ns"]["max"]);
        assert!(p50.as_u64().unwrap() >= 200_000 && max.as_u64() > p50.as_u64(), "{time}");
        let intervals = run["running_waf"].as_array().unwrap().len();
        assert_eq!(time["running_iops"].as_array().unwrap().len(), intervals);
    }
}

#[test]
fn with_one_lun_seconds_are_counts_times_latencies() {
    let output = Place::new().ftlab(&format!(
        "run hotcold {SMALL} --fill random --warmup-writes 1000 --ftl 2r++ --timing slc --json"
    ));
    let run = &output.json()["runs"][0];
    let count = |name: &str| run[name].as_u64().unwrap();
    let us = 200 * count("host_writes") + 225 * count("relocations") + 1500 * count("erases");
    assert_eq!(run["timing"]["elapsed_seconds"], us as f64 / 1e6);
}

#[test]
fn cells_take_the_time_of_their_pages_and_wear() {
    let place = Place::new();
    let run = |timing: &str| {
        place.ftlab(&format!(
            "run hotcold {SMALL} --fill random --warmup-writes 1000 --ftl 2r++ --timing {timing}"
        ))
    };
    let json = |timing: &str| run(&format!("{timing} --json")).json()["runs"][0].clone();
    let seconds = |run: &serde_json::Value| {
        let of = |what: &str| run["timing"]["lun_seconds"][what].as_f64().unwrap();
        [of("host_writes"), of("relocations")]
    };
    let mean = json("tlc:transfer-us=0");
    let count = |name: &str| mean[name].as_u64().unwrap() as f64;
    for types in ["each", "one-shot"] {
        let by_type = json(&format!("tlc:transfer-us=0,page-types={types}"));
        assert_eq!(
            (&by_type["relocations"], &by_type["waf"]),
            (&mean["relocations"], &mean["waf"])
        );
        let [longest, usual] =
            [&by_type, &mean].map(|run| run["timing"]["response_ns"]["p50"].as_u64());
        assert_ne!(longest, usual, "{types}");
        // The 64 pages of a block fill 21 word lines and a third, which is programmed as a whole.
        let part = if types == "one-shot" { 66.0 / 64.0 } else { 1.0 };
        for (by_type, mean) in seconds(&by_type).into_iter().zip(seconds(&mean)) {
            assert!((by_type / mean / part - 1.0).abs() < 0.02, "{types}: {by_type} {mean}");
        }
    }
    let retried = json("slc:read-retries=0:2");
    let expected = count("relocations") * (3.0 * 25.0 + 200.0) / 1e6;
    assert!((seconds(&retried)[1] - expected).abs() < 1e-9);
    let planes = seconds(&json("slc:planes=4"));
    assert!((planes[0] / count("host_writes") / 50e-6 - 1.0).abs() < 0.02, "{planes:?}");
    let header =
        run("mlc:page-types=each,planes=2,read-retries=1000:1/3000:3,pe-cycles=900").stdout;
    for part in [
        "mlc: 48/64 us to read, 850/2300 to program",
        "; page-types each; planes 2; read-retries 1000:1/3000:3; pe-cycles 900",
    ] {
        assert!(header.contains(part), "{part} is not in:\n{header}");
    }
    let refused = run("slc:page-types=each").stderr;
    assert!(refused.contains("give the times of each page of a word line"), "{refused}");
}

#[test]
fn blocks_that_are_read_too_often_or_too_old_are_rewritten_and_counted_apart() {
    let place = Place::new();
    let run = |more: &str| {
        place.ftlab(&format!(
            "run hotcold {SMALL} --fill random --drive-writes 4 --ftl 1r-greedy {more}"
        ))
    };
    let plain = run("--json").json();
    assert!(plain["runs"][0]["refresh"].is_null() && plain["config"]["drive"]["refresh"].is_null());
    let output = run("--refresh age=6000");
    for part in ["refresh reads=0,age=6000", "blocks", "rewritten", "relocations"] {
        assert!(output.stdout.contains(part), "{part} is not in:\n{}", output.stdout);
    }
    let old = run("--refresh age=1500 --json").json();
    let [plain, old] = [&plain, &old].map(|result| &result["runs"][0]);
    assert_ne!(plain["config_hash"], old["config_hash"]);
    let count = |of: &Value, what: &str| of[what].as_u64().unwrap();
    let refresh = &old["refresh"];
    let (blocks, pages) = (count(refresh, "blocks"), count(refresh, "relocations"));
    assert!(blocks > 0 && pages <= 64 * blocks && pages <= count(old, "relocations"), "{refresh}");
    assert!(count(old, "relocations") > count(plain, "relocations"));
    let series = refresh["running_relocations"].as_array().unwrap();
    assert_eq!(series.len(), old["running_waf"].as_array().unwrap().len());
    let in_series: u64 = series.iter().map(|pages| pages.as_u64().unwrap()).sum();
    assert!(in_series <= pages && in_series > pages / 2, "{in_series} of {pages}");
    let refused = run("--refresh reads=100").stderr;
    assert!(refused.contains("add --timing with unit=request"), "{refused}");
    let hybrid = place.ftlab(&format!("run hotcold {SMALL} --ftl fast --refresh age=6000"));
    assert!(hybrid.stderr.contains("no refresh"), "{}", hybrid.stderr);
    let wrong = run("--refresh ages=100").stderr;
    assert!(wrong.contains("did you mean \"age\"?"), "{wrong}");
}

#[test]
fn a_block_is_rewritten_with_every_so_manieth_read_of_it() {
    let place = Place::new();
    // Two blocks of 64 pages are full; the first page of one is read 1,000 times.
    let reads = (0..1000).map(|_| "R,0,4096\n".to_owned());
    let writes = (0..128).map(|page| format!("W,{},4096\n", page * 4096));
    place.write(
        "a.csv",
        writes.chain(reads).chain(["W,524288,4096\n".to_owned()]).collect::<String>(),
    );
    for (limit, rewritten) in [(1000, 1), (1001, 0), (250, 4), (300, 3)] {
        let output = place.ftlab(&format!(
            "run a.csv --map op=1,off:bytes=2,len:bytes=3 {SMALL} --fill none --ftl fifo --timing \
             slc:unit=request --refresh reads={limit} --json"
        ));
        let run = &output.json()["runs"][0];
        let counts = [&run["refresh"]["blocks"], &run["erases"], &run["refresh"]["relocations"]];
        assert_eq!(
            counts.map(|count| count.as_u64().unwrap()),
            [rewritten, rewritten, 64 * rewritten]
        );
        assert_eq!(run["relocations"], run["refresh"]["relocations"]);
        let seconds = &run["timing"]["lun_seconds"];
        assert_eq!(seconds["host_reads"], 0.025);
        let moved = seconds["relocations"].as_f64().unwrap();
        assert!((moved - 64.0 * rewritten as f64 * 225e-6).abs() < 1e-9, "{moved}");
    }
}

#[test]
fn requests_take_as_long_as_their_last_page() {
    let place = Place::new();
    // Every 10 ms, by turns: a write of two pages, their read, a read of a page without data, a trim, a flush.
    let of =
        |i: u64| ["W,0,8192", "R,0,8192", "R,409600,4096", "T,0,4096", "F,0,0"][i as usize % 5];
    let lines: Vec<_> = (0..50).map(|i| format!("{},{}\n", 10_000 * i, of(i))).collect();
    place.write("a.csv", lines.concat());
    let run = |more: &str| {
        place.ftlab(&format!(
            "run a.csv --map ts:us=1,op=2,off:bytes=3,len:bytes=4 {SMALL} --fill none --ftl fifo --timing \
             slc:transfer-us=5,channels=2,unit=request{more}"
        ))
    };
    let time = run(",arrivals=trace --json").json()["runs"][0]["timing"].clone();
    let operations = &time["requests"]["operations"];
    for (op, count, mean) in
        [("read", 20, 17_500.0), ("write", 10, 205_000.0), ("trim", 10, 0.0), ("flush", 10, 0.0)]
    {
        assert_eq!(operations[op]["count"], count, "{op}");
        assert_eq!(operations[op]["response_ns"]["mean"], mean, "{op}");
    }
    assert_eq!(operations["read"]["response_ns"]["p99_999"], 30_000);
    assert_eq!(time["requests"]["under_way_max"], 1);
    let text = run(",queue-depth=4").stdout;
    for part in ["fifo, reads", "fifo, writes", "fifo, trims", "fifo, flushes", "p99.999"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("4 requests outstanding"), "{text}");
    let refused =
        place.ftlab(&format!("run zipf {SMALL} --ftl fifo --timing slc:arrivals=poisson"));
    assert!(refused.stderr.contains("add unit=request"), "{}", refused.stderr);
}

#[test]
fn what_requests_waited_for_is_shown_on_request() {
    let place = Place::new();
    let run = |more: &str| {
        place.ftlab(&format!(
            "run uniform {SMALL} --fill random --ftl 1r-greedy --timing \
             slc:luns=4,unit=request,queue-depth=8{more}"
        ))
    };
    assert!(!run("").stdout.contains("waits in ms"));
    let text = run(",waits=on,write-buffer=64KiB").stdout;
    for part in ["waits in ms", "1r-greedy, writes, p99.9 ", "collection   erase   buffer"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let time = run(",waits=on --json").json()["runs"][0]["timing"].clone();
    let waits = &time["requests"]["operations"]["write"]["waits"];
    let of: Vec<_> = waits.as_array().unwrap().iter().map(|waits| &waits["of"]).collect();
    assert_eq!(of, ["all", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999"]);
    // The longest waits are those for collections.
    let share = |at: usize| {
        let ns = |of: &str| waits[at][of].as_f64().unwrap();
        (ns("collection_ns") + ns("erase_ns")) / ns("response_ns")
    };
    assert!(share(4) > 0.5 && share(1) < 0.1, "{waits}");
    let refused = place.ftlab(&format!("run zipf {SMALL} --ftl fifo --timing slc:waits=on"));
    assert!(refused.stderr.contains("add unit=request"), "{}", refused.stderr);
}

#[test]
fn response_times_are_told_apart_by_size_tenant_and_stream_on_request() {
    let place = Place::new();
    place.write(
        "jobs.fio",
        "[global]\nioengine=io_uring\nfilename=/dev/drive\nnorandommap\nrw=randrw\nnumber_ios=3000\n\
         [db]\nbs=4k\niodepth=8\n[scan]\nbs=32k\niodepth=2\n",
    );
    let run = |more: &str| {
        place.ftlab(&format!(
            "run jobs.fio {SMALL} --ftl 1r-greedy --ftl fifo --timing femu:unit=request{more}"
        ))
    };
    assert!(!run("").stdout.contains("by group"));
    let text = run(",by=size/tenant/stream,slots=4,weights=2/1,waits=on").stdout;
    for part in [
        "in ms by group",
        "1r-greedy, reads of 1 page ",
        "fifo, writes of 5-8 pages",
        "1r-greedy, writes of db",
        "fifo, reads of scan",
        "tenant's",
        "waiting",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("stream 0"), "there is only one: {text}");
    let requests = &run(",by=stream --json").json()["runs"][0]["timing"]["requests"];
    let groups = requests["groups"].as_array().unwrap();
    assert_eq!((groups.len(), &groups[0]["name"]), (2, &"0".into()), "{requests}");
    for (more, part) in [
        (",by=host", "by=host is not none, or any of size, tenant and stream"),
        (",weights=2/1", "add slots=32"),
        (",slots=4,weights=1/2/3", "weights=1/2/3 for the 2 jobs db, scan"),
        (",slots=4,weights=0/1", "whole numbers in 1..=256"),
        (",slots=4,arrivals=poisson", "leave it out"),
    ] {
        let refused = run(more).stderr;
        assert!(refused.contains(part), "{more}: {refused}");
    }
    let refused =
        place.ftlab(&format!("run uniform {SMALL} --ftl fifo --timing femu:unit=request,slots=4"));
    assert!(refused.stderr.contains("use a job file of fio"), "{}", refused.stderr);
}

#[test]
fn an_slc_cache_has_a_table_of_its_own() {
    let place = Place::new();
    let run = |more: &str| place.ftlab(&format!("run hotcold {SMALL} --ftl 1r-greedy {more}"));
    assert!(!run("").stdout.contains("SLC"));
    let text = run("--slc-cache size=1MiB,bits=4").stdout;
    for part in ["SLC cache size=1MiB,bits=4,full=fold,idle=on", "SLC cache", "folded"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let result = run("--slc-cache size=1MiB,full=bypass,idle=off --json").json();
    let slc = &result["runs"][0]["slc"];
    assert_eq!((&slc["folds"], &slc["erases"]), (&0.into(), &0.into()), "{slc}");
    assert!(slc["bypassed"].as_u64() > Some(0), "{slc}");
    for (more, part) in [
        ("--slc-cache bits=3", "give size=64MiB"),
        ("--slc-cache size=1MiB,full=drop", "full=drop is not one of fold, bypass"),
        ("--slc-cache size=100TiB", "give a smaller size"),
        ("--slc-cache size=1MiB --faults bad=1", "leave out --faults"),
        ("--slc-cache size=1MiB --ftl fk", "leave out that FTL, or --slc-cache"),
        ("--slc-cache size=1MiB --ftl nvme-fdp", "leave out nvme-fdp"),
    ] {
        let refused = run(more).stderr;
        assert!(refused.contains(part), "{more}: {refused}");
    }
}

#[test]
fn databases_tell_transactions_per_second() {
    let place = Place::new();
    let run = |workload: &str, more: &str| {
        place.ftlab(&format!(
            "run {workload} --logical 32MiB --pages-per-block 64 --ftl 1r-greedy --ftl 2r-fifo \
             --timing slc:luns=4,unit=transaction,queue-depth=8 {more}"
        ))
    };
    let tpcc = "tpcc:start=0.3,end=0.9,log=on,log-size=0.05";
    let text = run(tpcc, "").stdout;
    for part in ["8 transactions outstanding", "1r-greedy, reads", "2r-fifo, transactions"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let result = run(tpcc, "--json").json();
    for run in result["runs"].as_array().unwrap() {
        let transactions = &run["timing"]["transactions"];
        let of = |name: &str| transactions[name].as_f64().unwrap();
        assert!(of("count") > 1000.0 && of("per_second") > 100.0, "{transactions}");
        let mean = transactions["response_ns"]["mean"].as_f64().unwrap();
        let under_way = of("per_second") * mean / 1e9;
        assert!((under_way - 8.0).abs() < 0.5, "Little's law: {under_way}");
    }
    let refused = run("zipf", "");
    assert!(refused.stderr.contains("use tpcc, linkbench or ycsb"), "{}", refused.stderr);
}

#[test]
fn loads_have_a_table_a_figure_and_json() {
    let place = Place::new();
    let run = format!(
        "run uniform {SMALL} --drive-writes 2 --ftl 1r-greedy --ftl fifo --timing slc:luns=4,unit=request"
    );
    let shown = place.ftlab(&format!("{run} --load 0.5..0.9 --figure load.svg"));
    for part in ["p99.9 of", "50%", "90%", "1r-greedy can do", "more load costs more"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let figure = std::fs::read_to_string(place.path().join("load.svg")).unwrap();
    assert!(figure.contains("99.9th percentile of writes"));
    assert_eq!(place.ftlab(&format!("{run} --load 0.5..0.9 --report load.html")).code, 0);
    let page = std::fs::read_to_string(place.path().join("load.html")).unwrap();
    for part in [
        "Load and latency",
        "<svg",
        "1r-greedy can do",
        "p99.9 of writes",
        "<span>--load</span> 0.5..0.9",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let curves = place.ftlab(&format!("{run} --load 0.3,0.9 --json")).json()["curves"].clone();
    for curve in curves.as_array().unwrap() {
        let mean = |point: usize| curve["points"][point]["response_mean_ns"].as_f64().unwrap();
        assert!(mean(0) < mean(1), "{curve}");
        assert_eq!(curve["points"][1]["load"], 0.9);
    }
    for (more, remedy) in [("--load 2", "0.1..0.95"), ("--load 0.5 --out d", "cannot be used with")]
    {
        let refused = place.ftlab(&format!("{run} {more}"));
        assert!(refused.stderr.contains(remedy), "{}", refused.stderr);
    }
    let refused = place.ftlab(&format!("run uniform {SMALL} --ftl fifo --timing slc --load 0.5"));
    assert!(refused.stderr.contains("unit=request"), "{}", refused.stderr);
}

#[test]
fn page_writes_arrive_at_the_times_of_a_trace() {
    let place = Place::new();
    // Ten writes of one page, a millisecond apart, and two pages at once at the end.
    let line = |i| format!("{},W,{},4096\n", 1000 * i, 4096 * i);
    let lines = (0..10).map(line).collect::<Vec<_>>().concat();
    place.write("a.csv", format!("{lines}20000,W,0,8192\n"));
    let run = |more: &str| {
        place.ftlab(&format!(
            "run a.csv --map ts:us=1,op=2,off:bytes=3,len:bytes=4 {SMALL} --ftl fifo --timing \
             slc:arrivals=trace{more} --json"
        ))
    };
    let time = run("").json()["runs"][0]["timing"].clone();
    assert_eq!(time["elapsed_seconds"], 0.0204);
    assert_eq!(time["response_ns"]["max"], 400_000);
    assert_eq!(time["arrived_seconds"], 0.02);
    let calm = run("");
    assert!(!calm.stderr.contains("falls behind"), "{}", calm.stderr);
    let hurried = run(",speed-up=10");
    assert_eq!(hurried.json()["runs"][0]["timing"]["response_ns"]["max"], 1_100_000);
    for part in [
        "fifo: the drive falls behind the clock of the host",
        "after 0.002000 s",
        "until 0.002400 s",
    ] {
        assert!(hurried.stderr.contains(part), "{part} is not in:\n{}", hurried.stderr);
    }
}

#[test]
fn flash_that_fails_is_reported_until_the_drive_is_read_only() {
    let place = Place::new();
    let run =
        format!("run hotcold {SMALL} --fill random --drive-writes 20 --ftl 2r-greedy --ftl page");
    let lasting = place.ftlab(&format!("{run} --faults program=1e-7,erase=1e-6,bad=2,seed=3"));
    for part in [
        "0.0000001 of programs and 0.000001 of erases fail, 2 blocks are factory bad (seed 3)",
        "factory",
        "retired",
    ] {
        assert!(lasting.stdout.contains(part), "{part} is not in:\n{}", lasting.stdout);
    }
    assert!(!lasting.stdout.contains("read-only:"), "{}", lasting.stdout);
    let dying = place.ftlab(&format!("{run} --faults program=0.001 --timing slc --json"));
    assert!(dying.stderr.contains("2r-greedy stopped after"), "{}", dying.stderr);
    assert!(dying.stderr.contains("the drive is read-only"), "{}", dying.stderr);
    for run in dying.json()["runs"].as_array().unwrap() {
        let faults = &run["faults"];
        assert_eq!(faults["read_only_after"], run["host_writes"]);
        assert!(run["host_writes"].as_u64().unwrap() < 20 * 4096);
        let failed = faults["failed_programs"].as_u64().unwrap();
        assert!(faults["retired_blocks"].as_u64().unwrap() <= failed, "{faults}");
        assert!(run["timing"]["elapsed_seconds"].as_f64().unwrap() > 0.0);
    }
    let same = |more: &str| {
        let run = format!("run hotcold {SMALL} --ftl 2r-greedy --json {more}");
        without_times(place.ftlab(&run).json())["runs"][0]["relocations"].clone()
    };
    assert_eq!(same(""), same("--faults seed=3"), "what never fails changes nothing");
}

#[test]
fn endurance_follows_from_cycles_and_write_amplification() {
    let output = Place::new().ftlab(&format!(
        "run hotcold {SMALL} --fill random --ftl 1r-greedy --endurance 3000 --json"
    ));
    let result = output.json();
    let (run, drive) = (&result["runs"][0], &result["config"]["drive"]);
    let number = |value: &Value| value.as_f64().unwrap();
    let bytes = 3000.0 * number(&drive["physical_bytes"]) / number(&run["waf"]);
    assert!((number(&run["endurance"]["tbw"]) / (bytes / 1e12) - 1.0).abs() < 1e-12);
    let per_day = bytes / number(&drive["logical_bytes"]) / (365.0 * 5.0);
    assert!((number(&run["endurance"]["dwpd"]) / per_day - 1.0).abs() < 1e-12);
}

/// A job that writes pages of 4 KiB in part.
const SMALL_REQUESTS: &str = "[s]\nfilename=/dev/ng0n1\nrw=randwrite\nbs=512\nblockalign=4k\nnorandommap\ntime_based\nruntime=1h\n";

#[test]
fn bytes_are_those_that_the_host_sent_and_pages_those_that_they_take() {
    let place = Place::new();
    place.write("small.fio", SMALL_REQUESTS);
    let run = "run small.fio --logical 64MiB --op 20% --pages-per-block 32 --fill none --writes 65536 \
               --ftl nvme-fdp --endurance 1000";
    let output = place.ftlab(&format!("{run} --json"));
    let result = output.json();
    let run = &result["runs"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let sent = 65_536 * 512;
    assert_eq!(
        (run["host_writes"].as_u64(), run["host_bytes"].as_u64()),
        (Some(65_536), Some(sent))
    );
    assert_eq!(
        (run["fdp"]["hbmw"].as_u64(), run["fdp"]["handles"][0]["hbmw"].as_u64()),
        (Some(sent), Some(sent))
    );
    let media = number(&run["fdp"]["mbmw"]);
    assert!(number(&run["waf"]) > 1.1, "pages are moved");
    for (ratio, told) in [
        (media / (8 * sent) as f64, &run["waf"]),
        (media / sent as f64, &run["media_bytes_per_host_byte"]),
    ] {
        assert!((number(told) / ratio - 1.0).abs() < 1e-12, "{told}");
    }
    let tbw = 1000.0 * number(&result["config"]["drive"]["physical_bytes"])
        / (media / sent as f64)
        / 1e12;
    assert!((number(&run["endurance"]["tbw"]) / tbw - 1.0).abs() < 1e-12);
    let ratio = format!("{:.4}", media / sent as f64);
    for part in [
        "WAF of",
        "media per",
        "32 MiB",
        &ratio,
        "65,536 of 65,536 write requests do not begin and end at the boundaries of pages of 4 KiB",
        "The host sent 32 MiB with 65,536 page writes (256 MiB)",
    ] {
        assert!(output.stderr.contains(part), "{part:?} is not in\n{}", output.stderr);
    }
    let whole = place.ftlab(&format!("run uniform {SMALL} --ftl 1r-greedy"));
    for part in ["WAF of", "media per", "boundaries"] {
        assert!(!whole.stdout.contains(part), "{part}: {}", whole.stdout);
    }
}

#[test]
fn wear_leveling_spreads_erases() {
    let gini = |ftl: &str, options: &str| {
        let arguments =
            format!("run hotcold {SMALL} --fill random --drive-writes 40 --ftl {ftl} --json");
        let output = Place::new().ftlab(&format!("{arguments} {options}"));
        output.json()["runs"][0]["erase_counts"]["gini"].as_f64().unwrap()
    };
    assert!(gini("1r-greedy", "--free-block least-worn") < 0.5 * gini("1r-greedy", ""));
    assert!(gini("2r-fifo", "--wear-threshold 5") < 0.5 * gini("2r-fifo", ""));
}

#[test]
fn a_short_trace_is_repeated_until_it_is_steady_and_the_header_says_so() {
    let place = Place::new();
    let lines: Vec<_> = (0..3000_u64)
        .map(|n| format!("W,{},4096\n", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 4096 * 4096))
        .collect();
    place.write("t.csv", lines.concat());
    let run =
        "run t.csv --map op=1,off:bytes=2,len:bytes=3 --logical 16MiB --op 20% --ftl 1r-greedy";
    let once = place.ftlab(run).stdout;
    assert!(
        once.contains("too short") && once.contains("not steady: 0.73 of 8.0 drive writes or more"),
        "{once}"
    );
    assert!(once.contains("\nRests on no evidence (its "), "{once}");
    let alone = place.ftlab(&format!("{run} --until steady")).stdout;
    let remedy = "not steady: 0.73 of 8.0 drive writes or more (--repeat runs the trace again).";
    assert!(alone.contains(remedy) && !alone.contains("again and again"), "{alone}");
    let steady = place.ftlab(&format!("{run} --until steady --repeat"));
    for part in [
        "the trace again and again, until all FTLs are steady, at most",
        "    steady",
        "WAF of\n",
        "In the steady state, 1r-greedy writes",
        "\nRests on steady values; ",
        "; assumed: a drive filled in order",
    ] {
        let found = steady.stdout.contains(part.trim_end());
        assert!(found, "{part:?} is not in {}", steady.stdout);
    }
    // The steady value is the headline, and the mean of the whole run stands beside it.
    let json = place.ftlab(&format!("{run} --until steady --repeat --json")).json();
    let run_of = &json["runs"][0];
    assert_eq!(run_of["steady_waf"], run_of["settling"]["window_waf"]);
    assert_ne!(run_of["steady_waf"], run_of["waf"]);
    let rows: Vec<_> = steady.stdout.lines().filter(|line| line.starts_with("1r-greedy")).collect();
    let number = format!("{:.4}", run_of["steady_waf"].as_f64().unwrap());
    assert_eq!(rows[0].split_whitespace().nth(1), Some(number.as_str()), "{rows:?}");
    let short = place.ftlab(&format!("{run} --until steady --repeat --drive-writes 3")).stdout;
    let remedy =
        "; not steady: 3.0 of 8.0 drive writes or more (--drive-writes 8 or more ends it later).";
    assert!(short.contains(remedy), "{short}");
    let cut = place.ftlab(&format!("{run} --writes 2000")).stdout;
    let remedy = "(--drive-writes 8 or more ends it later, and --repeat runs a trace again that ends before).";
    assert!(cut.contains(remedy), "{cut}");
    let again = place.ftlab(&format!("{run} --repeat --drive-writes 3 --json")).json();
    assert_eq!(again["runs"][0]["host_writes"], 3 * 4096);
    let pts = place.ftlab(&format!("{run} --precondition pts")).stdout;
    assert!(pts.contains("every page written twice in ascending order"), "{pts}");
    let empty = place.ftlab(&format!("{run} --fill none")).stdout;
    let first = empty.lines().next().unwrap();
    assert!(first.starts_with("workload") && first.ends_with(", on an EMPTY drive"), "{first}");
}

#[test]
fn an_address_beyond_the_drive_is_reported_with_the_last_one() {
    let place = Place::new();
    place.write("t.csv", "W,0,4096\nW,41943040,4096\nW,83886080,4096\n");
    let run = "run t.csv --map op=1,off:bytes=2,len:bytes=3 --logical 16MiB --ftl 1r-greedy";
    let parts = ["a write of page 10240", "the last page of the trace is 20480", "--logical 81MiB"];
    place.ftlab(run).fails(1, &parts);
}

#[test]
fn a_list_of_ftls_and_a_count_with_a_suffix_are_the_same_as_in_full() {
    let place = Place::new();
    let run = "run uniform --logical 8MiB --op 20% --json --quiet";
    let short = place.ftlab(&format!("{run} --writes 4k --ftl 1r-greedy,2r-fifo:blk-util=0.4"));
    let long =
        place.ftlab(&format!("{run} --writes 4000 --ftl 1r-greedy --ftl 2r-fifo:blk-util=0.4"));
    let ftls = |of: &Output| -> Vec<_> {
        let result = of.json();
        let runs = result["runs"].as_array().unwrap().iter();
        runs.map(|run| (run["ftl"].clone(), run["host_writes"].clone(), run["waf"].clone()))
            .collect()
    };
    assert_eq!(ftls(&short).len(), 2, "{}", short.stderr);
    assert_eq!(ftls(&short), ftls(&long));
}
