//! `ftlab reproduce`: pages, figures and numbers of experiments.

use crate::common::Place;

const EXPERIMENT: &str = r#"
title = "A test"
text = "What was done."
findings = "Why it differs: {waf: ftl=2r-fifo; theta=0.9 / ftl=2r-fifo}."
stated = [
  { says = "4,096 pages", setting = "logical-pages", value = 4096 },
  { says = "theta of 0.9", setting = "theta", value = 0.9 },
  { says = "a reserve of 7", setting = "reserve", value = 7 },
  { says = "four drive writes", metric = "host-writes-per-page", value = 4 },
  { says = "a trace", unmatched = "it is not available" },
]
workloads = ["zipf:theta={theta}", { name = "captured", spec = "$FTLAB_SHARED/traces/none.parquet", optional = true }]
ftls = ["1r-greedy", "2r-fifo"]
[drive]
logical-pages = 4096
pages-per-block = 64
op = "25%"
[run]
fill = "sequential"
drive-writes = 4
[grid]
theta = [0.5, 0.9]
[[expect]]
metric = "waf"
of = { ftl = "1r-greedy" }
along = "theta"
values = [1.0, 99.0]
kind = "stated"
tolerance = "20%"
remark = "made up"
[[expect]]
what = "2R is better"
metric = "waf"
ascending = [{ ftl = "2r-fifo" }, { ftl = "1r-greedy" }]
[[expect]]
what = "2R more than 1R"
kind = "control"
metric = "waf"
of = { ftl = "2r-fifo", theta = 0.5 }
more-than = { ftl = "1r-greedy" }
value = 9.0
within = 0.5
[[expect]]
what = "2R / 1R"
metric = "waf"
of = { ftl = "2r-fifo" }
over = { ftl = "1r-greedy" }
reduce = "largest"
at-most = 1.5
[[figure]]
kind = "lines"
x = "theta"
y = "waf"
[[figure]]
name = "running"
kind = "curves"
y = "running-waf"
panels = "theta"
[[figure]]
name = "bars"
kind = "bars"
x = "theta"
by = "metric"
y = "waf waf-last-tenth"
of = { ftl = "2r-fifo" }
"#;

#[test]
fn an_experiment_becomes_a_page_with_its_table_figures_and_numbers() {
    let place = Place::new();
    place.write("mine.toml", EXPERIMENT);
    let output = place.ftlab("reproduce mine.toml --out pages");
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("2R is better"), "{}", output.stdout);
    assert!(output.stderr.contains("skipped: captured: "), "{}", output.stderr);
    let read = |name: &str| std::fs::read_to_string(place.path().join("pages").join(name)).unwrap();
    let page = read("mine.md");
    for part in [
        "# A test",
        "What was done.",
        "![A test](mine.svg)",
        "![A test](mine-running.svg)",
        "| waf: theta 0.9, 1r-greedy | stated | 99.00 |",
        "| 20.0% | made up |",
        "| 2R more than 1R | control | 900% |",
        "| 50.0 points |",
        "Why it differs: 1.000.",
        "| 4,096 pages | logical-pages 4096 |",
        "| theta of 0.9 | theta 0.9 |",
        "| a reserve of 7 | **reserve 4** |",
        "| four drive writes | host-writes-per-page 4.000, expected 4 |",
        "| a trace | unmatched: it is not available |",
        "Skipped: captured: ",
        "`ftlab reproduce mine`",
        "(mine.csv)",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    // Neither 1 nor 99, and 2R is not better everywhere: three lines are marked, and one of the setup.
    assert_eq!(page.matches("| **").count(), 4, "{page}");
    assert!(read("mine.csv").starts_with("workload,theta,ftl,seed,waf,"), "{}", read("mine.csv"));
    assert_eq!(read("mine.csv").lines().count(), 5);
    for figure in ["mine", "mine-running", "mine-bars"] {
        assert!(read(&format!("{figure}.svg")).contains("<svg"));
        if cfg!(feature = "print") {
            let png = std::fs::read(place.path().join(format!("pages/{figure}.png"))).unwrap();
            assert!(png.starts_with(b"\x89PNG"));
        }
    }
    assert!(
        read("README.md").contains("| 1 | 0 of 2 | 1 of 2 | 1 of 1 |"),
        "{}",
        read("README.md")
    );

    // Its CSV file makes the same page, without runs; the line at the end stays.
    place.write("mine.toml", EXPERIMENT.replace("A test", "Another title"));
    std::fs::remove_dir_all(place.path().join("pages/runs")).unwrap();
    let again = place.ftlab("reproduce mine.toml --out pages --again");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(read("mine.md"), page.replace("A test", "Another title"));
    assert!(!place.path().join("pages/runs").exists());
    place
        .ftlab("reproduce mine.toml --out nowhere --again")
        .fails(1, &["mine.csv", "leave out --again to run the experiment first"]);
}

#[test]
fn experiments_are_listed_and_a_wrong_one_proposes_the_right_ones() {
    let place = Place::new();
    let list = place.ftlab("reproduce list");
    assert_eq!(list.code, 0);
    for id in ["2r/fig-7 ", "2r++/table-3 ", "wolf/fig-6 ", "systor13/fig-1 ", "faster/table-2 "] {
        assert!(list.stdout.lines().any(|line| line.starts_with(id)), "{id}: {}", list.stdout);
    }
    place
        .ftlab("reproduce 2r/fig-99")
        .fails(2, &["there is no experiment \"2r/fig-99\"", "2r/fig-7"]);
    place.write(
        "mine.toml",
        EXPERIMENT.replace(
            "metric = \"waf\"\nof = { ftl = \"2r-fifo\" }",
            "metric = \"wef\"\nof = { ftl = \"2r-fifo\" }",
        ),
    );
    place.ftlab("reproduce mine.toml").fails(2, &["mine.toml:45:", "unknown metric \"wef\""]);
    place.write(
        "mine.toml",
        EXPERIMENT.replace("along = \"theta\"", "along = \"theta\"\nover = { eta = 1 }"),
    );
    place
        .ftlab("reproduce mine.toml")
        .fails(2, &["there is no axis eta; there are workload, theta"]);
}

#[test]
fn a_study_without_runs_needs_no_store() {
    let place = Place::new();
    place.write(
        "splits.toml",
        "title = \"x\"\nkind = \"splits\"\nftls = [\"wolf\", \"optimum\"]\n\
         [grid]\nchunks = [10]\ngroups = [3]\nutilisation = [0.7]\n\
         [[expect]]\nmetric = \"mean-excess\"\nof = { ftl = \"wolf\" }\nvalue = 0.40\n",
    );
    let output = place.ftlab("reproduce splits.toml --out pages");
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("0.40"), "{}", output.stdout);
    assert!(!place.path().join("pages/runs").exists());
    place.ftlab("sweep splits.toml").fails(2, &["use ftlab reproduce splits.toml"]);
    place.write(
        "look.toml",
        "title = \"x\"\nkind = \"inspect\"\nworkloads = [\"hotcold:writes=0.9,pages=0.1\"]\n\
         [drive]\nlogical-pages = 10000\n[run]\nwrites = 100000\n\
         [[expect]]\nmetric = \"writes-to-top-20%\"\nat-least = 0.9\n\
         [[figure]]\nkind = \"curves\"\ny = \"skew\"\nby = \"workload\"\n",
    );
    let output = place.ftlab("reproduce look.toml --out pages");
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stderr.contains("0 of 1 numbers"), "{}", output.stderr);
}
