//! Page writes of programs that no generator of ftlab imitates: a small file system with programs on it, and workloads
//! that change, repeat exactly or fill in order.

use ftlab_flash::Lpn;
use ftlab_ftl::PageBatch;

/// A small generator of random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn share(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 >> 33) ^ (self.0 >> 13);
        (mixed & 0x7FFF_FFFF) as f64 / f64::from(1_u32 << 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        ((self.share() * f64::from(bound)) as u32).min(bound.max(1) - 1)
    }

    /// Few low numbers much more often than the rest.
    fn skewed(&mut self, bound: u32, power: f64) -> u32 {
        ((self.share().powf(power) * f64::from(bound)) as u32).min(bound - 1)
    }
}

/// What writes, and how much is still to come.
pub(crate) struct Disk {
    pub(crate) batch: PageBatch,
    pages: u32,
    left: usize,
    random: Random,
}

impl Disk {
    fn write(&mut self, page: u32) {
        if self.left > 0 {
            self.batch.writes.push(Lpn(page % self.pages));
            self.left -= 1;
        }
    }

    fn is_done(&self) -> bool {
        self.left == 0
    }
}

/// A file system that finds room for files where others were, with a journal and inodes.
struct Files {
    is_free: Vec<bool>,
    free: u32,
    /// Where it looks for room next; `first_fit` looks from the beginning.
    goal: u32,
    first_fit: bool,
    journal: u32,
    journal_at: u32,
}

type File = Vec<u32>;

impl Files {
    fn new(pages: u32, first_fit: bool) -> Self {
        let journal = pages / 64;
        let mut is_free = vec![true; pages as usize];
        let taken = journal + pages / 128;
        is_free[..taken as usize].fill(false);
        Self { is_free, free: pages - taken, goal: taken, first_fit, journal, journal_at: 0 }
    }

    fn commit(&mut self, disk: &mut Disk, pages: u32) {
        for _ in 0..pages {
            disk.write(self.journal_at);
            self.journal_at = (self.journal_at + 1) % self.journal;
        }
        if disk.random.below(8) == 0 {
            let inode = disk.random.skewed(disk.pages / 128, 2.0);
            disk.write(self.journal + inode);
        }
    }

    fn append(&mut self, disk: &mut Disk, file: &mut File, pages: u32) {
        let pages = pages.min(self.free);
        let mut at = match file.last() {
            Some(last) => last + 1,
            None if self.first_fit => 0,
            None => self.goal,
        };
        for _ in 0..pages {
            at %= disk.pages;
            if !self.is_free[at as usize] && self.first_fit {
                at = 0;
            }
            while !self.is_free[at as usize] {
                at = (at + 1) % disk.pages;
            }
            self.is_free[at as usize] = false;
            self.free -= 1;
            disk.write(at);
            file.push(at);
            at += 1;
        }
        self.goal = at % disk.pages;
    }

    fn delete(&mut self, disk: &mut Disk, file: File) {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for page in file {
            self.is_free[page as usize] = true;
            self.free += 1;
            match runs.last_mut() {
                Some((first, pages)) if *first + *pages == page => *pages += 1,
                _ => runs.push((page, 1)),
            }
        }
        for (first, pages) in runs {
            disk.batch.trim(Lpn(first), pages);
        }
        self.commit(disk, 1);
    }
}

/// The writes of the program `name` on a drive of `pages`; trims stand among them.
pub(crate) fn program(name: &str, pages: u32, writes: usize, seed: u64) -> Option<PageBatch> {
    let mut disk =
        Disk { batch: PageBatch::default(), pages, left: writes, random: Random::new(seed) };
    let run = match name {
        "circular-logs" => circular_logs,
        "moving-hot-set" => moving_hot_set,
        "day-and-night" => day_and_night,
        "log-rotation" => log_rotation,
        "bulk-load" => bulk_load,
        "buffer-pool" => buffer_pool,
        "queue" => queue,
        "mail" => mail,
        "snapshots" => snapshots,
        "packs" => packs,
        "write-ahead" => write_ahead,
        "copy-on-write" => copy_on_write,
        "drifting" => drifting,
        "scan-and-update" => scan_and_update,
        _ => return None,
    };
    run(&mut disk);
    Some(disk.batch)
}

