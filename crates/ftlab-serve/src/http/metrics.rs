//! Metrics for Prometheus, in its text format.

use crate::{PlacementHandle, Requests, Status};
use std::fmt::{Display, Write};

pub(super) fn text(status: &Status) -> String {
    let mut text = Text(String::new());
    let drive = &status.drive;
    let flash = &drive.flash;
    text.metric("ftlab_drive_info", "gauge", "The drive, always 1.");
    text.value(&[("uuid", &drive.uuid), ("ftl", &drive.ftl), ("version", &status.version)], 1);
    for (name, help, value) in [
        ("host_pages_written", "Pages programmed because the host wrote them.", flash.host_pages),
        ("host_bytes_written", "Bytes that the host sent with these.", status.host_bytes),
        ("relocated_pages", "Pages that garbage collection moved.", flash.relocated_pages),
        ("map_pages", "Translation pages programmed.", flash.map_pages),
        ("trimmed_pages", "Pages that the host trimmed.", flash.trimmed_pages),
        ("collections", "Garbage collections.", flash.collections),
        ("erased_blocks", "Erase blocks erased.", flash.erased_blocks),
        ("metadata_bytes", "Bytes of metadata written.", flash.metadata_bytes),
        ("media_errors", "Pages that could not be read back.", drive.health.media_errors),
        ("unsafe_shutdowns", "Openings of an unclosed drive.", drive.health.unsafe_shutdowns),
    ] {
        text.metric(&format!("ftlab_{name}_total"), "counter", help);
        text.value(&[], value);
    }
    for (name, help, value) in [
        ("logical_pages", "Pages that the host can address.", drive.logical_pages),
        ("page_bytes", "Bytes in a page.", drive.page_bytes),
        ("blocks", "Erase blocks.", drive.blocks),
        ("free_blocks", "Erase blocks that are free.", drive.free_blocks),
        ("retired_blocks", "Erase blocks retired.", drive.retired_blocks),
        ("read_only", "1 if nothing can be written.", drive.health.read_only.is_some().into()),
    ] {
        text.metric(&format!("ftlab_{name}"), "gauge", help);
        text.value(&[], value);
    }
    if let Some(map) = &drive.map {
        for (name, help, value) in [
            ("map_lookups", "Pages looked up in the map to be written or trimmed.", map.lookups),
            ("map_hits", "Of these, those whose entry was in memory.", map.hits),
            ("map_reads", "Translation pages read.", map.reads),
        ] {
            text.metric(&format!("ftlab_{name}_total"), "counter", help);
            text.value(&[("map", &map.name)], value);
        }
        text.metric("ftlab_map_memory_bytes", "gauge", "Memory for tables and cached entries.");
        text.value(&[("map", &map.name)], map.memory_bytes);
    }
    text.metric("ftlab_region_blocks", "gauge", "Erase blocks of a region.");
    for region in &drive.regions {
        text.value(&[("region", &region.name)], region.blocks);
    }
    placement(status, &mut text);
    requests(status, &mut text);
    shadows(status, &mut text);
    recording(status, &mut text);
    text.0
}

/// The placement handles, of a drive that has any.
fn placement(status: &Status, text: &mut Text) {
    type Of = fn(&PlacementHandle) -> u64;
    let Some(placement) = &status.placement else { return };
    let metrics: [(&str, &str, Of); 4] = [
        ("host_bytes", "Bytes that the host wrote by a placement handle.", |of| of.host_bytes),
        ("media_bytes", "Bytes programmed for these, and moved.", |of| of.media_bytes),
        ("moved_bytes", "Bytes of these pages that were moved.", |of| of.moved_bytes),
        ("erased_bytes", "Bytes of its reclaim units that were erased.", |of| of.erased_bytes),
    ];
    for (name, help, value) in metrics {
        text.metric(&format!("ftlab_handle_{name}_total"), "counter", help);
        for (number, handle) in placement.handles.iter().enumerate() {
            text.value(&[("handle", &number.to_string())], value(handle));
        }
    }
    text.metric("ftlab_placement_events_total", "counter", "Events of reclaim units.");
    text.value(&[], placement.events);
}

/// The requests of the host.
fn requests(status: &Status, text: &mut Text) {
    let host = &status.host;
    let kinds: [(&str, &Requests); 4] = [
        ("read", &host.reads),
        ("write", &host.writes),
        ("trim", &host.trims),
        ("flush", &host.flushes),
    ];
    text.metric("ftlab_request_bytes_total", "counter", "Bytes requested by the host.");
    for (kind, requests) in kinds {
        text.value(&[("kind", kind)], requests.bytes);
    }
    text.metric("ftlab_request_failures_total", "counter", "Requests that failed.");
    for (kind, requests) in kinds {
        text.value(&[("kind", kind)], requests.failed);
    }
    text.metric("ftlab_request_duration_seconds", "summary", "Duration of requests.");
    for (kind, requests) in kinds {
        let latency = &requests.latency;
        for (quantile, microseconds) in [
            ("0.5", latency.p50_us),
            ("0.9", latency.p90_us),
            ("0.99", latency.p99_us),
            ("0.999", latency.p999_us),
            ("1", latency.max_us),
        ] {
            text.value(&[("kind", kind), ("quantile", quantile)], microseconds / 1e6);
        }
        let sum = latency.mean_us * latency.count as f64 / 1e6;
        text.part("_sum", &[("kind", kind)], sum);
        text.part("_count", &[("kind", kind)], latency.count);
    }
}

/// The counters of shadows.
fn shadows(status: &Status, text: &mut Text) {
    text.metric(
        "ftlab_shadow_host_pages_written_total",
        "counter",
        "Pages written by a shadow for the host.",
    );
    for shadow in &status.shadows {
        text.value(&[("ftl", &shadow.ftl)], shadow.flash.host_pages);
    }
    text.metric("ftlab_shadow_relocated_pages_total", "counter", "Pages that a shadow moved.");
    for shadow in &status.shadows {
        text.value(&[("ftl", &shadow.ftl)], shadow.flash.relocated_pages);
    }
}

/// The recording, if there is one.
fn recording(status: &Status, text: &mut Text) {
    let Some(recording) = &status.recording else { return };
    text.metric("ftlab_recorded_operations_total", "counter", "Host operations recorded.");
    text.value(&[], recording.operations);
    text.metric("ftlab_recording_failed", "gauge", "1 if nothing more can be recorded.");
    text.value(&[], u8::from(recording.failure.is_some()));
}

/// Metrics, starting with the name of the current one.
struct Text(String);

impl Text {
    /// Begins a metric.
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A value of the current metric.
    fn value(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.part("", labels, value);
    }

    /// A value of a part of the current metric.
    fn part(&mut self, part: &str, labels: &[(&str, &str)], value: impl Display) {
        let start = self.0.rfind("# TYPE ").map_or(0, |start| start + "# TYPE ".len());
        let name = self.0[start..].split(' ').next().unwrap_or_default().to_owned();
        let labels: Vec<_> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{part}{labels} {value}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
