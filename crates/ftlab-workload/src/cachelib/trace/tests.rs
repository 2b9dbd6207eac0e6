//! Formats and what is made of them.

use super::*;
use crate::cachelib::parameters::CacheLibParameters;
use ftlab_spec::Parameters;
use proptest::prelude::*;
use std::fs;

/// The requests of a file with this name and content, as many as fit: object, bytes and what is asked, objects
/// numbered in order of appearance.
fn read(name: &str, content: &[u8], rest: &str) -> Result<Vec<(usize, u32, Ask)>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let spec = format!("cachelib:file={}{rest}", path.display()).parse().unwrap();
    let parameters = CacheLibParameters::from_spec(&spec).map_err(|error| error.to_string())?;
    let mut trace = Trace::open(&parameters, 1).map_err(|error| error.to_string())?;
    let mut out = Vec::with_capacity(12);
    let mut names = Vec::new();
    trace.next(&mut out).map_err(|error| error.to_string())?;
    let mut number = |key: u64| {
        names.iter().position(|known| *known == key).unwrap_or_else(|| {
            names.push(key);
            names.len() - 1
        })
    };
    Ok(out.iter().map(|access| (number(access.key), access.bytes, access.ask)).collect())
}

const META_2022: &str = "key,op,size,op_count,key_size\n\
    7,GET,100,2,20\n8,SET,5000,1,30\n8,GET,0,1,30\n";
const META_2024: &str = "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n\
    1,a,10,GET_LEASE,1,90,1,0,u,s\n2,b,10,SET,1,0,0,60,u,s\n3,a,10,DELETE,1,0,0,0,u,s\n";
const TWITTER: &str =
    "0,ab,2,98,1,get,0\n1,a,b,c,5,0,2,gets,0\n1,a,b,c,5,20,2,set,60\n2,ab,2,0,1,delete,0\n";

#[test]
fn traces_of_meta_have_columns_by_name() {
    let requests = read("kv.csv", META_2022.as_bytes(), ",repeat=off").unwrap();
    let expected = [(0, 120, Ask::Get), (0, 120, Ask::Get), (1, 5030, Ask::Set), (1, 0, Ask::Get)];
    assert_eq!(requests, expected);
    let requests = read("kv.csv", META_2024.as_bytes(), ",repeat=off").unwrap();
    assert_eq!(requests, [(0, 100, Ask::Get), (1, 10, Ask::Set), (0, 0, Ask::Delete)]);
}

#[test]
fn keys_of_twitter_may_have_commas() {
    let requests = read("cluster1", TWITTER.as_bytes(), ",repeat=off").unwrap();
    let expected = [(0, 100, Ask::Get), (1, 0, Ask::Get), (1, 25, Ask::Set), (0, 0, Ask::Delete)];
    assert_eq!(requests, expected);
}

#[test]
fn records_are_gets() {
    let mut bytes = Vec::new();
    for (object, size) in [(1_u64 << 40, 300_u32), (9, 5_000_000), (1 << 40, 300)] {
        bytes.extend(5_u32.to_le_bytes());
        bytes.extend(object.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend((-1_i64).to_le_bytes());
    }
    let expected = [(0, 300, Ask::Get), (1, 5_000_000, Ask::Get), (0, 300, Ask::Get)];
    assert_eq!(read("a.oracleGeneral", &bytes, ",repeat=off").unwrap(), expected);
    let packed = zstd::encode_all(&bytes[..], 1).unwrap();
    assert_eq!(read("a.oracleGeneral.zst", &packed, ",repeat=off").unwrap(), expected);
    assert_eq!(read("a", &bytes, ",format=oracle-general,repeat=off").unwrap(), expected);
}

#[test]
fn traces_repeat_and_copies_of_objects_take_turns() {
    let requests = read("cluster1", b"0,k,2,98,1,get,0\n0,l,2,98,1,get,0\n", "").unwrap();
    let objects: Vec<usize> = requests.iter().map(|(object, ..)| *object).collect();
    assert_eq!(objects, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let requests = read("kv.csv", META_2022.as_bytes(), ",copies=3,repeat=off").unwrap();
    let objects: Vec<usize> = requests.iter().map(|(object, ..)| *object).collect();
    assert_eq!(objects, [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]);
}

#[test]
fn wrong_lines_are_named() {
    for (content, rest, said) in [
        ("time,what\n1,2\n", "", "give format=meta, twitter or oracle-general"),
        ("", "", "give format=meta, twitter or oracle-general"),
        ("time,what\n1,2\n", ",format=meta", "line 1: \"time,what\""),
        ("key,op,size\n1,GET\n", "", "should be as many fields as the header has; correct it"),
        ("key,op,size\n1,PUT,4\n", "", "should be GET, GET_LEASE, SET, SET_LEASE or DELETE as op"),
        ("key,op,size\n1,GET,x\n", "", "should be whole numbers as size"),
        ("key,op,size\n1,GET,5000000000\n", "", "below 2^32"),
        ("key,op,size\n", "", "no requests"),
        ("0,k,2,98,1,get,0\n0,k,2\n", "", "should be time,key,key size,value size"),
    ] {
        let error = read("trace", content.as_bytes(), rest).unwrap_err();
        assert!(error.contains(said), "{content:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_read_is_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        fields in prop::collection::vec("[a-zA-Z_0-9,]{0,12}", 0..60),
        start in prop::sample::select(vec!["", "key,op,size\n", "op,key,size,op_count,key_size\n1,2,", "0,k,2,98,1,get,0\n"]),
        format in prop::sample::select(vec!["auto", "meta", "twitter", "oracle-general"]),
    ) {
        let rest = format!(",format={format}");
        let _ = read("trace", &bytes, &rest);
        let _ = read("trace", format!("{start}{}", fields.join(",")).as_bytes(), &rest);
        let _ = read("trace", format!("{start}{}", fields.join("\n")).as_bytes(), &rest);
    }
}
