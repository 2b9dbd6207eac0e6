//! The library bundled with the page's own scripts is the one that `browser/package-lock.json` pins.

use std::fs;
use std::path::Path;

#[test]
fn vendored_files_are_those_of_the_package() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = here.join("browser/node_modules/uplot");
    if !package.exists() {
        eprintln!("SKIPPED: uPlot's package is absent; `make setup-report` installs it");
        return;
    }
    for (vendored, original) in [
        ("uPlot.iife.min.js", "dist/uPlot.iife.min.js"),
        ("uPlot.min.css", "dist/uPlot.min.css"),
        ("LICENSE-uPlot", "LICENSE"),
    ] {
        let vendored = fs::read(here.join("assets/vendor").join(vendored)).unwrap();
        let original = fs::read(package.join(original)).unwrap();
        assert!(vendored == original, "copy it again: npm run vendor --prefix {}", here.display());
    }
}
