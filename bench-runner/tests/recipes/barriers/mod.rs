//! The barriers on ZooKeeper.
mod closed_forms;
mod double;
mod single;
