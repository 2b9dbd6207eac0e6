//! `learnedftl`: a cache of entries, and models that tell places without them.
//!
//! # Idea
//! Where reads are random, their entries are seldom in memory, and each is read twice: its translation page, and then the
//! page itself. Pages that were moved together in order of their addresses lie in order. So a few lines for each
//! translation page tell the places of most of its pages, and a bit for each page says whether they do. The model is
//! never asked in vain.
//!
//! # Rule
//! Entries are in memory as `tpftl` keeps them. A page to read whose entry is not there is told by the model of its
//! translation page, if it has its bit; otherwise the translation page is read. A page to write needs its entry in
//! memory, since that changes.
//!
//! Models are trained when collection writes their translation page, and changed in place where the host writes pages one
//! after the other (`models.rs`).
//!
//! # Parameters
//! `pieces` are the lines of a translation page at most. `entry-bytes`, `node-bytes`, `threshold` and `order` are those of
//! `tpftl`, all of whose parts are on. A piece takes 8 bytes, and each page a bit. They are in memory for all of the
//! drive, and take from `cache`.
//!
//! # Where the paper is silent
//! There, a group of pages has blocks of its own, all of which are collected together and in order of addresses:
//! `--ftl address-groups` does so. Here models go with any FTL, and learn what its collection leaves in order. The
//! pieces are the longest lines that are exact, instead of least squares through equal parts. Models are trained with all
//! entries of a translation page, and not where all that moved are in memory: nothing is written then. A bit is lost
//! when a page is written or moved.
//!
//! # Reference
//! Wang, Lin, Wu, Jiang, Zhang, Mao, "LearnedFTL: A Learning-Based Page-Level FTL for Reducing Double Reads in Flash-Based
//! SSDs", HPCA 2024, and the code of its authors.

use crate::ensure::ensure;
use crate::map::contract::{Found, Learned, Map, OnFlash, Places, WriteBack};
use crate::map::models::{self, Models};
use crate::map::tpftl::{NodeOrder, Tpftl, TpftlParameters};
use crate::state::state;
use ftlab_flash::{Lpn, Ppn};
use ftlab_spec::ByteSize;

ftlab_spec::parameters! {
    /// What a cache of entries with models beside is like.
    #[derive(Copy)]
    pub struct LearnedftlParameters {
        /// Memory for models, nodes and entries: at least as much as a page holds, beside the models.
        cache: ByteSize = ByteSize(0), "cache", from "our choice";
        /// Lines of a translation page at most.
        pieces: u32 = 8, "pieces" in 1..=64, from "LearnedFTL's code";
        /// Bytes that an entry takes.
        entry_bytes: u32 = 6, "entry-bytes" in 1..=64, from "TPFTL (2015), section 4.1";
        /// Bytes that a node takes beside its entries.
        node_bytes: u32 = 8, "node-bytes" in 0..=64, from "TPFTL (2015), section 4.1";
        /// By how many nodes their number changes before entries come ahead of requests, or do so no more.
        threshold: u32 = 3, "threshold" in 1..=1000, from "TPFTL (2015), section 4.3";
        /// Which node is the coldest.
        order: NodeOrder = NodeOrder::Mean, "order", from "TPFTL (2015), section 4.2";
    }
}

impl LearnedftlParameters {
    /// What is left of memory for entries.
    pub(super) fn of_entries(&self, host_pages: u32, entries_per_page: u32) -> TpftlParameters {
        let models = self.models(host_pages.div_ceil(entries_per_page), entries_per_page);
        TpftlParameters {
            cache: ByteSize(self.cache.0.saturating_sub(models)),
            entry_bytes: self.entry_bytes,
            node_bytes: self.node_bytes,
            threshold: self.threshold,
            order: self.order,
            ..TpftlParameters::default()
        }
    }
}

impl OnFlash for LearnedftlParameters {
    const NAME: &'static str = "learnedftl";

    const ASKS_FOR_REQUESTS: bool = true;

    fn models(&self, map_pages: u32, entries_per_page: u32) -> u64 {
        u64::from(map_pages) * u64::from(models::bytes(self.pieces, entries_per_page))
    }

    fn cache(&mut self) -> &mut ByteSize {
        &mut self.cache
    }

    fn memory_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        let of_entries = TpftlParameters {
            cache: self.cache,
            entry_bytes: self.entry_bytes,
            ..TpftlParameters::default()
        };
        let of_models =
            u64::from(entries) / 4 + u64::from(map_pages) * (32 + 32 * u64::from(self.pieces));
        of_entries.memory_bytes(entries, map_pages) + of_models
    }

    fn make(&self, entries: u32, entries_per_page: u32, _is_small: bool) -> Box<dyn Map> {
        Box::new(Learnedftl::new(self, entries, entries_per_page))
    }
}

/// Entries in memory, and models.
pub(super) struct Learnedftl {
    entries: Tpftl,
    models: Models,
    model_bytes: u64,
}

state!(Learnedftl { entries, models } constant model_bytes);

impl Learnedftl {
    fn new(parameters: &LearnedftlParameters, host_pages: u32, entries_per_page: u32) -> Self {
        let of_entries = parameters.of_entries(host_pages, entries_per_page);
        Self {
            entries: Tpftl::new(of_entries, host_pages, entries_per_page, false),
            models: Models::new(parameters.pieces, host_pages, entries_per_page),
            model_bytes: parameters.models(host_pages.div_ceil(entries_per_page), entries_per_page),
        }
    }
}

impl Map for Learnedftl {
    fn look_up(&mut self, lpn: Lpn, following: u32) -> Found {
        self.entries.look_up(lpn, following)
    }

    fn look_up_to_read(&mut self, lpn: Lpn, following: u32) -> Found {
        match self.entries.look_up(lpn, following) {
            Found::Nowhere if self.models.tell(lpn) => Found::Told,
            found => found,
        }
    }

    fn make_room(&mut self, lpn: Lpn, places: &Places<'_>) -> Option<WriteBack> {
        self.entries.make_room(lpn, places)
    }

    fn load(&mut self, lpn: Lpn) {
        self.entries.load(lpn);
    }

    fn change(&mut self, lpn: Lpn) -> bool {
        self.models.forget(lpn);
        self.entries.change(lpn)
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        self.entries.is_changed(lpn)
    }

    fn written(&mut self, page: u32) {
        self.entries.written(page);
    }

    fn trains(&self) -> bool {
        true
    }

    fn train(&mut self, page: u32, places: &Places<'_>) {
        self.models.train(page, places);
    }

    fn wrote(&mut self, lpn: Lpn, place: Ppn) {
        self.models.wrote(lpn, place);
    }

    fn learned(&self) -> Learned {
        Learned {
            segments: self.models.pieces(),
            bytes: self.model_bytes,
            mappings: self.models.told_pages(),
        }
    }

    fn memory_bytes(&self) -> usize {
        self.entries.memory_bytes() + self.models.memory_bytes()
    }

    fn fetch_ahead(&self, pages: [Lpn; 3]) {
        self.entries.fetch_ahead(pages);
    }

    fn check(&self) -> Result<(), String> {
        self.entries.check()?;
        self.models.check()
    }

    fn check_place(&self, lpn: Lpn, place: Ppn) -> Result<(), String> {
        let told = self.models.place(lpn);
        ensure!(
            told == Some(place).filter(|_| self.models.tell(lpn)),
            "page {lpn} is at {place}, and said to be at {told:?}"
        );
        Ok(())
    }
}
