//! Calls as strace prints them, and the requests that they result in.

use super::super::call::{Line, Lines};
use super::*;
use ftlab_trace::Op::{self, Flush, Read, Trim, Write};

struct Session {
    calls: Calls,
    lines: Lines,
    batch: RequestBatch,
    directory: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        Self::with_streams(&[])
    }

    fn with_reads() -> Self {
        let mut session = Self::new();
        session.calls.reads = true;
        session
    }

    fn with_streams(streams: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let streams = streams.iter().map(|text| text.parse().unwrap()).collect();
        let tree = Tree::new(directory.path(), streams).unwrap();
        let here = directory.path().to_string_lossy().into_owned();
        let calls = Calls::new(tree, here, 1_000_000, false);
        Self { calls, lines: Lines::default(), batch: RequestBatch::new(), directory }
    }

    /// Takes lines, in which `%` represents the directory.
    fn run(&mut self, text: &str) -> Vec<(Op, u64, u32)> {
        self.batch.clear();
        for line in text.replace('%', &self.directory.path().to_string_lossy()).lines() {
            match self.lines.take(line.trim()) {
                Line::Call { pid, time_us, text } => {
                    let call = Call::parse(pid, time_us, text).unwrap();
                    self.calls.take(&call, &mut self.batch);
                }
                Line::Exit { pid } => self.calls.exit(pid, 2_000_000, &mut self.batch),
                Line::Nothing => {}
                Line::Unknown => panic!("{line}"),
            }
        }
        self.batch.iter().collect()
    }
}

#[test]
fn positions_follow_reads_seeks_and_copies_of_descriptors() {
    let mut session = Session::new();
    let found = session.run(
        r#"1 1.5 openat(AT_FDCWD<%>, "a", O_RDWR|O_CREAT, 0666) = 3<%/a>
           1 1.5 write(3<%/a>, ""..., 512) = 512
           1 1.5 dup(3<%/a>) = 4<%/a>
           1 1.5 write(4<%/a>, ""..., 512) = 512
           1 1.5 read(3<%/a>, ""..., 1024) = 1024
           1 1.5 writev(3<%/a>, [{iov_base=""..., iov_len=256}, {iov_base=""..., iov_len=256}], 2) = 512
           1 1.5 lseek(4<%/a>, 8192, SEEK_SET) = 8192
           1 1.5 write(3<%/a>, ""..., 4096) = 512
           1 1.5 pwrite64(3<%/a>, ""..., 4096, 4096) = 4096
           1 1.5 write(3<%/a>, ""..., 512) = -1 ENOSPC (No space left on device)
           1 1.5 write(3<%/a>, ""..., 512) = 512
           1 1.5 write(1</elsewhere>, ""..., 512) = 512"#,
    );
    let lbas: Vec<_> = found.iter().map(|(_, lba, _)| *lba).collect();
    assert_eq!(lbas, [0, 1, 4, 16, 8, 17]);
    assert_eq!(session.batch.time_us, [500_000; 6]);
}

#[test]
fn appending_and_durable_files_are_what_they_were_opened_as() {
    let found = Session::new().run(
        r#"1 1.5 open("%/a", O_WRONLY|O_CREAT|O_APPEND|O_DSYNC, 0666) = 3<%/a>
           1 1.5 write(3<%/a>, ""..., 512) = 512
           1 1.5 pwrite64(3<%/a>, ""..., 512, 0) = 512
           1 1.5 fdatasync(3<%/a>) = 0
           1 1.5 fsync(9<socket:[77]>) = 0
           1 1.5 sync() = 0"#,
    );
    assert_eq!(
        found,
        [(Write, 0, 1), (Flush, 0, 0), (Write, 1, 1), (Flush, 0, 0), (Flush, 0, 0), (Flush, 0, 0)]
    );
}

