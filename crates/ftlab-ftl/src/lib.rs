//! Flash translation layers: the page-mapped engine and its policies.