/// Five circular logs of different sizes, a few pages of each in turn.
fn circular_logs(disk: &mut Disk) {
    let shares = [0.02, 0.06, 0.14, 0.28, 0.45];
    let mut at = [0_u32; 5];
    while !disk.is_done() {
        for log in 0..5 {
            let first = (f64::from(disk.pages) * (0.01 + shares[..log].iter().sum::<f64>())) as u32;
            let size = (f64::from(disk.pages) * shares[log]) as u32;
            for _ in 0..[4, 8, 2, 8, 4][log] {
                disk.write(first + at[log] % size);
                at[log] += 1;
            }
        }
    }
}

/// A tenth of the pages gets nine in ten writes, and moves on each half drive write.
fn moving_hot_set(disk: &mut Disk) {
    let hot = disk.pages / 10;
    let mut first = 0;
    while !disk.is_done() {
        for _ in 0..disk.pages / 2 {
            let page = if disk.random.below(10) > 0 {
                first + disk.random.below(hot)
            } else {
                disk.random.below(disk.pages)
            };
            disk.write(page);
        }
        first = disk.random.below(disk.pages);
    }
}

/// Skewed updates of one half by day, uniform ones and a scan of the other half by night.
fn day_and_night(disk: &mut Disk) {
    let half = disk.pages / 2;
    let mut scan = 0;
    while !disk.is_done() {
        for _ in 0..half {
            let page = disk.random.skewed(half, 3.0);
            disk.write(page.wrapping_mul(7919) % half);
        }
        for turn in 0..half / 2 {
            if turn % 4 == 0 {
                let page = half + disk.random.below(half);
                disk.write(page);
            } else {
                disk.write(half + scan % half);
                scan += 1;
            }
        }
    }
}

/// Logs that are appended to and rotated, five generations of each, beside a table that is updated.
fn log_rotation(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, true);
    let mut table = File::new();
    files.append(disk, &mut table, disk.pages / 3);
    let mut logs: Vec<Vec<File>> = (0..6).map(|_| vec![File::new()]).collect();
    let sizes = [200, 600, 1500, 3000, 6000, 9000].map(|size| size * disk.pages / 131_072);
    while !disk.is_done() {
        let log = disk.random.below(6) as usize;
        let mut open = logs[log].pop().unwrap_or_default();
        let chunk = 1 + disk.random.below(4);
        files.append(disk, &mut open, chunk);
        files.commit(disk, 1);
        let is_full = open.len() as u32 >= sizes[log].max(8);
        logs[log].push(open);
        if is_full {
            if logs[log].len() > 5 {
                let old = logs[log].remove(0);
                files.delete(disk, old);
            }
            logs[log].push(File::new());
        }
        let row = disk.random.skewed(table.len() as u32, 2.0) as usize;
        disk.write(table[row]);
    }
}

/// Tables that are loaded in order, updated for a while and dropped.
fn bulk_load(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, false);
    let mut tables: Vec<File> = Vec::new();
    while !disk.is_done() {
        let mut table = File::new();
        let size = disk.pages / 12 + disk.random.below(disk.pages / 6);
        while files.free < size + disk.pages / 50 && !tables.is_empty() {
            let victim = disk.random.below(tables.len() as u32) as usize;
            let old = tables.swap_remove(victim);
            files.delete(disk, old);
        }
        while (table.len() as u32) < size && !disk.is_done() {
            files.append(disk, &mut table, 64);
            if disk.random.below(4) == 0 {
                files.commit(disk, 1);
            }
        }
        tables.push(table);
        for _ in 0..size / 2 {
            let table = disk.random.below(tables.len() as u32) as usize;
            let row = disk.random.skewed(tables[table].len() as u32, 2.0) as usize;
            disk.write(tables[table][row]);
        }
    }
}

