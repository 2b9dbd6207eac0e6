//! Writes options and types of results into the Python package: `cargo run -p ftlab-sim --example python_types`.

use ftlab_sim::PYTHON_FILES;
use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ftlab");
    for (name, make) in PYTHON_FILES {
        let path = package.join(name);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, make(&text))?;
    }
    Ok(())
}
