//! Logs as tools print them: names, order, units and bases are theirs, numbers are made up.

use super::*;

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1024.0 * MIB;
const VENDOR: f64 = 32.0 * MIB;

/// What a command prints of units of the host and of the medium, and the bytes of one of each.
struct Tool {
    name: &'static str,
    print: fn(u64, u64) -> String,
    units: (f64, f64),
}

fn grouped(count: u64, mark: &str) -> String {
    let digits = count.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(mark)
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "nvme fdp stats",
        print: |h, m| {
            format!(
                "Host Bytes with Metadata Written (HBMW): {}\nMedia Bytes with Metadata Written (MBMW): {}\n\
                 Media Bytes Erased (MBE): 77\n",
                grouped(h, ","),
                grouped(m, ",")
            )
        },
        units: (1.0, 1.0),
    },
    Tool {
        name: "nvme fdp stats -o json",
        print: |h, m| format!("{{\n  \"hbmw\":{h},\n  \"mbmw\":{m},\n  \"mbe\":77\n}}\n"),
        units: (1.0, 1.0),
    },
    Tool {
        name: "spdk_nvme_identify",
        print: |h, m| {
            format!(
                "NVMe Controller at 0000:01:00.0 [144d:a824]\nFDP statistics log page\n\
                 Host bytes with metadata written:  {h}\nMedia bytes with metadata written: 0x{m:X}\n\
                 Media bytes erased:                77\n"
            )
        },
        units: (1.0, 1.0),
    },
    Tool {
        name: "xnvme log-fdp-stats",
        print: |h, m| {
            format!(
                "xnvme_spec_log_fdp_stats:\n  hbmw: [{h}, 0]\n  mbmw: [{m}, 0]\n  mbe: [77, 0]\n"
            )
        },
        units: (1.0, 1.0),
    },
    Tool {
        name: "nvme smart-log 1.x, nvme ocp smart-add-log",
        print: |h, m| {
            format!(
                "Smart Log for NVME device:nvme0 namespace-id:ffffffff\n\
                 data_units_read                     : 5\ndata_units_written                  : {}\n\
                 SMART Cloud Attributes :-\n  Physical media units written -   \t        0 {m}\n\
                 \x20 Physical media units read    -   \t        0 77\n",
                grouped(h, ",")
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme smart-log 2.x, nvme wdc vs-smart-add-log",
        print: |h, m| {
            format!(
                "Data Units Read\t\t\t\t: 5 (2.56 MB)\nData Units Written\t\t\t: {} (12.35 TB)\n\
                 SMART Cloud Attributes for NVMe device       : nvme0\n\
                 Physical Media Units Written                 : {}\n",
                grouped(h, "\u{202f}"),
                grouped(m, "'")
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme smart-log -o json, nvme ocp smart-add-log -o json",
        print: |h, m| {
            format!(
                "{{\"data_units_read\":5,\"data_units_written\":{h},\"host_reads\":7}}\n\
                 {{\"Physical media units written\":{{\"hi\":0,\"lo\":{m}}},\"x\":9}}\n"
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "both in an array after a time",
        print: |h, m| {
            format!(
                "21:00:00 [{{\"a\":1}}]\n2026-11-23 {{\"data_units_written\":\"{h}\"}} \
                 {{\"physical_media_units_written\":{m}}}\n"
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "smartctl -a, nvme wdc smart-add-log (CA)",
        print: |h, m| {
            format!(
                "SMART/Health Information (NVMe Log 0x02)\n\
                 Data Units Written:                 {} [12,3 TB]\n  CA Log Page Performance Statistics :-\n\
                 \x20 NAND Bytes Written                                                0{m:>20}\n",
                grouped(h, " ")
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "smartctl -j, nvme wdc smart-add-log -o json (CA)",
        print: |h, m| {
            format!(
                "{{\n \"device\": {{\"name\": \"/dev/nvme0\"}},\n \"serial_number\": \"S1\",\n \
                 \"nvme_smart_health_information_log\": {{\"data_units_written\": {h}, \"host_writes\": 3}}\n}}\n\
                 {{\"NAND Bytes Written Hi\":0,\"NAND Bytes Written Lo\":{m}}}\n"
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme endurance-log",
        print: |h, m| {
            format!(
                "Endurance Group Log for NVME device:nvme0 Group ID:1\ndata_units_read\t\t: 5\n\
                 data_units_written\t: {h}\nmedia_units_written\t: {m}\nhost_read_cmds\t\t: 5\n"
            )
        },
        units: (1e9, 1e9),
    },
    Tool {
        name: "nvme endurance-log -o json",
        print: |h, m| {
            format!(
                "{{\"avl_spare\":100,\"data_units_written\":{h},\"media_units_written\":{m}}}\n"
            )
        },
        units: (1e9, 1e9),
    },
    Tool {
        name: "nvme smart-log, nvme endurance-log",
        print: |h, m| {
            format!(
                "data_units_written\t\t\t: 5\nEndurance Group Log for NVME device:nvme0 Group ID:1\n\
                 data_units_written\t: {h}\nmedia_units_written\t: {m}\n"
            )
        },
        units: (1e9, 1e9),
    },
    Tool {
        name: "nvme intel smart-log-add 1.x",
        print: |h, m| {
            format!(
                "Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff\n\
                 key                               normalized raw\n\
                 nand_bytes_written              : 100%       sectors: {m}\n\
                 host_bytes_written              : 100%       sectors: {h}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "nvme solidigm smart-log-add",
        print: |h, m| {
            format!(
                "Additional Smart Log for NVMe device:nvme0n1 namespace-id:ffffffff UUID-idx:0\n\
                 ID             KEY                                 Normalized     Raw\n\
                 0xf4    nand_bytes_written                             100         {m}\n\
                 0xf5    host_bytes_written                             100         {h}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "nvme intel smart-log-add -o json",
        print: |h, m| {
            format!(
                "{{\"Intel Smart log\":\"nvme0\",\"Device stats\":{{\"nand_bytes_written\":{{\"normalized\":100,\
                 \"raw\":{m}}},\"host_bytes_written\":{{\"normalized\":100,\"raw\":{h}}}}}}}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "nvme ssstc smart-log-add",
        print: |h, m| {
            format!(
                "nand_bytes_written              : 244  100%       sectors: {m}\n\
                 host_bytes_written              : 245  100%       sectors: {h}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "nvme wdc smart-add-log -o json (another CA)",
        print: |h, m| {
            format!(
                "{{\"nand_bytes_written normalized\":100,\"nand_bytes_written raw\":{m},\
                 \"host_bytes_written normalized\":100,\"host_bytes_written raw\":{h}}}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "nvmecontrol logpage",
        print: |h, m| {
            format!(
                "Data units (512,000 byte) read: 5\nData units written:             {h}\n\
                 NAND Bytes Written              : 100 {m}\n"
            )
        },
        units: (512_000.0, VENDOR),
    },
    Tool {
        name: "nvme memblaze smart-log-add, the older",
        print: |h, m| {
            format!(
                "Total write in GB since last factory reset\t\t: 5\n\
                 nand_bytes_written                                              : 100%       {m}\n\
                 host_bytes_written                                              : 100%       {h}\n"
            )
        },
        units: (MIB, MIB),
    },
    Tool {
        name: "nvme micron smart-log, vs-nand-stats",
        print: |h, m| {
            format!(
                "Data Units Written           : {h}\nPhysical Media Units Written - TLC       : 0x{:x}\n\
                 Physical Media Units Written - SLC       : 0x{:x}\n",
                m - m / 4,
                m / 4
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme micron vs-nand-stats -o json (D0)",
        print: |h, m| {
            format!(
                "{{\"data_units_written\":\"{h}\",\"host_writes\":\"7\"}}\n{{\"Extended Smart Log Page : 0xD0\":\
                 [{{\"NAND Writes (Bytes Written)\":\"0x{m:x}\",\"Erase Failures\":\"0x0\"}}]}}\n"
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme wdc vs-smart-add-log, TLC and SLC",
        print: |h, m| {
            format!(
                "data_units_written : {h}\n  Physical Media Units Written TLC (Bytes): {}\n\
                 \x20 Physical Media Units Written SLC (Bytes): {}\n",
                m / 2,
                m - m / 2
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme wdc vs-nand-stats",
        print: |h, m| {
            format!(
                "data_units_written : {h}\n  NAND Statistics :-\n  NAND Writes TLC (Bytes)\t\t         {}\n\
                 \x20 NAND Writes SLC (Bytes)\t\t\t {}\n",
                m / 2,
                m - m / 2
            )
        },
        units: (512_000.0, 1.0),
    },
    Tool {
        name: "nvme seagate vs-smart-add-log",
        print: |h, m| {
            format!(
                "Physical (NAND) bytes written           36351           0x{m:032x}\n\
                 Physical (HOST) bytes written           37379           0x{h:032x}\n\
                 Data units written to DRAM namespace     0x00000000000000000000000000000005\n"
            )
        },
        units: (1.0, 1.0),
    },
    Tool {
        name: "nvme seagate vs-smart-add-log -o json",
        print: |h, m| {
            format!(
                "{{\"logs\":[{{\"attribute_name\":\"Physical (NAND) bytes written\",\"attribute_id\":1,\
                 \"attribute_value\":\"0x{m:032x}\"}},{{\"attribute_name\":\"Physical (HOST) bytes written\",\
                 \"attribute_value\":\"0x{h:032x}\"}}]}}\n"
            )
        },
        units: (1.0, 1.0),
    },
    Tool {
        name: "a program of one's own",
        print: |h, m| format!("{{\"time\": 5, \"host_bytes\": {h}, \"media_gib\": {m}}}\n"),
        units: (1.0, GIB),
    },
    Tool {
        name: "nvme ibm smart-log-add",
        print: |h, m| {
            format!(
                "Lifetime Writes to flash in MB      : {m}\nLifetime Writes from Host in MB     : {h}\n"
            )
        },
        units: (1e6, 1e6),
    },
    Tool {
        name: "smartctl -A, 32 MiB",
        print: |h, m| {
            format!(
                "225 Host_Writes_32MiB       0x0032   100   100   000    Old_age   Always       -       {h}\n\
                 241 Host_Writes_32MiB       0x0032   100   100   000    Old_age   Always       -       {h}\n\
                 243 NAND_Writes_32MiB       0x0032   100   100   000    Old_age   Always       -       {m}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "smartctl -A -f brief, blocks and GiB",
        print: |h, m| {
            format!(
                "241 Total_LBAs_Written      -O--CK   099   099   000    -    {h}\n\
                 249 NAND_Writes_1GiB        -O--CK   100   100   000    -    {m}\n"
            )
        },
        units: (512.0, GIB),
    },
    Tool {
        name: "smartctl -A, TLC and SLC",
        print: |h, m| {
            format!(
                "241 Host_Writes_32MiB       0x0030   100   100   050    Old_age   Offline      -       {h}\n\
                 245 TLC_Writes_32MiB        0x0032   100   100   050    Old_age   Always       -       {}\n\
                 246 SLC_Writes_32MiB        0x0032   100   100   050    Old_age   Always       -       {}\n",
                m / 2,
                m - m / 2
            )
        },
        units: (VENDOR, VENDOR),
    },
    Tool {
        name: "smartctl -x, statistics and attributes",
        print: |h, m| {
            format!(
                "Sector Sizes:     4096 bytes logical, 4096 bytes physical\n\
                 233 Flash_Writes_GiB        -O--CK   100   100   000    -    {m}\n\
                 0x01  0x018  6    {h}  ---  Logical Sectors Written\n"
            )
        },
        units: (4096.0, GIB),
    },
    Tool {
        name: "smartctl -j of a SATA drive",
        print: |h, m| {
            format!(
                "{{\"device\":{{\"name\":\"/dev/sda\"}},\"ata_smart_attributes\":{{\"table\":[{{\"id\":241,\
                 \"name\":\"Host_Writes_32MiB\",\"value\":100,\"raw\":{{\"value\":{h},\"string\":\"{h}\"}}}},\
                 {{\"id\":243,\"name\":\"NAND_Writes_32MiB\",\"value\":100,\"raw\":{{\"value\":{m},\
                 \"string\":\"{m}\"}}}}]}}}}\n"
            )
        },
        units: (VENDOR, VENDOR),
    },
];

/// Units of the samples, rising.
fn counts() -> Vec<(u64, u64)> {
    (0..4).map(|n| (1_234_567 + n * 10_001, 7_654_321 + n * 20_002)).collect()
}

#[test]
fn every_tool_is_read_in_its_units() {
    for tool in TOOLS {
        let text: String = counts().into_iter().map(|(h, m)| (tool.print)(h, m)).collect();
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let (read, reading) = rows(&text, &Counters::default())
                .unwrap_or_else(|error| panic!("{}: {error}\n{text}", tool.name));
            let bytes = |(h, m)| (h as f64 * tool.units.0, m as f64 * tool.units.1);
            let expected: Vec<_> = counts().into_iter().map(bytes).collect();
            assert_eq!(read, expected, "{}: {reading}\n{text}", tool.name);
        }
    }
}

#[test]
fn what_is_between_samples_and_missing_in_one_does_not_matter() {
    let fdp = TOOLS[0].print;
    let only_media = "Media Bytes with Metadata Written (MBMW): 5\n";
    let text = format!(
        "$ nvme fdp stats /dev/nvme0n1\nMon Nov 23 20:00:00 UTC\n{}{only_media}\nerror: busy\n{}",
        fdp(1, 2),
        fdp(3, 6)
    );
    assert_eq!(rows(&text, &Counters::default()).unwrap().0, [(1.0, 2.0), (3.0, 6.0)]);
}

#[test]
fn counters_of_one_log_are_read_together() {
    let text = "Data Units Written: 3\nHost Bytes with Metadata Written (HBMW): 1,000,000\n\
                Media Bytes with Metadata Written (MBMW): 2,000,000\nPhysical media units written - 0 5\n";
    let (read, reading) = rows(text, &Counters::default()).unwrap();
    assert_eq!(read, [(1e6, 2e6)]);
    assert_eq!(reading.not_read, ["Data Units Written", "Physical media units written"]);
    let counters = Counters {
        media: vec!["physical_media_units_written".parse().unwrap()],
        ..Counters::default()
    };
    assert_eq!(rows(text, &counters).unwrap().0, [(1e6, 5.0)], "the user decides");
}

#[test]
fn sizes_that_only_the_maker_knows_have_to_be_said() {
    let text = "246 Total_LBAs_Written      0x0032   100   100   000    Old_age   Always       -       3200\n\
                247 Host_Program_Page_Count 0x0032   100   100   000    Old_age   Always       -       100\n\
                248 FTL_Program_Page_Count  0x0032   100   100   000    Old_age   Always       -       50\n";
    let error = rows(text, &Counters::default()).unwrap_err();
    let remedy = "--media-counter \"Host_Program_Page_Count=16KiB\" --media-counter \"FTL_Program_Page_Count=16KiB\"";
    assert!(error.contains(remedy) && error.contains("of about 16KiB"), "{error}");
    let page = |name: &str| format!("{name}=16KiB").parse().unwrap();
    let by_name = vec![page("Host_Program_Page_Count"), page("FTL_Program_Page_Count")];
    for media in [by_name, vec![page("247"), page("248")]] {
        let counters = Counters { media, ..Counters::default() };
        let (read, reading) = rows(text, &counters).unwrap();
        assert_eq!(read, [(3200.0 * 512.0, 150.0 * 16_384.0)]);
        assert_eq!(reading.media.len(), 2);
    }
}

#[test]
fn a_counter_that_no_tool_has_can_be_named() {
    let counters = Counters {
        host: vec!["my host count=1KiB".parse().unwrap()],
        media: vec!["0xf9x=4096".parse().unwrap()],
        sequential: None,
    };
    for text in ["my_host_count=5 0xF9x: 7\n", "{\"my host count\": 5, \"0xf9x\": 7}\n"] {
        let read = rows(text, &counters).unwrap().0;
        assert_eq!(read, [(5.0 * 1024.0, 7.0 * 4096.0)], "{text}");
    }
    let rounded = "HBMW: 1.5 GB\nMBMW: 3 GB\n";
    let of = |name: &str| vec![format!("{name}=1GB").parse().unwrap()];
    let counters = Counters { host: of("hbmw"), media: of("mbmw"), ..Counters::default() };
    assert_eq!(rows(rounded, &counters).unwrap().0, [(1.5e9, 3e9)]);
    let counters = Counters { host: of("absent"), ..Counters::default() };
    assert!(rows(rounded, &counters).unwrap_err().contains("rounded"));
    let error = rows("HBMW: 1\nMBMW: 3\n", &counters).unwrap_err();
    assert!(error.contains("no counter \"absent\"") && error.contains("HBMW, MBMW"), "{error}");
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let attribute = |id: u8, name: &str| {
        format!("{id} {name:24}0x0032   100   100   000    Old_age   Always       -       12345\n")
    };
    let lba = attribute(241, "Total_LBAs_Written");
    for (text, reasons) in [
        (String::new(), vec!["host_bytes,media_bytes"]),
        ("a,b\n1,2\n".into(), vec!["nvme fdp stats", "--host-counter"]),
        ("Host Bytes with Metadata Written (HBMW):\n".into(), vec!["line 1", "no number"]),
        ("HBMW: 123.46 TB\nMBMW: 5\n".into(), vec!["line 1", "HBMW is 123.46 TB", "rounded"]),
        (
            "HBMW: 123 TB\nMBMW: 234 TB\n".into(),
            vec!["HBMW is 123 TB", "rounded", "--host-counter \"HBMW=1GB\""],
        ),
        ("[0]nand_bytes_written        : 12 GB\n".into(), vec!["nand_bytes_written is 12 GB"]),
        (
            "Host Data Written:                 12.35 TB\n".into(),
            vec!["Host Data Written", "rounded"],
        ),
        ("HBMW: 5 pages\nMBMW: 6 pages\n".into(), vec!["5 pages", "--host-counter"]),
        (
            "Data Units Written: 5\n".into(),
            vec!["no counter of the medium", "nvme ocp smart-add-log"],
        ),
        ("MBMW: 5\n".into(), vec!["no counter of the host"]),
        (
            "data_units_written : 5\nnand_bytes_written: 7\n".into(),
            vec!["nand_bytes_written", "32MiB", "--media-counter"],
        ),
        (
            "data_units_written : 5\nmedia_units_written : 7\n".into(),
            vec!["512000", "1GB", "headings"],
        ),
        (
            "Lifetime User Writes : 5\nLifetime NAND Writes : 7\n".into(),
            vec!["Lifetime User Writes", "--media-counter \"Lifetime NAND Writes=1GiB\""],
        ),
        (
            lba.clone() + &attribute(243, "Total_NAND_Written"),
            vec!["Total_NAND_Written", "--media-counter \"Total_NAND_Written="],
        ),
        (
            lba.clone() + &attribute(243, "Unknown_Attribute"),
            vec![
                "smartctl -x",
                "attributes 243",
                "update-smart-drivedb",
                "--media-counter 243=32MiB",
            ],
        ),
        (lba.clone() + &attribute(245, "TLC_Writes_32MiB"), vec!["TLC_Writes_32MiB", "part"]),
        (
            "data_units_written : 5\n  Physical Media Units Written TLC (Bytes): 7\n".into(),
            vec!["Physical Media Units Written TLC", "part"],
        ),
        (
            "Data Units Written: 5\nNAND Writes: 7\n".into(),
            vec!["NAND Writes, which no tool", "--media-counter \"NAND Writes=1GiB\""],
        ),
        (
            "{\"host_writes\": 5, \"nand_writes\": 7}\n".into(),
            vec!["--host-counter \"host_writes=", "--media-counter \"nand_writes="],
        ),
        ("{\"hbmw\": 5,\n".into(), vec!["line 1", "ends before it is closed"]),
        ("{\"hbmw\": \"5 TB\", \"mbmw\": 7}\n".into(), vec!["hbmw", "5 TB"]),
    ] {
        let error = rows(&text, &Counters::default()).unwrap_err();
        for reason in reasons {
            assert!(error.contains(reason), "{reason:?} is not in {error:?} of\n{text}");
        }
    }
}

#[test]
fn several_drives_are_named_and_one_with_several_names_is_read() {
    let heading = |drive: &str| format!("Smart Log for NVME device:{drive} namespace-id:1\n");
    let fdp = TOOLS[0].print;
    let error = |text: &str| rows(text, &Counters::default()).unwrap_err();
    let two = heading("nvme0") + &fdp(1, 2) + &heading("nvme1n1") + &fdp(3, 6);
    assert!(error(&two).contains("several drives, nvme0 and nvme1"), "{}", error(&two));
    let json = |name: &str| {
        format!(
            "{{\"device\":{{\"name\":\"{name}\"}},\"serial_number\":\"S\",\"hbmw\":1,\"mbmw\":2}}\n"
        )
    };
    assert!(error(&(json("/dev/sda") + &json("/dev/sdb"))).contains("sda and sdb"));
    let serial = |number: u8| format!("Serial Number:  S{number}\n") + &fdp(1, 2);
    assert!(error(&(serial(1) + &serial(2))).contains("serial number S1 and serial number S2"));
    let group = |id: u8| format!("Endurance Group Log for NVME device:nvme0 Group ID:{id}\n");
    let groups = group(1) + &fdp(1, 2) + &group(2) + &fdp(3, 6);
    assert!(error(&groups).contains("endurance group 1 and endurance group 2"));
    let one = format!(
        "/dev/nvme0n1  /dev/ng0n1\n/dev/nvme1n1  /dev/ng1n1\n{}{}{}{}",
        heading("nvme0"),
        fdp(1, 2),
        heading("nvme0n1"),
        fdp(3, 6)
    );
    let (read, reading) = rows(&one, &Counters::default()).unwrap();
    assert_eq!((read.len(), reading.drive.as_deref()), (2, Some("nvme0")));
}

fn read(text: &str) -> Vec<(f64, f64)> {
    rows(text, &Counters::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).0
}

/// That a text is refused for all of these reasons.
fn refused(text: &str, reasons: &[&str]) {
    let error = rows(text, &Counters::default()).expect_err(text);
    for reason in reasons {
        assert!(error.contains(reason), "{reason:?} is not in {error:?} of\n{text}");
    }
}

#[test]
fn thousands_of_large_units_are_no_fractions() {
    let gb = [(40_000e9, 90_000e9), (50_000e9, 110_000e9)];
    let quoted = "t,host_gb,nand_gb\n1,\"40,000\",\"90,000\"\n2,\"50,000\",\"110,000\"\n";
    assert_eq!(read(quoted), gb);
    let crossing = "host_gib;nand_gib\n999.000;2.000.000\n1.001.000;3.000.000\n";
    let gib = |host: f64, media: f64| (host * GIB, media * GIB);
    assert_eq!(read(crossing), [gib(999e3, 2e6), gib(1_001e3, 3e6)]);
    assert_eq!(read("host_gib;nand_gib\n1.234;2.5\n0.5;3.25\n"), [gib(1.234, 2.5), gib(0.5, 3.25)]);
    assert_eq!(
        read("host_gib;nand_gib\n1,234;2\n1,500.5;3\n"),
        [gib(1234.0, 2.0), gib(1500.5, 3.0)]
    );
    refused(
        "host_gib;nand_gib\n40.000;90.000\n50.000;110.000\n",
        &["line 2", "host_gib", "40.000", "thousands or a fraction", "in bytes"],
    );
    let json =
        |unit: &str| format!("{{\"hbmw {unit}\": \"40.000\", \"mbmw {unit}\": \"90.000\"}}\n");
    refused(&json("(GB)"), &["hbmw (GB)", "thousands or a fraction"]);
    assert_eq!(read(&json("")), [(40e3, 90e3)]);
}

#[test]
fn data_units_beside_media_units_are_of_the_endurance_group() {
    let table = "time,data_units_written,media_units_written\n1,104257,195208\n";
    assert_eq!(read(table), [(104_257e9, 195_208e9)]);
    refused(
        "2026-11-23 data_units_written=104257 media_units_written=195208\n",
        &["data_units_written", "512000 bytes", "1GB", "--host-counter"],
    );
    let three = "data_units_written,media_units_written,hbmw\n1,2,3\n";
    assert_eq!(read(three), [(3.0, 2e9)], "data units of one of two logs are not read");
    let physical = "data_units_written=5 physical_media_units_written=7\n";
    assert_eq!(read(physical), [(5.0 * 512_000.0, 7.0)]);
}

#[test]
fn a_unit_in_brackets_is_the_unit() {
    for text in [
        "host_bytes (GB),media_bytes [GB]\n5,7\n",
        "HBMW (GB);MBMW (GB)\n5;7\n",
        "{\"hbmw (GB)\": 5, \"mbmw (gb)\": 7}\n",
        "host_bytes_gb,media_bytes_gb\n5,7\n",
    ] {
        assert_eq!(read(text), [(5e9, 7e9)], "{text}");
    }
    let blocks = "LBAs written (4KiB),nand_bytes_written (Bytes)\n5,7\n";
    assert_eq!(read(blocks), [(5.0 * 4096.0, 7.0)]);
    refused(
        "HBMW (GB): 104256\nMBMW (GB): 195208\n",
        &["line 1", "HBMW is in GB", "--host-counter"],
    );
    refused("Data Units Written (TB): 5\n", &["Data Units Written is in TB"]);
    refused("host_bytes (sectors),media_bytes\n5,7\n", &["host_bytes (sectors)", "--host-counter"]);
}

#[test]
fn numbers_with_an_exponent_and_few_digits_are_rounded() {
    refused("HBMW: 1.04257e+14\nMBMW: 2e14\n", &["HBMW is 1.04257e+14", "rounded"]);
    refused("host_bytes,media_bytes\n1.043E+14,2.043E+14\n", &["line 2", "host_bytes", "rounded"]);
    refused(
        "{\"hbmw\": 1.0426e14, \"mbmw\": 2}\n",
        &["hbmw has no whole number", "all its digits"],
    );
    refused("host_tb,nand_tb\n40.25,90.5\n41.25,92.25\n", &["line 2", "host_tb", "rounded"]);
    assert_eq!(read("host_bytes,media_bytes\n1.234567e6,2.5e1\n"), [(1_234_567.0, 25.0)]);
}

#[test]
fn drives_are_told_apart_by_any_name() {
    for column in ["SN", "device_name", "path", "node", "which"] {
        let text =
            format!("t,{column},host_bytes,media_bytes\n1,nvme0n1,1,2\n2,/dev/nvme1n1,3,4\n");
        refused(&text, &["several drives", "nvme0", "nvme1"]);
    }
    refused(
        "{\"nvme0\":{\"hbmw\":1,\"mbmw\":2},\"nvme1\":{\"hbmw\":3,\"mbmw\":4}}\n",
        &["nvme0 and nvme1"],
    );
    refused(
        "{\"sda\":[{\"hbmw\":1,\"mbmw\":2}],\"sdb\":[{\"hbmw\":3,\"mbmw\":4}]}\n",
        &["sda and sdb"],
    );
    for text in [
        "{\"endgid\":1,\"hbmw\":1,\"mbmw\":2}\n{\"endgid\":2,\"hbmw\":3,\"mbmw\":4}\n",
        "endgid : 1\nhbmw: 1\nmbmw: 2\nendgid : 2\nhbmw: 3\nmbmw: 4\n",
        "endgid=1 hbmw=1 mbmw=2\nendgid=2 hbmw=3 mbmw=4\n",
        "endgid,hbmw,mbmw\n1,1,2\n2,3,4\n",
    ] {
        refused(text, &["endurance group 1 and endurance group 2"]);
    }
    let one = "device,sn,hbmw,mbmw\nnvme0,S1,1,2\nnvme0n1,S1,3,4\n";
    assert_eq!(read(one), [(1.0, 2.0), (3.0, 4.0)]);
}

#[test]
fn unknown_marks_between_thousands_are_refused() {
    for mark in ['·', '´', '\u{fffd}', '\u{ff}', '\u{92}', '?'] {
        let number = |first| format!("{first}{mark}256{mark}789");
        refused(
            &format!("HBMW: {}\nMBMW: {}\n", number(104), number(195)),
            &["line 1", "HBMW", "LC_ALL=C"],
        );
        refused(
            &format!("Data Units Written   {}\n", number(104)),
            &["Data Units Written", "LC_ALL=C"],
        );
        let half = format!("Physical media units written -  \t        0 {}\n", number(104));
        refused(&half, &["Physical media units written", "LC_ALL=C"]);
        refused(&format!("HBMW 104 256{mark}789\n"), &["HBMW", "LC_ALL=C"]);
        let table = format!("host_bytes;media_bytes\n{};{}\n", number(104), number(195));
        refused(&table, &["line 2", "host_bytes", "no number"]);
    }
    assert_eq!(read("HBMW: 1\u{2007}234\nMBMW: 2\u{2007}345\n"), [(1234.0, 2345.0)]);
}

#[test]
fn rows_with_more_cells_than_names_are_refused() {
    let text = "host_bytes,media_bytes\n1,2\n104,256,789,000,000,195,208,000,000\n";
    refused(text, &["line 3 has 9 cells", "heading has 2", "quotation marks"]);
    assert_eq!(read("host_bytes,media_bytes,\n1,2,,\n"), [(1.0, 2.0)], "empty cells are none");
}

#[test]
fn names_are_whole_and_halves_may_be_on_lines() {
    let text = "data_units_written: 5\nNAND Writes (Bytes Written): 0x7\n";
    let (_, reading) = rows(text, &Counters::default()).unwrap();
    assert_eq!(reading.media[0].counter, "NAND Writes (Bytes Written)");
    let halves = "data_units_written: 5\nNAND Bytes Written Hi : 1\nNAND Bytes Written Lo : 7\n";
    assert_eq!(read(halves), [(5.0 * 512_000.0, 18_446_744_073_709_551_616.0 + 7.0)]);
}

#[test]
fn rates_are_no_totals() {
    for text in [
        "t,host write MB/s,nand write MB/s\n1,5,7\n",
        "t,host_mb_per_s,nand_bytes\n1,5,7\n",
        "t;host write rate MB;nand write rate MB\n1;5;7\n",
    ] {
        refused(text, &["is a rate", "log the counters"]);
    }
    let both = "host write MB/s,host_bytes,media_bytes\n9,5,7\n";
    assert_eq!(read(both), [(5.0, 7.0)]);
}

#[test]
fn nothing_panics() {
    let texts: String = TOOLS.iter().map(|tool| (tool.print)(1_234_567, 7_654_321)).collect();
    let texts = texts + "host_bytes,media_bytes\n1,\"2\n\u{feff}\u{202f}5'5\n";
    let bytes = texts.as_bytes();
    for step in [7, 31, 101] {
        for start in (0..bytes.len()).step_by(step * 7) {
            let end = (start + step * 9).min(bytes.len());
            drop(rows(&text::decoded(&bytes[start..end]), &Counters::default()));
        }
    }
}
