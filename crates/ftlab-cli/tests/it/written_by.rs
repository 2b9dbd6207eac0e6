//! Files state what wrote them, and the program which commit it was built from.

use crate::common::{Place, written_by};
use std::fs;
use std::path::Path;
use std::process::Command;

const RUN: &str = "run uniform --logical 4MiB --drive-writes 1 --ftl 1r-greedy --quiet";

/// Whether a file has the text in its bytes.
fn states(path: &Path, text: &str) -> bool {
    let bytes = fs::read(path).unwrap();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn files_state_what_wrote_them() {
    let place = Place::new();
    place.write(
        "sweep.toml",
        "title = \"small\"\nworkloads = [\"uniform\"]\nftls = [\"1r-greedy\"]\n\
         [drive]\nlogical = \"4MiB\"\n[run]\ndrive-writes = 1\n",
    );
    let commands = [
        &format!("{RUN} --out run --figure waf.svg --report run.html"),
        "convert uniform t.parquet --logical 1MiB --writes 9",
        "inspect t.parquet --report inspect.html",
        "teach --ftl 1r-greedy --out lesson.html",
        "sweep sweep.toml --out store",
        "compare uniform --logical 4MiB --ftl 1r-greedy --ftl fifo --baseline fifo --op 10% --writes 2000 --out cells",
    ];
    for command in commands {
        let output = place.ftlab(command);
        assert_eq!(output.code, 0, "{command}: {}", output.stderr);
    }
    let mut files = Vec::new();
    let mut folders = vec![place.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let written_by = written_by();
    let version = written_by.strip_prefix("ftlab ").unwrap();
    let kinds = ["json", "jsonl", "parquet", "svg", "html"];
    let mut seen = std::collections::BTreeSet::new();
    for path in &files {
        let kind = path.extension().unwrap_or_default().to_str().unwrap();
        if kinds.contains(&kind) {
            let text = if kind == "json" { version } else { &written_by };
            assert!(states(path, text), "{} does not say {text}", path.display());
            seen.insert(kind);
        }
    }
    assert_eq!(seen.len(), kinds.len(), "{files:?}");
    let results = place.ftlab(&format!("{RUN} --json")).json();
    assert_eq!(results["version"], version);
}

#[test]
fn the_same_command_writes_the_same_bytes() {
    let place = Place::new();
    for name in ["a", "b"] {
        let command = format!("convert uniform {name}.parquet --logical 1MiB --writes 99");
        assert_eq!(place.ftlab(&command).code, 0);
        let command = format!("{RUN} --figure {name}.svg");
        assert_eq!(place.ftlab(&command).code, 0);
    }
    for kind in ["parquet", "svg"] {
        let [a, b] = ["a", "b"].map(|name| fs::read(place.path().join(name).with_extension(kind)));
        assert!(a.unwrap() == b.unwrap(), "{kind}");
    }
}

/// The build script, as a program of its own.
struct Script {
    place: Place,
}

impl Script {
    fn compiled() -> Self {
        let place = Place::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut rustc = Command::new(rustc);
        rustc.args(["--edition", "2024", "-o"]).arg(place.path().join("script")).arg(source);
        assert!(rustc.status().unwrap().success());
        Self { place }
    }

    /// The crate in a directory.
    fn write_crate(&self, at: &str) {
        let place = self.place.path().join(at).join("crates/ftlab-cli");
        fs::create_dir_all(&place).unwrap();
        for name in ["Cargo.toml", "Cargo.lock"] {
            fs::write(self.place.path().join(at).join(name), "").unwrap();
        }
        fs::write(self.place.path().join(at).join("crates/a file"), "").unwrap();
        fs::create_dir_all(place.join("tests")).unwrap();
        fs::write(place.join("tests/a.rs"), "").unwrap();
        fs::write(place.join("build.rs"), "fn main() {}\n").unwrap();
    }

    fn git(&self, at: &str, arguments: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments.split(' '));
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.current_dir(self.place.path().join(at)).output().unwrap();
        assert!(output.status.success(), "{arguments}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it says there, and the commit that it names.
    fn run(&self, at: &str, variable: Option<&str>) -> (String, String) {
        let mut script = Command::new(self.place.path().join("script"));
        script.current_dir(self.place.path().join(at).join("crates/ftlab-cli"));
        script.env_remove("FTLAB_COMMIT").env("GIT_CEILING_DIRECTORIES", self.place.path());
        // What a hook of Git sets is of another repository.
        script.env("GIT_DIR", "/").env("GIT_INDEX_FILE", "/index");
        script.envs(variable.map(|commit| ("FTLAB_COMMIT", commit)));
        let output = script.output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stdout).unwrap();
        let commit =
            said.lines().find_map(|line| line.strip_prefix("cargo::rustc-env=FTLAB_COMMIT="));
        let commit = commit.unwrap().to_owned();
        (said, commit)
    }

    fn commit(&self, at: &str, variable: Option<&str>) -> String {
        self.run(at, variable).1
    }
}

#[test]
fn the_build_finds_its_commit() {
    let script = Script::compiled();
    script.write_crate("clone");
    assert_eq!(script.commit("clone", None), "", "a source distribution");
    assert_eq!(script.commit("clone", Some("1234567")), "1234567");
    script.git("clone", "init --quiet");
    assert_eq!(script.commit("clone", None), "", "a repository that does not have it");
    script.git("clone", "add .");
    script.git("clone", "commit --quiet -m first");
    let head = script.git("clone", "rev-parse HEAD")[..7].to_owned();
    let (said, commit) = script.run("clone", None);
    assert_eq!(commit, head);
    // Cargo runs it again after a commit, and watches nothing that is not there.
    let watched = said.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed="));
    let watched: Vec<_> = watched.filter(|path| path.contains(".git")).collect();
    let crate_folder = script.place.path().join("clone/crates/ftlab-cli");
    assert!(watched.iter().all(|path| crate_folder.join(path).exists()), "{watched:?}");
    assert!(watched.iter().any(|path| path.contains("/refs/heads/")), "{watched:?}");
    fs::write(crate_folder.join("tests/a.rs"), "// more").unwrap();
    assert_eq!(script.commit("clone", None), head, "a test is not built into the program");
    fs::write(crate_folder.join("build.rs"), "fn main() { }\n").unwrap();
    assert_eq!(script.commit("clone", None), head.clone() + "-dirty");
    assert_eq!(script.commit("clone", Some("")), "", "told that there is none");
    script.write_crate("clone/vendor");
    script.git("clone", "add .");
    script.git("clone", "commit --quiet -m second");
    assert_eq!(script.commit("clone/vendor", None), "", "a copy within another repository");
    let second = script.git("clone", "rev-parse HEAD")[..7].to_owned();
    assert!(second != head && script.commit("clone", None) == second);
}
