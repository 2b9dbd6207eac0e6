//! `address-groups`: every part of the address space has blocks of its own, which are collected together and sorted.
//!
//! # Idea
//! A map that learns lines through the places of pages needs pages in order. So all pages of a part of the address space
//! move at once, in the order of their addresses.
//!
//! # Rule
//! The address space is cut into groups of as many whole blocks. Each has an open block, which takes what the host writes
//! there and what collection moves. The victims are blocks of the group whose full blocks have most invalid pages: all of
//! them and the open one, if the free blocks have room for their valid pages; otherwise as many as they have room for,
//! those with the fewest valid pages first. The valid pages move in the order of addresses, whichever block they come from.
//!
//! # Parameters
//! `groups` 0 is as many as take fewest blocks for what is open and kept free: the root of twice the blocks that the
//! logical pages fill, and no more than half of those of over-provisioning. `blocks` is how many are collected together
//! at most; 0 is all of a group, and the open one. Then as many blocks are kept free as a group fills, or half of those
//! that are left, if that is less.
//!
//! # Where the paper is silent
//! There, a group is as large as a block, and writes to the open blocks of others when it has none and few are free
//! (cross-group allocation); here it collects. Which group is collected, and in what part, is our choice. Where
//! collection is in steps, pages move in the order of their blocks. Ties go to the group
//! with the lowest addresses, and to the block that was allocated first.
//!
//! # Reference
//! Wang et al., "LearnedFTL: A Learning-Based Page-Level FTL for Reducing Double Reads in Flash-Based SSDs", HPCA 2024:
//! group-based allocation.

use crate::page::entry::{DriveShape, FitContext, PolicyEntry};
use crate::page::policy::{HostWrite, Policy, Relocation, Victims};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, bits_for};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::SpecError;

/// Groups at most: each has a stream.
const GROUPS_MAX: u32 = 250;

ftlab_spec::parameters! {
    /// How the address space is cut.
    pub struct AddressGroupsParameters {
        /// Groups; 0: as many as take fewest blocks.
        groups: u32 = 0, "groups" in 0..=GROUPS_MAX, from "ours";
        /// Blocks that are collected together at most; 0: all of a group.
        blocks: u32 = 0, "blocks" in 0..=65_536, from "LearnedFTL (2024)";
    }
}

/// Groups by address.
pub struct AddressGroups {
    group_pages: u32,
    groups: u32,
    /// Free blocks beyond the reserve, for the pages of a collection.
    kept: u32,
    /// Blocks of a collection at most.
    most: usize,
}

state!(AddressGroups {} constant group_pages, groups, kept, most);

/// Blocks that the logical pages fill.
fn data_blocks(shape: DriveShape) -> u32 {
    shape.logical_pages.div_ceil(shape.pages_per_block)
}

impl PolicyEntry for AddressGroups {
    type Parameters = AddressGroupsParameters;
    const NAME: &'static str = "address-groups";
    const SUMMARY: &'static str = "parts of the address space with blocks of their own, collected together in order of addresses";
    const SOURCE: &'static str = "LearnedFTL (HPCA 2024), group-based allocation";
    const IS_BOXED: bool = true;

    fn fit(
        parameters: &mut AddressGroupsParameters,
        context: &FitContext,
    ) -> Result<(), SpecError> {
        if parameters.groups == 0 {
            let spare_blocks = context.shape.spare_blocks();
            let fewest = (2 * data_blocks(context.shape)).isqrt();
            parameters.groups = fewest.min(spare_blocks / 2).clamp(1, GROUPS_MAX);
        }
        Ok(())
    }

    fn new(parameters: &AddressGroupsParameters, shape: DriveShape) -> Self {
        let data_blocks = data_blocks(shape);
        let group_blocks = data_blocks.div_ceil(parameters.groups.max(1)).max(1);
        let groups = data_blocks.div_ceil(group_blocks).max(1);
        let wanted = if parameters.blocks == 0 { group_blocks } else { parameters.blocks };
        let left = shape.spare_blocks().saturating_sub(groups);
        Self {
            group_pages: group_blocks.saturating_mul(shape.pages_per_block),
            groups,
            kept: wanted.min(group_blocks).saturating_sub(shape.reserve_blocks).min(left / 2),
            most: if parameters.blocks == 0 { usize::MAX } else { parameters.blocks as usize },
        }
    }
}

impl AddressGroups {
    #[inline]
    fn group_of(&self, lpn: Lpn) -> StreamId {
        StreamId((lpn.0 / self.group_pages) as u8)
    }
}

impl Policy for AddressGroups {
    fn streams(&self) -> Vec<Stream> {
        let stream = Stream { name: "group", takes_relocations: true, cold: false };
        vec![stream; self.groups as usize]
    }

    /// Pages of several groups share a block where none is free.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    fn sorts_moves(&self) -> bool {
        true
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, _drive: &DriveState) -> StreamId {
        self.group_of(write.lpn)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        self.group_of(page.lpn)
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let (pages, most) = (drive.pages_per_block(), victims.valid_pages_max());
        let sealed = drive.host_blocks().filter(|&block| {
            drive.phase(block) == Phase::Sealed && drive.valid_pages(block) <= most
        });
        let mut gains = vec![0_u64; self.groups as usize];
        for block in sealed.clone() {
            gains[drive.stream_of(block).index()] += u64::from(pages - drive.valid_pages(block));
        }
        let best = (0..self.groups as u8).rev().max_by_key(|group| gains[usize::from(*group)]);
        let best = best.filter(|group| gains[usize::from(*group)] > 0);
        let Some(group) = best else { return };
        let mut blocks: Vec<BlockId> =
            sealed.filter(|&block| drive.stream_of(block) == StreamId(group)).collect();
        blocks.sort_unstable_by_key(|&block| (drive.valid_pages(block), drive.allocated(block)));
        let mut room = u64::from(drive.free_blocks()) * u64::from(pages);
        let all: u64 = blocks.iter().map(|&block| u64::from(drive.valid_pages(block))).sum();
        let open = drive.open_block(StreamId(group)).filter(|_| self.most == usize::MAX);
        // Pages that are still to be programmed count as valid ones.
        let in_open = |block| drive.valid_pages(block) - drive.room(StreamId(group));
        if let Some(block) = open.filter(|&block| drive.programmed_pages(block) > 0)
            && all + u64::from(in_open(block)) <= room
            && in_open(block) <= most
        {
            victims.close(StreamId(group));
        }
        for block in blocks.into_iter().take(self.most) {
            let valid = drive.valid_pages(block);
            if !victims.is_empty() && u64::from(valid) > room {
                break;
            }
            room = room.saturating_sub(u64::from(valid));
            victims.push(block, valid);
        }
    }

    fn kept_from(&self, _stream: StreamId, drive: &DriveState) -> u32 {
        let gains = |block| {
            drive.phase(block) == Phase::Sealed
                && drive.valid_pages(block) < drive.pages_per_block()
        };
        if self.kept > 0 && drive.host_blocks().any(gains) { self.kept } else { 0 }
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_block(bits_for(self.groups))
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
