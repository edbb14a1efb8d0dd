//! The commands, one a file: each leads the data through the stages and answers with an exit code.

mod capacity;
mod check;
mod clean;
mod compare;
mod deed;
mod ensembles;
mod external;
mod failure;
mod gate;
mod history;
mod judged;
mod pipeline;
mod report;
mod run;
mod schema;
mod verdict;
mod verify;

use std::io::{ErrorKind, IsTerminal, Write};

pub use failure::Failure;

use crate::cli::{Cli, Command};
use crate::stderr;

/// Carries a command out; the exit code is one of [`exit`](crate::exit).
pub fn dispatch(cli: Cli) -> u8 {
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Capacity(args) => capacity::capacity(&args),
        Command::Gate(args) => gate::gate(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::History(args) => history::history(&args),
        Command::Report(args) => report::report(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Schema(args) => schema::schema(&args),
        Command::Clean(args) => clean::clean(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            stderr::line(&failure.render(styled_stderr()));
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

/// Whether stderr may be coloured.
fn styled_stderr() -> bool {
    std::io::stderr().is_terminal() && !no_color()
}

/// Prints to stdout. A reader that has gone away, as `head` does, is no error; a result that is lost is one.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Unfinished(format!("cannot write the result to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
