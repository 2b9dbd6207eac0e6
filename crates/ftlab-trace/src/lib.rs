//! Where writes come from: trace formats and generators.
