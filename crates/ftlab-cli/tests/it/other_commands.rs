//! `ftlab list`, `convert`, `completions`, `man` and `--version`.

use crate::common::Place;

#[test]
fn the_version_is_printed() {
    let output = Place::new().ftlab("--version");
    assert_eq!(output.stdout, format!("{}\n", crate::common::written_by()));
}

#[test]
fn lists_come_from_the_registries() {
    let place = Place::new();
    for (what, parts) in [
        ("ftls", ["faster (ftl)", "blk-util=0.5", "greedy (victim)"]),
        ("workloads", ["zipf (generator)", "theta=0.9", "a number in 0.0..=10.0"]),
        ("formats", ["blkparse (format)", "read and written", "--format NAME"]),
        (
            "timings",
            [
                "slc (timing)",
                "channels=8 luns=8 block-pages=256; otherwise as slc",
                "--timing NAME",
            ],
        ),
    ] {
        let text = place.ftlab(&format!("list {what}")).stdout;
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        let json = place.ftlab(&format!("list {what} --json")).json();
        for item in json.as_array().unwrap() {
            assert!(text.contains(item["name"].as_str().unwrap()));
            assert!(item["parameters"].is_array());
        }
    }
    let timings = place.ftlab("list timings").stdout;
    let places = [
        "of the chip:",
        "read-us=",
        "of the drive:",
        "channels=",
        "of the host:",
        "unit=",
        "of the report:",
        "waits=",
    ];
    let found: Vec<_> = places.iter().map(|part| timings.find(&format!("    {part}"))).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?}");
    place.ftlab("list policies").fails(2, &["ftls, workloads, formats"]);
}

#[test]
fn what_results_tell_is_listed_with_its_unit_and_its_places() {
    let place = Place::new();
    let text = place.ftlab("list metrics").stdout;
    for part in [
        "host_writes (count of pages, of a run)",
        "in sweeps: host-writes",
        "refresh.running_relocations (series of pages, of a run)",
        "in series.parquet: refresh_relocations",
        "timing.lun_busy_share (list, of a LUN)",
        "streams[].relocations (count of pages, of a stream)",
        "copies-per-write (ratio, of a run)",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let json = place.ftlab("list metrics --json").json();
    let waf = json.as_array().unwrap().iter().find(|item| item["name"] == "waf").unwrap();
    assert_eq!((waf["kind"].as_str(), waf["sweep"].as_str()), (Some("ratio"), Some("waf")));
    assert!(waf["series"].is_null());
}

#[test]
fn the_examples_of_generators_in_generators_run() {
    let place = Place::new();
    let text = place.ftlab("list workloads").stdout;
    let examples = text.lines().filter_map(|line| line.trim().strip_prefix("ftlab run '"));
    let examples: Vec<_> = examples.collect();
    assert_eq!(examples.len(), 2, "{text}");
    for example in examples {
        // There is no shell here to remove the quotes, and 8 GiB would take too long.
        let small =
            example.replace('\'', "").replace("8GiB", "16MiB --pages-per-block 64 --op 20% --json");
        assert_eq!(place.ftlab(&format!("run {small}")).json()["runs"][0]["host_writes"], 16_384);
    }
}

#[test]
fn a_converted_trace_is_the_same_trace() {
    let place = Place::new();
    let made =
        place.ftlab("convert zipf:theta=0.9 z.parquet --logical 16MiB --writes 5000 --seed 3");
    assert_eq!(made.stdout, "wrote 5,000 requests to z.parquet\n", "{}", made.stderr);
    place.ftlab("convert z.parquet z.u32.zst");
    place.ftlab("convert z.u32.zst z.blkparse.gz --limit 4000");
    let hash = |arguments: &str| {
        let run = format!(
            "run {arguments} --logical 16MiB --pages-per-block 64 --writes 4000 --ftl fifo --json --quiet"
        );
        place.ftlab(&run).json()["trace_hash"].clone()
    };
    let expected = hash("zipf:theta=0.9 --seed 3");
    assert_eq!(hash("z.parquet"), expected);
    assert_eq!(hash("z.u32.zst"), expected);
    assert_eq!(hash("z.blkparse.gz"), expected);
}

#[test]
fn convert_says_what_a_format_has_no_place_for() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\ntrim,0,8\n");
    let text = place.ftlab("convert t.csv t.u32").stdout;
    assert!(text.contains("wrote 1 requests") && text.contains("1 x trim"), "{text}");
}

#[test]
fn an_iolog_has_no_request_of_no_bytes() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\nwrite,8,0\nflush,0,0\ntrim,16,0\nread,8,8\n");
    let made = place.ftlab("convert t.csv t.iolog");
    let (first, rest) = made.stdout.split_once('\n').unwrap();
    assert_eq!(first, "wrote 3 requests to t.iolog", "{}", made.stderr);
    let omitted = "omitted, because the format cannot store them: 1 x trim, 1 x write\n";
    assert!(rest.starts_with(omitted), "{rest}");
    let log = std::fs::read_to_string(place.path().join("t.iolog")).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.ends_with(" 0")).collect();
    assert_eq!(lines, ["2 ftlab-drive sync 0 0"], "{log}");
}

