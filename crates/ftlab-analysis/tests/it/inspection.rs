//! Inspection of small traces against numbers found by hand, and its edges.

use crate::common::fixture;
use ftlab_analysis::{
    Extent, InspectOptions, Inspection, Inspector, LogWindow, Sequentiality, inspect,
};
use ftlab_trace::{Input, OpenOptions, RequestBatch, TraceError, TraceSource, open, open_input};

fn csv(text: &str) -> Box<dyn TraceSource> {
    let input = Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap();
    open_input(input, &OpenOptions::default()).unwrap()
}

fn found(text: &str, extent: Extent) -> Result<Inspection, TraceError> {
    inspect(csv(text).as_mut(), &InspectOptions { extent, ..InspectOptions::default() })
}

#[test]
fn a_small_trace_is_counted_exactly() {
    let options = OpenOptions::default();
    let mut source = open(&fixture("blkparse.txt"), &options).unwrap();
    let found = inspect(source.as_mut(), &InspectOptions::default()).unwrap();
    assert_eq!(found.format, "blkparse");
    let counts = found.requests;
    assert_eq!((counts.write, counts.trim, counts.flush, counts.read), (16, 2, 2, 1));
    assert_eq!(counts.total(), 21);
    assert_eq!((found.bytes.trim, found.bytes.read), (2176 * 512, 4096));
    // mkfs wrote 1 MiB pieces from sector 584 on, and 64 KiB twice at sector 524160.
    assert_eq!((found.write_sizes.min_bytes, found.write_sizes.median_bytes), (4096, 524_288));
    assert_eq!(found.page_trims, 2176 / 8);
    assert_eq!(found.page_writes, found.bytes.write / 4096);
    assert_eq!(found.distinct_pages, found.page_writes - 16);
    assert_eq!(found.intervals.count, 16);
    assert_eq!((found.addresses.first_sector, found.addresses.end_sector), (0, 3_145_728));
    assert_eq!(found.drive_pages, 3_145_728 / 8);
    assert_eq!(found.time_us, Some((135, 2_500_200)));
    let summary = found.skipped.iter().find(|lines| lines.reason == "summary").unwrap();
    assert_eq!(summary.count, 7);
}

#[test]
fn every_statistic_of_a_trace_that_fits_on_a_page() {
    // Pages 0 to 3, then 0 twice, half of 1 and half of 2 at once, 3 trimmed, 9 read.
    let text = "t_us,op,lba,sectors\n0,write,0,32\n10,write,0,8\n20,write,0,8\n30,write,12,8\n\
                40,trim,24,8\n50,read,72,8\n60,flush,0,0\n";
    let found = found(text, Extent::default()).unwrap();
    assert_eq!((found.page_writes, found.distinct_pages, found.drive_pages), (8, 4, 10));
    assert_eq!((found.unaligned_writes, found.page_trims), (1, 1));
    // Page 0 at 0, 4, 5; page 1 at 1, 6; page 2 at 2, 7; page 3 at 3.
    let intervals: Vec<_> = [1, 25, 26, 75, 76, 100]
        .map(|percent| found.intervals.percentile(percent).unwrap())
        .to_vec();
    assert_eq!(intervals, [1, 1, 4, 5, 5, 5]);
    assert_eq!((found.intervals.count, found.intervals.mean), (4, 3.75));
    assert_eq!((found.updates.max, found.updates.once_pages, found.updates.median), (3, 1, 2));
    assert_eq!(found.updates.bins, [1, 2, 1]);
    assert!((found.skew.top_50_percent - 5.0 / 8.0).abs() < 1e-12);
    // The window is one page: a tenth of the drive.
    let classes = &found.temperature;
    assert_eq!(classes.window_pages, 1);
    assert_eq!((classes.hot.pages, classes.warm.pages, classes.cold.pages), (0, 0, 4));
    assert!(classes.writes_within_window.abs() < 1e-12);
    // Before the sixth write there are four pages, and 0 and 3 are final.
    let frozen = found.frozen_at(75).unwrap();
    assert_eq!((frozen.written_pages, frozen.frozen_pages, frozen.share), (4, 2, 0.5));
    let end = found.footprint.last().unwrap();
    assert_eq!((end.page_writes, end.written_pages, end.holding_pages), (8, 4, 3));
    assert_eq!(found.heat_map.columns.len(), 8);
    assert_eq!(found.heat_map.columns[6], [0, 1, 0, 0]);
    assert_eq!(found.sequentiality, Sequentiality::default());
    assert_eq!(found.time_us, Some((0, 60)));
}

