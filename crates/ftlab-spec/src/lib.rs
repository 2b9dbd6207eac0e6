//! How users name things: `name:key=value,...` with typed, documented parameters, and sizes such as
//! `8GiB`.
//!
//! A parameter is declared once, with [`parameters!`]; that declaration parses it, checks its range,
//! documents it in `ftlab list` and prints it back in results.
//!
//! ```
//! ftlab_spec::parameters! {
//!     /// How to brew.
//!     pub struct Tea {
//!         /// Minutes in the pot.
//!         minutes: u32 = 4, "minutes" in 1..=10, from "the tin";
//!         /// Milk or not.
//!         milk: bool = false, "milk", from "our habit";
//!     }
//! }
//! use ftlab_spec::{Parameters, Spec};
//!
//! let tea = Tea::from_spec(&"tea:minutes=5,milk=on".parse::<Spec>()?)?;
//! assert_eq!((tea.minutes, tea.milk), (5, true));
//!
//! let error = Tea::from_spec(&"tea:minutes=60".parse::<Spec>()?).unwrap_err();
//! assert_eq!(error.to_string(), "tea: minutes=60 is not a whole number in 1..=10");
//! # Ok::<(), ftlab_spec::SpecError>(())
//! ```

mod auto;
mod domain;
mod error;
mod near;
mod parameters;
mod program;
mod quantity;
mod spec;
mod value;

pub use auto::OrAuto;
pub use domain::Domain;
pub use error::SpecError;
pub use near::{NamesAndPairs, did_you_mean};
pub use parameters::{NoParameters, Parameter, Parameters};
pub use program::{name_commit, version, written_by};
pub use quantity::{ByteSize, Share, grouped};
pub use spec::Spec;
pub use value::{Value, check_range, parse_value};
