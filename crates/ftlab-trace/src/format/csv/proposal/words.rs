//! What names of columns say: roles and units, by the words that they are made of.

use super::super::map::TimeUnit;

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Op,
    /// The operation as yes or no: whether the request is a write, or whether it is a read.
    IsWrite,
    IsRead,
    Offset,
    Length,
    Volume,
}

/// What a column counts in, as far as its name says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    Bytes,
    KiB,
    /// Of 1,000 bytes or 1,024.
    Kilobytes,
    Megabytes,
    Sectors,
    Pages,
    /// Of a size that is not said.
    Blocks,
    /// Blocks, counted from zero, less one.
    BlocksFromZero,
}

const TIMES: &[&str] = &["time", "timestamp", "ts", "datetime", "when", "arrival", "starttime"];
const OPS: &[&str] = &[
    "op",
    "operation",
    "optype",
    "opcode",
    "type",
    "iotype",
    "reqtype",
    "rw",
    "rwbs",
    "kind",
    "action",
    "cmd",
    "command",
    "direction",
    "dir",
];
const OFFSETS: &[&str] = &[
    "offset",
    "off",
    "address",
    "addr",
    "position",
    "pos",
    "where",
    "lba",
    "lbn",
    "slba",
    "startlba",
    "lpn",
    "lpa",
    "startsector",
    "sectornum",
    "blkno",
];
const LENGTHS: &[&str] = &[
    "length",
    "len",
    "size",
    "iosize",
    "reqsize",
    "datasize",
    "count",
    "much",
    "nlb",
    "bytes",
    "nbytes",
    "sectors",
    "nsectors",
    "numsectors",
    "blocks",
    "nblocks",
    "pages",
    "npages",
    "seccount",
];
/// An offset, where no word says that it is a length.
const PLACES: &[&str] = &["sector", "block", "page", "blk"];
const VOLUMES: &[&str] = &[
    "device",
    "dev",
    "disk",
    "drive",
    "volume",
    "vol",
    "lun",
    "asu",
    "host",
    "hostname",
    "server",
    "vm",
    "file",
    "filename",
    "namespace",
    "nsid",
];
const NUMBERS: &[&str] = &["number", "num", "nr", "no", "n"];
/// What may stand beside the words of any role, and changes nothing of it.
const BESIDE: &[&str] = &["io", "request", "req", "access", "in", "of", "the"];

/// The words that `name` is made of, in lower case: divided by signs, and where a capital letter begins one.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Units that have a capital letter inside.
    let name = name.replace("KiB", "kib").replace("MiB", "mib");
    let letters: Vec<char> = name.chars().collect();
    let mut is_inside = false;
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            is_inside = false;
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let follows_small =
            before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit());
        let begins_word = before.is_some_and(char::is_uppercase)
            && after.is_some_and(|after| after.is_lowercase());
        if !is_inside || (letter.is_uppercase() && (follows_small || begins_word)) {
            words.push(String::new());
        }
        is_inside = true;
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

fn has(words: &[String], of: &[&str]) -> bool {
    words.iter().any(|word| of.contains(&word.as_str()))
}

/// What a column is for whose name is made of `words`; `None` if that does not follow.
pub(super) fn role(words: &[String]) -> Option<Role> {
    let is = |name: &[&str]| words.iter().map(String::as_str).eq(name.iter().copied());
    let role = if is(&["is", "write"]) || is(&["iswrite"]) {
        return Some(Role::IsWrite);
    } else if is(&["is", "read"]) || is(&["isread"]) {
        return Some(Role::IsRead);
    } else if has(words, TIMES)
        || (words.len() == 2 && words[0] == "t" && time_unit(words).is_some())
    {
        Role::Time
    } else if has(words, OFFSETS) {
        Role::Offset
    } else if has(words, LENGTHS) && !is_size_of_unit(words) {
        Role::Length
    } else if has(words, PLACES) && !has(words, LENGTHS) {
        Role::Offset
    } else if has(words, OPS) {
        Role::Op
    } else if has(words, VOLUMES) {
        Role::Volume
    } else {
        return None;
    };
    words.iter().all(|word| fits(role, word)).then_some(role)
}

/// Whether the size is that of every block, sector or page, and of no request.
fn is_size_of_unit(words: &[String]) -> bool {
    has(words, &["size"]) && has(words, &["block", "sector", "page", "blk"])
}

