//! A trace that begins again when it ends.

use crate::SimError;
use crate::workload::{Workload, io_error};
use ftlab_trace::{RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use ftlab_workload::WriteWatch;

/// Reads a trace from its first request to the last, and then again. Within a pass all intervals between
/// writes to a page are those of the trace; times go on from pass to pass.
pub(crate) struct Repeated {
    workload: Workload,
    page_bytes: u32,
    need_time: bool,
    metadata: TraceMetadata,
    current: Box<dyn TraceSource>,
    /// What earlier passes over the trace took.
    before_us: u64,
    last_us: u64,
    /// Requests of the first pass so far.
    requests: u64,
    /// Whether this pass has had a request: otherwise there would be no end to opening it.
    has_any: bool,
    /// Ends what would be repeated for ever.
    watch: WriteWatch,
}

impl Repeated {
    /// Repeats `first`, which has not been read; an error if the trace can be read once only.
    pub(crate) fn new(
        workload: &Workload,
        page_bytes: u32,
        need_time: bool,
        first: Box<dyn TraceSource>,
    ) -> Result<Self, SimError> {
        if workload.is_read_once() {
            return Err(SimError::Unusable {
                what: format!("{} can be read once only, and is to be repeated", workload.name()),
                remedy: "convert it to a file first: ftlab convert - trace.parquet".into(),
            });
        }
        Ok(Self {
            workload: workload.clone(),
            page_bytes,
            need_time,
            metadata: TraceMetadata { requests: None, ..first.metadata().clone() },
            current: first,
            before_us: 0,
            last_us: 0,
            requests: 0,
            has_any: false,
            watch: WriteWatch::default(),
        })
    }

    fn begin_again(&mut self) -> Result<(), TraceError> {
        self.watch.end_pass(&self.workload.name())?;
        // Whoever reads it learns in this way that a pass has ended.
        self.metadata.requests.get_or_insert(self.requests);
        let opened = self.workload.open_trace(self.page_bytes, self.need_time);
        if let Some(source) = opened.map_err(|error| io_error(&self.workload, &error))? {
            self.current = source;
        }
        self.before_us = self.last_us;
        self.has_any = false;
        Ok(())
    }
}

impl TraceSource for Repeated {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        while !self.current.next_batch(batch)? {
            if !self.has_any {
                return Ok(false);
            }
            self.begin_again()?;
        }
        self.has_any = true;
        if self.metadata.requests.is_none() {
            self.requests += batch.len() as u64;
        }
        self.watch.see(batch);
        for time in &mut batch.time_us {
            *time += self.before_us;
            self.last_us = self.last_us.max(*time);
        }
        Ok(true)
    }

    fn skipped(&self) -> &Skipped {
        self.current.skipped()
    }

    fn volumes(&self) -> &[String] {
        self.current.volumes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Requests;
    use ftlab_trace::{Input, Op, OpenOptions, open_input};

    fn repeated(lines: &'static str) -> Repeated {
        let open = move || {
            let input = Input::from_bytes("test", lines.as_bytes().to_vec())?;
            let map = Some("ts:us=1,op=2,off:pages=3,len:pages=4".to_owned());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        let workload = Workload::Requests(Requests::new("test", false, open));
        let first = workload.open_trace(4096, true).unwrap().unwrap();
        Repeated::new(&workload, 4096, true, first).unwrap()
    }

    #[test]
    fn requests_and_times_go_on_where_the_trace_ends() {
        let mut source = repeated("10,W,0,1\n30,T,1,1\n");
        let mut batch = RequestBatch::with_limit(2);
        let mut times = Vec::new();
        for _ in 0..3 {
            assert!(source.next_batch(&mut batch).unwrap());
            assert_eq!(batch.op, [Op::Write, Op::Trim]);
            times.extend_from_slice(&batch.time_us);
        }
        let steps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(steps[0], 20);
        assert!(times.is_sorted() && steps[2] == 20 && steps[4] == 20, "{times:?}");
    }

    #[test]
    fn a_pass_without_a_page_write_is_the_last() {
        for lines in ["10,R,0,1\n", "10,T,0,1\n", "10,F,0,0\n", "10,W,0,0\n"] {
            let mut source = repeated(lines);
            let mut batch = RequestBatch::with_limit(2);
            assert!(source.next_batch(&mut batch).unwrap());
            let error = source.next_batch(&mut batch).unwrap_err().to_string();
            assert_eq!(
                error,
                "test: it has no page writes at all among its 1 requests; take a workload that writes"
            );
        }
    }

    #[test]
    fn a_trace_of_nothing_is_an_error_and_no_endless_loop() {
        let error = repeated("").next_batch(&mut RequestBatch::with_limit(2)).unwrap_err();
        assert!(error.to_string().contains("test"), "{error}");
    }
}
