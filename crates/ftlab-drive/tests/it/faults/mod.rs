//! One fault of the medium at a time, everywhere: the drive opens, what it cannot read it says, and
//! everything else is what was flushed.
//!
//! `make fault-tests` prints how many faults of which kind were survived; `docs/notes/drive-format.md` has the
//! table.

mod life;
mod medium;
mod sites;
mod tally;

use crate::common::{ftls, times};
use life::{LOGICAL_PAGES, Life, PAGE, Used, created, load};
use medium::{Fault, Form, Medium, SECTOR, mix};
use std::sync::Arc;
use tally::{Tally, tally};

/// Faults of a sector of the medium.
const AT_REST: [&str; 6] = [
    "a read that fails once",
    "a dead sector",
    "a sector that cannot be read until it is written",
    "a flipped bit",
    "zeros",
    "what is in another place",
];

impl Used {
    /// Faults of one sector.
    fn survive_at(&self, offset: u64, is_metadata: bool, ftl: &str, tally: &mut Tally) {
        let most = usize::from(!is_metadata);
        let sector = |times, heals| {
            Some(Fault::Sector { offset, form: Form::Failed, from: 0, times, heals })
        };
        let at = offset as usize..offset as usize + SECTOR as usize;
        let mut flipped = self.bytes.clone();
        flipped[at.start + 5] ^= 4;
        let mut zeroed = self.bytes.clone();
        zeroed[at.clone()].fill(0);
        let mut mixed = self.bytes.clone();
        let other = (offset + 5 * SECTOR) as usize % (mixed.len() - SECTOR as usize);
        let other = other / SECTOR as usize * SECTOR as usize;
        mixed.copy_within(other..other + at.len(), at.start);
        let cases = [
            (self.bytes.clone(), sector(1, false), 0),
            (self.bytes.clone(), Some(Fault::Dead { offset }), most),
            (self.bytes.clone(), sector(u32::MAX, true), most),
            (flipped, None, most),
            (zeroed, None, most),
            (mixed, None, most),
        ];
        for (kind, (bytes, fault, most)) in AT_REST.into_iter().zip(cases) {
            let what = format!("{}: {kind}", if is_metadata { "metadata" } else { "data" });
            let state = if self.is_closed { "closed" } else { "killed" };
            let context = format!("{ftl}, {state}, {what} at {offset}");
            tally.count(&what, &context, most, self.survive(bytes, fault));
        }
    }
}

/// Faults of what is on the medium when a drive is opened: at every `step`th sector of the metadata, and at as
/// many places of the data.
fn campaign_at_rest(ftl: &str, step: usize, places: u64, sum: &mut Tally) {
    for is_closed in [true, false] {
        let used = Used::new(ftl, is_closed);
        let end = used.bytes.len() as u64;
        let metadata = (0..used.pages.start).chain(used.pages.end..end);
        let metadata = metadata.step_by(SECTOR as usize * step);
        let pages = used.pages.end - used.pages.start;
        let data = (0..places).map(|place| used.pages.start + mix(place) % pages / SECTOR * SECTOR);
        let sites = metadata.map(|at| (at, true)).chain(data.map(|at| (at, false)));
        let sites: Vec<_> = sites.collect();
        sum.add(tally(&sites, |(offset, is_metadata), tally| {
            used.survive_at(*offset, *is_metadata, ftl, tally);
        }));
    }
}

/// Faults of writes and syncs while a drive is used.
fn campaign_in_use(ftl: &str, step: usize, sum: &mut Tally) {
    let (bytes, pages) = created(ftl);
    let run =
        |fault: Option<Fault>, is_closed: bool| -> Result<(usize, usize, Arc<Medium>), String> {
            let medium = Arc::new(Medium::new(bytes.clone(), fault));
            let mut life = Life::open(&medium, vec![0; LOGICAL_PAGES as usize], 1)?;
            let is_whole = life.write(load(1500));
            let before = if is_whole { life.unreadable()?.len() } else { 0 };
            let (is_closed, life) = life.open_again(&medium, is_whole && is_closed)?;
            let after = if is_closed { life.unreadable()? } else { life.unreadable_since_flush()? };
            let unreadable = before.max(after.len());
            let within = |(offset, len): &(u64, usize)| {
                let is_data = *offset + *len as u64 > pages.start && *offset < pages.end;
                if is_data { len.div_ceil(PAGE) + 1 } else { 0 }
            };
            let most = medium.hit().iter().map(within).sum();
            Ok((unreadable, most, medium))
        };
    let (_, _, medium) = run(None, true).unwrap();
    let (writes, syncs) = medium.operations();
    let of_writes = (1..writes).step_by(step).flat_map(|write| {
        let by = write.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        [
            ("a lost write", Fault::LostWrite(write)),
            ("a misdirected write", Fault::Misdirected(write, by)),
            ("a torn write", Fault::TornWrite(write)),
            ("a medium that is full for a while", Fault::Full(write, 3)),
        ]
    });
    let of_syncs =
        (1..syncs).step_by(step).map(|sync| ("a sync that fails", Fault::FailedSync(sync)));
    let faults = of_writes.chain(of_syncs);
    let faults: Vec<_> =
        faults.flat_map(|fault| [true, false].map(|is_closed| (fault, is_closed))).collect();
    sum.add(tally(&faults, |((what, fault), is_closed), tally| {
        let result = run(Some(*fault), *is_closed);
        let context = format!("{ftl}, {fault:?}, closed: {is_closed}");
        let most = result.as_ref().map_or(0, |(_, most, _)| *most);
        tally.count(what, &context, most, result.map(|(unreadable, ..)| unreadable));
    }));
}