#[test]
fn threads_and_children_share_what_they_should() {
    let found = Session::new().run(
        r#"1 1.5 openat(AT_FDCWD<%>, "a", O_RDWR|O_CREAT, 0666) = 3<%/a>
           1 1.5 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, stack=0x7f} => {parent_tid=[2]}, 88) = 2
           2 1.5 write(3<%/a>, ""..., 512) = 512
           1 1.5 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD <unfinished ...>
           2 1.5 +++ exited with 0 +++
           1 1.5 <... clone resumed>, child_tidptr=0x7f1f) = 5
           5 1.5 write(3<%/a>, ""..., 512) = 512
           1 1.5 write(3<%/a>, ""..., 512) = 512
           5 1.5 chdir("/") = 0
           1 1.5 unlink("a") = 0
           1 1.5 close(3<%/a>(deleted)) = 0
           5 1.5 write(3<%/a>(deleted), ""..., 512) = 512
           5 1.5 +++ exited with 0 +++"#,
    );
    assert_eq!(found, [(Write, 0, 1), (Write, 1, 1), (Write, 2, 1), (Write, 3, 1), (Trim, 0, 128)]);
}

#[test]
fn what_is_cut_punched_replaced_or_deleted_is_trimmed() {
    let mut session = Session::new();
    session.run(
        r#"1 1.5 creat("%/a", 0666) = 3<%/a>
           1 1.5 pwrite64(3<%/a>, ""..., 65536, 0) = 65536
           1 1.5 creat("%/b", 0666) = 4<%/b>
           1 1.5 pwrite64(4<%/b>, ""..., 65536, 0) = 65536
           1 1.5 close(4<%/b>) = 0"#,
    );
    let found = session.run(
        r#"1 1.5 fallocate(3<%/a>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 8192) = 0
           1 1.5 fallocate(3<%/a>, 0, 0, 1000000) = 0
           1 1.5 ftruncate(3<%/a>, 32768) = 0
           1 1.5 truncate("b", 65024) = 0
           1 1.5 rename("%/a", "b") = 0
           1 1.5 renameat2(AT_FDCWD<%>, "b", AT_FDCWD<%>, "c", RENAME_NOREPLACE) = 0
           1 1.5 close(3<%/c>) = 0
           1 1.5 unlinkat(AT_FDCWD<%>, "c", 0) = 0"#,
    );
    assert_eq!(
        found,
        [(Trim, 8, 16), (Trim, 64, 64), (Trim, 255, 1), (Trim, 128, 128), (Trim, 0, 128)]
    );
}

#[test]
fn copies_within_the_kernel_are_writes() {
    let found = Session::new().run(
        r#"1 1.5 creat("%/a", 0666) = 4<%/a>
           1 1.5 copy_file_range(3</x>, NULL, 4<%/a>, NULL, 9223372035781033984, 0) = 1024
           1 1.5 sendfile(4<%/a>, 3</x>, [0] => [512], 512) = 512
           1 1.5 copy_file_range(3</x>, NULL, 4<%/a>, [4096] => [4608], 512, 0) = 512"#,
    );
    assert_eq!(found, [(Write, 0, 2), (Write, 2, 1), (Write, 8, 1)]);
}

#[test]
fn asynchronous_writes_are_seen_when_they_are_submitted() {
    let found = Session::new().run(
        r#"1 1.5 creat("%/a", 0666) = 4<%/a>
           1 1.5 io_submit(0x7f, 3, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=4<%/a>, aio_buf=""..., aio_nbytes=16384, aio_offset=4096}, {aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITEV, aio_fildes=4<%/a>, aio_buf=[{iov_base=""..., iov_len=512}, {iov_base=""..., iov_len=512}], aio_offset=512}, {aio_lio_opcode=IOCB_CMD_FSYNC, aio_fildes=4<%/a>}]) = 3"#,
    );
    assert_eq!(found, [(Write, 8, 32), (Write, 1, 2), (Flush, 0, 0)]);
}

