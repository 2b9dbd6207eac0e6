//! Runs FTLs over workloads and collects results.
