//! Why a command did not do what it was asked to, and the exit code of that.

use crate::ensemble::EnsembleError;
use crate::ensemble::limits::LimitError;
use crate::exit;
use crate::results::FolderError;
use crate::run::trial::TrialError;
use crate::scenario::ScenarioError;

/// A failure with its exit code.
#[derive(Debug)]
pub enum Failure {
    /// The scenario is wrong.
    Scenario(ScenarioError),
    /// What the user asked for cannot be done here, known before anything started.
    Usage(String),
    /// The ensemble could not be started, or was lost.
    Ensemble(String),
    /// The user interrupted before anything was measured.
    Interrupted,
    /// Something of this program's own went wrong.
    Internal(String),
}

impl Failure {
    /// One of [`exit`].
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Scenario(_) | Failure::Usage(_) => exit::USAGE,
            Failure::Ensemble(_) => exit::ENSEMBLE,
            Failure::Interrupted => exit::INTERRUPTED,
            Failure::Internal(_) => exit::INTERNAL,
        }
    }

    /// The whole message.
    pub fn render(&self, styled: bool) -> String {
        match self {
            Failure::Scenario(error) => error.render(styled),
            Failure::Usage(message) | Failure::Ensemble(message) | Failure::Internal(message) => {
                format!("error: {message}")
            }
            Failure::Interrupted => "interrupted".to_owned(),
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
        Failure::Internal(error.to_string())
    }
}
