//! Pictures of the flash, at a bounded number of moments.

use crate::fact::facts;
use crate::moves::Moves;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ftlab_flash::Geometry;
use ftlab_ftl::BlockUse;
use ftlab_stack::{BlockPages, Picture};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Cells of a picture at most.
pub(crate) const CELLS_MAX: u32 = 4096;

/// Bins of blocks by valid share.
const BINS: usize = 20;

/// Value of [`Frame::region`] for cells whose blocks are all erased.
pub const FREE: u8 = 254;

/// Value of [`Frame::region`] for cells whose blocks are out of use or, some of them, erased.
pub const RETIRED: u8 = 255;

facts! {
    Run:
    /// What is watched of pages and blocks for a report.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct Observed {
        /// Which pages were moved.
        moves: Moves => tell;
        /// Erases since counting began of the block at each percentile, from 0 to 100, of all blocks.
        erase_percentiles: Vec<u32>;
        /// Erase blocks that a cell of a frame stands for; the last one may stand for fewer.
        blocks_per_cell: u32;
        /// The flash at evenly spaced moments, from the one when counting begins to the end.
        frames: Vec<Frame>;
    }
}

/// The flash at one moment. Cells are erase blocks in order of their numbers, or as many neighbours as
/// `blocks_per_cell`.
///
/// A page is cold if two windows of host page writes (`moves.window_writes`) or more have passed since it
/// was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Host page writes that had been counted.
    pub host_writes: u64,
    /// A byte for each cell: the stream, counted from 0, that holds most of its blocks; 254 if all are
    /// erased, 255 if none holds pages and some are out of use.
    pub region: Bytes,
    /// A byte for each cell: valid pages, in 255ths of its pages.
    pub valid: Bytes,
    /// A byte for each cell: cold pages, in 255ths of its pages.
    pub cold: Bytes,
    /// For each stream, its blocks by valid share, in twenty bins of 5% each, the lower border of a bin
    /// included; the last one has full blocks too. Pages of an open block that are not programmed yet are
    /// not valid.
    pub blocks_by_valid_share: Vec<Vec<u32>>,
    /// A byte for each percentile from 0 to 100 of the blocks that hold pages: the cold ones, in 255ths
    /// of the pages of the block. Empty if no block holds any.
    pub cold_percentiles: Bytes,
}

/// Bytes, in files as base64.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        BASE64_STANDARD.encode(bytes.0)
    }
}

impl TryFrom<String> for Bytes {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        BASE64_STANDARD.decode(text).map(Self)
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Bytes in base64.",
            "type": "string",
            "contentEncoding": "base64",
        })
    }
}

/// Blocks that a cell stands for.
pub(crate) fn blocks_per_cell(geometry: &Geometry) -> u32 {
    geometry.blocks().div_ceil(CELLS_MAX)
}

/// The frame of a picture that was taken after `host_writes` counted host page writes.
pub(crate) fn draw(picture: &Picture, geometry: &Geometry, host_writes: u64) -> Frame {
    let Picture { uses, pages: blocks, streams } = picture;
    let pages_per_block = geometry.pages_per_block();
    let per_cell = blocks_per_cell(geometry) as usize;
    let share = |pages: fn(&BlockPages) -> u32| {
        let cells = blocks.chunks(per_cell).map(|cell| {
            let sum: u64 = cell.iter().map(|block| u64::from(pages(block))).sum();
            in_255ths(sum, cell.len() as u64 * u64::from(pages_per_block))
        });
        Bytes(cells.collect())
    };
    let mut by_valid_share = vec![vec![0; BINS]; *streams];
    let mut cold = Vec::new();
    for (block, block_use) in blocks.iter().zip(uses) {
        if let BlockUse::Holds(stream) = block_use {
            by_valid_share[stream.index()][bin(block.valid, pages_per_block)] += 1;
            cold.push(block.cold);
        }
    }
    Frame {
        host_writes,
        region: Bytes(uses.chunks(per_cell).map(|cell| region(cell, *streams)).collect()),
        valid: share(|block| block.valid),
        cold: share(|block| block.cold),
        blocks_by_valid_share: by_valid_share,
        cold_percentiles: percentiles(cold, pages_per_block),
    }
}

/// What most blocks of a cell that hold pages are used for.
fn region(cell: &[BlockUse], streams: usize) -> u8 {
    let mut blocks = vec![0_u32; streams];
    for block_use in cell {
        if let BlockUse::Holds(stream) = block_use {
            blocks[stream.index()] += 1;
        }
    }
    // Of several with as many blocks, the first.
    let most = (0..streams).rev().max_by_key(|stream| blocks[*stream]);
    match most.filter(|stream| blocks[*stream] > 0) {
        Some(stream) => (stream as u8).min(FREE - 1),
        None if cell.contains(&BlockUse::Retired) => RETIRED,
        None => FREE,
    }
}

