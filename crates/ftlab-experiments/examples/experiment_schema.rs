//! Prints the JSON Schema of experiment files: `cargo run -p ftlab-experiments --example experiment_schema`.

use ftlab_experiments::sweep::schema;

fn main() {
    print!("{}", schema());
}
