//! A trace of items, lines or records: one item, one request (or none, or two).

use super::content::Progress;
use super::tally::{Tally, Unit, Verdict};
use crate::skipped::UNFINISHED;
use crate::{Input, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};

/// Bytes cut into items.
pub trait Items: Send {
    /// The next item; `None` at the end.
    fn next(&mut self) -> Result<Option<&[u8]>, TraceError>;
}

/// The part of a reader that differs between formats.
pub trait ItemParser: Send {
    /// Parses an item; pushes requests with their time, or nothing unless it returns
    /// [`Verdict::Parsed`].
    fn parse(&mut self, item: &[u8], batch: &mut RequestBatch) -> Verdict;

    /// Names of the volumes by number, as far as read; empty where the number is the name.
    fn volumes(&self) -> &[String] {
        &[]
    }

    /// How the requests of a trace are found of which this parser has found none, if it knows.
    fn remedy(&self) -> Option<String> {
        None
    }
}

/// A reader made of what cuts items and a parser of them.
pub struct ItemSource<I, P> {
    items: I,
    parser: P,
    metadata: TraceMetadata,
    tally: Tally,
    need_time: bool,
    progress: Progress,
    /// Whether its end is missing, and this was not said yet.
    is_unfinished: bool,
}

impl<I: Items, P: ItemParser> ItemSource<I, P> {
    /// Reads what `cut` makes of `input`; `unit` is what an item is called, and `format` how the parser
    /// can be asked for again.
    pub(super) fn of(
        input: Input,
        cut: impl FnOnce(Input) -> I,
        unit: Unit,
        parser: P,
        format: String,
        options: &OpenOptions,
    ) -> Self {
        Self {
            progress: input.progress(),
            is_unfinished: input.is_unfinished(),
            tally: Tally::new(input.name(), unit, options),
            items: cut(input),
            parser,
            metadata: TraceMetadata { format, ..TraceMetadata::default() },
            need_time: options.need_time,
        }
    }
}

impl<I: Items, P: ItemParser> TraceSource for ItemSource<I, P> {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while !batch.is_full() {
            let Some(item) = self.items.next()? else {
                if std::mem::take(&mut self.is_unfinished) {
                    self.tally.skipped.add(UNFINISHED, self.tally.number + 1, b"");
                }
                break;
            };
            self.tally.next(item, batch, |batch| self.parser.parse(item, batch))?;
        }
        self.tally.complete(batch, self.need_time, || self.parser.remedy())
    }

    fn skipped(&self) -> &Skipped {
        &self.tally.skipped
    }

    fn volumes(&self) -> &[String] {
        self.parser.volumes()
    }

    fn progress(&self) -> Option<f64> {
        self.progress.share()
    }
}
