//! Closed forms of write amplification.
