//! Sizes and offsets, as the standard has them.

use crate::Smart;
use crate::nvme::layout::{
    Command, Completion, ConnectData, Data, Descriptor, DiscoveryEntry, EnduranceLog, ErrorEntry,
    Event, ExtendedSmart, Header, IdentifyController, IdentifyNamespace, InitRequest, InitResponse,
    Reader, ReadyToTransfer, RuhStatus, Sgl, SmartLog, Status, Termination, configurations,
    controller_of_nvm, descriptors, discovery_log, effects, event_log, firmware,
    independent_namespace, kind, number_list, ruh_status, sanitize_status, statistics, support,
    usage,
};

#[test]
fn units_have_their_fields_where_they_belong() {
    let request = InitRequest { version: 1, alignment: 2, digests: 3, transfers_max: 4 };
    let bytes = request.encode();
    assert_eq!(bytes[..16], [0, 0, 128, 0, 128, 0, 0, 0, 1, 0, 2, 3, 4, 0, 0, 0]);
    assert_eq!((bytes.len(), InitRequest::decode(&bytes)), (128, request));
    let response = InitResponse { version: 0, alignment: 0, digests: 1, data_bytes_max: 0x1_0000 };
    let bytes = response.encode();
    assert_eq!(bytes[..16], [1, 0, 128, 0, 128, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0]);
    assert_eq!((bytes.len(), InitResponse::decode(&bytes)), (128, response));
    let error = Termination { status: 1, information: 0x0201 };
    let bytes = error.encode(kind::CONTROLLER_TERMINATION, &[9; 8]);
    assert_eq!(bytes[..14], [3, 0, 24, 0, 32, 0, 0, 0, 1, 0, 1, 2, 0, 0]);
    assert_eq!((bytes.len(), Termination::decode(&bytes)), (32, error));
    let mut unit = [0xff; 24];
    let data = Data { command: 0x0201, tag: 0x0403, offset: 5, bytes: 6 };
    data.put(&mut unit);
    assert_eq!(unit[8..], [1, 2, 3, 4, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Data::decode(&unit), data);
    let ready = ReadyToTransfer { command: 0x0201, tag: 0x0403, offset: 5, bytes: 6 };
    assert_eq!(ReadyToTransfer::decode(&unit), ready);
    assert_eq!(Header::decode(&[4, 1, 72, 76, 0, 1, 0, 0]).map(|header| header.bytes), Some(256));
    assert_eq!(Header::decode(&[4; 7]), None);
}

#[test]
fn commands_and_completions_have_64_and_16_bytes() {
    let sgl = Sgl { address: 0x0102_0304_0506_0708, bytes: 4096, kind: 0x5a };
    let dwords = [10, 11, 12, 13, 14, 15];
    let command = Command { opcode: 2, flags: 0x40, id: 7, namespace: 1, sgl, dwords };
    let bytes = command.encode();
    assert_eq!(bytes[..8], [2, 0x40, 7, 0, 1, 0, 0, 0]);
    assert_eq!(bytes[24..40], [8, 7, 6, 5, 4, 3, 2, 1, 0, 16, 0, 0, 0, 0, 0, 0x5a]);
    for number in 10..16 {
        assert_eq!(Reader(&bytes).u32(4 * number), number as u32);
        assert_eq!(command.dword(number), number as u32);
    }
    assert_eq!((Command::decode(&bytes), command.wide(10)), (command, 0xb_0000_000a));
    let done = Completion { result: 5, queue_head: 3, id: 9, status: Status::INVALID_FIELD };
    // Status code 2, and Do Not Retry, after the phase bit.
    assert_eq!(done.encode(), [5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 9, 0, 4, 0x80]);
    assert_eq!(Completion::decode(&done.encode()), done);
    assert_eq!((Status::COMPARE.code(), Status::AER_LIMIT.code()), (0x285, 0x105));
}

#[test]
fn names_are_where_connect_and_discovery_have_them() {
    let data = ConnectData {
        host_id: 1,
        controller: 0xffff,
        subsystem: "nqn.s".to_owned(),
        host: "nqn.h".to_owned(),
    };
    let bytes = data.encode();
    assert_eq!((bytes.len(), bytes[0], &bytes[16..18]), (1024, 1, &[0xff, 0xff][..]));
    assert_eq!((&bytes[256..262], &bytes[512..518]), (&b"nqn.s\0"[..], &b"nqn.h\0"[..]));
    assert_eq!(ConnectData::decode(&bytes), data);
    let entry = DiscoveryEntry {
        is_discovery: false,
        subsystem: "nqn.s".to_owned(),
        address: "10.0.0.1".parse().unwrap(),
        port: 4420,
        admin_queue: 32,
    };
    let bytes = discovery_log(&[entry]);
    assert_eq!((bytes.len(), Reader(&bytes).u64(8)), (2048, 1));
    let entry = &bytes[1024..];
    // NVMe/TCP, IPv4, storage; any controller.
    assert_eq!((&entry[..3], &entry[6..10]), (&[3, 1, 2][..], &[255, 255, 32, 0][..]));
    assert_eq!((&entry[32..37], &entry[256..262]), (&b"4420 "[..], &b"nqn.s\0"[..]));
    assert_eq!(&entry[512..521], b"10.0.0.1 ");
}

#[test]
fn a_controller_is_identified_in_4096_bytes() {
    let controller = IdentifyController {
        serial: "serial".to_owned(),
        model: "model".to_owned(),
        firmware: "1".to_owned(),
        sharing: 2,
        transfer_max: 8,
        id: 0x0304,
        version: 0x0002_0100,
        events: 5,
        attributes: 1 << 19,
        kind: 1,
        reports: 1,
        admin_commands: 0x22,
        at_once: 3,
        firmware_slots: 3,
        log_pages: 0x26,
        error_entries: 63,
        keep_alive: 10,
        capacity_bytes: 1 << 40,
        sanitize: 7,
        endurance_groups: 1,
        commands_max: 1024,
        namespaces: 2,
        io_commands: 0x1cf,
        format: 4,
        write_cache: 7,
        copy_formats: 1,
        sgls: 1 | 1 << 20,
        subsystem: "nqn.s".to_owned(),
        command_capsule_bytes: 64 + 8192,
    };
    let bytes = controller.encode();
    let at = Reader(&bytes);
    assert_eq!(
        (bytes.len(), &bytes[4..11], &bytes[24..30]),
        (4096, &b"serial "[..], &b"model "[..])
    );
    assert_eq!((&bytes[64..66], at.u8(76), at.u8(77)), (&b"1 "[..], 2, 8));
    assert_eq!((at.u16(78), at.u32(80), at.u32(92), at.u32(96)), (0x0304, 0x0002_0100, 5, 1 << 19));
    assert_eq!((at.u8(111), at.u8(253), at.u16(256)), (1, 1, 0x22));
    assert_eq!([258, 259, 260, 261, 262].map(|byte| at.u8(byte)), [3, 3, 3, 0x26, 63]);
    assert_eq!((at.u128(280), at.u16(320), at.u32(328), at.u16(340)), (1 << 40, 10, 7, 1));
    assert_eq!((at.u8(512), at.u8(513), at.u16(514), at.u32(516)), (0x66, 0x44, 1024, 2));
    assert_eq!((at.u16(520), at.u8(524), at.u8(525), at.u16(534)), (0x1cf, 4, 7, 1));
    assert_eq!((at.u32(536), at.u32(540), &bytes[768..774]), (0x10_0001, 2, &b"nqn.s\0"[..]));
    assert_eq!((at.u32(1792), at.u32(1796), at.u8(1803)), (516, 1, 1));
}

#[test]
fn a_namespace_is_identified_in_4096_bytes() {
    let namespace = IdentifyNamespace {
        blocks: 100,
        used_blocks: 7,
        block_shift: 12,
        features: 0x10,
        sharing: 1,
        deallocation: 9,
        unit_blocks: 4,
        capacity_bytes: 409_600,
        copy_blocks_max: 4096,
        copy_sources: 127,
        attributes: 1,
        endurance_group: 1,
        id: [5; 16],
    };
    let bytes = namespace.encode();
    let at = Reader(&bytes);
    assert_eq!((bytes.len(), at.u64(0), at.u64(8), at.u64(16)), (4096, 100, 100, 7));
    assert_eq!((at.u8(24), at.u8(30), at.u8(33), at.u16(46)), (0x10, 1, 9, 4));
    assert_eq!([64, 66, 68, 70, 72].map(|byte| at.u16(byte)), [3; 5]);
    assert_eq!((at.u128(48), at.u16(74), at.u32(76), at.u8(80)), (409_600, 4096, 4096, 127));
    assert_eq!((at.u8(99), at.u16(102), &bytes[104..120]), (1, 1, &[5; 16][..]));
    assert_eq!(bytes[128..132], [0, 0, 12, 0]);
    let independent = independent_namespace(&namespace, true);
    assert_eq!((independent[1], independent[8], independent[12], independent[14]), (1, 1, 1, 1));
    let list = descriptors(&[Descriptor::Uuid([6; 16]), Descriptor::CommandSet(0)]);
    assert_eq!(
        (list.len(), &list[..5], &list[20..26]),
        (4096, &[3, 16, 0, 0, 6][..], &[4, 1, 0, 0, 0, 0][..])
    );
    assert_eq!(number_list(true, [1, 2].into_iter())[..12], [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(number_list(false, [8, 9].into_iter())[..8], [2, 0, 8, 0, 9, 0, 0, 0]);
    assert_eq!(controller_of_nvm(128, 5)[..8], [0, 0, 0, 128, 5, 0, 0, 0]);
}

#[test]
fn health_is_told_in_the_logs_of_the_standard_and_of_ocp() {
    let smart = Smart {
        critical_warning: 9,
        avail_spare: 90,
        spare_thresh: 10,
        percent_used: 300,
        endurance_bytes: 7_000_000_001,
        data_units_read: 2000,
        data_units_written: 4000,
        host_read_commands: 3,
        host_write_commands: 4,
        unsafe_shutdowns: 5,
        media_errors: 6,
        num_err_log_entries: 7,
        physical_media_units_written: 3_000_000_001,
        bad_user_nand_blocks: 8,
        uncorrectable_read_error_count: 9,
        percent_free_blocks: 10,
        max_user_data_erase_count: 12,
        min_user_data_erase_count: 11,
    };
    let bytes = SmartLog { smart: &smart, hours: 13 }.encode();
    let at = Reader(&bytes);
    assert_eq!((bytes.len(), at.u8(0), at.u8(3), at.u8(4)), (512, 9, 90, 10));
    assert_eq!(at.u8(5), 255, "at most");
    let counts = [32, 48, 64, 80, 128, 144, 160, 176].map(|byte| at.u128(byte));
    assert_eq!(counts, [2000, 4000, 3, 4, 13, 5, 6, 7]);
    let bytes = EnduranceLog(&smart).encode();
    let at = Reader(&bytes);
    assert_eq!((bytes.len(), at.u8(0), at.u8(3), at.u8(4)), (512, 9, 90, 10));
    assert_eq!(at.u8(5), 255, "at most");
    let counts = [32, 48, 64, 80, 96, 112, 128, 144].map(|byte| at.u128(byte));
    assert_eq!(counts, [8, 2, 3, 4, 3, 4, 6, 7], "in billions of bytes, rounded up");
    let bytes = ExtendedSmart { smart: &smart, used_blocks: 14 }.encode();
    let at = Reader(&bytes);
    assert_eq!((bytes.len(), at.u128(0), at.u64(32)), (512, 3_000_000_001, 8 | 100 << 48));
    assert_eq!((at.u64(56), at.u32(88), at.u32(92)), (9, 12, 11));
    assert_eq!((at.u32(112), at.u8(120), at.u64(152), at.u128(176)), (5, 10, 14, 8));
    assert_eq!(bytes[496..], *b"\xc5\xaf\x10\x28\xea\xbf\xf2\xa4\x9c\x4f\x6f\x7c\xc9\x14\xd5\xaf");
}

#[test]
fn other_logs_are_as_long_as_they_should_be() {
    let entry = ErrorEntry {
        count: 1,
        queue: 2,
        command: 3,
        status: Status::BEYOND,
        block: 4,
        namespace: 5,
    };
    let mut bytes = [0; ErrorEntry::BYTES];
    entry.put(&mut bytes);
    let at = Reader(&bytes);
    assert_eq!((at.u64(0), at.u16(8), at.u16(10), at.u16(12)), (1, 2, 3, 0x8100));
    assert_eq!((at.u16(14), at.u64(16), at.u32(24), at.u8(29)), (0xffff, 4, 5, 3));
    let slots = firmware("1.2");
    assert_eq!((slots.len(), slots[0], &slots[8..12]), (512, 1, &b"1.2 "[..]));
    let list = effects(&[(6, false)], &[(1, true)]);
    assert_eq!((list.len(), list[24], list[1028]), (4096, 1, 3));
    assert_eq!((support(&[2]).len(), support(&[2])[8]), (1024, 1));
    let (never, done) = (sanitize_status(None), sanitize_status(Some(4)));
    assert_eq!((never.len(), &never[..8]), (512, &[255, 255, 0, 0, 0, 0, 0, 0][..]));
    assert_eq!(done[..8], [255, 255, 1, 0, 4, 0, 0, 0]);
}

#[test]
fn placement_handles_are_told_as_fdp_has_them() {
    let log = configurations(&[false, true, false], 1 << 26, 2);
    let at = Reader(&log);
    // A header of 16 bytes, and a descriptor of 64 with 4 for each handle, in multiples of 8.
    assert_eq!((log.len(), at.u16(0), at.u8(2), at.u32(4)), (96, 0, 0, 96));
    assert_eq!((at.u16(16), at.u8(18), at.u32(20), at.u16(24)), (80, 0x80, 1, 3));
    assert_eq!((at.u16(26), at.u32(28), at.u64(32)), (2, 2, 1 << 26));
    assert_eq!((log[80], log[84], log[88]), (1, 2, 1));
    let log = usage(&[true, false]);
    assert_eq!((log.len(), log[0], log[8], log[16]), (24, 2, 1, 0));
    let log = statistics(1, 2, 3);
    assert_eq!((log.len(), log[0], log[16], log[32]), (64, 1, 2, 3));
    let event = Event {
        kind: 3,
        named: Some((1, 0x0102)),
        milliseconds: u64::MAX,
        handle: 4,
        moved_blocks: 5,
    };
    let log = event_log([event].iter());
    assert_eq!((log.len(), log[0]), (128, 1));
    let mut expected = vec![3, 7, 2, 1, 255, 255, 255, 255, 255, 255, 0, 0, 1, 0, 0, 0];
    expected.extend([0, 0, 5]);
    expected.resize(34, 0);
    expected.push(4);
    assert_eq!(log[64..99], expected);
    let log = event_log([Event { named: None, ..event }].iter());
    assert_eq!((log[65], &log[66..68], &log[76..80]), (4, &[0; 2][..], &[0; 4][..]));
    let status = RuhStatus { placement: 1, handle: 2, left_blocks: 3 };
    let data = ruh_status(&[status, status]);
    assert_eq!((data.len(), data[14], data[16], data[18], data[24]), (80, 2, 1, 2, 3));
}