#[test]
fn a_column_of_volumes_can_be_ignored() {
    let place = Place::new();
    place.write("t.trace", "1000 4 264719034 16 0\n2000 3 197570570 16 0\n3000 13 93230992 32 0\n");
    place.ftlab("inspect t.trace --format mqsim").fails(
        2,
        &[
            "requests for volume 3 follow requests for volume 4",
            "--format mqsim:volume=ignore ignores it",
        ],
    );
    let json = place.ftlab("inspect t.trace --format mqsim:volume=ignore --json").json();
    assert_eq!(json["workloads"][0]["bytes"]["write"], 64 * 512);
}

#[cfg(feature = "containers")]
#[test]
fn a_trace_is_read_out_of_its_containers() {
    const SPC: &[u8] = b"BZh91AY&SY\xbc\xa3/\xc2\0\0\x06X\x80\0\x10\0\x05\x7f\xe0\0\x80 \x001\0\0\x04\xaazO\x02\x1e\xa4R\
        $\xe5\xbc9*\xcc6<\xad\xac,f\xe4i`\xd65\x14\xda \xf0\xbb\x92)\xc2\x84\x85\xe5\x19~\x10";
    let place = Place::new();
    place.write("t.spc.bz2", SPC);
    let found = place.ftlab("inspect t.spc.bz2 --json");
    assert_eq!(found.json()["workloads"][0]["format"], "spc", "{}", found.stderr);
    let mut header = [0_u8; 512];
    let text = b"op,off,len\nW,4096,4096\n";
    header[..5].copy_from_slice(b"t.csv");
    header[124..136].copy_from_slice(format!("{:011o} ", text.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut tar = [&header[..], text].concat();
    tar.resize(512 * 5, 0);
    place.write("t.tar", tar);
    let json = place.ftlab("inspect t.tar --map op=op,off:bytes=off,len:bytes=len --json").json();
    assert_eq!(json["workloads"][0]["bytes"]["write"], 4096);
}

#[test]
fn text_is_read_in_any_encoding_and_numbers_in_any_form() {
    let place = Place::new();
    let inspect = "inspect t.csv --map op=op,off:bytes=off,len:bytes=len --json";
    let text = "op,off,len\nW,0x1000,4096.0\n";
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let marked = format!("\u{feff}{text}");
    for bytes in [
        text.into(),
        text.replace('\n', "\r\n").into(),
        marked.clone().into(),
        wide(text),
        wide(&marked),
    ] {
        let bytes: Vec<u8> = bytes;
        place.write("t.csv", &bytes);
        let output = place.ftlab(inspect);
        assert_eq!(output.code, 0, "{bytes:02x?} {}", output.stderr);
        assert_eq!(output.json()["workloads"][0]["bytes"]["write"], 4096);
    }
    place.write("t.csv", "op,off,len\nW,0,4096.5\n");
    place
        .ftlab(inspect)
        .fails(1, &["t.csv, line 2: \"W,0,4096.5\" is wrong: expected a whole number as length"]);
}

#[test]
fn wrong_conversions_say_what_is_missing() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\n");
    place.ftlab("convert uniform u.parquet").fails(2, &["--logical 8GiB --writes 1000000"]);
    place.ftlab("convert t.csv t.xyz").fails(2, &["\"xyz\" does not say which format", ".parquet"]);
    place.ftlab("convert t.csv t.parquet --writes 3").fails(2, &["--limit N"]);
    place
        .ftlab("convert t.csv t.parquet --from-phase run")
        .fails(2, &["no phase \"run\"; it names none"]);
    place
        .ftlab("convert uniform u.parquet --logical 1MiB --limit 9")
        .fails(2, &["--limit is for traces, and uniform is a generator; --writes N"]);
    place.ftlab("convert t.csv t.parquet --seed 3").fails(2, &["--seed is for generators"]);
    place.ftlab("convert t.csv t.parquet --limit 0").fails(1, &["nothing to write"]);
    assert!(!place.path().join("t.parquet").exists());
}

const VOLUMES: &str = "\
17,W,1099511627776,4096,1577900000000321
4,W,8192,8192,1577900000000399
17,W,1099511627776,512,1577900000001000
17,W,0,4096,1577900000001001
";

#[test]
fn volumes_are_kept_chosen_split_or_laid_out() {
    let place = Place::new();
    place.write("t.csv", VOLUMES);
    let inspect = |arguments: &str| {
        place.ftlab(&format!("inspect {arguments} --json")).json()["workloads"][0].clone()
    };
    let sectors = |json: &serde_json::Value| {
        let addresses = &json["addresses"];
        (addresses["first_sector"].as_u64().unwrap(), addresses["end_sector"].as_u64().unwrap())
    };
    place.ftlab("run t.csv --ftl fifo").fails(
        2,
        &[
            "alibaba: requests for volume 4 follow requests for volume 17",
            "--volume 17",
            "--side-by-side or --compact",
            "`ftlab convert --split`",
        ],
    );
    let listed = place.ftlab("inspect t.csv");
    listed.fails(2, &["volume requests writes written", "keep one with --volume 17"]);
    let laid_out = place.ftlab("inspect t.csv --compact --quiet").stdout;
    for text in [&listed.stderr, &laid_out] {
        let of = |name: &str| text.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(of("4") && of("17"), "{text}");
    }
    assert_eq!(sectors(&inspect("t.csv --volume 4")), (16, 32));
    assert_eq!(sectors(&inspect("t.csv --compact")), (0, 32));
    assert_eq!(sectors(&inspect("t.csv --compact=512")), (0, 32));
    assert_eq!(sectors(&inspect("t.csv --side-by-side")), (0, (2 << 21) + 8));
    place.ftlab("inspect t.csv --volume 5").fails(2, &["volume \"5\"", "its volumes are 4, 17"]);
    place.ftlab("inspect t.csv --compact --side-by-side").fails(2, &["cannot be used with"]);
    place.ftlab("inspect t.csv --compact=100").fails(2, &["100 bytes is not a multiple of 512"]);
    // The native form keeps volumes; text has no place for them.
    assert_eq!(place.ftlab("convert t.csv all.parquet").code, 0);
    assert_eq!(sectors(&inspect("all.parquet --volume 4")), (16, 32));
    place.ftlab("convert t.csv all.blkparse").fails(2, &["keep one with --volume 17"]);
    let split = place.ftlab("convert t.csv one.parquet --split").stdout;
    assert!(split.contains("wrote 4 requests") && split.contains("2 files"), "{split}");
    assert_eq!(inspect("one.17.parquet")["requests"]["write"], 3);
    assert_eq!(inspect("one.4.parquet")["requests"]["write"], 1);
    place.ftlab("convert all.parquet two.csv.gz --split --volume 4");
    assert_eq!(inspect("two.4.csv.gz")["requests"]["write"], 1);
    place.ftlab("convert one.4.parquet x.csv --split").fails(2, &["has no volumes to split by"]);
}

#[test]
fn names_of_volumes_survive_conversion() {
    let place = Place::new();
    place.write(
        "t.csv",
        "128166400000000000,prn,0,Write,0,4096,1\n128166400000000001,prn,1,Write,0,512,1\n",
    );
    assert_eq!(place.ftlab("convert t.csv t.parquet").code, 0);
    let json = place.ftlab("inspect t.parquet --volume prn_1 --json").json();
    assert_eq!(json["workloads"][0]["addresses"]["end_sector"], 1);
}

#[test]
fn what_a_format_does_not_say_must_be_said() {
    let place = Place::new();
    place.write("t.txt", "500 0 2048 8 0\n");
    place
        .ftlab("inspect t.txt")
        .fails(1, &["fits several formats", "--format NAME: mqsim (", "disksim ("]);
    let json = place.ftlab("inspect t.txt --format mqsim --json").json();
    assert_eq!(json["workloads"][0]["requests"]["write"], 1);
    place
        .ftlab("inspect t.txt --format mqsim --assume-write")
        .fails(2, &["--assume-write cannot be combined with --format mqsim"]);
    place
        .ftlab("run uniform --logical 1MiB --ftl fifo --volume 3")
        .fails(2, &["--volume is for traces, and uniform is a generator"]);
}

#[cfg(feature = "completions")]
#[test]
fn completions_and_manual_pages_are_made() {
    let place = Place::new();
    assert!(place.ftlab("completions bash").stdout.contains("ftlab"));
    assert!(place.ftlab("man").stdout.contains(".TH ftlab 1"));
    assert!(place.ftlab("man run").stdout.contains("drive\\-writes"));
    for shell in ["bash", "zsh", "fish"] {
        let script = place.ftlab(&format!("completions {shell}")).stdout;
        for name in ["2r++", "nvme-fdp", "sequential", "garbage", "oracle-general"] {
            assert!(script.contains(name), "{shell} does not complete {name}");
        }
    }
    assert_eq!(place.ftlab("man --out pages").code, 0);
    let page = |name: &str| std::fs::read_to_string(place.path().join("pages").join(name)).unwrap();
    assert!(page("ftlab-advise.1").contains(".SH EXAMPLES\n.nf\n  ftlab advise trace.parquet"));
    assert!(page("ftlab.1").contains(".SH EXAMPLES"));
    #[cfg(feature = "live")]
    assert!(page("ftlab-drive-create.1").contains(".TH"));
    place
        .ftlab("man swep")
        .fails(2, &["no command \"swep\"; the commands are start, run, compare, advise"]);
}

#[test]
fn cite_prints_bibtex_of_ftlab_and_of_what_was_compared() {
    let place = Place::new();
    let own = place.ftlab("cite").stdout;
    assert!(own.starts_with("@software{ftlab,"), "{own}");
    let works = place.ftlab("cite 2r++ sepbit:segments=4 dac-cb hazard").stdout;
    assert_eq!(works.matches("\n@").count(), 3, "{works}");
    for key in ["@article{2rpp,", "@inproceedings{sepbit,", "@article{dac,"] {
        assert!(works.contains(key), "{key} is not in {works}");
    }
    place.ftlab("cite sepbti").fails(2, &["unknown FTL \"sepbti\"", "sepbit"]);
}
