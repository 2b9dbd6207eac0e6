//! Prints the JSON Schema of experiment files: `cargo run -p ftlab-sim --example experiment_schema`.

use ftlab_sim::sweep::schema;

fn main() {
    print!("{}", schema());
}
