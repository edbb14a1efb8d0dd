//! The provider `local`: real servers as child processes of the runner, on loopback.
//!
//! `launch` is the story, from settings to an ensemble that serves; the other modules are one noun each.
mod config;
mod find;
mod folder;
mod java;
mod launch;
mod node;
mod ports;
mod settings;

pub use find::Search;
pub use node::Node;
pub use settings::LocalSettings;

pub(crate) use config::{jvm_flags, zoo_cfg};
pub(crate) use launch::{Local, launch};
