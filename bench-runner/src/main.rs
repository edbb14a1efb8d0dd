//! The command `bench-runner`; see [`bench_runner`] for what it is made of.

use std::process::ExitCode;

use bench_runner::cli::Cli;
use bench_runner::commands;
use bench_runner::ensemble::keeper;
use bench_runner::fault;
use clap::Parser;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    // Before anything else, and above all before any thread is started: see `keeper::main`.
    if arguments.next_if(|first| first == keeper::SUBCOMMAND).is_some() {
        return keeper::main(arguments);
    }
    ExitCode::from(fault::contain(|| commands::dispatch(Cli::parse())))
}
