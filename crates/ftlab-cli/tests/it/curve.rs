//! `ftlab curve` as a user types it.

use crate::common::Place;
use std::fs;

const ASK: &str =
    "curve hotcold --logical 256MiB --pages-per-block 128 --ftl 1r-greedy,sepbit --once --quiet";

#[test]
fn a_curve_is_a_table_a_figure_a_file_and_json() {
    let place = Place::new();
    let files = "--sample 1/2 --op 10%,28% --figure a.svg --table a.csv";
    let told = place.ftlab(&format!("{ASK} {files}"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    let first = "2 samples each of one page in 2 and one in 8, in blocks of 64 and 16 pages instead of 128: ";
    assert!(told.stdout.starts_with(first), "{}", told.stdout);
    let row = told.stdout.lines().find(|line| line.starts_with("28.13%")).unwrap();
    assert_eq!(row.matches("..").count(), 2, "an interval of each FTL: {row}");
    let says = "\n* has not settled\n";
    assert!(row.contains("* (") && told.stdout.contains(says), "{}", told.stdout);
    let svg = fs::read_to_string(place.path().join("a.svg")).unwrap();
    assert!(svg.contains("write amplification") && svg.contains("sepbit"));
    let csv = fs::read_to_string(place.path().join("a.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.starts_with("ftl,op_ratio,blocks,waf,low,high,"), "{csv}");

    let json = place.ftlab(&format!("{ASK} --json")).json();
    let curves = json["curves"].as_array().unwrap();
    let points = curves[0]["points"].as_array().unwrap();
    assert_eq!((curves.len(), points.len()), (2, 12), "twelve drives if none are named");
    assert!(points[0]["interval"].is_null() && json["sample"].is_null());
    let wafs: Vec<_> = points.iter().map(|point| point["waf"].as_f64().unwrap()).collect();
    assert!(wafs.is_sorted_by(|a, b| a > b), "more flash, fewer moves: {wafs:?}");
}

#[test]
fn a_draw_more_is_another_sample_and_results_do_not_depend_on_threads() {
    let place = Place::new();
    let ask = format!("{ASK} --sample 1/2 --op 15% --json");
    let of = |more: &str| place.ftlab(&format!("{ask} {more}")).json();
    assert_eq!(of("--threads 1")["curves"], of("--threads 2")["curves"]);
    let three = of("--draws 3");
    assert_eq!(three["curves"][0]["points"][0]["seen"].as_array().unwrap().len(), 6);
    assert_ne!(of("--seed 2")["curves"], of("")["curves"]);
}

#[test]
fn what_cannot_be_drawn_says_what_can() {
    let place = Place::new();
    for (words, parts) in [
        ("--sample 1/4", ["leaves 32 of the 128 pages of a block", "1/2 at most"]),
        ("--sample 1/1", ["not one page in so many", "1/32"]),
        ("--draws 3", ["--sample", "required"]),
        ("--sample 1/2 --draws 1", ["2..=64", "--draws"]),
        ("--table a.txt", ["a.txt", ".parquet or .csv"]),
        ("--figure a.gif", ["a.gif", ".svg"]),
        ("--op 28%,10%", ["--op", "ascending"]),
    ] {
        place.ftlab(&format!("{ASK} {words}")).fails(2, &parts);
    }
}
