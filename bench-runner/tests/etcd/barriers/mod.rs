//! The barriers on etcd.
mod closed_forms;
mod double;
mod single;

/// Where the barriers of the tests are.
const BASE: &str = "/tests/barrier";
