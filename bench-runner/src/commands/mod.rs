//! The commands, one a file: each leads the data through the stages and answers with an exit code.

mod check;
mod ensembles;
mod failure;
mod report;
mod run;
mod schema;

use std::io::IsTerminal;

pub use failure::Failure;

use crate::cli::{Cli, Command};

/// Carries a command out; the exit code is one of [`exit`](crate::exit).
pub fn dispatch(cli: Cli) -> u8 {
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Report(args) => report::report(&args),
        Command::Schema(args) => schema::schema(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            let styled = std::io::stderr().is_terminal() && !no_color();
            eprintln!("{}", failure.render(styled));
            failure.exit_code()
        }
    }
}

/// Whether the user asked for no colour, by the convention of <https://no-color.org>.
fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Whether stdout may be coloured.
fn styled_stdout() -> bool {
    std::io::stdout().is_terminal() && !no_color()
}

/// Prints to stdout. A reader that has gone away, as `head` does, is no error.
fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
