//! What maps keep in memory, in the obvious way.

use crate::map::cdftl::CdftlParameters;
use crate::map::learnedftl::LearnedftlParameters;
use crate::map::sftl::SftlParameters;
use crate::map::tpftl::{NodeOrder, TpftlParameters};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Entries in memory: whether each has changed.
pub(super) type Held = BTreeMap<u32, bool>;

/// Where each page is.
pub(super) type SlowPlaces<'a> = dyn Fn(u32) -> Option<usize> + 'a;

/// Entries that leave, and the translation page that is written for them.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    pub(super) entries: Vec<u32>,
    pub(super) writes: Option<u32>,
    /// Whether what stays of its changed entries is written, too.
    pub(super) together: bool,
    /// Whether it is written without being read.
    pub(super) is_whole: bool,
}

/// Which entries are in memory. It decides; the twin carries out.
pub(super) trait Slow: std::fmt::Debug {
    /// A page is looked up: it is among `held`, or not.
    fn look_up(&mut self, lpn: u32, following: u32, held: &Held);

    /// What leaves next, so that there is room for what comes with `lpn`; none if there is.
    fn leaves(&mut self, lpn: u32, held: &Held, places: &SlowPlaces<'_>) -> Option<Leaving>;

    /// Whether `lpn`, which is among `held`, has to be loaded all the same.
    fn is_in_page(&self, _lpn: u32) -> bool {
        false
    }

    /// What comes with `lpn`, which is the first.
    fn comes(&mut self, lpn: u32, held: &Held) -> Vec<u32>;

    /// Whether all changed entries of a translation page are written with one of them.
    fn writes_together(&self) -> bool;

    /// Whether a model tells the place of a page.
    fn tells(&self, _lpn: u32) -> bool {
        false
    }

    /// A page is elsewhere.
    fn forget(&mut self, _lpn: u32) {}

    /// The host wrote a page.
    fn wrote(&mut self, _lpn: u32, _place: usize) {}

    /// A translation page is about to be written, because collection moved pages.
    fn train(&mut self, _page: u32, _places: &SlowPlaces<'_>) {}

    /// Pieces, bytes of models, and pages that they tell.
    fn learned(&self) -> [u64; 3] {
        [0; 3]
    }
}

/// A single entry that leaves.
fn one(leaving: u32, entries_per_page: u32, held: &Held, together: bool) -> Leaving {
    let writes = held[&leaving].then_some(leaving / entries_per_page);
    Leaving { entries: vec![leaving], writes, together, is_whole: false }
}

/// Segmented LRU: newest first.
#[derive(Debug)]
pub(super) struct SlowLru {
    pub(super) entries: usize,
    pub(super) entries_per_page: u32,
    pub(super) most_protected: usize,
    pub(super) probation: VecDeque<u32>,
    pub(super) protected: VecDeque<u32>,
}

impl Slow for SlowLru {
    fn look_up(&mut self, lpn: u32, _following: u32, held: &Held) {
        if !held.contains_key(&lpn) {
            return;
        }
        self.probation.retain(|other| *other != lpn);
        self.protected.retain(|other| *other != lpn);
        if self.most_protected == 0 {
            self.probation.push_front(lpn);
            return;
        }
        self.protected.push_front(lpn);
        if self.protected.len() > self.most_protected {
            let oldest = self.protected.pop_back().unwrap();
            self.probation.push_front(oldest);
        }
    }

    fn leaves(&mut self, _lpn: u32, held: &Held, _: &SlowPlaces<'_>) -> Option<Leaving> {
        if held.len() < self.entries {
            return None;
        }
        let leaving = self.probation.pop_back().or_else(|| self.protected.pop_back())?;
        Some(one(leaving, self.entries_per_page, held, false))
    }

    fn comes(&mut self, lpn: u32, _held: &Held) -> Vec<u32> {
        self.probation.push_front(lpn);
        vec![lpn]
    }

    fn writes_together(&self) -> bool {
        false
    }
}

/// Entries by translation page.
#[derive(Debug)]
pub(super) struct SlowTpftl {
    pub(super) parameters: TpftlParameters,
    pub(super) pages: u32,
    pub(super) entries_per_page: u32,
    /// Of each entry, the look-ups before its last one, and its place in its node: the lowest leaves first.
    used: BTreeMap<u32, (u64, i64)>,
    events: i64,
    look_ups: u64,
    following: u32,
    /// The last page that is to come, and the node that makes room for what comes ahead of need.
    last: Option<u32>,
    victim: Option<u32>,
    is_chosen: bool,
    nodes: BTreeSet<u32>,
    /// A node that counts before its first entry is there.
    coming: Option<u32>,
    /// The last look-up of each node.
    looked_up: BTreeMap<u32, u64>,
    change: i64,
    is_sequential: bool,
}

impl SlowTpftl {
    pub(super) fn new(parameters: TpftlParameters, pages: u32, entries_per_page: u32) -> Self {
        Self {
            parameters,
            pages,
            entries_per_page,
            used: BTreeMap::new(),
            events: 0,
            look_ups: 0,
            following: 0,
            last: None,
            victim: None,
            is_chosen: false,
            nodes: BTreeSet::new(),
            coming: None,
            looked_up: BTreeMap::new(),
            change: 0,
            is_sequential: false,
        }
    }

    fn node(&self, lpn: u32) -> u32 {
        lpn / self.entries_per_page
    }

    fn bytes(&self, entries: &BTreeSet<u32>) -> u64 {
        let nodes: BTreeSet<u32> = entries.iter().map(|lpn| self.node(*lpn)).collect();
        entries.len() as u64 * u64::from(self.parameters.entry_bytes)
            + nodes.len() as u64 * u64::from(self.parameters.node_bytes)
    }

    fn fits(&self, more: impl Iterator<Item = u32>) -> bool {
        let entries = self.used.keys().copied().chain(more).collect();
        self.bytes(&entries) <= self.parameters.cache.0
    }

    /// Takes note of nodes that are new or gone, one after the other.
    fn count_nodes(&mut self) {
        let mut nodes: BTreeSet<u32> = self.used.keys().map(|lpn| self.node(*lpn)).collect();
        nodes.extend(self.coming);
        let (more, fewer) =
            (nodes.difference(&self.nodes).count(), self.nodes.difference(&nodes).count());
        assert!(more + fewer <= 1, "one at a time");
        self.change += i64::from(more > 0) - i64::from(fewer > 0);
        self.nodes = nodes;
        if self.change == i64::from(self.parameters.threshold) {
            (self.is_sequential, self.change) = (false, 0);
        } else if self.change == -i64::from(self.parameters.threshold) {
            (self.is_sequential, self.change) = (true, 0);
        }
    }

    fn coldest(&self) -> Option<u32> {
        if self.parameters.order == NodeOrder::Last {
            let nodes = self.used.keys().map(|lpn| self.node(*lpn));
            return nodes.min_by_key(|node| self.looked_up[node]);
        }
        let mut nodes: BTreeMap<u32, (u128, u128)> = BTreeMap::new();
        for (lpn, (used, _)) in &self.used {
            let (heat, entries) = nodes.entry(self.node(*lpn)).or_default();
            (*heat, *entries) = (*heat + u128::from(*used), *entries + 1);
        }
        let all = nodes.into_iter();
        // The first of equal ones: that of the lowest number.
        all.min_by(|(_, (a, m)), (_, (b, n))| (a * n).cmp(&(b * m))).map(|(node, _)| node)
    }

    fn take_of(&mut self, node: u32, held: &Held) -> u32 {
        let of = |lpn: &&u32| **lpn / self.entries_per_page == node;
        let oldest = |is_clean: bool| {
            let some = self.used.keys().filter(of).filter(|lpn| !is_clean || !held[*lpn]);
            some.min_by_key(|lpn| self.used[*lpn].1).copied()
        };
        let clean = oldest(true).filter(|_| self.parameters.clean_first);
        let leaving = clean.or_else(|| oldest(false)).unwrap();
        self.used.remove(&leaving);
        self.count_nodes();
        leaving
    }

    /// The pages that are wanted with `lpn`, itself included.
    fn wanted(&self, lpn: u32) -> Vec<u32> {
        let last = self.last.unwrap();
        (lpn..=last).filter(|page| !self.used.contains_key(page)).collect()
    }
}

impl Slow for SlowTpftl {
    fn look_up(&mut self, lpn: u32, following: u32, held: &Held) {
        self.look_ups += 1;
        self.events += 1;
        self.looked_up.insert(self.node(lpn), self.look_ups);
        if held.contains_key(&lpn) {
            self.used.insert(lpn, (self.look_ups, self.events));
        }
        (self.following, self.last) = (following, None);
        (self.victim, self.is_chosen) = (None, false);
    }

    fn leaves(&mut self, lpn: u32, held: &Held, _: &SlowPlaces<'_>) -> Option<Leaving> {
        let together = self.parameters.together;
        if self.last.is_none() {
            let mut run = 0;
            while run < lpn % self.entries_per_page && self.used.contains_key(&(lpn - run - 1)) {
                run += 1;
            }
            let ahead = if self.parameters.selective && self.is_sequential { run } else { 0 };
            let own = if self.parameters.by_request { self.following } else { 0 };
            let end = ((self.node(lpn) + 1) * self.entries_per_page).min(self.pages);
            self.last = Some((lpn + own.max(ahead)).min(end - 1));
        }
        if !self.fits(std::iter::once(lpn)) {
            let coldest = self.coldest()?;
            let leaving = self.take_of(coldest, held);
            if self.parameters.order == NodeOrder::Last && !self.nodes.contains(&coldest) {
                self.last = Some(lpn);
            }
            return Some(one(leaving, self.entries_per_page, held, together));
        }
        if self.parameters.order == NodeOrder::Last {
            self.coming = Some(self.node(lpn));
            self.count_nodes();
        }
        if self.fits(self.wanted(lpn).into_iter()) {
            return None;
        }
        if !self.is_chosen {
            let own = self.node(lpn);
            self.victim = self.coldest().filter(|coldest| *coldest != own);
            self.is_chosen = true;
        }
        let victim = self.victim.filter(|victim| self.nodes.contains(victim))?;
        let leaving = self.take_of(victim, held);
        Some(one(leaving, self.entries_per_page, held, together))
    }

    fn comes(&mut self, lpn: u32, _held: &Held) -> Vec<u32> {
        let mut come = Vec::new();
        for page in self.wanted(lpn) {
            if page != lpn && !self.fits(std::iter::once(page)) {
                break;
            }
            self.events += 1;
            let place = if page == lpn { self.events } else { -self.events };
            self.used.insert(page, (self.look_ups, place));
            self.count_nodes();
            come.push(page);
            self.coming = None;
        }
        come
    }

    fn writes_together(&self) -> bool {
        self.parameters.together
    }
}

/// Entries, and translation pages; newest first.
#[derive(Debug)]
pub(super) struct SlowCdftl {
    pub(super) pages_most: usize,
    pub(super) entries_most: usize,
    pub(super) host_pages: u32,
    pub(super) entries_per_page: u32,
    entries: VecDeque<u32>,
    pages: VecDeque<u32>,
    /// Entries whose page tells of their change.
    noted: BTreeSet<u32>,
}

impl SlowCdftl {
    pub(super) fn new(of: CdftlParameters, host_pages: u32, entries_per_page: u32) -> Self {
        let [pages, entries] = of.room(entries_per_page);
        Self {
            pages_most: pages.min(host_pages.div_ceil(entries_per_page)) as usize,
            entries_most: entries.min(host_pages) as usize,
            host_pages,
            entries_per_page,
            entries: VecDeque::new(),
            pages: VecDeque::new(),
            noted: BTreeSet::new(),
        }
    }

    fn page(&self, lpn: u32) -> u32 {
        lpn / self.entries_per_page
    }

    /// Its page tells of its change, if it has changed.
    fn note(&mut self, lpn: u32, held: &Held) {
        if held[&lpn] {
            self.noted.insert(lpn);
        }
    }

    /// The pages of a translation page.
    fn all_of(&self, page: u32) -> impl Iterator<Item = u32> + use<> {
        let first = page * self.entries_per_page;
        first..(first + self.entries_per_page).min(self.host_pages)
    }
}

impl Slow for SlowCdftl {
    fn look_up(&mut self, lpn: u32, _following: u32, _held: &Held) {
        if let Some(at) = self.entries.iter().position(|other| *other == lpn) {
            self.entries.remove(at);
            self.entries.push_front(lpn);
        } else if let Some(at) = self.pages.iter().position(|other| *other == self.page(lpn)) {
            self.pages.remove(at);
            self.pages.push_front(self.page(lpn));
        }
    }

    fn is_in_page(&self, lpn: u32) -> bool {
        !self.entries.contains(&lpn)
    }

    fn leaves(&mut self, lpn: u32, held: &Held, _: &SlowPlaces<'_>) -> Option<Leaving> {
        if !self.pages.contains(&self.page(lpn)) && self.pages.len() == self.pages_most {
            let page = self.pages.pop_back()?;
            let own: Vec<u32> =
                self.all_of(page).filter(|lpn| !self.entries.contains(lpn)).collect();
            // What has changed among the entries does not make the page a changed one.
            let noted = self.all_of(page).any(|lpn| self.noted.contains(&lpn) && held[&lpn]);
            let is_changed = noted || own.iter().any(|lpn| held[lpn]);
            self.all_of(page).for_each(|lpn| {
                self.noted.remove(&lpn);
            });
            let writes = is_changed.then_some(page);
            return Some(Leaving { entries: own, writes, together: true, is_whole: true });
        }
        if self.entries.len() < self.entries_most {
            return None;
        }
        let leaving = self.entries.pop_back()?;
        if self.pages.contains(&self.page(leaving)) {
            self.note(leaving, held);
            return Some(Leaving::default());
        }
        Some(one(leaving, self.entries_per_page, held, false))
    }

    fn comes(&mut self, lpn: u32, held: &Held) -> Vec<u32> {
        self.entries.push_front(lpn);
        let page = self.page(lpn);
        if self.pages.contains(&page) {
            self.note(lpn, held);
            return Vec::new();
        }
        self.pages.push_front(page);
        let others = self.all_of(page).filter(|other| !held.contains_key(other));
        others.collect()
    }

    fn writes_together(&self) -> bool {
        false
    }
}

/// Whole translation pages, newest first, and a buffer.
#[derive(Debug)]
pub(super) struct SlowSftl {
    parameters: SftlParameters,
    host_pages: u32,
    entries_per_page: u32,
    pages: VecDeque<u32>,
    buffer: BTreeSet<u32>,
}

impl SlowSftl {
    pub(super) fn new(parameters: SftlParameters, host_pages: u32, entries_per_page: u32) -> Self {
        let (pages, buffer) = (VecDeque::new(), BTreeSet::new());
        Self { parameters, host_pages, entries_per_page, pages, buffer }
    }

    fn all_of(&self, page: u32) -> Vec<u32> {
        let first = page * self.entries_per_page;
        (first..(first + self.entries_per_page).min(self.host_pages)).collect()
    }

    fn size(&self, page: u32, places: &SlowPlaces<'_>) -> u64 {
        let entries: Vec<_> = self.all_of(page).into_iter().map(places).collect();
        let follows = |pair: &[Option<usize>]| match *pair {
            [Some(before), Some(own)] => own == before + 1,
            [before, own] => before.is_none() && own.is_none(),
            _ => unreachable!(),
        };
        let breaks = entries.windows(2).filter(|pair| !follows(pair)).count();
        let apart = 4 * entries.len();
        apart.min(entries.len().div_ceil(8) + 4 * (1 + breaks)) as u64
    }
}

impl Slow for SlowSftl {
    fn is_in_page(&self, lpn: u32) -> bool {
        self.pages.contains(&(lpn / self.entries_per_page))
    }

    fn look_up(&mut self, lpn: u32, _following: u32, _held: &Held) {
        let page = lpn / self.entries_per_page;
        if let Some(at) = self.pages.iter().position(|other| *other == page) {
            self.pages.remove(at);
            self.pages.push_front(page);
        }
    }

    fn leaves(&mut self, lpn: u32, held: &Held, places: &SlowPlaces<'_>) -> Option<Leaving> {
        let own = lpn / self.entries_per_page;
        let [room, most] = self.parameters.room();
        let coming = (!self.pages.contains(&own)).then_some(&own);
        let bytes: u64 = self.pages.iter().chain(coming).map(|page| self.size(*page, places)).sum();
        if bytes <= room {
            return None;
        }
        let page = *self.pages.back()?;
        let (changed, rest): (Vec<u32>, Vec<u32>) =
            self.all_of(page).into_iter().partition(|lpn| held[lpn]);
        let is_few = changed.len() <= self.parameters.few as usize && changed.len() as u64 <= most;
        if !changed.is_empty() && is_few {
            if (self.buffer.len() + changed.len()) as u64 > most {
                let mut counts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                for lpn in &self.buffer {
                    counts.entry(lpn / self.entries_per_page).or_default().push(*lpn);
                }
                let most = counts.values().map(Vec::len).max().unwrap();
                let (page, entries) = counts.into_iter().find(|(_, of)| of.len() == most).unwrap();
                self.buffer.retain(|lpn| !entries.contains(lpn));
                return Some(Leaving { entries, writes: Some(page), ..Leaving::default() });
            }
            self.pages.pop_back();
            self.buffer.extend(changed);
            return Some(Leaving { entries: rest, ..Leaving::default() });
        }
        self.pages.pop_back();
        let writes = (!changed.is_empty()).then_some(page);
        let entries = self.all_of(page);
        Some(Leaving { entries, writes, together: true, is_whole: true })
    }

    fn comes(&mut self, lpn: u32, held: &Held) -> Vec<u32> {
        let page = lpn / self.entries_per_page;
        if self.pages.contains(&page) {
            return Vec::new();
        }
        self.pages.push_front(page);
        let all = self.all_of(page);
        self.buffer.retain(|lpn| !all.contains(lpn));
        all.into_iter().filter(|lpn| !held.contains_key(lpn)).collect()
    }

    fn writes_together(&self) -> bool {
        false
    }
}

/// Entries by translation page, and models: of each piece, the pages that it tells.
#[derive(Debug)]
pub(super) struct SlowLearnedftl {
    parameters: LearnedftlParameters,
    entries: SlowTpftl,
    models: BTreeMap<u32, Vec<BTreeSet<u32>>>,
    /// What the host wrote last, one page after the other.
    run: Vec<(u32, usize)>,
}

impl SlowLearnedftl {
    pub(super) fn new(of: LearnedftlParameters, pages: u32, entries_per_page: u32) -> Self {
        let of_entries = of.of_entries(pages, entries_per_page);
        let entries = SlowTpftl::new(of_entries, pages, entries_per_page);
        Self { parameters: of, entries, models: BTreeMap::new(), run: Vec::new() }
    }
}

/// Whether some line from the first point on has all of them.
fn is_on_a_line(points: &[(u32, usize)]) -> bool {
    let unit = 1_i64 << 15;
    let (page, place) = points[0];
    let by = |point: &(u32, usize)| {
        let [own, first] = [point.1, place].map(|place| i64::try_from(place).unwrap());
        (i64::from(point.0 - page), own - first)
    };
    // The least slope at which a point is as far as it is, rounded.
    let least = |point: &(u32, usize)| match by(point) {
        (0, _) => 0,
        (pages, places) => (places * unit - unit / 2).max(0).div_euclid(pages),
    };
    let slopes = points.iter().flat_map(|point| [least(point), least(point) + 1]);
    slopes.filter(|slope| *slope <= unit).any(|slope| {
        points.iter().map(by).all(|(pages, places)| {
            let exactly = slope * pages;
            let (low, high) = (places * unit - unit / 2, places * unit + unit / 2);
            (low..high).contains(&exactly)
        })
    })
}

impl Slow for SlowLearnedftl {
    fn look_up(&mut self, lpn: u32, following: u32, held: &Held) {
        self.entries.look_up(lpn, following, held);
    }

    fn leaves(&mut self, lpn: u32, held: &Held, places: &SlowPlaces<'_>) -> Option<Leaving> {
        self.entries.leaves(lpn, held, places)
    }

    fn comes(&mut self, lpn: u32, held: &Held) -> Vec<u32> {
        self.entries.comes(lpn, held)
    }

    fn writes_together(&self) -> bool {
        self.entries.writes_together()
    }

    fn tells(&self, lpn: u32) -> bool {
        self.models.values().flatten().any(|piece| piece.contains(&lpn))
    }

    fn forget(&mut self, lpn: u32) {
        for piece in self.models.values_mut().flatten() {
            piece.remove(&lpn);
        }
        if self.run.iter().any(|(page, _)| *page == lpn) {
            self.run.clear();
        }
    }

    fn wrote(&mut self, lpn: u32, place: usize) {
        let page = self.entries.node(lpn);
        if self.run.last().is_none_or(|(before, at)| {
            (before + 1, at + 1) != (lpn, place) || self.entries.node(*before) != page
        }) {
            self.run.clear();
        }
        self.run.push((lpn, place));
        let run: BTreeSet<u32> = self.run.iter().map(|(page, _)| *page).collect();
        if run.len() < 2 {
            return;
        }
        let (first, last) = (self.run[0].0, lpn);
        let mut pieces = vec![run.clone()];
        for piece in self.models.entry(page).or_default() {
            pieces.push(piece.range(..first).copied().collect());
            pieces.push(piece.range(last + 1..).copied().collect());
        }
        pieces.retain(|piece| !piece.is_empty());
        while pieces.len() > self.parameters.pieces as usize {
            let goes =
                pieces.iter().min_by_key(|piece| (piece.len(), **piece != run, piece.first()));
            let goes = goes.unwrap().clone();
            if goes == run {
                return;
            }
            pieces.retain(|piece| *piece != goes);
        }
        pieces.sort();
        self.models.insert(page, pieces);
    }

    fn train(&mut self, page: u32, places: &SlowPlaces<'_>) {
        let first = page * self.entries.entries_per_page;
        let end = (first + self.entries.entries_per_page).min(self.entries.pages);
        let points: Vec<_> =
            (first..end).filter_map(|lpn| places(lpn).map(|place| (lpn, place))).collect();
        let mut runs: Vec<Vec<(u32, usize)>> = Vec::new();
        for point in points {
            let longer = runs.last().map(|run| [&run[..], &[point]].concat());
            match longer.filter(|longer| is_on_a_line(longer)) {
                Some(longer) => *runs.last_mut().unwrap() = longer,
                None => runs.push(vec![point]),
            }
        }
        runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), run[0]));
        runs.truncate(self.parameters.pieces as usize);
        let mut pieces: Vec<BTreeSet<u32>> =
            runs.into_iter().map(|run| run.into_iter().map(|(page, _)| page).collect()).collect();
        pieces.sort();
        let told = |pieces: &[BTreeSet<u32>]| pieces.iter().map(BTreeSet::len).sum::<usize>();
        if told(&pieces) > self.models.get(&page).map_or(0, |old| told(old)) {
            self.models.insert(page, pieces);
        }
    }

    fn learned(&self) -> [u64; 3] {
        let entries = self.entries.entries_per_page;
        let models = u64::from(self.entries.pages.div_ceil(entries));
        let bytes = models * u64::from(8 * self.parameters.pieces + entries.div_ceil(8));
        let pieces = self.models.values().flatten();
        [pieces.clone().count() as u64, bytes, pieces.map(|piece| piece.len() as u64).sum()]
    }
}
