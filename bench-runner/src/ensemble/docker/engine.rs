//! Docker's engine, by way of the command `docker`.
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use crate::ensemble::error::EnsembleError;
use crate::ensemble::keeper::CommandLine;
use crate::ensemble::search::Search;

/// How long the engine may take for anything that it is asked: most of it takes a tenth of a second.
const LIMIT: Duration = Duration::from_secs(60);
/// How many digits of an image's digest are told.
const DIGITS: usize = 12;

/// The engine.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    program: PathBuf,
}

impl Engine {
    /// Finds the command and sees that an engine answers. Errors: [`EnsembleError::NoDocker`].
    pub fn find(search: &Search) -> Result<Engine, EnsembleError> {
        let Some(program) = search.on_path("docker") else {
            return Err(EnsembleError::NoDocker { reason: "there is no `docker` on PATH".into() });
        };
        let engine = Engine { program };
        let asked = engine.run(["version", "--format", "{{.Server.Version}}"]);
        asked.map_err(|reason| EnsembleError::NoDocker { reason })?;
        Ok(engine)
    }

    /// As if it had been found there.
    #[cfg(test)]
    pub fn at(program: &str) -> Engine {
        Engine { program: program.into() }
    }

    /// The beginning of the image's digest. Errors: [`EnsembleError::NoImage`], [`EnsembleError::NoDocker`].
    pub fn image(&self, image: &str) -> Result<String, EnsembleError> {
        match self.run(["image", "inspect", "--format", "{{.Id}}", image]) {
            Ok(id) => Ok(id.trim().trim_start_matches("sha256:").chars().take(DIGITS).collect()),
            Err(reason) if reason.to_lowercase().contains("no such image") => {
                Err(EnsembleError::NoImage { image: image.into() })
            }
            Err(reason) => Err(EnsembleError::NoDocker { reason }),
        }
    }

    /// The command line of `docker` with these words.
    pub fn line<I: IntoIterator<Item = W>, W: Into<OsString>>(&self, words: I) -> CommandLine {
        std::iter::once(self.program.clone().into_os_string()).chain(words.into_iter().map(Into::into)).collect()
    }

    /// Runs `docker` with these words and returns what it prints. It blocks the thread, and so cannot be cancelled half way:
    /// what the engine makes, the caller learns of. Errors: what it said, in a line.
    pub fn run<I: IntoIterator<Item = W>, W: AsRef<OsStr>>(&self, words: I) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let told = command.get_args().next().unwrap_or_default().display().to_string();
        let child = command.spawn().map_err(|error| format!("{}: {error}", self.program.display()))?;
        let pid = Pid::from_raw(child.id().cast_signed());
        let (done, ended) = mpsc::channel();
        let waiting = thread::spawn(move || done.send(child.wait_with_output()));
        let output = ended.recv_timeout(LIMIT);
        if output.is_err() {
            // Not reaped before the thread above has returned, so the id is still its.
            let _ = signal::kill(pid, Signal::SIGKILL);
        }
        let _ = waiting.join();
        match output {
            Err(_) => Err(format!("`docker {told}` had not ended after {} s, and was ended", LIMIT.as_secs())),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(output)) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(Ok(output)) => Err(said(&output)),
        }
    }
}

/// What it said, without what it always says.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" / ");
    let text = text.trim_start_matches("Error response from daemon: ").trim_start_matches("Error: ");
    if text.is_empty() { format!("it ended with {}", output.status) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[test]
    fn without_the_command_it_is_told_what_to_install() {
        let empty = tempfile::tempdir().unwrap();
        let search = Search { path: empty.path().into(), ..Search::from_env() };
        let text = Engine::find(&search).unwrap_err().to_string();
        assert!(text.contains("no `docker` on PATH") && text.contains("docker.io"), "{text}");
    }

    #[test]
    fn an_engine_that_does_not_run_is_told_in_its_own_words() {
        let fake = Fake::new("echo 'Cannot connect to the Docker daemon. Is it running?' >&2; exit 1");
        let text = Engine::find(&fake.search()).unwrap_err().to_string();
        assert!(text.contains("Is it running?") && text.contains("systemctl start docker"), "{text}");
    }

    #[test]
    fn an_image_that_is_missing_is_named_with_what_makes_it() {
        let fake = Fake::new("[ $1 = version ] && exit; echo 'Error: No such image: x/y' >&2; exit 1");
        let error = Engine::find(&fake.search()).unwrap().image("x/y").unwrap_err();
        assert!(matches!(&error, EnsembleError::NoImage { image } if image == "x/y"), "{error}");
        assert!(error.to_string().contains("make docker-images"), "{error}");
    }

    #[test]
    fn an_image_is_told_by_the_beginning_of_its_digest() {
        let fake = Fake::new("echo sha256:fdc3e3452a34aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        assert_eq!(Engine::find(&fake.search()).unwrap().image("x").unwrap(), "fdc3e3452a34");
    }
}
