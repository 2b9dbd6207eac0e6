//! Backings that fail, are full, or are used twice.

use super::*;
use std::io::ErrorKind;

#[test]
fn after_a_sync_that_failed_the_drive_is_read_only() {
    let (backing, _) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, 1);
    drive.flush().unwrap();
    write(&drive, 1, 7).unwrap();
    backing.fail_to_sync();
    assert!(drive.flush().is_err());
    let error = write(&drive, 2, 7).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnlyFilesystem);
    assert!(error.to_string().contains("could not be made durable"), "{error}");
    assert!(drive.flush().is_err() && drive.trim(0, PAGE as u64).is_err());
    assert!(drive.snapshot().read_only.unwrap().contains("the disk failed to write"));
    // What was written can be read, and what was flushed before is still there later.
    let mut page = [0; PAGE];
    drive.read(PAGE as u64, &mut page).unwrap();
    assert_eq!(page, content(1, 7));
    assert!(drive.close().is_err());
    let backing = Arc::new(PowerCut::new(backing.survivor(|_| 0)));
    assert_eq!(unreadable_after_fill(&open(&backing).unwrap(), 1), [0_u32; 0]);
}

#[test]
fn a_full_disk_makes_the_drive_read_only_and_loses_nothing() {
    let (backing, superblock) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, 0);
    drive.flush().unwrap();
    let pages = superblock.layout.pages();
    backing.fill_up_beyond(pages.start + (pages.end - pages.start) / 10 * 9);
    let mut written = 0;
    let error = loop {
        match write(&drive, 1, 2 + written) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(written > 10, "{written}");
    assert!(error.to_string().contains("pages could not be written: no storage space"), "{error}");
    let mut page = [0; PAGE];
    drive.read(PAGE as u64, &mut page).unwrap();
    assert!((written + 1..=written + 2).any(|version| page == content(1, version)));
    assert!(drive.close().is_err());
    let backing = Arc::new(backing.restarted());
    let drive = open(&backing).unwrap();
    for lpn in (0..LOGICAL_PAGES).filter(|&lpn| lpn != 1) {
        drive.read(u64::from(lpn) * PAGE as u64, &mut page).unwrap();
        assert_eq!(page, content(lpn, 1));
    }
    write(&drive, 1, 3).unwrap();
    drive.close().unwrap();
}

#[test]
fn one_process_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    Drive::create(&path, &options()).unwrap();
    let error = Drive::create(&path, &options()).err().unwrap().to_string();
    assert!(error.contains("exists; remove it first"), "{error}");
    let drive = Drive::open(&path, OpenOptions::default()).unwrap();
    for error in [
        Drive::open(&path, OpenOptions::default()).err().unwrap().to_string(),
        crate::drive::check(&path).err().unwrap().to_string(),
    ] {
        assert!(error.contains("is in use: another process"), "{error}");
    }
    drive.close().unwrap();
    assert_eq!(crate::drive::check(&path).unwrap().damage, Vec::<String>::new());
    drop(Drive::open(&path, OpenOptions::default()).unwrap());
    let error = Drive::open(&directory.path().join("none"), OpenOptions::default());
    assert!(error.err().unwrap().to_string().starts_with("cannot open "));
}