/// Updates gather in memory; a checkpoint writes all that changed in order, beside a circular log.
fn buffer_pool(disk: &mut Disk) {
    let log = disk.pages / 16;
    let table = disk.pages - log;
    let mut log_at = 0;
    let mut is_dirty = vec![false; table as usize];
    while !disk.is_done() {
        for turn in 0..table / 4 {
            let page = disk.random.skewed(table, 2.0).wrapping_mul(31_337) % table;
            is_dirty[page as usize] = true;
            if turn % 4 == 0 {
                disk.write(table + log_at);
                log_at = (log_at + 1) % log;
            }
        }
        for page in 0..table {
            if std::mem::replace(&mut is_dirty[page as usize], false) {
                disk.write(page);
            }
        }
    }
}

/// Partitions of a message queue: segments are appended to in turn, and the oldest expire.
fn queue(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, false);
    let segment = disk.pages / 80;
    let mut partitions: Vec<Vec<File>> = (0..12).map(|_| vec![File::new()]).collect();
    while !disk.is_done() {
        let at = disk.random.skewed(12, 1.7) as usize;
        let mut open = partitions[at].pop().unwrap_or_default();
        let chunk = 2 + disk.random.below(14);
        files.append(disk, &mut open, chunk);
        files.commit(disk, 1);
        let is_full = open.len() as u32 >= segment;
        partitions[at].push(open);
        if is_full {
            partitions[at].push(File::new());
        }
        while files.free < disk.pages / 16 {
            let longest = (0..12).max_by_key(|&of| partitions[of].len()).unwrap_or(0);
            let old = partitions[longest].remove(0);
            files.delete(disk, old);
        }
    }
}

/// Mail as a file each: most are deleted soon, some stay.
fn mail(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, true);
    let mut mails: Vec<File> = Vec::new();
    while !disk.is_done() {
        let mut mail = File::new();
        let size = 1 + disk.random.skewed(64, 4.0);
        files.append(disk, &mut mail, size);
        files.commit(disk, 2);
        mails.push(mail);
        while files.free < disk.pages / 12 || disk.random.below(3) == 0 {
            let count = mails.len() as u32;
            if count == 0 {
                break;
            }
            let newest = disk.random.below(4) > 0;
            let victim = if newest {
                count - 1 - disk.random.skewed(count, 3.0)
            } else {
                disk.random.below(count)
            };
            let old = mails.swap_remove(victim as usize);
            files.delete(disk, old);
            if files.free >= disk.pages / 6 {
                break;
            }
        }
    }
}

/// A store in memory: a log that grows, and now and then a snapshot of everything, after which the log begins again.
fn snapshots(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, false);
    let mut others: Vec<File> = Vec::new();
    for _ in 0..24 {
        let mut other = File::new();
        files.append(disk, &mut other, disk.pages / 50);
        others.push(other);
    }
    let (mut log, mut snapshot) = (File::new(), File::new());
    while !disk.is_done() {
        let chunk = 1 + disk.random.below(6);
        files.append(disk, &mut log, chunk);
        if disk.random.below(6) == 0 {
            files.commit(disk, 1);
            let (file, row) =
                (disk.random.below(24) as usize, disk.random.below(disk.pages / 50) as usize);
            let row = row.min(others[file].len() - 1);
            disk.write(others[file][row]);
        }
        if log.len() as u32 > disk.pages / 12 {
            let mut next = File::new();
            while (next.len() as u32) < disk.pages / 10 && !disk.is_done() {
                files.append(disk, &mut next, 32);
                files.append(disk, &mut log, 1);
            }
            files.delete(disk, std::mem::replace(&mut snapshot, next));
            files.delete(disk, std::mem::take(&mut log));
        }
    }
}

