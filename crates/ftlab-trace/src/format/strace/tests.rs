use super::super::read_text;
use super::*;
use crate::{Layout, Op};

fn parse(text: &str, format: Option<&str>) -> Result<(RequestBatch, String), String> {
    let options = OpenOptions {
        format: format.map(Into::into),
        layout: Layout::Keep,
        ..OpenOptions::default()
    };
    read_text(text, &options)
}

fn requests(text: &str) -> Vec<(Op, u64, u32)> {
    parse(text, None).unwrap().0.iter().collect()
}

#[test]
fn writes_have_offsets_and_count_what_was_written() {
    let text = "\
41 17.250001 pwrite64(7</d/ib>, \"a, b) = \\\"\"..., 16384, 49152) = 16384
41 17.250002 pwritev(7</d/ib>, [{iov_base=\"x\", iov_len=512}, {iov_base=\"y\", iov_len=512}], 2, 0) = 512
41 17.250003 pread64(8</d/log>, \"\"..., 4096, 8192)         = 4096 <0.000012>
41 17.250004 pwrite64(7</d/ib>, \"\"..., 512, 0) = -1 ENOSPC (No space left on device)
41 17.250005 fdatasync(7</d/ib>) = 0
";
    let (batch, skipped) = parse(text, None).unwrap();
    let expected = [(Op::Write, 96, 32), (Op::Write, 0, 1), (Op::Read, 16, 8), (Op::Flush, 0, 0)];
    assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
    assert_eq!(batch.time_us[..2], [17_250_001, 17_250_002]);
    assert_eq!(batch.volume, [0, 0, 1, 0]);
    assert!(skipped.contains("1 x call that failed, first line 4"), "{skipped}");
}

#[test]
fn positions_are_followed() {
    let text = "\
1 1.0 openat(AT_FDCWD</>, \"/d/a\", O_RDWR|O_CREAT, 0644) = 3</d/a>
1 1.1 write(3</d/a>, \"\"..., 4096) = 4096
1 1.2 write(3</d/a>, \"\"..., 4096) = 4096
1 1.3 lseek(3</d/a>, 512, SEEK_SET) = 512
1 1.4 writev(3</d/a>, [{iov_base=\"\", iov_len=512}], 1) = 512
1 1.5 openat(AT_FDCWD</>, \"/d/a\", O_WRONLY|O_APPEND) = 4</d/a>
1 1.6 write(4</d/a>, \"\"..., 512) = 512
1 1.7 pwritev2(3</d/a>, [{iov_base=\"\", iov_len=512}], 1, -1, 0) = 512
";
    let expected = [
        (Op::Write, 0, 8),
        (Op::Write, 8, 8),
        (Op::Write, 1, 1),
        (Op::Write, 16, 1),
        (Op::Write, 2, 1),
    ];
    assert_eq!(requests(text), expected);
}

#[test]
fn holes_and_cut_ends_are_trims() {
    let text = "\
1 1.0 pwrite64(3</d/a>, \"\"..., 16384, 0) = 16384
1 1.1 fallocate(3</d/a>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 4096) = 0
1 1.2 fallocate(3</d/a>, 0, 0, 1048576) = 0
1 1.3 ftruncate(3</d/a>, 8192) = 0
1 1.4 ftruncate(3</d/a>, 8192) = 0
1 1.5 openat(AT_FDCWD</>, \"/d/a\", O_WRONLY|O_TRUNC) = 4</d/a>
1 1.6 pwrite64(4</d/a>, \"\"..., 512, 0) = 512
1 1.7 truncate(\"/d/a\", 0) = 0
";
    let expected = [
        (Op::Write, 0, 32),
        (Op::Trim, 8, 8),
        (Op::Trim, 16, 16),
        (Op::Trim, 0, 16),
        (Op::Write, 0, 1),
        (Op::Trim, 0, 1),
    ];
    assert_eq!(requests(text), expected);
}

#[test]
fn interrupted_calls_are_put_together() {
    let text = "\
41 1.0 pwrite64(7</d/ib>, \"\"..., 512, 1024 <unfinished ...>
42 1.1 pwrite64(7</d/ib>, \"\"..., 512, 0) = 512
41 1.2 <... pwrite64 resumed>) = 512
43 1.3 <... fsync resumed>) = 0
";
    let (batch, skipped) = parse(text, None).unwrap();
    assert_eq!(batch.lba, [0, 2]);
    assert!(skipped.contains("1 x call that began before the trace, first line 4"), "{skipped}");
}

#[test]
fn io_submit_holds_several() {
    let text = "9 1.0 io_submit(0x7f, 3, [\
        {aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=7</d/ib>, aio_buf=\"\"..., aio_nbytes=16384, aio_offset=49152}, \
        {aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=7</d/ib>, aio_buf=0x1, aio_nbytes=512, aio_offset=0}, \
        {aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=7</d/ib>, aio_buf=\"\", aio_nbytes=512, aio_offset=0}]) = 2\n";
    assert_eq!(requests(text), [(Op::Write, 96, 32), (Op::Read, 0, 1)]);
}

#[test]
fn files_are_chosen_by_directory() {
    let text = "\
1 1.0 write(1<pipe:[5]>, \"\"..., 5) = 5
1 1.1 write(2</dev/null>, \"\"..., 5) = 5
1 1.2 write(3</d/a>, \"\"..., 512) = 512
1 1.3 write(4</e/b>, \"\"..., 1024) = 1024
";
    let (batch, skipped) = parse(text, None).unwrap();
    assert_eq!(batch.sectors, [1, 2]);
    assert!(skipped.contains("2 x not a file of the trace"), "{skipped}");
    assert_eq!(parse(text, Some("strace:below=/e/")).unwrap().0.sectors, [2]);
    let error = parse(text, Some("strace:below=e")).unwrap_err();
    assert!(error.contains("below=e is not an absolute path"), "{error}");
    let side_by_side = read_text(text, &OpenOptions::default()).unwrap().0;
    assert_eq!(side_by_side.lba, [0, 1 << 21]);
}

#[test]
fn wrong_lines_say_what_is_right() {
    let good = "1 1.0 fsync(3</d/a>) = 0\n";
    for line in ["rubbish", "1 12:00:01 fsync(3</d/a>) = 0", "1 1.0 fsync 3", "1 1.0 a b(c) = 0"] {
        let error = parse(&format!("{good}{line}\n"), Some("strace")).unwrap_err();
        assert!(
            error.contains(&format!("line 2: {line:?} is wrong: expected \"PID SEC")),
            "{error}"
        );
    }
    let line = "1 1.0 pwrite64(3</d/a>, \"\"..., 512, x) = 512";
    let error = parse(line, None).unwrap_err();
    assert!(error.contains("expected an offset and a result as numbers"), "{error}");
}