/// Whether `word` may be a part of the name of a column with this role.
fn fits(role: Role, word: &str) -> bool {
    let known: &[&[&str]] = match role {
        Role::Time => &[
            TIMES,
            &[
                "t", "op", "start", "issue", "submit", "event", "unix", "epoch", "system",
                "relative", "rel",
            ],
        ],
        Role::Op => &[OPS, &["name", "code"]],
        Role::Offset => &[
            OFFSETS,
            PLACES,
            NUMBERS,
            &["logical", "physical", "starting", "start", "file", "disk"],
        ],
        Role::Length => &[LENGTHS, PLACES, NUMBERS, &["data", "transfer", "xfer", "how"]],
        Role::Volume => &[VOLUMES, NUMBERS, &["id", "name"]],
        Role::IsWrite | Role::IsRead => &[],
    };
    let is_unit = match role {
        Role::Time => time_unit_of(word).is_some(),
        Role::Offset | Role::Length => counts_of(word).is_some(),
        _ => false,
    };
    is_unit || known.iter().any(|words| words.contains(&word)) || BESIDE.contains(&word)
}

/// The unit of a time, if its name has one.
pub(super) fn time_unit(words: &[String]) -> Option<TimeUnit> {
    words.iter().rev().find_map(|word| time_unit_of(word))
}

fn time_unit_of(word: &str) -> Option<TimeUnit> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => TimeUnit::Seconds,
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => {
            TimeUnit::Milliseconds
        }
        "us" | "usec" | "usecs" | "µs" | "μs" | "micros" | "microsecond" | "microseconds" => {
            TimeUnit::Microseconds
        }
        "ns" | "nsec" | "nsecs" | "nanos" | "nanosecond" | "nanoseconds" => TimeUnit::Nanoseconds,
        "100ns" => TimeUnit::HundredNanoseconds,
        _ => return None,
    })
}

/// What a column counts in, if its name says so: bytes, KiB and the like rather than blocks.
pub(super) fn counts(words: &[String]) -> Option<Counts> {
    let all = || words.iter().rev().filter_map(|word| counts_of(word));
    let is_vague = |counts: &Counts| matches!(counts, Counts::Blocks | Counts::BlocksFromZero);
    all().find(|counts| !is_vague(counts)).or_else(|| all().next())
}

fn counts_of(word: &str) -> Option<Counts> {
    Some(match word {
        "b" | "byte" | "bytes" | "nbytes" => Counts::Bytes,
        "kib" | "kibibytes" => Counts::KiB,
        "kb" | "k" | "kbytes" | "kilobytes" => Counts::Kilobytes,
        "mb" | "mib" | "mbytes" | "megabytes" => Counts::Megabytes,
        "sector" | "sectors" | "sect" | "nsectors" | "numsectors" | "512b" | "startsector"
        | "sectornum" | "seccount" => Counts::Sectors,
        "page" | "pages" | "npages" | "lpn" | "lpa" => Counts::Pages,
        "nlb" => Counts::BlocksFromZero,
        "block" | "blocks" | "blk" | "blkno" | "nblocks" | "lba" | "lbn" | "slba" | "startlba" => {
            Counts::Blocks
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role_of(name: &str) -> Option<Role> {
        role(&words(name))
    }

    #[test]
    fn names_are_divided_into_words() {
        for (name, expected) in [
            ("TIME(s)", "time s"),
            ("request_io_size_bytes", "request io size bytes"),
            ("DiskNumber", "disk number"),
            ("IOSizeKB", "io size kb"),
            ("offset [KiB]", "offset kib"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn names_say_roles_and_units() {
        use Role::{IsWrite, Length, Offset, Op, Time, Volume};
        for (name, role) in [
            ("Time", Some(Time)),
            ("t_us", Some(Time)),
            ("start_time", Some(Time)),
            ("T", None),
            ("LAT(ms)", None),
            ("ResponseTime", None),
            ("end_time", None),
            ("Op", Some(Op)),
            ("op_type", Some(Op)),
            ("IOType", Some(Op)),
            ("is_write", Some(IsWrite)),
            ("offset_bytes", Some(Offset)),
            ("SECTOR", Some(Offset)),
            ("file_offset", Some(Offset)),
            ("logical_block_address", Some(Offset)),
            ("slba", Some(Offset)),
            ("sector_count", Some(Length)),
            ("nr_sectors", Some(Length)),
            ("request_io_size_bytes", Some(Length)),
            ("block_size", None),
            ("queue_size", None),
            ("block_id", None),
            ("DISK", Some(Volume)),
            ("device_id", Some(Volume)),
            ("PID", None),
        ] {
            assert_eq!(role_of(name), role, "{name}");
        }
        let counts_of = |name| counts(&words(name));
        assert_eq!(counts_of("offset_kb"), Some(Counts::Kilobytes));
        assert_eq!(counts_of("lba_bytes"), Some(Counts::Bytes));
        assert_eq!(counts_of("logical_block_address"), Some(Counts::Blocks));
        assert_eq!(counts_of("offset"), None);
        assert_eq!(time_unit(&words("Timestamp (usec)")), Some(TimeUnit::Microseconds));
        assert_eq!(time_unit(&words("ts")), None);
    }
}