/// Small objects that are packed into large files, which are packed again.
fn packs(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, true);
    let mut packs: Vec<File> = Vec::new();
    let mut objects: Vec<File> = Vec::new();
    while !disk.is_done() {
        let mut object = File::new();
        let size = 1 + disk.random.skewed(16, 3.0);
        files.append(disk, &mut object, size);
        files.commit(disk, 1);
        objects.push(object);
        if objects.len() as u32 > disk.pages / 80 {
            let size: usize = objects.iter().map(Vec::len).sum();
            let mut pack = File::new();
            files.append(disk, &mut pack, size as u32 / 2);
            for object in std::mem::take(&mut objects) {
                files.delete(disk, object);
            }
            packs.push(pack);
        }
        if packs.len() > 6 || files.free < disk.pages / 6 {
            let size: usize = packs.iter().map(Vec::len).sum();
            let mut pack = File::new();
            let size = (size as u32 * 9 / 10).min(disk.pages / 3).min(files.free / 2);
            files.append(disk, &mut pack, size);
            for old in std::mem::take(&mut packs) {
                files.delete(disk, old);
            }
            packs.push(pack);
        }
    }
}

/// A table with a write-ahead log: pages go to the log, and at a checkpoint to the table in order.
fn write_ahead(disk: &mut Disk) {
    let mut files = Files::new(disk.pages, true);
    let mut tables: Vec<File> = Vec::new();
    let mut logs: Vec<File> = Vec::new();
    for share in [2, 5, 10, 20] {
        let (mut table, mut log) = (File::new(), File::new());
        files.append(disk, &mut table, disk.pages / share * 9 / 10);
        files.append(disk, &mut log, 1000);
        tables.push(table);
        logs.push(log);
    }
    while !disk.is_done() {
        let at = disk.random.skewed(4, 1.5) as usize;
        let mut dirty: Vec<u32> = Vec::new();
        for frame in &logs[at] {
            let row = disk.random.skewed(tables[at].len() as u32, 2.5);
            dirty.push(tables[at][(row.wrapping_mul(7919) as usize) % tables[at].len()]);
            disk.write(*frame);
        }
        dirty.sort_unstable();
        dirty.dedup();
        for page in dirty {
            disk.write(page);
        }
        files.commit(disk, 1);
    }
}

/// A tree that is copied on write: a leaf and the pages above it go to pages that were freed, the root is written in
/// place.
fn copy_on_write(disk: &mut Disk) {
    let leaves = disk.pages * 6 / 10;
    let mut places: Vec<u32> = (0..leaves + leaves / 50 + 8).map(|page| page + 2).collect();
    let mut free: std::collections::BinaryHeap<std::cmp::Reverse<u32>> =
        (places.len() as u32 + 2..disk.pages * 85 / 100).map(std::cmp::Reverse).collect();
    let mut waiting: Vec<Vec<u32>> = Vec::new();
    let mut turn = 0;
    while !disk.is_done() {
        let mut dirty = Vec::new();
        for _ in 0..=disk.random.below(12) {
            let leaf = disk.random.skewed(leaves, 1.6).wrapping_mul(7919) % leaves;
            dirty.push(leaf);
            dirty.push(leaves + leaf / 50);
        }
        dirty.sort_unstable();
        dirty.dedup();
        let mut freed = Vec::new();
        for tree_page in dirty {
            let Some(std::cmp::Reverse(place)) = free.pop() else { break };
            freed.push(std::mem::replace(&mut places[tree_page as usize], place));
            disk.write(place);
        }
        waiting.push(freed);
        if waiting.len() > 2 {
            free.extend(waiting.remove(0).into_iter().map(std::cmp::Reverse));
        }
        disk.write(turn % 2);
        turn += 1;
    }
}

/// Hot pages move on slowly over the drive.
fn drifting(disk: &mut Disk) {
    let mut turn = 0_u32;
    while !disk.is_done() {
        let page = turn / 8 + disk.random.skewed(disk.pages, 4.0);
        disk.write(page);
        turn = turn.wrapping_add(1);
    }
}

/// Skewed updates, and now and then a scan that rewrites a quarter of the drive in order.
fn scan_and_update(disk: &mut Disk) {
    while !disk.is_done() {
        for _ in 0..disk.pages / 2 {
            let page = disk.random.skewed(disk.pages, 3.0).wrapping_mul(7919);
            disk.write(page);
        }
        let first = disk.random.below(disk.pages);
        for page in 0..disk.pages / 4 {
            disk.write(first + page);
        }
    }
}
