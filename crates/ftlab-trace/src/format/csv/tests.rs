use super::super::read_text;
use super::*;
use crate::{Layout, Op, RequestBatch};

fn parse(text: &str, map: &str) -> Result<(RequestBatch, String), String> {
    let options = OpenOptions {
        map: (!map.is_empty()).then(|| map.to_owned()),
        format: map.is_empty().then(|| "csv".to_owned()),
        layout: Layout::Keep,
        ..OpenOptions::default()
    };
    read_text(text, &options)
}

fn requests(text: &str, map: &str) -> Vec<(Op, u64, u32)> {
    parse(text, map).unwrap().0.iter().collect()
}

#[test]
fn columns_are_found_by_number_and_unit() {
    let text = "17,W,81920,4096,1577900000000321\n17,R,81920,512,1577900000000322\n";
    let (batch, _) = parse(text, "ts:us=5,op=2,off:bytes=3,len:bytes=4,volume=1").unwrap();
    let expected = [(Op::Write, 160, 8), (Op::Read, 160, 1)];
    assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
    assert_eq!(batch.time_us, [1_577_900_000_000_321, 1_577_900_000_000_322]);
    assert_eq!(batch.volume, [17, 17]);
    let units = "ts:s=1,off:sectors=2,len:sectors=3,op=4,op:0=R,op:1=W";
    assert_eq!(requests("1538350007,204800,16,1,1063\n", units), [(Op::Write, 204_800, 16)]);
    assert_eq!(requests("8 1 d\n", "off:KiB=1,len:pages=2,op=3"), [(Op::Trim, 16, 8)]);
    assert_eq!(requests("4711\n", "off:pages=1,op:*=W"), [(Op::Write, 37_688, 8)]);
}

#[test]
fn columns_are_found_by_name_in_any_layout() {
    for text in [
        "Offset,Type,Size\n512,Write,512\n",
        "Type;Offset;Size\nwrite; 512 ;512\n",
        "\"Type\"\t\"Size\"\t\"Offset\"\nW\t\"512\"\t512\n",
        "# a comment\n\nSize Offset Type\n512   512  w\n",
        "x,Type,\"a,b\",Offset,Size\n0,W,\"1,2\",512,512\r\n",
    ] {
        let found = requests(text, "op=Type,off=Offset,len=Size");
        assert_eq!(found, [(Op::Write, 1, 1)], "{text}");
    }
    let error = parse("Offset,Type\n1,W\n", "op=Type,off=Offset,len=Size").unwrap_err();
    assert_eq!(
        error,
        "test, line 1: the map names column \"Size\", and the header has Offset, Type; correct \
         --map, or name columns by number from 1"
    );
}

#[test]
fn a_line_with_more_columns_than_the_header_is_wrong() {
    for (header, map) in [("op,offset,note", "op=1,off=2"), ("offset;note;op", "op=op,off=offset")]
    {
        let delimiter = if header.contains(';') { ";" } else { "," };
        let lines = |row: &str| format!("{header}\n{}\n", row.replace(',', delimiter));
        let right = if map == "op=1,off=2" { "W,4096,x" } else { "4096,x,W" };
        assert_eq!(requests(&lines(right), map), [(Op::Write, 8, 8)]);
        let error = parse(&lines(&format!("{right}\n{right},9")), map).unwrap_err();
        assert!(error.starts_with("test, line 3: "), "{error}");
        assert!(error.contains("expected no more columns than the header has"), "{error}");
    }
    let own = "op,lba,sectors\nwrite,0,8\nwrite,8,8,8\n";
    assert!(parse(own, "").unwrap_err().starts_with("test, line 3: \"write,8,8,8\" is wrong"));
    // Without a header nobody knows how many there are.
    assert_eq!(requests("W,4096\nW,8192,1,2\n", "op=1,off=2").len(), 2);
}

#[test]
fn a_header_is_passed_over_where_columns_have_numbers() {
    let (batch, skipped) = parse("op,offset\nW,4096\n", "op=1,off=2").unwrap();
    assert_eq!(batch.lba, [8]);
    assert_eq!(skipped, "1 x header, first line 1: \"op,offset\"");
}

#[test]
fn times_come_in_many_units() {
    for (time, unit, expected) in [
        ("1.0000015", "s", 1_000_001),
        ("1.5", "ms", 1500),
        ("7", "us", 7),
        ("7999", "ns", 7),
        ("79", "100ns", 7),
    ] {
        let (batch, _) = parse(&format!("{time},W,0"), &format!("ts:{unit}=1,op=2,off=3")).unwrap();
        assert_eq!(batch.time_us, [expected], "{time} {unit}");
    }
}

#[test]
fn operations_are_never_guessed() {
    let map = "op=1,off=2";
    let error = parse("0,4096\n", map).unwrap_err();
    assert!(error.contains("give other words a meaning with op:WORD=W"), "{error}");
    let (batch, skipped) = parse(",512\nW,512\n", "op=1,off=2,op:=skip").unwrap();
    assert_eq!(batch.len(), 1);
    assert!(skipped.contains("1 x operation that the map skips"), "{skipped}");
    assert_eq!(requests("f,\nW,512\n", map)[0], (Op::Flush, 0, 0));
}

