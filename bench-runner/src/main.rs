//! The command `bench-runner`.
use std::process::ExitCode;

use bench_runner::ensemble::keeper;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    // Before anything else, and above all before any thread is started: see `keeper::main`.
    if arguments.next_if(|first| first == keeper::SUBCOMMAND).is_some() {
        return keeper::main(arguments);
    }
    ExitCode::SUCCESS
}
