//! `ftlab model`: closed forms on the command line.

use crate::common::Place;
use serde_json::Value;

#[track_caller]
fn close(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value / expected - 1.0).abs() < 1e-3, "{value} is not {expected}");
}

#[test]
fn uniform_writes_have_the_published_amplification() {
    let place = Place::new();
    let arguments = "model uniform --op 17.647% --pages-per-block 64 --victim fifo --victim greedy \
                     --victim d-choices:d=2 --victim d-choices";
    let json = place.ftlab(&format!("{arguments} --json")).json();
    let victims = json["points"][0]["victims"].as_array().unwrap();
    for (victim, (name, waf)) in victims.iter().zip([
        ("fifo", 3.519),
        ("greedy", 3.353),
        ("d-choices:d=2", 4.648),
        ("d-choices:d=10", 3.464),
    ]) {
        assert_eq!(victim["victim"], name);
        close(&victim["write_amplification"], waf);
    }
    let text = place.ftlab(arguments).stdout;
    for part in ["17.647%", "15%", "d-choices:d=2", "3.5187", "3.3532"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn several_over_provisionings_make_several_rows() {
    let text = Place::new().ftlab("model uniform --op 7%,15%,28%").stdout;
    for part in ["fifo", "greedy", "7%", "15%", "28%", "1.28"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_curve_goes_from_its_first_to_its_last_point() {
    let place = Place::new();
    let json = place.ftlab("model curve --op 10%..30% --step 0.1% --victim fifo --json").json();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 201);
    close(&points[0]["op_ratio"], 0.1);
    close(&points[200]["op_ratio"], 0.3);
    assert_eq!(place.ftlab("model curve").stdout.matches('%').count(), 20);
}

#[test]
fn hot_and_cold_writes_have_the_published_amplification() {
    let place = Place::new();
    let json = place.ftlab("model hotcold --op 17.647% --writes 0.9 --pages 0.1 --json").json();
    close(&json["points"][0]["mixed"], 4.430);
    close(&json["points"][0]["uniform"], 3.519);
    let text = place.ftlab("model hotcold --op 17.647% --writes 80% --pages 20%").stdout;
    assert!(text.contains("3.869") && text.contains("separate"), "{text}");
}

#[test]
fn a_split_shows_what_each_rule_gives_each_group() {
    let place = Place::new();
    let arguments = "model split --op 10% --groups 10%:90%,90%:10%";
    let json = place.ftlab(&format!("{arguments} --json")).json();
    let allocations = json["allocations"].as_array().unwrap();
    let of = |name: &str| allocations.iter().find(|of| of["allocation"] == name).unwrap();
    close(&of("by-size")["groups"][0]["op_ratio"], 0.1);
    close(&of("by-frequency")["groups"][0]["op_ratio"], 0.9);
    close(&of("wolf")["groups"][0]["op_ratio"], 0.5);
    close(&of("wolf")["groups"][1]["spare_share"], 0.5);
    let waf = |name: &str| of(name)["write_amplification"].as_f64().unwrap();
    for allocation in allocations {
        assert!(allocation["write_amplification"].as_f64().unwrap() >= waf("optimum") - 1e-9);
    }
    let text = place.ftlab(arguments).stdout;
    for part in ["10%:90%", "by-size", "square-root", "optimum", "over the"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn groups_that_are_not_all_of_the_drive_are_refused() {
    let place = Place::new();
    place
        .ftlab("model split --op 10% --groups 10%:90%,80%:10%")
        .fails(2, &["shares of pages sum to 90%, not to 100%", "10%:90%,90%:10%"]);
    place
        .ftlab("model split --op 10% --groups 0.5:0.9,0.5:0.2")
        .fails(2, &["shares of writes sum to 110%"]);
    place
        .ftlab("model split --op 10% --groups 0:0.5,1:0.5")
        .fails(2, &["\"0:0.5\" is not PAGES:WRITES such as 10%:90%, with PAGES above 0"]);
    place.ftlab("model split --op 10% --groups 1").fails(2, &["\"1\" is not PAGES:WRITES"]);
}

#[test]
fn wrong_questions_say_what_is_right() {
    let place = Place::new();
    place.ftlab("model uniform --op 0%").fails(2, &["\"0%\" is not", "give a share such as 7%"]);
    place.ftlab("model uniform").fails(2, &["--op <SHARE,...>"]);
    place
        .ftlab("model uniform --op 7% --victim gready")
        .fails(2, &["unknown victim rule \"gready\" (did you mean \"greedy\"?)", "d-choices"]);
    place
        .ftlab("model uniform --op 7% --victim d-choices:d=0")
        .fails(2, &["d-choices: d=0 is not a whole number in 1..="]);
    place
        .ftlab("model uniform --op 7% --victim fifo:d=3")
        .fails(2, &["fifo has no parameter \"d\"; it has none"]);
    place
        .ftlab("model uniform --op 7% --pages-per-block 0")
        .fails(2, &["0 is not a whole number in 1..=65536"]);
    place.ftlab("model curve --op 30%..10%").fails(2, &["\"30%..10%\" is not a range FROM..TO"]);
    place
        .ftlab("model curve --op 1%..50% --step 0.0001%")
        .fails(2, &["490001 points", "10000 are allowed", "larger step"]);
    place
        .ftlab("model hotcold --op 7% --writes 200%")
        .fails(2, &["--writes 200% is more than 100%"]);
    place.ftlab("model hotcold --op 7% --pages 1").fails(2, &["--pages 100% leaves"]);
}
