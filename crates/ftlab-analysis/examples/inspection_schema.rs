//! Prints the JSON Schema of inspections: `cargo run -p ftlab-trace --example inspection_schema`.

use ftlab_analysis::schema;

fn main() {
    print!("{}", schema());
}
