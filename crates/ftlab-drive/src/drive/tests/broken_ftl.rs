//! An FTL that fails an operation: that is a bug in the FTL, and must not cost the drive.

use super::*;
use proptest::prelude::*;
use std::cell::Cell;

thread_local! {
    /// The operation that the FTLs of this thread cannot carry out.
    static CURSED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// An error if this operation is cursed. The FTL has done what it could by then.
pub(crate) fn carried_out(operation: u64) -> Result<(), String> {
    if CURSED.get() == Some(operation) { Err("it is cursed".to_owned()) } else { Ok(()) }
}

/// Fills a drive, and makes it fail after a number of further writes; returns the medium and the state then.
fn failed(writes: u32, is_flushed: bool) -> (Arc<PowerCut>, Drive) {
    CURSED.set(None);
    let (backing, _) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, 2);
    (0..writes).for_each(|number| write(&drive, number * 7 % LOGICAL_PAGES, 4).unwrap());
    if is_flushed {
        drive.flush().unwrap();
    }
    CURSED.set(Some(drive.snapshot().operations + 1));
    let error = write(&drive, 11, 5).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    assert!(error.to_string().contains("read-only: it is cursed"), "{error}");
    (backing, drive)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_drive_whose_ftl_failed_can_be_read_and_opened_without_the_operation(writes in 0..700_u32) {
        let (backing, drive) = failed(writes, true);
        let (operations, counters) = (drive.snapshot().operations, drive.snapshot().counters);
        let contents = |drive: &Drive, lpn: u32| {
            let mut page = [0; PAGE];
            drive.read(u64::from(lpn) * PAGE as u64, &mut page).map(|()| page).unwrap()
        };
        let others: Vec<_> = (0..LOGICAL_PAGES).filter(|lpn| *lpn != 11).collect();
        let before: Vec<_> = others.iter().map(|&lpn| contents(&drive, lpn)).collect();
        prop_assert!(write(&drive, 12, 5).is_err() && drive.flush().is_err());
        prop_assert!(drive.close().is_err());

        // Whether the operation came as far as the journal is up to chance.
        let backing = Arc::new(backing.restarted());
        let checked = Drive::check_on(&(Arc::clone(&backing) as _)).unwrap();
        prop_assert_eq!(checked.damage, Vec::<String>::new());
        let drive = open(&backing).unwrap();
        prop_assert_eq!(drive.snapshot().operations, operations);
        prop_assert!(drive.snapshot().counters.host_writes <= counters.host_writes);
        for (&lpn, page) in others.iter().zip(&before) {
            prop_assert!(contents(&drive, lpn) == *page, "page {}", lpn);
        }
        let version = contents(&drive, 11);
        prop_assert!((1..5).any(|number| version == content(11, number)));

        // It fails again, and no longer does once the FTL is fixed.
        prop_assert!(write(&drive, 11, 6).is_err());
        prop_assert!(drive.close().is_err());
        CURSED.set(None);
        let drive = open(&Arc::new(backing.restarted())).unwrap();
        write(&drive, 11, 7).unwrap();
        prop_assert!(contents(&drive, 11) == content(11, 7));
        drive.close().unwrap();
    }
}

#[test]
fn opening_says_which_operation_is_given_up_and_why() {
    // The operation is in the journal if a sync came in the middle of it.
    let given_up = (0..200).filter(|&writes| {
        let (backing, drive) = failed(writes, false);
        let operations = drive.snapshot().operations;
        drop(drive);
        let drive = open(&Arc::new(backing.restarted())).unwrap();
        let recovery = drive.recovery();
        assert!(drive.snapshot().operations <= operations);
        if let Some(reason) = &recovery.failed {
            assert_eq!(reason, "it is cursed");
            assert!(recovery.dropped >= 1);
        }
        recovery.failed.is_some()
    });
    assert!(given_up.count() > 0);
}
