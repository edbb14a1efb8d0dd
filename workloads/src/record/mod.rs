//! What a worker writes down, and how it is kept while the trial runs.
//!
//! Sessions and workers write through a [`Recorder`], which never locks and never allocates on that path; when the trial
//! is over, [`Recorder::finish`] copies everything out as a [`Recording`], plain data for the runner to work on.
//!
//! | what | kept as |
//! |---|---|
//! | requests, response bytes, by kind | [`Tally`]: counters in shards, one per thread or so |
//! | requests, bytes, notifications over time | [`timeline`]: counters per millisecond |
//! | notifications by the instance that caused them | [`fan_out`]: an open-addressed table keyed by token |
//! | passages of barriers | `passage`: a place for each [`Passage`] |
//! | acquisitions | an append-only log of fixed room, one [`Acquisition`] each |

mod acquisition;
pub mod fan_out;
mod log;
pub(crate) mod passage;
mod recorder;
mod tally;
pub mod timeline;

pub use acquisition::{Acquisition, Outcome};
pub use fan_out::InstanceFanOut;
pub use passage::Passage;
pub use recorder::{Capacity, Recorder, Recording};
pub use tally::{EventKind, RequestKind, Tally};
pub use timeline::Slot;
