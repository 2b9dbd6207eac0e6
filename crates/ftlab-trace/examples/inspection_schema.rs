//! Prints the JSON Schema of inspections: `cargo run -p ftlab-trace --example inspection_schema`.

use ftlab_trace::analyze::schema;

fn main() {
    print!("{}", schema());
}
