//! Which program this is: what `ftlab --version` says, and what every file states that it writes.

use std::sync::OnceLock;

/// The release; every crate has the same.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

static VERSION: OnceLock<String> = OnceLock::new();

/// Names the commit that the program was built from, before anything asks for the version. The first name counts.
pub fn name_commit(commit: &str) {
    if !commit.is_empty() {
        VERSION.get_or_init(|| version_of(RELEASE, commit));
    }
}

/// The release with its commit, such as `0.1.0 (647af12)`; the release alone if no commit was named.
pub fn version() -> &'static str {
    VERSION.get().map_or(RELEASE, String::as_str)
}

/// The program with its version, such as `ftlab 0.1.0 (647af12)`: what wrote a file.
pub fn written_by() -> String {
    format!("ftlab {}", version())
}

fn version_of(release: &str, commit: &str) -> String {
    format!("{release} ({commit})")
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, since the name is that of the whole process.
    #[test]
    fn the_first_commit_that_is_named_counts() {
        assert_eq!(version(), RELEASE);
        name_commit("");
        assert_eq!(written_by(), format!("ftlab {RELEASE}"));
        name_commit("647af12-dirty");
        name_commit("0000000");
        assert_eq!(version(), format!("{RELEASE} (647af12-dirty)"));
        assert_eq!(written_by(), format!("ftlab {RELEASE} (647af12-dirty)"));
    }
}
