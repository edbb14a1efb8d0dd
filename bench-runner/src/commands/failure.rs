//! Why a command did not do what it was asked to, and the exit code of that.

use crate::ensemble::EnsembleError;
use crate::ensemble::limits::LimitError;
use crate::results::FolderError;
use crate::run::recording::End;
use crate::run::trial::TrialError;
use crate::scenario::ScenarioError;
use crate::{exit, fault};

/// A failure with its exit code. Its texts are whole messages; they may have several lines.
#[derive(Debug)]
pub enum Failure {
    /// The scenario is wrong.
    Scenario(ScenarioError),
    /// What the user asked for cannot be done here, known before anything started.
    Usage(String),
    /// The ensemble could not be started, or was lost.
    Ensemble(String),
    /// The user interrupted.
    Interrupted,
    /// It was begun and could not be brought to its end.
    Unfinished(String),
}

impl Failure {
    /// One of [`exit`].
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Scenario(_) | Failure::Usage(_) => exit::USAGE,
            Failure::Ensemble(_) => exit::ENSEMBLE,
            Failure::Interrupted => exit::INTERRUPTED,
            Failure::Unfinished(_) => exit::INTERNAL,
        }
    }

    /// The whole message.
    pub fn render(&self, styled: bool) -> String {
        match self {
            Failure::Scenario(error) => error.render(styled),
            Failure::Usage(message) | Failure::Ensemble(message) | Failure::Unfinished(message) => {
                format!("error: {message}")
            }
            Failure::Interrupted => "interrupted before anything was measured; no results are kept".to_owned(),
        }
    }

    /// The failure in a line, as the reason that a result is not complete.
    pub fn reason(&self) -> String {
        let message = match self {
            Failure::Scenario(error) => error.render(false),
            Failure::Usage(message) | Failure::Ensemble(message) | Failure::Unfinished(message) => message.clone(),
            Failure::Interrupted => "interrupted".to_owned(),
        };
        // Below the first line is the end of a server's log, which is for the terminal.
        let first = message.lines().next().unwrap_or_default();
        first.trim_end_matches(':').trim_end_matches("; its log ends with").to_owned()
    }

    /// Why a trial that ended so was not brought to its planned end; `None` for one that was.
    pub fn of_end(end: &End) -> Option<Failure> {
        match end {
            End::Complete => None,
            End::Interrupted => Some(Failure::Interrupted),
            End::Overdue => Some(Failure::Unfinished(
                "a drain was not over within its limit, or not all barriers were passed; raise trials.limit, or use fewer workers".to_owned(),
            )),
            End::EnsembleLost(why) => Some(Failure::Ensemble(why.clone())),
            End::WorkersLost => Some(Failure::Ensemble(
                "every worker lost its session; raise workers.session_timeout if the servers were merely slow"
                    .to_owned(),
            )),
            End::Fault(fault) => Some(Failure::Unfinished(fault::message(fault))),
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Failure::Scenario(error)
    }
}

impl From<LimitError> for Failure {
    fn from(error: LimitError) -> Self {
        Failure::Usage(error.to_string())
    }
}

impl From<EnsembleError> for Failure {
    fn from(error: EnsembleError) -> Self {
        match error {
            EnsembleError::Settings { .. } => Failure::Usage(error.to_string()),
            other => Failure::Ensemble(other.to_string()),
        }
    }
}

impl From<TrialError> for Failure {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Interrupted => Failure::Interrupted,
            other => Failure::Ensemble(other.to_string()),
        }
    }
}

/// A folder that cannot be written, found out once the run is under way; before, it is a [`Failure::Usage`].
impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Failure::Unfinished(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_without_the_log() {
        let lost = "zookeeper-1 was lost: it was killed by SIGKILL; run again; its log ends with:\n  | one\n  | two";
        let failure = Failure::of_end(&End::EnsembleLost(lost.to_owned())).unwrap();
        assert_eq!(failure.reason(), "zookeeper-1 was lost: it was killed by SIGKILL; run again");
        assert_eq!(failure.render(false), format!("error: {lost}"));
        assert_eq!(failure.exit_code(), exit::ENSEMBLE);
    }

    #[test]
    fn each_end_has_its_exit_code() {
        let code = |end: End| Failure::of_end(&end).map(|failure| failure.exit_code());
        assert_eq!(code(End::Complete), None);
        assert_eq!(code(End::Interrupted), Some(exit::INTERRUPTED));
        assert_eq!(code(End::Overdue), Some(exit::INTERNAL));
        assert_eq!(code(End::WorkersLost), Some(exit::ENSEMBLE));
        assert_eq!(code(End::Fault("internal error: x".to_owned())), Some(exit::INTERNAL));
    }
}
