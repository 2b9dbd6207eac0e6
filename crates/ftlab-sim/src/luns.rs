//! What LUNs and channels did: columns of tables, worked out from what results tell of each.

use crate::fact::{Fact, Kind, Measured, Sheet, When, report, table};
use crate::timing::{LunSeconds, TimingResult};

/// Declares columns: place and heading in the terminal, those of the report page with the meaning, when there is a
/// column, the kind of its numbers, and how they are worked out.
macro_rules! columns {
    ($($at:literal $heading:literal, $place:literal $name:literal: $meaning:literal, $when:ident, $kind:expr => $of:expr;)+) => {
        vec![$({
            let number: fn(&TimingResult) -> _ = $of;
            let read = move |time: &TimingResult| number(time).measured();
            Fact::new($name, ($kind, "", "the clock"), &[$meaning], read).shown(vec![
                table(Sheet::Luns, $at, $heading, When::$when),
                report(Sheet::Luns, $place, $name, $meaning, When::$when),
            ])
        }),+]
    };
}

/// The columns of tables of LUNs.
pub(crate) fn luns() -> Vec<Fact<TimingResult>> {
    let columns = columns! {
        10 "host\nwrites/s", 10 "host writes per second": "Pages that the host wrote per simulated second",
            Always, Kind::Count => |time| time.iops.round() as u64;
        20 "MB/s", 20 "MB/s": "Million bytes that the host wrote per simulated second",
            Known, Kind::Ratio(4) => |time| time.bytes_per_second / 1e6;
        30 "least\nbusy", 40 "least": "Of the LUN that was least busy",
            Known, Kind::Share => |time| time.lun_busy_share.iter().copied().reduce(f64::min);
        40 "mean\nbusy", 30 "LUNs busy": "Share of the time, of the mean LUN",
            Known, Kind::Share => |time| mean(&time.lun_busy_share);
        50 "most\nbusy", 50 "most": "Of the LUN that was most busy",
            Known, Kind::Share => |time| time.lun_busy_share.iter().copied().reduce(f64::max);
        60 "waiting\nper LUN", 60 "waiting per LUN": "Pages of the host that waited for a LUN, averaged over time",
            Known, Kind::Ratio(3) => |time| mean(&time.lun_queue_mean);
        70 "channels\nbusy", 70 "channels busy": "Share of the time for which a page passed, of the mean channel",
            Nonzero, Kind::Share => |time| mean(&time.channel_busy_share);
        80 "busy with\nhost writes", 80 "LUNs for host writes": "Share of the LUNs' busy time that host writes took",
            Known, Kind::Share => |time| of_work(time, |of| of.host_writes);
        90 "busy with\nrelocations", 100 "for relocations": "Share that relocations took",
            Known, Kind::Share => |time| of_work(time, |of| of.relocations);
        100 "busy with\nmerges", 110 "for merges": "Share that copies of merges took",
            Known, Kind::Share => |time| of_work(time, |of| of.merges);
        110 "busy with\nerases", 120 "for erases": "Share that erases took",
            Known, Kind::Share => |time| time.lun_seconds.share_of_erases();
        120 "busy with\nhost reads", 90 "for host reads": "Share that reads of the host took, where they take time",
            Told, Kind::Share => |time| of_work(time, |of| of.host_reads).filter(|_| time.requests.is_some());
        130 "busy with\nmap, units", 130 "for the map and units": "Share that pages of the map took, and pages read or programmed with others of their unit",
            Nonzero, Kind::Share => |time| of_work(time, |of| of.others);
    };
    let rounded = |fact: Fact<_>| match fact.kind {
        Kind::Share => fact.in_terminal(Kind::Tenths),
        _ => fact,
    };
    columns.into_iter().map(rounded).collect()
}

fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

/// The share of a part in what the LUNs were busy with.
fn of_work(time: &TimingResult, part: fn(&LunSeconds) -> f64) -> Option<f64> {
    let all = time.lun_seconds.all();
    (all > 0.0).then(|| part(&time.lun_seconds) / all)
}
