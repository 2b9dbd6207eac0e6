//! Prints the JSON Schema of results: `cargo run -p ftlab-sim --example result_schema`.

use ftlab_sim::result::schema;

fn main() {
    print!("{}", schema());
}
