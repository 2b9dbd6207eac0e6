//! What LUNs did around the slowest requests, in the trace-event format of Chrome, which Perfetto shows too.
//!
//! Every FTL is two processes: its LUNs, a thread each with what they did, and its slow requests, a thread each.
//! Times are in microseconds, as the format wants.

use ftlab_sim::result::{ExperimentResult, RunResult, SlowResult};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// How many of the slowest requests are shown.
pub const SLOWEST: usize = 10;

#[derive(Debug, Serialize)]
struct File<'a> {
    #[serde(rename = "traceEvents")]
    events: Vec<Event>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    about: About<'a>,
}

#[derive(Debug, Serialize)]
struct About<'a> {
    version: &'a str,
    command: Option<&'a str>,
}

/// An event: a slice of a thread (`X`), or the name of a thread or process (`M`).
#[derive(Debug, Serialize)]
struct Event {
    ph: &'static str,
    pid: usize,
    tid: usize,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Map<String, Value>,
}

/// The slowest requests of every FTL of `result`, as JSON; none if they were not kept.
pub fn timeline(result: &ExperimentResult) -> Option<String> {
    let runs =
        result.runs.iter().enumerate().filter_map(|(index, run)| Some((index, run, of(run)?)));
    let events: Vec<_> =
        runs.flat_map(|(index, run, slowest)| events(index, run, slowest)).collect();
    let about = About { version: &result.version, command: result.command.as_deref() };
    let file = File { events, unit: "ns", about };
    (!file.events.is_empty()).then(|| serde_json::to_string(&file).expect("all keys are text"))
}

fn of(run: &RunResult) -> Option<&[SlowResult]> {
    run.timing.as_ref()?.requests.as_ref()?.slowest.as_deref()
}

fn events(index: usize, run: &RunResult, slowest: &[SlowResult]) -> Vec<Event> {
    let (luns, requests) = (2 * index + 1, 2 * index + 2);
    let mut events = vec![
        named(luns, 0, "process_name", &format!("{}: LUNs", run.ftl)),
        named(requests, 0, "process_name", &format!("{}: slow requests", run.ftl)),
    ];
    // Requests that were slow at the same time share what LUNs did.
    let slices = slowest.iter().flat_map(|request| &request.slices);
    let slices: BTreeSet<_> = slices
        .map(|of| (of.lun, of.begin_ns, of.end_ns, of.work.name(), of.page, of.request))
        .collect();
    let lun_count = run.timing.as_ref().map_or(0, |timing| timing.lun_busy_share.len());
    events.extend((0..lun_count).map(|lun| named(luns, lun, "thread_name", &format!("LUN {lun}"))));
    events.extend(slices.into_iter().map(|(lun, begin_ns, end_ns, work, page, request)| {
        let what = if work == "erase" { "block" } else { "page" };
        let mut args = Map::from_iter([(what.to_owned(), json!(page))]);
        args.extend(request.map(|request| ("request".to_owned(), json!(request))));
        slice((luns, lun as usize), work.to_owned(), "lun", (begin_ns, end_ns), args)
    }));
    for (rank, request) in slowest.iter().enumerate() {
        let SlowResult { number, operation, arrival_ns, done_ns, waits, .. } = request;
        events.push(named(requests, rank, "thread_name", &format!("slowest, {}", rank + 1)));
        let waited =
            waits.parts().into_iter().map(|(of, ns)| (format!("{of} us"), json!(ns / 1e3)));
        let args = [("request".to_owned(), json!(number))].into_iter().chain(waited).collect();
        let name = format!("{operation} {number}");
        events.push(slice((requests, rank), name, "request", (*arrival_ns, *done_ns), args));
    }
    events
}

fn named(pid: usize, tid: usize, what: &str, name: &str) -> Event {
    let args = Map::from_iter([("name".to_owned(), json!(name))]);
    Event { ph: "M", pid, tid, name: what.to_owned(), cat: None, ts: None, dur: None, args }
}

