//! Reads that return something else than is there, wherever a drive reads.

use super::life::{PAGE, Used};
use super::medium::{Fault, Form, Medium, Read, SECTOR, mix};
use super::tally::{Tally, tally};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of the flush mark and of the header of a checkpoint: nothing else is read in such pieces.
const MARK: usize = 512;
const HEADER: usize = 4096;

/// Why a drive reads.
fn site(read: &Read, used: &Used, mark: u64) -> &'static str {
    let is_page = used.pages.contains(&read.offset);
    match (read.phase, is_page) {
        ("opening", true) => "a recovery",
        ("opening", false) if read.offset == 0 || read.offset >= used.pages.end => "a superblock",
        ("opening", false) if read.len == MARK => "a flush mark",
        ("opening", false) if read.offset > mark => "the journal",
        ("opening", false) if read.len == HEADER => "the header of a checkpoint",
        ("opening", false) => "a checkpoint",
        ("reading", _) => "a host's read",
        ("writing in part", true) => "a write of a part of a page",
        ("scrubbing", _) => "scrubbing",
        ("copying", _) => "a copy",
        (_, true) => "a collection",
        (_, false) => "a checkpoint that was written",
    }
}

/// What a fault of a read is to be.
struct Case {
    site: &'static str,
    fault: Fault,
    /// Pages that may become unreadable.
    most: usize,
}

/// Faults of these reads: each form once, and for good until the sector is written or for ever.
fn cases(site: &'static str, number: u64, read: &Read, used: &Used) -> Vec<Case> {
    let sectors = (read.len as u64).div_ceil(SECTOR);
    let offset = read.offset + mix(number) % sectors * SECTOR;
    // A checksum that is beside a page and nowhere else may be what is wrong: a sector has those of 32 pages, and of what
    // is wrong for ever, each read another bit.
    let is_of_owners = used.owners.contains(&offset);
    let most = if is_of_owners { 4 } else { usize::from(used.pages.contains(&read.offset)) };
    let once = Form::ALL.map(|form| Case { site, fault: Fault::Read(number, form), most: 0 });
    let lasting = Form::ALL.into_iter().flat_map(|form| {
        [true, false].map(|heals| {
            let fault = Fault::Sector { offset, form, from: number, times: u32::MAX, heals };
            Case { site, fault, most }
        })
    });
    once.into_iter().chain(lasting).collect()
}

/// As many reads of each kind, with faults of each form.
pub(crate) fn campaign(ftl: &str, reads_each: usize, seed: u64, sum: &mut Tally) {
    for is_closed in [true, false] {
        let used = Used::new(ftl, is_closed);
        let medium = Arc::new(Medium::new(used.bytes.clone(), None));
        medium.log_reads();
        let lived = used.live(&medium, true).unwrap();
        assert_eq!((lived.unreadable, lived.errors, lived.is_read_only), (0, 0, false));
        let log = medium.logged();
        let marks = log.iter().filter(|read| read.phase == "opening" && read.len == MARK);
        let mark = marks.map(|read| read.offset).min().unwrap();
        let mut sites = BTreeMap::<_, Vec<_>>::new();
        for (number, read) in (1..).zip(&log) {
            sites.entry(site(read, &used, mark)).or_default().push((number, read));
        }
        let mut all = Vec::new();
        for (site, reads) in sites {
            // A copy is in a file, which takes long.
            let count = if site == "a copy" { reads_each.div_ceil(8) } else { reads_each };
            for pick in 0..count.min(reads.len()) {
                let random = mix(seed + pick as u64) as usize;
                let (number, read) = reads[(pick * reads.len() / count + random % 7) % reads.len()];
                all.extend(cases(site, number, read, &used));
            }
        }
        let state = if is_closed { "closed" } else { "killed" };
        sum.add(tally(&all, |case, tally| {
            let what = format!(
                "{}: reads are wrong {}",
                case.site,
                match case.fault {
                    Fault::Read(..) => "once",
                    Fault::Sector { heals: true, .. } => "until it is written",
                    _ => "for ever",
                }
            );
            let context = format!("{ftl}, {state}, {}, {:?}", case.site, case.fault);
            tally.count(&what, &context, case.most, survive(&used, case));
        }));
    }
}

/// Returns how many pages could not be read at most. What is wrong once has no effect at all.
fn survive(used: &Used, case: &Case) -> Result<usize, String> {
    let medium = Arc::new(Medium::new(used.bytes.clone(), Some(case.fault)));
    let lived = used.live(&medium, case.site == "a copy")?;
    let is_transient = matches!(case.fault, Fault::Read(..));
    let is_unharmed =
        lived.dropped == 0 && lived.errors == 0 && !lived.is_read_only && lived.notices.is_empty();
    if is_transient && !is_unharmed {
        return Err(format!("{lived:?}"));
    }
    if lived.errors > 0 && lived.unreadable == 0 && lived.notices.is_empty() {
        return Err(format!("an error that nothing explains: {lived:?}"));
    }
    Ok(lived.unreadable)
}

/// Writes that go wrong while a drive recovers, works, scrubs and is closed.
pub(crate) fn campaign_of_writes(ftl: &str, step: usize, sum: &mut Tally) {
    let used = Used::new(ftl, false);
    let medium = Arc::new(Medium::new(used.bytes.clone(), None));
    used.live(&medium, false).unwrap();
    let (writes, _) = medium.operations();
    let numbers = (1..=writes).step_by(step);
    let faults: Vec<_> = numbers
        .flat_map(|write| {
            let by = mix(write) % used.bytes.len() as u64;
            [Fault::LostWrite(write), Fault::Misdirected(write, by), Fault::TornWrite(write)]
        })
        .collect();
    sum.add(tally(&faults, |fault, tally| {
        let medium = Arc::new(Medium::new(used.bytes.clone(), Some(*fault)));
        let lived = used.live(&medium, false);
        let within = |(offset, len): &(u64, usize)| {
            let is_data = *offset + *len as u64 > used.pages.start && *offset < used.pages.end;
            if is_data { len.div_ceil(PAGE) + 1 } else { 0 }
        };
        let most = medium.hit().iter().map(within).sum();
        let what = match fault {
            Fault::LostWrite(_) => "a lost write after a recovery",
            Fault::Misdirected(..) => "a misdirected write after a recovery",
            _ => "a torn write after a recovery",
        };
        tally.count(what, &format!("{ftl}, {fault:?}"), most, lived.map(|lived| lived.unreadable));
    }));
}
