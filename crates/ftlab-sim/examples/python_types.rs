//! Prints the types of results in Python: `cargo run -p ftlab-sim --example python_types`.

use ftlab_sim::python_types;

fn main() {
    print!("{}", python_types());
}