#[test]
fn a_drive_that_cannot_be_is_refused() {
    let refuse = |change: &dyn Fn(&mut CreateOptions)| {
        let mut options = options();
        change(&mut options);
        Drive::backing_bytes(&options).err().unwrap().to_string()
    };
    let error = refuse(&|options| options.ftl = "fast".parse().unwrap());
    assert!(error.contains("unknown page-mapped FTL \"fast\""), "{error}");
    let error = refuse(&|options| options.ftl = "2r+".parse().unwrap());
    assert!(error.contains("did you mean \"2r++\"?"), "{error}");
    let error = refuse(&|options| options.ftl = "oracle/greedy".parse().unwrap());
    assert!(error.contains("hot"), "{error}");
    let error = refuse(&|options| options.ftl = "fk/greedy:classes=3".parse().unwrap());
    assert!(
        error.starts_with("fk/greedy:classes=3 needs to know how long each page will live"),
        "{error}"
    );
    let groups = "nvme-fdp/greedy:handles=1,reclaim-groups=2";
    let error = refuse(&|options| options.ftl = groups.parse().unwrap());
    assert!(error.contains("reclaim groups, which a live drive cannot have"), "{error}");
    let error = refuse(&|options| options.config.reserve_blocks = 30);
    assert!(error.contains("are too few"), "{error}");
    let error = refuse(&|options| {
        options.config.geometry = Geometry::new(36, 16, 1000).unwrap();
    });
    assert!(error.contains("the page size is 1000; it must be a power of two"), "{error}");
    let error = refuse(&|options| options.checkpoint_every = Some(0));
    assert!(error.contains("the checkpoint interval is 0"), "{error}");
}

#[test]
fn what_the_host_does_is_told_in_order() {
    use crate::drive::HostObserver;
    use ftlab_flash::Lpn;
    use std::sync::Mutex;

    struct Log(Arc<Mutex<Vec<(u32, u32)>>>);

    impl HostObserver for Log {
        fn write(&mut self, lpn: Lpn, stream: u16) {
            self.0.lock().unwrap().push((lpn.0, stream.into()));
        }

        fn trim(&mut self, first: Lpn, pages: u32) {
            self.0.lock().unwrap().push((first.0, pages));
        }

        fn renew_handle(&mut self, _: u16) {}
    }

    let (backing, _) = created();
    let log = Arc::default();
    let observer = Box::new(Log(Arc::clone(&log)));
    let options = OpenOptions { observer: Some(observer), ..OpenOptions::default() };
    let drive = Drive::open_alone(backing as _, options).unwrap();
    drive.write(PAGE as u64 / 2, &[1; PAGE]).unwrap();
    drive.write_stream(2 * PAGE as u64, &[1; PAGE], 3).unwrap();
    drive.trim(0, 4 * PAGE as u64).unwrap();
    assert_eq!(*log.lock().unwrap(), [(0, 0), (1, 0), (2, 3), (0, 4)]);
}

/// Opens the drive so that nothing may be written to it.
fn open_for_reading(backing: &Arc<PowerCut>) -> Drive {
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    Drive::open_alone(Arc::clone(backing) as _, options).unwrap()
}

#[test]
fn a_drive_opened_for_reading_is_what_a_recovery_would_make_of_it_and_is_not_written() {
    let (backing, _) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, 3);
    drive.flush().unwrap();
    drive.abandon();
    for fate in 0..3 {
        let mut turn = 0;
        let bytes = backing.survivor(|choices| {
            turn += 1;
            (fate + turn) % choices
        });
        let backing = Arc::new(PowerCut::new(bytes));
        let view = open_for_reading(&backing);
        assert_eq!(unreadable_after_fill(&view, 3), [0_u32; 0]);
        assert!(view.is_read_only() && view.flush().is_ok());
        let error = write(&view, 1, 9).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnlyFilesystem);
        assert_eq!(error.to_string(), "the drive is read-only: it was opened for reading only");
        let (counters, mapping) = (view.snapshot().counters, view.mapping());
        view.close().unwrap();
        assert_eq!(backing.operations(), 0);
        let drive = open(&backing).unwrap();
        assert_eq!((drive.snapshot().counters, drive.mapping()), (counters, mapping));
    }
}

#[test]
fn a_recovery_that_cannot_be_written_leaves_a_drive_that_can_be_read() {
    let (backing, _) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, 3);
    drive.flush().unwrap();
    drive.abandon();
    let backing = Arc::new(backing.restarted());
    backing.fail_to_sync();
    let drive = open(&backing).unwrap();
    let reason = drive.read_only().unwrap();
    assert!(reason.starts_with("cannot make durable what was recovered"), "{reason}");
    assert_eq!(unreadable_after_fill(&drive, 3), [0_u32; 0]);
    drive.close().unwrap();
}