#[test]
fn a_part_is_by_time_and_knows_what_was_written_before() {
    let text = "t_us,op,lba,sectors\n0,write,0,32\n10,write,0,8\n20,write,80,8\n30,write,0,8\n";
    let extent = |from, until| Extent { range_us: Some(from..until), ..Extent::default() };
    let part = found(text, extent(10, 30)).unwrap();
    assert_eq!((part.page_writes, part.distinct_pages, part.requests.total()), (2, 2, 2));
    assert_eq!(part.time_us, Some((10, 20)));
    let summary = part.part.unwrap();
    assert_eq!((summary.from_us, summary.until_us, summary.earlier_pages), (10, Some(30), 4));
    assert_eq!(part.updates.never_pages, 3);
    let footprint: Vec<_> = part.footprint.iter().map(|point| point.holding_pages).collect();
    assert_eq!(footprint, [4, 5]);
    let end = found(text, extent(30, u64::MAX)).unwrap();
    assert_eq!((end.page_writes, end.part.unwrap().until_us), (1, None));
    let nothing = found(text, extent(99, u64::MAX)).unwrap();
    assert_eq!((nothing.page_writes, nothing.updates.never_pages), (0, 5));
    let error = found("op,lba,sectors\nwrite,0,8\n", extent(0, 9)).unwrap_err().to_string();
    assert!(error.contains("no times to choose by"), "{error}");
}

#[test]
fn a_limit_ends_after_the_request_that_reaches_it() {
    let text = "op,lba,sectors\nwrite,0,24\nread,0,8\nwrite,0,8\nwrite,0,8\n";
    for (limit, requests, page_writes) in [(1, 1, 3), (3, 1, 3), (4, 3, 4), (5, 4, 5), (9, 4, 5)] {
        let extent = Extent { page_writes_max: Some(limit), ..Extent::default() };
        let found = found(text, extent).unwrap();
        assert_eq!((found.requests.total(), found.page_writes), (requests, page_writes), "{limit}");
    }
}

#[test]
fn nothing_has_no_statistics_and_no_numbers_that_are_none() {
    let found = found("op,lba,sectors\nread,0,8\nwrite,8,0\n", Extent::default()).unwrap();
    assert_eq!((found.page_writes, found.requests.write), (0, 1));
    let json = serde_json::to_string(&found).unwrap();
    // JSON has no infinity and no NaN: they would be null.
    assert_eq!(json.matches("null").count(), 4, "no bytes, part, time, nor hints: {json}");
}

#[test]
fn more_areas_than_memory_are_an_error_with_the_remedy() {
    let extent = Extent { memory_bytes_max: 1 << 20, ..Extent::default() };
    let text = "op,lba,sectors\nwrite,0,4194304\nwrite,0,8\n";
    let error = found(text, extent).unwrap_err().to_string();
    for part in ["1MiB of memory", "65536 pages", "--memory", "--page-size"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_page_that_is_not_a_power_of_two_works() {
    let options = |page_bytes| InspectOptions {
        extent: Extent { page_bytes, ..Extent::default() },
        window: LogWindow::Pages(7),
        drive_bytes: Some(3000),
    };
    let mut source = open(&fixture("blkparse.txt"), &OpenOptions::default()).unwrap();
    let found = inspect(source.as_mut(), &options(1536)).unwrap();
    assert!(found.page_writes > found.bytes.write / 1536);
    assert_eq!((found.drive_pages, found.temperature.window_pages), (2, 7));
    assert!(Inspector::new(&options(1000)).is_err());
    assert!(Inspector::new(&options(512)).unwrap().update(&RequestBatch::new()).unwrap());
}