fn slice(
    (pid, tid): (usize, usize),
    name: String,
    category: &'static str,
    (begin_ns, end_ns): (u64, u64),
    args: Map<String, Value>,
) -> Event {
    let us = |ns: u64| Some(ns as f64 / 1e3);
    let (ts, dur) = (us(begin_ns), us(end_ns - begin_ns));
    Event { ph: "X", pid, tid, name, cat: Some(category), ts, dur, args }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Workload};
    use std::collections::BTreeMap;

    fn result(timing: &str, slowest: usize) -> ExperimentResult {
        let workload = Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
        let experiment = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(4096),
                pages_per_block: Some(32),
                ..DriveOptions::default()
            },
            fill: Fill::Random,
            length: Length::DriveWrites(2.0),
            timing: Some(timing.parse().unwrap()),
            slowest,
            ..Experiment::new(workload, vec!["1r-greedy".parse().unwrap(), "2r++".parse().unwrap()])
        };
        experiment.run(&mut ()).unwrap()
    }

    /// Checks an event against the format, and returns its process, thread, begin and end in nanoseconds if it is a
    /// slice.
    fn checked(event: &Value) -> Option<(u64, u64, u64, u64)> {
        let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{key}: {event}"));
        assert!(event["name"].is_string() && event["args"].is_object(), "{event}");
        let (pid, tid) = (number("pid"), number("tid"));
        if event["ph"] == "M" {
            let name = event["name"].as_str().unwrap();
            assert!(["process_name", "thread_name"].contains(&name), "{event}");
            assert!(event["args"]["name"].is_string(), "{event}");
            return None;
        }
        assert_eq!(event["ph"], "X");
        assert!(event["cat"].is_string(), "{event}");
        let ns = |key: &str| {
            let us = event[key].as_f64().filter(|us| *us >= 0.0);
            (us.unwrap_or_else(|| panic!("{key}: {event}")) * 1e3).round() as u64
        };
        Some((pid, tid, ns("ts"), ns("ts") + ns("dur")))
    }

    #[test]
    fn the_file_is_in_the_trace_event_format_and_luns_do_one_thing_at_a_time() {
        for timing in [
            "slc:luns=4,unit=request,queue-depth=8",
            "slc:luns=2,channels=2,transfer-us=20,unit=request,queue-depth=8,priority=read-first",
        ] {
            let result = result(timing, SLOWEST);
            let text = timeline(&result).unwrap();
            let file: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(file["displayTimeUnit"], "ns");
            let events = file["traceEvents"].as_array().unwrap();
            let mut threads: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
            for (pid, tid, begin, end) in events.iter().filter_map(checked) {
                threads.entry((pid, tid)).or_default().push((begin, end));
            }
            // Two FTLs of four LUNs and ten requests.
            assert_eq!(threads.len(), 2 * (4 + SLOWEST), "{timing}");
            for ((pid, _), slices) in &mut threads {
                slices.sort_unstable();
                assert!(slices.is_sorted_by(|a, b| a.1 <= b.0), "{timing}: {slices:?}");
                assert!(pid % 2 == 1 || slices.len() == 1, "{timing}");
            }
            for (run, pid) in result.runs.iter().zip([2, 4]) {
                let slowest = of(run).unwrap();
                let longest = run.timing.as_ref().unwrap().response_ns.max;
                assert_eq!(slowest[0].done_ns - slowest[0].arrival_ns, longest, "{timing}");
                assert_eq!(threads[&(pid, 0)], [(slowest[0].arrival_ns, slowest[0].done_ns)]);
                for request in slowest {
                    let of_request =
                        |slice: &&ftlab_flash::Slice| slice.request == Some(request.number);
                    let last = request.slices.iter().filter(of_request).map(|of| of.end_ns).max();
                    assert_eq!(last, Some(request.done_ns), "{timing}: its program ends it");
                }
            }
        }
        assert_eq!(timeline(&result("slc:unit=request", 0)), None);
    }
}
