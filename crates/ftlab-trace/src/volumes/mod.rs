//! Several volumes in one trace: each has addresses of its own from 0.
//!
//! A drive has one address space, so the requests of several volumes must not be mixed as they are.
//! [`arrange`] keeps the volumes that are asked for, and either insists that it is one, keeps their
//! numbers beside the requests, or puts their addresses together in pieces.

mod names;
mod pieces;

pub(crate) use names::VolumeNames;
pub(crate) use names::name;

use crate::{
    Layout, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource,
    pages::SECTOR_BYTES,
};
use pieces::Pieces;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Applies what `options` say about volumes to `source`; `together` says that the volumes of its
/// format belong together, and `ignored_by` with which format they are ignored, if that is possible.
pub(crate) fn arrange(
    source: Box<dyn TraceSource>,
    options: &OpenOptions,
    together: bool,
    ignored_by: Option<String>,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let layout = match options.layout {
        Layout::ByFormat if together => Layout::SIDE_BY_SIDE,
        layout => layout,
    };
    if layout == Layout::Keep && options.volumes.is_empty() {
        return Ok(source);
    }
    let mut metadata = source.metadata().clone();
    for volume in &options.volumes {
        let _ = write!(metadata.format, " --volume {volume}");
    }
    if !options.volumes.is_empty() {
        metadata.requests = None;
    }
    let rule = match layout {
        Layout::ByFormat => Rule::One { first: None },
        Layout::Keep => Rule::Keep,
        Layout::Pieces(bytes) => {
            if options.layout == layout {
                let _ = write!(metadata.format, " in pieces of {}", crate::Bytes(bytes));
            }
            // The drive that the trace was taken from has other addresses.
            (metadata.device_bytes, metadata.requests) = (None, None);
            Rule::Pieces(Pieces::new(piece_sectors(bytes)?))
        }
    };
    Ok(Box::new(Arranged {
        source,
        metadata,
        rule,
        wanted: options.volumes.clone(),
        ignored_by,
        kept: FxHashMap::default(),
        whole: RequestBatch::new(),
        ready: RequestBatch::new(),
        cursor: 0,
    }))
}

/// `source`, which is of one volume, with its addresses as `layout` says.
pub fn lay_out(
    source: Box<dyn TraceSource>,
    layout: Layout,
) -> Result<Box<dyn TraceSource>, TraceError> {
    arrange(source, &OpenOptions { layout, ..OpenOptions::default() }, false, None)
}

fn piece_sectors(bytes: u64) -> Result<u64, TraceError> {
    if bytes >= SECTOR_BYTES && bytes.is_multiple_of(SECTOR_BYTES) {
        return Ok(bytes / SECTOR_BYTES);
    }
    Err(TraceError::Unsupported {
        what: format!("a piece of {bytes} bytes is not a multiple of 512 bytes, at least 512"),
        remedy: "take the page size, such as 4KiB, or more".into(),
    })
}

enum Rule {
    One { first: Option<u32> },
    Keep,
    Pieces(Pieces),
}

struct Arranged {
    source: Box<dyn TraceSource>,
    metadata: TraceMetadata,
    rule: Rule,
    /// Names of the volumes to keep; all if empty.
    wanted: Vec<String>,
    ignored_by: Option<String>,
    /// Whether a volume is wanted, for every one met so far.
    kept: FxHashMap<u32, bool>,
    /// A batch as the source has it.
    whole: RequestBatch,
    /// Arranged requests, of which those before `cursor` have been handed out.
    ready: RequestBatch,
    cursor: usize,
}

impl TraceSource for Arranged {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        if self.wanted.is_empty() && matches!(self.rule, Rule::One { .. }) {
            // What nearly every trace needs: nothing, after a look at the volumes.
            let is_more = self.source.next_batch(batch)?;
            self.check_one(&batch.volume)?;
            batch.volume.clear();
            return Ok(is_more);
        }
        while !batch.is_full() {
            if self.cursor < self.ready.len() {
                batch.push_from(&self.ready, self.cursor);
                self.cursor += 1;
            } else if !self.refill()? {
                break;
            }
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        self.source.skipped()
    }

    fn volumes(&self) -> &[String] {
        if matches!(self.rule, Rule::Keep) { self.source.volumes() } else { &[] }
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

impl Arranged {
    /// Arranges the next batch of the source; `false` at its end.
    fn refill(&mut self) -> Result<bool, TraceError> {
        self.ready.clear();
        self.cursor = 0;
        if !self.source.next_batch(&mut self.whole)? {
            return self.check_wanted().map(|()| false);
        }
        self.drop_unwanted();
        match &mut self.rule {
            Rule::Keep => std::mem::swap(&mut self.ready, &mut self.whole),
            Rule::Pieces(pieces) => pieces.place(&self.whole, &mut self.ready)?,
            Rule::One { .. } => {
                let volumes = std::mem::take(&mut self.whole.volume);
                self.check_one(&volumes)?;
                std::mem::swap(&mut self.ready, &mut self.whole);
            }
        }
        Ok(true)
    }

    fn drop_unwanted(&mut self) {
        if self.wanted.is_empty() {
            return;
        }
        let names = self.source.volumes();
        let volumes = &self.whole.volume;
        let is_kept = |index: usize| {
            // A trace without volumes has one, number 0.
            let volume = volumes.get(index).copied().unwrap_or(0);
            let is_wanted = || self.wanted.contains(&name(names, volume));
            *self.kept.entry(volume).or_insert_with(is_wanted)
        };
        let kept: Vec<bool> = (0..self.whole.len()).map(is_kept).collect();
        self.whole.retain(&kept);
    }

    /// An error if `volumes` has another volume than all requests before.
    fn check_one(&mut self, volumes: &[u32]) -> Result<(), TraceError> {
        let Rule::One { first } = &mut self.rule else { return Ok(()) };
        let Some(head) = volumes.first() else { return Ok(()) };
        let first = *first.get_or_insert(*head);
        let Some(other) = volumes.iter().find(|volume| **volume != first) else { return Ok(()) };
        let names = self.source.volumes();
        let (first, other) = (name(names, first), name(names, *other));
        let ignoring = self.ignored_by.as_ref().map_or_else(String::new, |format| {
            format!("; if the column of the volume means nothing, --format {format} ignores it")
        });
        Err(TraceError::Unsupported {
            what: format!(
                "{}: requests for volume {other} follow requests for volume {first}, and each has \
                 addresses of its own",
                self.metadata.format
            ),
            remedy: format!(
                "keep one with --volume {first}, lay them out with --side-by-side or --compact, or \
                 write a file for each with `ftlab convert --split`{ignoring}"
            ),
        })
    }

    /// An error if a volume that was asked for never came.
    fn check_wanted(&self) -> Result<(), TraceError> {
        const SHOWN: usize = 20;
        let names = self.source.volumes();
        let mut known: Vec<_> = self.kept.keys().copied().collect();
        known.sort_unstable();
        let known: Vec<_> = known.into_iter().map(|volume| name(names, volume)).collect();
        let Some(missing) = self.wanted.iter().find(|wanted| !known.contains(wanted)) else {
            return Ok(());
        };
        let more = if known.len() > SHOWN { ", ..." } else { "" };
        let shown = known[..known.len().min(SHOWN)].join(", ");
        Err(TraceError::Unsupported {
            what: format!(
                "{}: no request is for volume {missing:?}",
                self.source.metadata().format
            ),
            remedy: format!("its volumes are {shown}{more}"),
        })
    }
}

#[cfg(test)]
mod tests;
