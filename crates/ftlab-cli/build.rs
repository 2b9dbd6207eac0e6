//! Tells the program which commit it is built from, as `FTLAB_COMMIT`: such as `647af12`, `647af12-dirty` if sources
//! differ from it, or nothing where there is no repository, as in a source distribution. The environment
//! variable of that name comes first.

use std::path::Path;
use std::process::Command;

/// Where this crate is in the repository; a copy of it elsewhere, within another, is not of that one's commit.
const PLACE: &str = "crates/ftlab-cli/";
/// Digits of a commit.
const DIGITS: usize = 7;
/// What a build reads of the repository, besides crates.
const SOURCES: [&str; 2] = ["../../Cargo.toml", "../../Cargo.lock"];
/// What it does not read of a crate.
const NOT_BUILT: [&str; 7] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "examples",
    "fuzz",
    "programs",
    "proptest-regressions",
    "tests",
];

fn main() {
    println!("cargo::rerun-if-env-changed=FTLAB_COMMIT");
    let commit = match std::env::var("FTLAB_COMMIT") {
        Ok(commit) => commit,
        Err(_) => of_repository().unwrap_or_default(),
    };
    println!("cargo::rustc-env=FTLAB_COMMIT={}", commit.trim());
}

/// The commit of the repository that this crate is in. The build looks again if it is another, or if sources change.
fn of_repository() -> Option<String> {
    // Without any such line, Cargo looks again if a file of this crate changes.
    println!("cargo::rerun-if-changed=build.rs");
    let is_ours = git(&["rev-parse", "--show-prefix"])? == PLACE
        && git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    if !is_ours {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    // Every commit and every change to another one adds a line to the log, which a clone may lack; then the branch
    // tells, in a file of its own or among others.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let sources = sources().ok()?;
    for path in &sources {
        println!("cargo::rerun-if-changed={path}");
    }
    let mut status = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(sources.iter().map(String::as_str));
    let changes = git(&status)?;
    let mark = if changes.is_empty() { "" } else { "-dirty" };
    Some(format!("{}{mark}", commit.get(..DIGITS)?))
}

/// What a build reads, from here.
fn sources() -> std::io::Result<Vec<String>> {
    let mut sources: Vec<_> = SOURCES.map(str::to_owned).into();
    for of_crate in std::fs::read_dir("..")? {
        let of_crate = of_crate?;
        if !of_crate.path().is_dir() {
            continue;
        }
        let of_crate = of_crate.file_name().into_string().unwrap_or_default();
        for entry in std::fs::read_dir(Path::new("..").join(&of_crate))? {
            let entry = entry?.file_name().into_string().unwrap_or_default();
            if !NOT_BUILT.contains(&entry.as_str()) {
                sources.push(format!("../{of_crate}/{entry}"));
            }
        }
    }
    Ok(sources)
}

/// What Git says, if it is there and succeeds. It writes nothing, so that builds do not disturb each other.
fn git(arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.args(arguments).env("GIT_OPTIONAL_LOCKS", "0");
    // A hook of Git, which may build, has them of its own repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    let output = git.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
