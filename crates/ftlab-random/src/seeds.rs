//! Where the random numbers of a job begin.
//!
//! fio has a numbered stream of random numbers for each purpose, and every stream has a seed, which
//! follows from `randseed` and the number of the job (from 1, over all sections). That of zipf, pareto and
//! normal is multiplied by a hash of the name of the file.
//!
//! Until fio 3.34, the offsets were an exception: with `randrepeat`, the default, their seed followed from the
//! number of the job alone, and that of zipf, pareto and normal from the name of the file and the number. There,
//! `randseed` is read only after the streams of a section's first job were seeded, so that without `randrepeat=0`
//! it does not change the offsets of that job.

/// Streams by purpose: sizes of blocks read, written and trimmed.
pub const SIZES: [usize; 3] = [0, 1, 2];
/// Whether to read or write.
pub const MIX: usize = 4;
/// Where.
pub const OFFSETS: usize = 6;
/// Whether at random or in sequence.
pub const SEQUENCE: usize = 10;
/// In which zone.
pub const ZONES: usize = 16;
/// Which placement identifier.
pub const PLACEMENT: usize = 21;
/// How many there are.
const STREAMS: usize = 22;

/// The seed of each stream.
pub type Seeds = [u64; STREAMS];

/// With which seeds are multiplied, again and again.
const MULTIPLIER: u64 = 0x9e37_0001;

/// From which the seeds of repeatable streams follow.
const REPEATABLE: u64 = 0xb189_9bed;

/// `randseed` where it is not given.
pub const RANDSEED: u64 = 0x89;

/// Seeds that follow from a `randseed`, of the job with this number.
pub fn of_randseed(randseed: u64, job: u64) -> Seeds {
    let mut seed = (0..4).fold(randseed, |seed, _| seed.wrapping_mul(MULTIPLIER));
    std::array::from_fn(|stream| {
        let of_stream = seed.wrapping_mul(job).wrapping_add(stream as u64);
        seed = seed.wrapping_mul(MULTIPLIER);
        of_stream
    })
}

/// Seeds of `allrandrepeat`, until fio 3.34.
pub fn all_repeatable(job: u64) -> Seeds {
    std::array::from_fn(|stream| repeatable_offsets(job).wrapping_add(stream as u64))
}

/// The seed of the offsets with `randrepeat`, until fio 3.34.
pub fn repeatable_offsets(job: u64) -> u64 {
    REPEATABLE.wrapping_mul(job)
}

/// What the name of a file and the number of its job add to the seed of its own distribution.
pub fn of_file(name: &str, job: u64) -> u32 {
    jenkins(name.as_bytes()).wrapping_mul(job as u32)
}

/// B. Jenkins, lookup3, 2006, as fio calls it: one byte for each word of 32 bits, except in the last
/// twelve bytes.
fn jenkins(key: &[u8]) -> u32 {
    const GOLDEN: u32 = 0x61c8_8647;
    let [mut a, mut b, mut c] = [GOLDEN.wrapping_add(key.len() as u32); 3];
    let mut rest = key;
    while rest.len() > 12 {
        a = a.wrapping_add(u32::from(rest[0]));
        b = b.wrapping_add(u32::from(rest[4]));
        c = c.wrapping_add(u32::from(rest[8]));
        for rotation in [[4, 6, 8], [16, 19, 4]] {
            a = a.wrapping_sub(c) ^ c.rotate_left(rotation[0]);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(rotation[1]);
            a = a.wrapping_add(c);
            c = c.wrapping_sub(b) ^ b.rotate_left(rotation[2]);
            b = b.wrapping_add(a);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    let word = |at: usize| u32::from_le_bytes([last[at], last[at + 1], last[at + 2], last[at + 3]]);
    a = a.wrapping_add(word(0));
    b = b.wrapping_add(word(4));
    c = c.wrapping_add(word(8));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}
