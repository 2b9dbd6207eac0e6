//! What was run, so that nothing is run twice. What a fit of the others needs (`left_out.rs`) may lie between two drives
//! that were run, which differ in over-provisioning alone: what it writes is then told by both. A fit of all series does not
//! take that, since the mean of two drives has less of chance, and seems nearer than it is.

use super::written::Written;
use crate::parallel::lock;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// A drive is told by two others whose over-provisioning is no further apart than this factor. What is relocated is in
/// proportion to about op^-1.2, which a straight line misses by 0.2% then.
const APART_MOST: f64 = 1.1;

/// A drive is told by another one whose over-provisioning is within this share of its own.
const SAME: f64 = 0.001;

/// Drives that are alike but for their over-provisioning, in its order.
type Line = Vec<Arc<Written>>;

/// Runs by what they are of.
#[derive(Default)]
pub(super) struct Known {
    /// By all but the over-provisioning, and by that as it was asked for; its bits are in its order.
    asked: Mutex<HashMap<String, BTreeMap<u64, Arc<Written>>>>,
    /// By the drive: over-provisioning is in whole blocks, so neighbours may be the same.
    drives: Mutex<HashMap<String, Arc<Written>>>,
    /// What drives between others are taken from, so that it does not depend on which of several threads was first.
    between: Mutex<HashMap<String, Line>>,
}

impl Known {
    /// The run of this kind that was asked for with this over-provisioning, if it lasted so long.
    pub(super) fn of(&self, kind: &str, op_ratio: f64, drive_writes: f64) -> Option<Arc<Written>> {
        let asked = lock(&self.asked);
        let known = asked.get(kind)?.get(&op_ratio.to_bits())?;
        lasted(known, drive_writes).then(|| Arc::clone(known))
    }

    /// The run of this drive, if it lasted so long.
    pub(super) fn of_drive(&self, drive: &str, drive_writes: f64) -> Option<Arc<Written>> {
        let drives = lock(&self.drives);
        let known = drives.get(drive)?;
        lasted(known, drive_writes).then(|| Arc::clone(known))
    }

    /// This was asked for, and came of this drive.
    pub(super) fn put(&self, kind: &str, op_ratio: f64, drive: String, written: &Arc<Written>) {
        let mut asked = lock(&self.asked);
        asked.entry(kind.to_owned()).or_default().insert(op_ratio.to_bits(), Arc::clone(written));
        lock(&self.drives).insert(drive, Arc::clone(written));
    }

    /// From here on, drives between those that were run are told by these.
    pub(super) fn tell_between(&self) {
        let of = |line: &BTreeMap<u64, Arc<Written>>| {
            let mut line: Line = line.values().filter(|own| !own.given_up).cloned().collect();
            line.sort_by(|a, b| a.op_ratio.total_cmp(&b.op_ratio));
            line
        };
        let lines = lock(&self.asked).iter().map(|(kind, line)| (kind.clone(), of(line))).collect();
        *lock(&self.between) = lines;
    }

    /// What a drive with this over-provisioning would have written, if two that were run are near enough.
    pub(super) fn between(
        &self,
        kind: &str,
        op_ratio: f64,
        drive_writes: f64,
    ) -> Option<Arc<Written>> {
        let lines = lock(&self.between);
        let line = lines.get(kind)?.iter().filter(|own| own.covers(drive_writes));
        let (mut below, mut above): (Option<&Arc<Written>>, Option<&Arc<Written>>) = (None, None);
        for own in line {
            if (own.op_ratio / op_ratio - 1.0).abs() <= SAME {
                return Some(Arc::clone(own));
            }
            if own.op_ratio < op_ratio {
                below = Some(own);
            } else if above.is_none() {
                above = Some(own);
            }
        }
        let (below, above) = below.zip(above)?;
        let is_near = above.op_ratio <= APART_MOST * below.op_ratio;
        is_near.then(|| below.toward(above, op_ratio))?.map(Arc::new)
    }
}

fn lasted(known: &Written, drive_writes: f64) -> bool {
    known.given_up || known.covers(drive_writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(op_ratio: f64, beside: Vec<u64>) -> Arc<Written> {
        let blocks = (100.0 * (1.0 + op_ratio)) as u32;
        let (pages, interval, given_up) = (100, 50, false);
        Arc::new(Written { pages, op_ratio, blocks, interval, beside, given_up })
    }

    #[test]
    fn a_drive_between_two_is_told_by_both_once_that_is_asked_for() {
        let known = Known::default();
        for (op_ratio, beside) in
            [(0.1, vec![0, 100, 200]), (0.1086, vec![0, 80, 100]), (0.2, vec![0, 0])]
        {
            known.put("kind", op_ratio, format!("{op_ratio}"), &written(op_ratio, beside));
        }
        assert!(known.between("kind", 0.1042, 1.0).is_none(), "it was not asked for");
        known.tell_between();
        let told = known.between("kind", 0.1042, 1.0).unwrap();
        // Half-way between the logarithms.
        assert_eq!((&told.beside[..], told.interval), (&[0, 90, 150][..], 50));
        assert!((told.op_ratio - 0.1042).abs() < 1e-12);
        assert_eq!(known.between("kind", 0.10001, 1.0).unwrap().beside, [0, 100, 200]);
        assert!(known.between("kind", 0.15, 1.0).is_none(), "too far apart");
        assert!(known.between("kind", 0.09, 1.0).is_none(), "none has less");
        assert!(known.between("kind", 0.1042, 2.0).is_none(), "they were not run for so long");
        assert!(known.between("other", 0.1042, 1.0).is_none());
        assert!(known.of("kind", 0.1042, 1.0).is_none() && known.of("kind", 0.1, 1.0).is_some());
        assert!(known.of_drive("0.2", 1.0).is_some() && known.of_drive("0.2", 1.5).is_none());
    }
}
