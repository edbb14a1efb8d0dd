//! The command `bench-runner`.

fn main() {}
