use super::*;
use crate::{Input, Op, open_input};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Volume, operation, first sector, sectors.
type Request = (u32, Op, u64, u32);

fn csv(requests: &[Request]) -> String {
    let line =
        |(volume, op, lba, sectors): &Request| format!("{volume},{},{lba},{sectors}\n", op.name());
    requests.iter().map(line).collect()
}

fn read(requests: &[Request], options: OpenOptions) -> Result<RequestBatch, String> {
    let options =
        OpenOptions { map: Some("volume=1,op=2,off:sectors=3,len:sectors=4".into()), ..options };
    let input = Input::from_bytes("test", csv(requests).into_bytes()).unwrap();
    let mut source = open_input(input, &options).map_err(|error| error.to_string())?;
    let (mut all, mut batch) = (RequestBatch::new(), RequestBatch::with_limit(3));
    while source.next_batch(&mut batch).map_err(|error| error.to_string())? {
        assert!(!batch.is_empty() && batch.len() <= 3);
        all.extend_from(&batch);
    }
    Ok(all)
}

fn with(volumes: &[&str], layout: Layout) -> OpenOptions {
    let volumes = volumes.iter().map(|name| (*name).to_owned()).collect();
    OpenOptions { volumes, layout, ..OpenOptions::default() }
}

fn requests(batch: &RequestBatch) -> Vec<(Op, u64, u32)> {
    batch.iter().collect()
}

const THREE: &[Request] =
    &[(7, Op::Write, 8, 8), (9, Op::Write, 8, 8), (7, Op::Write, 0, 24), (9, Op::Read, 16, 8)];

#[test]
fn a_second_volume_is_refused_with_what_to_do() {
    let error = read(THREE, OpenOptions::default()).unwrap_err();
    let expected = "requests for volume 9 follow requests for volume 7, and each has addresses of \
                    its own; keep one with --volume 7, lay them out with --side-by-side";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn volumes_are_kept_by_name() {
    let one = read(THREE, with(&["9"], Layout::ByFormat)).unwrap();
    assert_eq!(requests(&one), [(Op::Write, 8, 8), (Op::Read, 16, 8)]);
    assert!(one.volume.is_empty());
    let both = read(THREE, with(&["9", "7"], Layout::Keep)).unwrap();
    assert_eq!(both.volume, [7, 9, 7, 9]);
    assert_eq!(read(THREE, with(&[], Layout::Keep)).unwrap(), both);
    let error = read(THREE, with(&["9", "8"], Layout::Keep)).unwrap_err();
    assert!(error.contains("no request is for volume \"8\"; its volumes are 7, 9"), "{error}");
}

#[test]
fn large_pieces_lay_volumes_side_by_side() {
    let all = read(THREE, with(&[], Layout::SIDE_BY_SIDE)).unwrap();
    let gib = 1 << 21;
    let expected =
        [(Op::Write, 8, 8), (Op::Write, gib + 8, 8), (Op::Write, 0, 24), (Op::Read, gib + 16, 8)];
    assert_eq!(requests(&all), expected);
}

#[test]
fn small_pieces_leave_out_what_is_not_touched() {
    let sparse = [
        (0, Op::Write, 8000, 8),
        (0, Op::Trim, 0, 9000),
        (0, Op::Write, 1 << 40, 16),
        (0, Op::Trim, 1 << 41, 8),
        (0, Op::Write, 7996, 8),
        (0, Op::Flush, 0, 0),
    ];
    let all = read(&sparse, with(&[], Layout::Pieces(4096))).unwrap();
    let expected = [
        (Op::Write, 0, 8),
        (Op::Trim, 0, 8),
        (Op::Write, 8, 16),
        (Op::Write, 28, 4),
        (Op::Write, 0, 4),
        (Op::Flush, 0, 0),
    ];
    assert_eq!(requests(&all), expected);
    let error = read(&sparse, with(&[], Layout::Pieces(100))).unwrap_err();
    assert!(error.contains("a piece of 100 bytes is not a multiple of 512"), "{error}");
}

proptest! {
    #[test]
    fn pieces_move_every_sector_to_a_place_of_its_own(
        all in prop::collection::vec((0u32..3, 0u8..4, 0u64..200, 1u32..60), 1..40),
        piece in 1u64..20,
    ) {
        let all: Vec<Request> = all
            .into_iter()
            .map(|(volume, code, lba, sectors)| match Op::from_code(code).unwrap() {
                Op::Flush => (volume, Op::Flush, 0, 0),
                op => (volume, op, lba, sectors),
            })
            .collect();
        let mut batch = RequestBatch::new();
        for (volume, op, lba, sectors) in &all {
            batch.push(*op, *lba, *sectors);
            batch.volume.push(*volume);
        }
        let mut placed = RequestBatch::new();
        Pieces::new(piece).place(&batch, &mut placed).unwrap();
        // The naive twin moves sector by sector.
        let mut places: BTreeMap<(u32, u64), u64> = BTreeMap::new();
        let mut expected = Vec::new();
        for (volume, op, lba, sectors) in all {
            for sector in lba..lba + u64::from(sectors) {
                let next = places.len() as u64;
                let key = (volume, sector / piece);
                let place = match op {
                    Op::Trim => places.get(&key).copied(),
                    _ => Some(*places.entry(key).or_insert(next)),
                };
                expected.extend(place.map(|place| (op, place * piece + sector % piece)));
            }
        }
        let found: Vec<_> = placed
            .iter()
            .flat_map(|(op, lba, n)| (lba..lba + u64::from(n)).map(move |sector| (op, sector)))
            .collect();
        prop_assert_eq!(found, expected);
    }
}