#[test]
fn what_calls_do_not_show_is_said() {
    let mut session = Session::new();
    session.run(
        r#"1 1.5 creat("%/a", 0666) = 4<%/a>
           1 1.5 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 4<%/a>, 0) = 0x7f0000000000
           1 1.5 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE, 4<%/a>, 0) = 0x7f0000000000
           1 1.5 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000
           1 1.5 io_uring_setup(64, {flags=0}) = 5<anon_inode:[io_uring]>
           1 1.5 fallocate(4<%/a>, FALLOC_FL_COLLAPSE_RANGE, 0, 4096) = 0"#,
    );
    let warnings = session.calls.blind_spots.warnings().join("\n");
    for part in
        ["created 1 io_urings", "1 files were mapped", "1 x fallocate(FALLOC_FL_COLLAPSE_RANGE)"]
    {
        assert!(warnings.contains(part), "{part:?} is not in {warnings}");
    }
}

#[test]
fn reads_are_requests_where_they_are_asked_for() {
    let text = r#"1 1.5 openat(AT_FDCWD<%>, "a", O_RDWR|O_CREAT, 0666) = 3<%/a>
           1 1.5 pwrite64(3<%/a>, ""..., 8192, 0) = 8192
           1 1.5 read(3<%/a>, ""..., 512) = 512
           1 1.5 readv(3<%/a>, [{iov_base=""..., iov_len=1024}], 1) = 1024
           1 1.5 pread64(3<%/a>, ""..., 4096, 4096) = 4096
           1 1.5 pread64(3<%/a>, ""..., 4096, 65536) = 0
           1 1.5 preadv(3<%/a>, [{iov_base=""..., iov_len=512}], 1, 512) = 512
           1 1.5 io_submit(0x7f, 1, [{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3<%/a>, aio_buf=0x7f, aio_nbytes=1024, aio_offset=2048}]) = 1
           1 1.5 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3<%/a>, 0) = 0x7f0000000000
           1 1.5 write(3<%/a>, ""..., 512) = 512"#;
    let mut session = Session::with_reads();
    let found = session.run(text);
    let reads = [(Read, 0, 1), (Read, 1, 2), (Read, 8, 8), (Read, 1, 1), (Read, 4, 2)];
    assert_eq!(found[1..6], reads);
    // The position is after what was read without an offset.
    assert_eq!(found[6..], [(Write, 3, 1)]);
    let warnings = session.calls.blind_spots.warnings().join("\n");
    assert!(warnings.contains("1 files were mapped for reading"), "{warnings}");
    let found = Session::new().run(text);
    assert_eq!(found, [(Write, 0, 16), (Write, 3, 1)]);
}

#[test]
fn files_that_others_opened_are_followed_from_their_end() {
    let mut session = Session::new();
    let found = session.run(
        r#"1 1.5 write(1<%/log>, ""..., 512) = 512
           1 1.5 write(1<%/log>, ""..., 512) = 512
           1 1.5 write(7<%>, ""..., 512) = 512"#,
    );
    assert_eq!(found, [(Write, 0, 1), (Write, 1, 1)]);
}

#[test]
fn requests_name_the_stream_of_the_name_that_their_file_has() {
    let mut session = Session::with_streams(&["*.log=1", "old/=2"]);
    let found = session.run(
        r#"1 1.5 openat(AT_FDCWD<%>, "a.log", O_RDWR|O_CREAT, 0666) = 3<%/a.log>
           1 1.6 write(3<%/a.log>, ""..., 512) = 512
           1 1.7 fsync(3<%/a.log>) = 0
           1 1.8 rename("%/a.log", "%/old/a.log") = 0
           1 1.9 pwrite64(3<%/old/a.log>, ""..., 512, 512) = 512
           1 2.0 openat(AT_FDCWD<%>, "b", O_RDWR|O_CREAT, 0666) = 4<%/b>
           1 2.1 write(4<%/b>, ""..., 512) = 512
           1 2.2 ftruncate(3<%/old/a.log>, 0) = 0"#,
    );
    assert_eq!(
        found,
        [(Write, 0, 1), (Flush, 0, 0), (Write, 1, 1), (Write, 128, 1), (Trim, 0, 128)]
    );
    assert_eq!(session.batch.stream, [1, 0, 1, 0, 1]);
}