/// More wrong reads than a collection tries: the page is where it was, its block is not used again, which is said,
/// and it is moved once the medium answers.
#[test]
fn a_page_that_could_not_be_moved_is_kept_where_it_was() {
    // One from anywhere, then three times from the medium and from anywhere.
    const TRIES: u32 = 7;
    let used = Used::new("2r-fifo", true);
    let mut kept = 0;
    for (place, form) in (0..40).flat_map(|place| Form::ALL.map(|form| (place, form))) {
        let offset = used.pages.start + place * 7 * PAGE as u64;
        let fault = Fault::Sector { offset, form, from: 0, times: TRIES, heals: false };
        let medium = Arc::new(Medium::new(used.bytes.clone(), Some(fault)));
        let mut life = Life::open(&medium, used.versions.clone(), used.next).unwrap();
        let others = (0..600).map(|number| number * 2 % LOGICAL_PAGES);
        assert!(life.write(others));
        let snapshot = life.drive.snapshot();
        let [lpn] = snapshot.unreadable[..] else { continue };
        assert_eq!((snapshot.replaced_blocks, snapshot.totals.media_errors), (1, 1));
        let why = match form {
            Form::Failed | Form::Short => "it cannot be read: ",
            _ => "what is read does not match its checksum; ",
        };
        let notices = life.notices.lock().unwrap().clone();
        let expected = format!("page {lpn} was to be moved, but {why}");
        assert!(notices.len() == 1 && notices[0].starts_with(&expected), "{notices:?}");
        assert!(notices[0].ends_with("it stays where it is, out of use, and is tried again later"));
        assert_eq!(life.unreadable().unwrap(), [0; 0], "page {lpn}");
        let Life { drive, versions, next, .. } = life;
        drive.abandon();
        let life = Life::open(&medium, versions, next).unwrap();
        let recovery = life.drive.recovery();
        assert!(recovery.repeated > 0);
        assert_eq!(recovery.healed, ["1 pages that could not be read before are in place"]);
        assert_eq!(life.drive.snapshot().unreadable, [0; 0].map(ftlab_drive::Lpn));
        assert_eq!(life.unreadable().unwrap(), [0; 0], "page {lpn} after a crash");
        life.drive.close().unwrap();
        let life = Life::open(&medium, life.versions, next).unwrap();
        assert_eq!(life.drive.recovery().healed, [""; 0]);
        assert_eq!(life.unreadable().unwrap(), [0; 0], "page {lpn} after closing");
        kept += 1;
    }
    assert!(kept > 20, "{kept}");
}

#[test]
fn one_fault_at_a_time() {
    let mut tally = Tally::default();
    let apart = (3 / times(3)) as usize;
    for ftl in ["1r-greedy", "2r++", "hazard"] {
        campaign_at_rest(ftl, 83 * apart, times(30), &mut tally);
        campaign_in_use(ftl, 47 * apart, &mut tally);
        sites::campaign_of_writes(ftl, 47 * apart, &mut tally);
    }
    tally.finish();
}

#[test]
fn one_read_at_a_time() {
    let mut tally = Tally::default();
    for (seed, ftl) in (0..).zip(["1r-greedy", "2r++", "hazard"]) {
        sites::campaign(ftl, times(6) as usize, seed, &mut tally);
    }
    tally.finish();
}

/// FTLs with a map on flash.
const PAGED: [&str; 3] = [
    "1r-greedy over dftl:cache=512",
    "2r++ over tpftl:cache=512,by-request=off",
    "2r-fifo over s-ftl:cache=1KiB,buffer=0.5",
];

#[test]
fn one_fault_at_a_time_of_a_map_on_flash() {
    let mut tally = Tally::default();
    let apart = (3 / times(3)) as usize;
    for ftl in PAGED {
        campaign_at_rest(ftl, 83 * apart, times(60), &mut tally);
        campaign_in_use(ftl, 47 * apart, &mut tally);
        sites::campaign_of_writes(ftl, 47 * apart, &mut tally);
    }
    tally.finish();
}

#[test]
fn one_read_at_a_time_of_a_map_on_flash() {
    let mut tally = Tally::default();
    for (seed, ftl) in (20..).zip(PAGED) {
        sites::campaign(ftl, times(6) as usize, seed, &mut tally);
    }
    tally.finish();
}

/// With `FTLAB_FAULTS=10`, a tenth of the long tests is run.
fn part() -> usize {
    std::env::var("FTLAB_FAULTS").map_or(1, |part| part.parse().unwrap())
}

#[test]
#[ignore = "long: `make fault-tests`"]
fn one_read_at_a_time_under_every_ftl() {
    let mut tally = Tally::default();
    for (number, ftl) in ftls().iter().enumerate() {
        let reads = if number == 0 { 60_usize } else { 4 };
        sites::campaign(ftl, reads.div_ceil(part()), 10 + number as u64, &mut tally);
    }
    tally.finish();
}

#[test]
#[ignore = "long: `make fault-tests`"]
fn one_fault_at_every_place_under_every_ftl() {
    let mut tally = Tally::default();
    for (number, ftl) in ftls().iter().enumerate() {
        println!("{ftl}");
        let (rest, places, writes) = if number == 0 { (1, 10_000, 1) } else { (13, 300, 7) };
        campaign_at_rest(ftl, rest * part(), places / part() as u64, &mut tally);
        campaign_in_use(ftl, writes * part(), &mut tally);
        sites::campaign_of_writes(ftl, writes * part(), &mut tally);
    }
    tally.finish();
}
