//! A dashboard of a fake drive, queried by a client.

use super::DashboardOptions;
use super::{Dashboard, get, get_json};
use crate::Smart;
use crate::{
    BlockMap, CompanionStatus, DriveStatus, FlashCounters, MapStatus, Monitor, Observed, Placement,
    PlacementHandle, Ram, RecordingStatus, Region, Sample, ServeError, ShadowStatus, Status,
    Watched,
};
use ftlab_drive::Store;
use ftlab_ftl::{HandleEvent, HandleEventKind};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// A drive with a store and invented counters.
struct MadeUp(Ram);

impl Store for MadeUp {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.0.block_bytes()
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, data)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.0.trim(offset, bytes)
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()> {
        self.0.write_zeroes(offset, bytes, may_trim)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Observed for MadeUp {
    fn status(&self) -> DriveStatus {
        DriveStatus {
            uuid: "0000".to_owned(),
            ftl: "2r-fifo:blk-util=\"0.4\"".to_owned(),
            map: Some(MapStatus {
                name: "dftl:cache=2MiB".to_owned(),
                memory_bytes: 4096,
                lookups: 20,
                hits: 15,
                reads: 5,
                writes: 4,
            }),
            page_bytes: 4096,
            pages_per_block: 4,
            blocks: 3,
            logical_pages: 8,
            free_blocks: 1,
            flash: FlashCounters { host_pages: 10, relocated_pages: 5, ..Default::default() },
            regions: vec![Region { name: "hot".to_owned(), cold: false, blocks: 2 }],
            ..DriveStatus::default()
        }
    }

    fn block_map(&self) -> BlockMap {
        BlockMap {
            phases: "osf".to_owned(),
            regions: vec![0, 0, 0],
            valid_pages: vec![1, 4, 0],
            erases: vec![7, 8, 9],
        }
    }

    fn placement(&self) -> Option<Placement> {
        let (kind, write_clock) = (HandleEventKind::MediaReallocated, 9);
        let event = HandleEvent { kind, write_clock, handle: 1, named: 1, pages: 3 };
        let handle = PlacementHandle {
            host_bytes: 40_960,
            media_bytes: 61_440,
            moved_bytes: 20_480,
            ..Default::default()
        };
        let handles = vec![PlacementHandle::default(), handle];
        let events = vec![event; 7];
        Some(Placement { unit_bytes: 16_384, handles, events, logged: 8, ..Default::default() })
    }
}

fn with_token(token: Option<String>) -> DashboardOptions {
    DashboardOptions { token, ..DashboardOptions::default() }
}

/// Companions whose recording has failed.
struct FailedRecording;

impl CompanionStatus for FailedRecording {
    fn shadows(&self) -> Vec<ShadowStatus> {
        Vec::new()
    }

    fn recording(&self) -> Option<RecordingStatus> {
        let failure = Some("no space".to_owned());
        Some(RecordingStatus { path: "t.parquet".to_owned(), operations: 7, failure })
    }

    fn emulated_latency(&self) -> Option<String> {
        None
    }
}

fn dashboard(token: Option<&str>) -> (Dashboard, Arc<Watched>, String) {
    let drive: Arc<dyn Observed> = Arc::new(MadeUp(Ram::new(1 << 20)));
    let watched = Arc::new(Watched::new(Arc::clone(&drive) as Arc<dyn Store>));
    let companions = Arc::new(FailedRecording);
    let monitor = Arc::new(Monitor::new(drive, Arc::clone(&watched), companions));
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let dashboard =
        Dashboard::start(anywhere, with_token(token.map(str::to_owned)), monitor).unwrap();
    let url = format!("http://{}", dashboard.address());
    (dashboard, watched, url)
}

#[test]
fn every_answer_is_as_the_document_describes_it() {
    let (_dashboard, _, url) = dashboard(None);
    let document: Value = get_json(&url, "/api/openapi.json", None).unwrap();
    let mut described = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let content = &methods["get"]["responses"]["200"]["content"];
        let Some(schema) = content.get("application/json").map(|json| &json["schema"]) else {
            continue;
        };
        // The schema with its definitions, as one document.
        let mut whole = schema.clone();
        whole["components"] = document["components"].clone();
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let answer: Value = get_json(&url, path, None).unwrap();
        let problems: Vec<_> = validator.iter_errors(&answer).map(|e| e.to_string()).collect();
        assert!(problems.is_empty(), "{path}: {problems:?}");
        assert!(!answer.is_null());
        described += 1;
    }
    assert_eq!(described, 6);
    let status = document["components"]["schemas"]["Status"]["properties"].as_object().unwrap();
    assert!(status.contains_key("waf") && status["drive"]["description"].is_string());
}

