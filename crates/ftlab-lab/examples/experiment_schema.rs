//! Prints the JSON Schema of experiment files: `cargo run -p ftlab-lab --example experiment_schema`.

use ftlab_lab::sweep::schema;

fn main() {
    print!("{}", schema());
}