#[test]
fn words_of_the_kernel_are_operations_unless_the_map_says_otherwise() {
    let text = "1,WS,4096,3\n2,RA,512,3\n3,FWFS,0,4\n4,DS,512,4\n5,FN,0,4\n";
    let (batch, _) = parse(text, "ts=1,op=2,off=3,stream=4").unwrap();
    let operations: Vec<_> = batch.iter().map(|(op, lba, _)| (op, lba)).collect();
    let expected = [
        (Op::Write, 8),
        (Op::Read, 1),
        (Op::Flush, 0),
        (Op::Write, 0),
        (Op::Trim, 1),
        (Op::Flush, 0),
    ];
    assert_eq!(operations, expected);
    assert_eq!(batch.time_us, [1, 2, 3, 3, 4, 5]);
    assert_eq!(batch.stream, [3, 3, 4, 4, 4, 4]);
    assert_eq!(requests("RA,512\n", "op=1,off=2,op:*=W"), [(Op::Write, 1, 8)]);
    for wrong in ["WX", "S", "RW", "ws", "X"] {
        let error = parse(&format!("{wrong},512\n"), "op=1,off=2").unwrap_err();
        assert!(error.contains("expected an operation; give other words"), "{error}");
    }
}

#[test]
fn a_header_may_be_a_comment_and_have_any_names() {
    let map = "op=kind,off=where";
    for text in ["# kind where\nW 0x200\n", "#\n## where|kind\n512.0|W\n", "# kind, where\nW 512\n"]
    {
        assert_eq!(requests(text, map), [(Op::Write, 1, 8)], "{text}");
    }
    let text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n\
                128166372003061629,h,1,Read,383496192,32768,113736\r\n\
                128166372016382155,h,1,Write,310378496,4096,46748\r\n";
    let (batch, skipped) = read_text(text, &OpenOptions::default()).unwrap();
    assert_eq!(
        batch.iter().collect::<Vec<_>>(),
        [(Op::Read, 749_016, 64), (Op::Write, 606_208, 8)]
    );
    assert!(skipped.starts_with("1 x header, first line 1: \"Timestamp,Hostname"), "{skipped}");
}

#[test]
fn a_map_that_matches_nothing_is_an_error() {
    let error = parse("a,b\n", "op=1,off=2").unwrap_err();
    assert!(error.contains("no requests in 1 lines (1 x header"), "{error}");
    let error = parse("W,512\n", "op=1,off=2,op:W=skip").unwrap_err();
    assert!(error.contains("no requests in 1 lines"), "{error}");
    let error = parse("W,512\n", "op=1,off=7").unwrap_err();
    assert!(error.contains("as many columns as the map names"), "{error}");
    let error = parse("W,512\n", "").unwrap_err();
    assert!(error.contains("csv: map= is not a map such as"), "{error}");
    let error = parse("W,512\n", "off=1").unwrap_err();
    assert!(error.contains("off is required"), "{error}");
}

#[test]
fn wrong_values_say_what_is_right() {
    let map = "ts:s=1,op=2,off=3,len=4,stream=5";
    let good = "1,W,512,512,3\n";
    for (line, expected) in [
        ("x,W,512,512,3", "a time as a number from 0"),
        ("1,W,-1,512,3", "a whole number as offset"),
        ("1,W,512,4k,3", "a whole number as length"),
        ("1,W,512,512,65536", "a stream in 0..=65535"),
        ("1,W,512,2199023255552,3", "a length below 2 TiB"),
        ("1,W,18446744073709551615,512,3", "an end below 2^64 bytes"),
        ("1", "as many columns as the map names"),
    ] {
        let error = parse(&format!("{good}{line}\n"), map).unwrap_err();
        assert!(error.contains(&format!("line 2: {line:?} is wrong")), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn our_own_header_needs_no_map() {
    let text = "t_us,op,lba,sectors\n5,trim,16,8\n6,flush,0,0\n";
    let input = Input::from_bytes("test", text.to_owned().into_bytes()).unwrap();
    let mut source = crate::open_input(input, &OpenOptions::default()).unwrap();
    let mut batch = RequestBatch::new();
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Trim, 16, 8), (Op::Flush, 0, 0)]);
    assert!(source.metadata().format.starts_with("csv:map=ts:us=t_us;"));
}

#[test]
fn volumes_have_numbers_or_names() {
    let text = "prn,1,W,512\nprn,2,W,512\nprn,1,W,1024\n";
    let (batch, _) = parse(text, "volume:name=1+2,op=3,off=4").unwrap();
    assert_eq!(batch.volume, [0, 1, 0]);
    let (batch, _) = parse(text, "volume:name=1,op=3,off=4").unwrap();
    assert_eq!(batch.volume, [0, 0, 0]);
    let (batch, _) = parse(text, "volume=2,op=3,off=4").unwrap();
    assert_eq!(batch.volume, [1, 2, 1]);
    let error = parse(text, "volume=1,op=3,off=4").unwrap_err();
    assert!(error.contains("expected a volume below 2^32"), "{error}");
    let options = OpenOptions {
        map: Some("volume:name=1+2,op=3,off=4".into()),
        volumes: vec!["prn_1".into()],
        ..OpenOptions::default()
    };
    assert_eq!(read_text(text, &options).unwrap().0.lba, [1, 2]);
}

#[test]
fn every_preset_parses_its_own_map_and_shows_its_units() {
    for format in crate::format::FORMATS {
        let parameters = (format.parameters)();
        for parameter in parameters.iter().filter(|p| ["offset", "length"].contains(&p.name)) {
            assert!(!parameter.default.is_empty(), "{}", format.name);
            assert_eq!(parameter.expects, "one of bytes, sectors, pages, KiB");
        }
    }
}
