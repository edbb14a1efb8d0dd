//! The scenario stage: from a TOML file and `--set` overrides to a [`Scenario`] that the later stages can trust.
//!
//! Data flows one way through the modules:
//!
//! 1. [`load`](mod@load) reads the file, or says which one was probably meant;
//! 2. `overrides` applies `--set key=value` to the document, before anything is read from it, so that an override is
//!    refused by the same rules as a line of the file;
//! 3. `read` turns the document into the types of [`file`](mod@file), with [`ensemble`], [`fault`] and others for its larger tables and [`duration`] and
//!    [`delay`] for what TOML has no type for, and collects every key that does not fit (`explain` words the complaint, `similar` finds the key that was meant);
//! 4. `validate` judges what the types cannot: ranges, and settings that contradict each other;
//! 5. `resolve` multiplies the arms by the `grid`, takes the first point of the `sweep`, and merges the defaults, `[workers]` and each arm's own settings into [`settings`].
//!
//! A complaint is a `problem` with a `path` (`arm.0.workers.count`); `places` finds the line for it, and [`error`] draws
//! the lines with carets. [`schema`](mod@schema) publishes the format for editors.

mod explain;
mod grid;
mod overrides;
mod path;
mod places;
mod problem;
mod read;
mod resolve;
mod similar;
mod sweep;
mod validate;

pub mod delay;
pub mod docker;
pub mod duration;
pub mod ensemble;
pub mod error;
pub mod external;
pub mod fault;
pub mod file;
pub mod gate;
pub mod load;
pub mod schema;
pub mod settings;
pub mod slo;

pub use error::ScenarioError;
pub use external::{AuthSettings, CommandSettings, ExternalSettings, PasswordFrom, ServerSettings, TlsSettings};
pub use fault::{CutHow, FaultKind, FaultSettings, NodeFault, NodeTarget, WorkerFault, WorkerTarget};
pub use gate::GateFile;
pub use load::{load, parse};
pub use schema::{schema, schema_text};
pub use settings::{
    ArmSettings, BystanderSettings, EnsembleSettings, EtcdSettings, Provider, Scenario, TrialSettings,
    ZookeeperSettings,
};
pub use slo::SloFile;
pub use sweep::{Axis, SweepFile, SweepSettings, Variable};