fn bin(valid: u32, pages_per_block: u32) -> usize {
    let bin = u64::from(valid) * BINS as u64 / u64::from(pages_per_block);
    (bin as usize).min(BINS - 1)
}

/// The share in 255ths, rounded; not quite none is never none, and not quite all never all.
fn in_255ths(part: u64, whole: u64) -> u8 {
    match part {
        0 => 0,
        _ if part >= whole => 255,
        _ => ((255 * part + whole / 2) / whole).clamp(1, 254) as u8,
    }
}

fn percentiles(mut cold: Vec<u32>, pages_per_block: u32) -> Bytes {
    cold.sort_unstable();
    let Some(last) = cold.len().checked_sub(1) else { return Bytes::default() };
    let at = |percent: usize| cold[(percent * last + 50) / 100];
    let share = |pages: u32| in_255ths(u64::from(pages), u64::from(pages_per_block));
    Bytes((0..=100).map(|percent| share(at(percent))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_ftl::page::StreamId;

    const NORMAL: BlockUse = BlockUse::Holds(StreamId(0));
    const COLD: BlockUse = BlockUse::Holds(StreamId(1));

    fn pages(valid: u32, cold: u32) -> BlockPages {
        BlockPages { valid, cold }
    }

    #[test]
    fn a_frame_shows_each_block_where_there_are_few() {
        let geometry = Geometry::new(4, 100, 4096).unwrap();
        let uses = vec![NORMAL, COLD, BlockUse::Free, BlockUse::Retired];
        let blocks = vec![pages(50, 1), pages(100, 100), pages(0, 0), pages(0, 0)];
        let frame = draw(&Picture { uses, pages: blocks, streams: 2 }, &geometry, 7);
        assert_eq!(frame.host_writes, 7);
        assert_eq!(frame.region.0, [0, 1, FREE, RETIRED]);
        assert_eq!(frame.valid.0, [128, 255, 0, 0]);
        assert_eq!(frame.cold.0, [3, 255, 0, 0]);
        assert_eq!(
            (frame.blocks_by_valid_share[0][10], frame.blocks_by_valid_share[1][19]),
            (1, 1)
        );
        assert_eq!(frame.blocks_by_valid_share.concat().iter().sum::<u32>(), 2);
        let percentiles = frame.cold_percentiles.0;
        assert_eq!((percentiles.len(), percentiles[0], percentiles[49]), (101, 3, 3));
        assert_eq!((percentiles[50], percentiles[100]), (255, 255));
    }

    #[test]
    fn neighbours_share_a_cell_where_there_are_many() {
        let geometry = Geometry::new(CELLS_MAX + 3, 100, 4096).unwrap();
        assert_eq!(blocks_per_cell(&geometry), 2);
        let mut uses = vec![BlockUse::Free; CELLS_MAX as usize + 3];
        let mut blocks = vec![pages(0, 0); uses.len()];
        (uses[0], uses[1], uses[4]) = (COLD, NORMAL, COLD);
        (blocks[0], blocks[1], blocks[4]) = (pages(100, 50), pages(0, 0), pages(100, 0));
        let last = uses.len() - 1;
        (uses[last], blocks[last]) = (NORMAL, pages(100, 100));
        let frame = draw(&Picture { uses, pages: blocks, streams: 2 }, &geometry, 0);
        assert_eq!(frame.region.0.len(), CELLS_MAX as usize / 2 + 2);
        assert_eq!(frame.region.0[..3], [0, FREE, 1]);
        assert_eq!((frame.valid.0[0], frame.cold.0[0]), (128, 64));
        assert_eq!((frame.valid.0[2], frame.cold.0[2]), (128, 0));
        assert_eq!((frame.valid.0.last(), frame.cold.0.last()), (Some(&255), Some(&255)));
    }

    #[test]
    fn shares_are_rounded_but_for_none_and_all() {
        let shares = [(0, 9), (1, 100_000), (1, 2), (99_999, 100_000), (9, 9)];
        assert_eq!(shares.map(|(part, whole)| in_255ths(part, whole)), [0, 1, 128, 254, 255]);
        assert_eq!(percentiles(Vec::new(), 10), Bytes::default());
    }

    #[test]
    fn bytes_are_base64_in_files() {
        let bytes = Bytes(vec![0, 127, 255]);
        let text = serde_json::to_string(&bytes).unwrap();
        assert_eq!(text, "\"AH//\"");
        assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap(), bytes);
        assert!(serde_json::from_str::<Bytes>("\"?\"").is_err());
    }
}