#[test]
fn the_answers_are_what_the_drive_says_and_what_was_asked_of_it() {
    let (_dashboard, watched, url) = dashboard(None);
    watched.write(0, &[1; 8192]).unwrap();
    let status = loop {
        let status: Status = get_json(&url, "/api/status", None).unwrap();
        if status.host.writes.requests == 1 {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!((status.waf, status.serving.waf()), (Some(1.5), None));
    assert_eq!(status.recording.unwrap().failure.as_deref(), Some("no space"));
    assert_eq!((status.host.writes.bytes, status.drive.free_blocks), (8192, 1));
    let placement = status.placement.unwrap();
    assert_eq!((placement.handles[1].moved_bytes, placement.events), (20_480, 8));
    let [latest, ..] = placement.latest_events.as_slice() else { panic!("{placement:?}") };
    assert_eq!((latest.what.as_str(), latest.handle, latest.pages), ("media reallocated", 1, 3));
    let history: Vec<Sample> = get_json(&url, "/api/history", None).unwrap();
    assert!(history.len() >= 2 && history.iter().all(|sample| sample.region_blocks == [2]));
    let blocks: BlockMap = get_json(&url, "/api/blocks", None).unwrap();
    assert_eq!((blocks.phases.as_str(), blocks.erases), ("osf", vec![7, 8, 9]));
    let smart: Smart = get_json(&url, "/api/smart", None).unwrap();
    assert_eq!((smart.max_user_data_erase_count, smart.host_write_commands), (9, 1));
    let metrics = get(&url, "/metrics", None).unwrap();
    for line in [
        "# TYPE ftlab_host_pages_written_total counter",
        "ftlab_host_pages_written_total 10",
        "ftlab_relocated_pages_total 5",
        "ftlab_map_hits_total{map=\"dftl:cache=2MiB\"} 15",
        "ftlab_region_blocks{region=\"hot\"} 2",
        "ftlab_handle_moved_bytes_total{handle=\"1\"} 20480",
        "ftlab_placement_events_total 8",
        "ftlab_request_bytes_total{kind=\"write\"} 8192",
        "ftlab_request_duration_seconds_count{kind=\"write\"} 1",
        "ftlab_recorded_operations_total 7",
        "ftlab_recording_failed 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line:?} is not in:\n{metrics}");
    }
    assert!(metrics.contains("ftl=\"2r-fifo:blk-util=\\\"0.4\\\"\""), "quotes are escaped");
}

#[test]
fn events_bring_the_status_every_second() {
    let (_dashboard, _, url) = dashboard(None);
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /api/events HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut events = lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    let mut next = || -> Status { serde_json::from_str(&events.next().unwrap()).unwrap() };
    let (first, second) = (next(), next());
    assert!(second.latest.seconds > first.latest.seconds);
}

#[test]
fn the_page_needs_nothing_but_this_server() {
    let (_dashboard, _, url) = dashboard(None);
    let page = get(&url, "/", None).unwrap();
    assert!(
        page.contains("lineChart(") && page.contains("--back:") && page.contains("EventSource")
    );
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("/* page"));
}

#[test]
fn a_token_has_to_be_shown_and_other_machines_need_one() {
    let (_dashboard, _, url) = dashboard(Some("secret"));
    let error = get(&url, "/api/status", None).unwrap_err().to_string();
    assert!(
        error.ends_with("it requires a token; give --token-file FILE, or set FTLAB_TOKEN"),
        "{error}"
    );
    assert!(get(&url, "/metrics", Some("secret")).is_ok());
    assert!(get(&url, "/?token=secret", None).is_ok());
    let drive: Arc<dyn Observed> = Arc::new(MadeUp(Ram::new(1 << 20)));
    let watched = Arc::new(Watched::new(Arc::clone(&drive) as Arc<dyn Store>));
    let monitor = Arc::new(Monitor::new(drive, watched, Arc::new(())));
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let error = |token: Option<&str>| {
        let (token, monitor) = (token.map(str::to_owned), Arc::clone(&monitor));
        Dashboard::start(everywhere, with_token(token), monitor).err().unwrap()
    };
    assert!(matches!(error(None), ServeError::NoToken { .. }));
    assert!(matches!(error(Some("")), ServeError::Token));
    assert!(matches!(error(Some("a+b/c=")), ServeError::Token));
}

#[test]
fn what_is_no_dashboard_is_said() {
    for (url, part) in [
        ("ftp://x", "it is not of the form http://HOST:PORT"),
        ("http://", "it is not of the form"),
        ("http://127.0.0.1:1", "refused"),
    ] {
        let error = get(url, "/", None).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(url), "{error}");
    }
}
