//! Requests of any size and alignment against an array of bytes.

use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Request {
    Write(u64, u8),
    Trim(u64),
    Zero(u64, bool),
    Read,
    Reopen,
}

fn requests() -> impl Strategy<Value = Vec<(u64, Request)>> {
    let request = prop_oneof![
        4 => (0..3000_u64, any::<u8>()).prop_map(|(bytes, value)| Request::Write(bytes, value)),
        1 => (0..9000_u64).prop_map(Request::Trim),
        1 => (0..3000_u64, any::<bool>()).prop_map(|(bytes, trim)| Request::Zero(bytes, trim)),
        4 => Just(Request::Read),
        1 => Just(Request::Reopen),
    ];
    prop::collection::vec((0..u64::from(LOGICAL_PAGES) * PAGE as u64, request), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_drive_is_an_array_of_bytes(requests in requests()) {
        let (backing, _) = created();
        let mut drive = open(&backing).unwrap();
        let mut array = vec![0; drive.bytes() as usize];
        for (offset, request) in requests {
            let size = drive.bytes();
            let range = |bytes: u64| offset as usize..(offset + bytes).min(size) as usize;
            match request {
                Request::Write(bytes, value) => {
                    let data: Vec<u8> = range(bytes).map(|at| at as u8 ^ value).collect();
                    drive.write(offset, &data).unwrap();
                    array[range(bytes)].copy_from_slice(&data);
                }
                Request::Trim(bytes) => {
                    drive.trim(offset, range(bytes).len() as u64).unwrap();
                    array[range(bytes)].fill(0);
                }
                Request::Zero(bytes, may_trim) => {
                    drive.write_zeroes(offset, range(bytes).len() as u64, may_trim).unwrap();
                    array[range(bytes)].fill(0);
                }
                Request::Read => {
                    let mut data = vec![1; range(20_000).len()];
                    drive.read(offset, &mut data).unwrap();
                    prop_assert!(data == array[range(20_000)]);
                }
                Request::Reopen => {
                    drive.close().unwrap();
                    drive = open(&backing).unwrap();
                }
            }
        }
        let mut data = vec![1; array.len()];
        drive.read(0, &mut data).unwrap();
        prop_assert!(data == array);
    }
}

#[test]
fn what_is_beyond_the_drive_is_an_error() {
    let (backing, _) = created();
    let drive = open(&backing).unwrap();
    let size = drive.bytes();
    let error = drive.write(size - 1, &[0; 2]).unwrap_err().to_string();
    assert_eq!(error, format!("2 bytes at {} are beyond the drive's {size}", size - 1));
    assert!(drive.read(u64::MAX, &mut [0]).is_err());
    assert!(drive.trim(1, u64::MAX).is_err());
    drive.write(size, &[]).unwrap();
}

/// A drive with two placement handles and pages of 4 KiB.
#[test]
fn handles_count_bytes_as_the_host_sends_them_and_after_that_whole_pages() {
    let config = DriveConfig::new(Geometry::new(36, 16, 4096).unwrap(), LOGICAL_PAGES, 4);
    let ftl = "nvme-fdp:handles=2".parse().unwrap();
    let options = CreateOptions {
        ftl,
        config,
        mapping: ftlab_ftl::map::Mapping::FULL,
        checkpoint_every: None,
    };
    let bytes = Drive::backing_bytes(&options).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
    let told = |drive: &Drive| {
        let handles = drive.placement_handles().unwrap().handles;
        [0, 1].map(|handle| {
            let counters = &handles[handle].counters;
            (counters.host_bytes(4096), counters.media_bytes(4096))
        })
    };
    let drive = open(&backing).unwrap();
    drive.write_stream(4096, &[1; 8192], 1).unwrap();
    // Half a page, a whole one and a sector of another; and a sector of a page.
    drive.write_stream(4 * 4096 + 2048, &[2; 2048 + 4096 + 512], 1).unwrap();
    drive.write(9 * 4096 + 1024, &[3; 512]).unwrap();
    let of_1 = (8192 + 2048 + 4096 + 512, 5 * 4096);
    assert_eq!(told(&drive), [(512, 4096), of_1]);
    // Zeros are not sent, and trims are no writes; both change a part of a page.
    drive.write_zeroes(4096 + 512, 512, false).unwrap();
    drive.trim(2 * 4096, 512).unwrap();
    assert_eq!(told(&drive), [(512, 3 * 4096), of_1]);
    drive.close().unwrap();
    let again = open(&backing).unwrap();
    assert_eq!(told(&again), [(3 * 4096, 3 * 4096), (5 * 4096, 5 * 4096)]);
}

#[test]
fn many_threads_read_what_they_wrote_while_collections_run() {
    let (backing, _) = created();
    let drive = Drive::open_on(backing as _, OpenOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let drive = &drive;
            scope.spawn(move || {
                let mut page = [0; PAGE];
                for version in 1..200 {
                    for lpn in (thread..LOGICAL_PAGES).step_by(16) {
                        write(drive, lpn, version).unwrap();
                        drive.read(u64::from(lpn) * PAGE as u64, &mut page).unwrap();
                        assert_eq!(page, content(lpn, version));
                    }
                    if version % 20 == thread {
                        drive.flush().unwrap();
                    }
                }
            });
        }
    });
    let snapshot = drive.snapshot_with_blocks();
    assert_eq!(snapshot.counters.host_writes, 4 * 199 * 24);
    assert_eq!(snapshot.totals.media_errors, 0);
    assert_eq!(snapshot.blocks.len(), 36);
    drive.close().unwrap();
}
