//! What is done with the bytes of a trace: read all of it, expand it to pages, and never panic.

use ftlab_analysis::{InspectOptions, Inspector};
use ftlab_trace::{Input, Layout, OpenOptions, RequestBatch, RequestHasher, TraceError, open_input};

/// The format that is fuzzed, with the parameters without which its reader reads nothing; none for any.
pub fn format() -> Option<String> {
    let name = std::env::var("FTLAB_FUZZ_FORMAT").ok()?;
    Some(match name.as_str() {
        "csv" => "csv:map=ts:s=1;op=2;off=3;len:KiB=4;volume=5;op:*=W".into(),
        "oracle-general" => "oracle-general:assume-write=on,object=place".into(),
        _ => name,
    })
}

/// Reads `bytes` as `format` (by content if `None`), strictly and with tolerance, with the volumes kept
/// and laid side by side.
pub fn read(bytes: &[u8], format: Option<&str>) {
    for (skip_bad_percent, layout) in
        [(0.0, Layout::ByFormat), (100.0, Layout::Keep), (100.0, Layout::SIDE_BY_SIDE)]
    {
        let options = OpenOptions {
            format: format.map(Into::into),
            skip_bad_percent,
            layout,
            ..OpenOptions::default()
        };
        // Errors are right for rubbish.
        let _ = read_all(bytes, &options);
    }
}

fn read_all(bytes: &[u8], options: &OpenOptions) -> Result<(), TraceError> {
    let mut source = open_input(Input::from_bytes("fuzz", bytes.to_vec())?, options)?;
    let mut batch = RequestBatch::with_limit(100);
    let mut hasher = RequestHasher::new();
    let mut inspector = Inspector::new(&InspectOptions::default())?;
    while source.next_batch(&mut batch)? {
        assert!(!batch.is_empty());
        assert!(batch.time_us.is_empty() || batch.time_us.len() == batch.len());
        assert!(batch.volume.is_empty() || batch.volume.len() == batch.len());
        hasher.update(&batch);
        // Counting terabytes page by page would only be slow.
        if batch.sectors.iter().all(|sectors| *sectors < 1 << 16) {
            inspector.update(&batch)?;
        }
    }
    hasher.finish();
    inspector.finish(source.as_ref());
    Ok(())
}
