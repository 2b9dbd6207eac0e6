use super::propose;

fn proposal(text: &str) -> Option<String> {
    propose(text.as_bytes(), 4096)
}

/// The map that is said to read a table.
fn map(text: &str) -> Option<String> {
    let said = proposal(text)?;
    let (_, rest) = said.split_once("--map \"")?;
    let (map, rest) = rest.split_once('"')?;
    assert!(rest.starts_with(" reads it:"), "{said}");
    Some(map.to_owned())
}

#[test]
fn a_map_follows_from_the_words_of_a_header() {
    for (text, expected) in [
        (
            "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\n\
             0.000004    tool           901    nvme0n1   W 2048       4096      0.43\n\
             0.000104    tool           902    nvme0n1   R 2056       8192      0.10\n",
            "ts:s=TIME(s),volume:name=DISK,op=T,off:sectors=SECTOR,len:bytes=BYTES",
        ),
        (
            "time_ms,op,offset_kb,size_kb\n1,W,4,4\n2,W,8,4\n",
            "ts:ms=time_ms,op=op,off:KiB=offset_kb,len:KiB=size_kb",
        ),
        (
            "timestamp,device_id,op,offset_bytes,length_bytes\n1577808144360767,3,W,4096,16384\n\
             1577808144360777,3,R,4096,4096\n",
            "ts:us=timestamp,volume=device_id,op=op,off:bytes=offset_bytes,len:bytes=length_bytes",
        ),
        (
            "Time,Op,Offset,Bytes\n0.1,W,4096,4096\n0.2,W,8192,4096\n",
            "ts:s=Time,op=Op,off:bytes=Offset,len:bytes=Bytes",
        ),
        (
            "filename,file_offset,op_type,request_io_size_bytes,start_time\n\
             a1,1048576,WRITE,65536,1700000001.25\na1,0,READ,4096,1700000001.35\n",
            "ts:s=start_time,volume:name=filename,op=op_type,off:bytes=file_offset,len:bytes=request_io_size_bytes",
        ),
        (
            "Sector;is_write;NumSectors\n8;1;8\n16;0;8\n",
            "op=is_write,op:1=W,op:0=R,off:sectors=Sector,len:sectors=NumSectors",
        ),
        (
            "# rwbs offset_bytes length_bytes\nWS 0x1000 4096.0\nFWFS 0 512\n",
            "op=rwbs,off:bytes=offset_bytes,len:bytes=length_bytes",
        ),
        ("op,offset,a=b\nW,4096,1\n", ""),
        (
            "op|op|offset_bytes|size_bytes\nW|7|0|512\n",
            "op=1,off:bytes=offset_bytes,len:bytes=size_bytes",
        ),
    ] {
        assert_eq!(map(text).unwrap_or_default(), expected, "{text}{:?}", proposal(text));
    }
}

#[test]
fn what_would_be_read_is_shown() {
    let said = proposal(
        "Time,Op,Offset,Bytes\n0.1,W,4096,4096\n0.2,R,8192,8192\n0.5,F,0,0\n0.5,D,0,512\n",
    )
    .unwrap();
    assert_eq!(
        said,
        "by the words of its header, --map \"ts:s=Time,op=Op,off:bytes=Offset,len:bytes=Bytes\" reads it:\n    \
         write of 4KiB at byte 4096, at 0.1 s\n    \
         read of 8KiB at byte 8192, at 0.2 s\n    \
         flush, at 0.5 s\n    \
         4 requests of the first rows write 4KiB and read 8KiB, in 0.4 s\n    \
         not known: whether Time counts s, as is assumed because of its fractions; \
         whether Offset counts bytes, as is assumed because all of it are multiples of 512"
    );
}

#[test]
fn what_a_header_does_not_say_is_not_guessed() {
    for (text, missing) in [
        (
            "ts,opcode,slba,nlb\n100,write,16,7\n200,read,24,0\n",
            "the size of the blocks that slba counts",
        ),
        (
            "ts,opcode,slba,nlb\n100,write,16,7\n200,read,24,0\n",
            "nlb as NVMe counts it, where 0 is one block",
        ),
        (
            "# block_id io_offset io_size op_time op_name user\n1234 0 4194304 1670000000.1 1 1\n\
             1234 4194304 4194304 1670000000.2 3 1\n",
            "what \"1\" (1 row), \"3\" (1 row) in op_name mean: op=op_name and op:CODE=W",
        ),
        (
            "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,1024,42932747\n",
            "what \"28\" (1 row), \"2a\" (1 row) in op mean",
        ),
        (
            "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n",
            "the unit of time: ts:s=time, or ms, us, ns, 100ns",
        ),
        ("op,offset_kb,size_kb\nW,64,64\n", "whether offset_kb counts 1,000 bytes"),
        ("op,offset,size\nW,7,8\n", "the unit of offset: off:bytes=offset, or sectors, pages, KiB"),
        ("offset_bytes,size_bytes\n512,512\n", "what reads and what writes: op=COLUMN, or op:*=W"),
        ("op,offset_bytes\nW,512\n", "no name says how long a request is"),
        ("op,kind,offset_bytes,size_bytes\nW,R,512,512\n", "which of op, kind is the operation"),
        (
            "op,offset_bytes,lba_bytes,size_bytes\nW,512,512,512\n",
            "which of offset_bytes, lba_bytes it is",
        ),
        ("action,offset_bytes,size_bytes\nD,512,512\n", "what \"D\" (1 row) in action mean"),
        (
            "op,offset_bytes,size_bytes\nW,512,512.5\n",
            "what \"512.5\" in size_bytes is, which is no whole number",
        ),
    ] {
        let said = proposal(text).unwrap();
        assert!(said.contains(missing), "{said}");
        assert!(!said.contains("--map \""), "{said}");
    }
    for text in [
        "0, 114, 1, 4096, 4096, 0\n1, 120, 1, 4096, 8192, 0\n",
        "W 77 8\nR 12345 16\n",
        "4711\n12\n",
    ] {
        assert!(proposal(text).unwrap().contains("have no names"), "{text}");
    }
    for text in ["", "a\n", "1,2\n3\n", "some words\nof a text\n", "{\n  \"a\": 1\n}\n"] {
        assert_eq!(proposal(text), None, "{text}");
    }
}

#[test]
fn a_proposal_is_withdrawn_if_it_does_not_read_the_rows() {
    let said = proposal("op,offset_bytes,size_bytes\nW,0,512\nW,0,4398046511104\n").unwrap();
    assert!(
        said.contains("would not: the table, line 3: ") && !said.contains("--map \""),
        "{said}"
    );
}

#[test]
fn a_table_of_every_stage_of_a_request_has_no_map() {
    let text = "action,rwbs,sector,sectors\nQ,W,0,8\nD,W,0,8\nC,W,0,8\n";
    assert_eq!(map(text), None);
    let said = proposal(text).unwrap();
    assert!(said.contains("which rows are requests, since action has \"C\" (1 row)"), "{said}");
    assert!(map("action,rwbs,sector,sectors\nD,W,0,8\nD,R,8,8\n").is_some());
}

#[test]
fn a_last_row_without_an_end_counts() {
    let said = proposal("op,offset_bytes,size_bytes\nW,0,4096\nW,4096,4096").unwrap();
    assert!(said.contains("2 requests"), "{said}");
}
