//! Which fio: what a job writes depends on the version that runs it.
//!
//! | since | what changed |
//! |---|---|
//! | 3.34 | placement: `fdp` |
//! | 3.35 | all seeds follow from `randseed`, those of zipf, pareto and normal too; `allrandrepeat` is `randrepeat` |
//! | 3.36 | `plid_select=random`; the number of `rw=randwrite:N` may have a suffix; `io_uring_cmd` queues trims |
//! | 3.38 | flushes follow writes only, also after a pass; `trimwrite` has some; a job that reads and writes in sequence begins its file again within a pass, to the end of `io_size`; `io_uring` queues trims |
//! | 3.41 | `randtrimwrite` writes where it trims, for an `offset` too; `libaio` queues flushes; zones can differ between reads, writes and trims |
//! | 3.42 | more than 2^32 blocks have offsets of 64 bits from the first; placement is drawn from 32 bits |
//!
//! A job file may say which in a comment: `; ftlab: version=3.33`.

use super::values::Fault;
use ftlab_spec::Value;

ftlab_spec::choices! {
    /// A version of fio whose requests are repeated bit by bit.
    pub enum Version {
        /// Of November 2022; Debian 12 has it.
        V33 = "3.33",
        /// Of March 2023.
        V34 = "3.34",
        /// Of May 2023.
        V35 = "3.35",
        /// Of October 2023; Ubuntu 24.04 has it.
        V36 = "3.36",
        /// Of March 2024.
        V37 = "3.37",
        /// Of October 2024.
        V38 = "3.38",
        /// Of February 2025; Debian 13 has it.
        V39 = "3.39",
        /// Of May 2025.
        V40 = "3.40",
        /// Of September 2025.
        V41 = "3.41",
        /// Of April 2026.
        V42 = "3.42",
    }
}

impl Version {
    /// All, the oldest first.
    pub const ALL: [Self; 10] = [
        Self::V33,
        Self::V34,
        Self::V35,
        Self::V36,
        Self::V37,
        Self::V38,
        Self::V39,
        Self::V40,
        Self::V41,
        Self::V42,
    ];

    /// The version whose jobs are run if none is asked for.
    pub const NEWEST: Self = Self::V42;

    /// The version of a program by what it says of itself, such as `fio-3.33`; `None` if it is none of these.
    pub fn of_program(said: &str) -> Option<Self> {
        Self::parse(said.trim().strip_prefix("fio-")?)
    }

    /// What follows the first point.
    fn minor(self) -> u32 {
        33 + self as u32
    }

    /// Whether all seeds follow from `randseed`, and none from the number of the job alone.
    pub(super) fn seeds_follow_randseed(self) -> bool {
        self.minor() >= 35
    }

    /// Whether jobs can place their writes.
    pub(super) fn places(self) -> bool {
        self.minor() >= 34
    }

    /// Whether identifiers can be drawn at random.
    pub(super) fn places_at_random(self) -> bool {
        self.minor() >= 36
    }

    /// Whether they are drawn from 32 bits, whatever offsets are drawn from.
    pub(super) fn places_from_32_bits(self) -> bool {
        self.minor() >= 42
    }

    /// Whether the number of `rw=randwrite:N` may have a suffix; else what follows the digits is nothing.
    pub(super) fn reads_suffix_of_random(self) -> bool {
        self.minor() >= 36
    }

    /// Whether a flush is due only if the last request was a write, of whatever pass.
    pub(super) fn flushes_after_writes_only(self) -> bool {
        self.minor() >= 38
    }

    /// Whether a job that reads and writes in sequence begins again at the end of its part until `io_size` is issued.
    pub(super) fn wraps_mixed_sequence(self) -> bool {
        self.minor() >= 38
    }

    /// Whether `randtrimwrite` writes where it has trimmed. If not, it adds `offset` twice.
    pub(super) fn writes_where_it_trimmed(self) -> bool {
        self.minor() >= 41
    }

    /// Whether it can read zones of reads, writes and trims, with commas between them.
    pub(super) fn reads_zones_of_each(self) -> bool {
        self.minor() >= 41
    }

    /// Whether offsets of more than 2^32 blocks are drawn from 64 bits in the first pass.
    pub(super) fn widens_at_once(self) -> bool {
        self.minor() >= 42
    }

    /// Whether an engine that queues does so with trims.
    pub(super) fn queues_trims(self, engine: &str) -> bool {
        match engine {
            "libaio" | "posixaio" => false,
            "io_uring" => self.minor() >= 38,
            "io_uring_cmd" => self.minor() >= 36,
            _ => true,
        }
    }

    /// Whether it does so with flushes.
    pub(super) fn queues_flushes(self, engine: &str) -> bool {
        engine != "libaio" || self.minor() >= 41
    }

    /// The version that a comment states; `None` if it is not for us.
    pub(super) fn stated(comment: &str) -> Result<Option<Self>, Fault> {
        let Some(said) = comment.trim().strip_prefix("ftlab:") else { return Ok(None) };
        let said = said.trim();
        let (name, value) = said.split_once('=').unwrap_or((said, ""));
        if name.trim() != "version" {
            return Err(Fault::new(
                format!("{said:?} is nothing that a comment can tell ftlab"),
                format!("write ftlab: version={}", Self::NEWEST),
            ));
        }
        let value = value.trim();
        Self::parse(value).map(Some).ok_or_else(|| {
            Fault::new(
                format!("version={value} is no version of fio that is repeated"),
                format!("write {}", Self::expects()),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_states_which() {
        for (comment, version) in [
            ("", None),
            (" version=3.33", None),
            (" ftlab: version=3.33", Some(Version::V33)),
            ("ftlab:version = 3.42 ", Some(Version::V42)),
        ] {
            assert_eq!(Version::stated(comment), Ok(version), "{comment:?}");
        }
        let other = Version::stated("ftlab: wersion=3.33").unwrap_err();
        assert!(other.reason.contains("is nothing that a comment can tell"), "{other:?}");
        let old = Version::stated("ftlab: version=2.1.10").unwrap_err();
        assert!(old.reason.contains("version=2.1.10 is no version"), "{old:?}");
        assert!(old.remedy.contains("one of 3.33, "), "{old:?}");
    }

    #[test]
    fn versions_are_in_order() {
        for (version, minor) in Version::ALL.into_iter().zip(33..) {
            assert_eq!((version.minor(), version.to_string()), (minor, format!("3.{minor}")));
        }
        assert_eq!(Version::ALL.last(), Some(&Version::NEWEST));
    }

    #[test]
    fn programs_say_which_they_are() {
        assert_eq!(Version::of_program("fio-3.33\n"), Some(Version::V33));
        assert_eq!(Version::of_program("fio-3.42-12-g1a2b3c4"), None);
        assert_eq!(Version::of_program("fio-2.1"), None);
    }
}
