//! Runs the trials of a scenario on an ensemble and hands over what they recorded.
//!
//! | module | what it is |
//! |---|---|
//! | [`schedule`] | which arm runs when: warm-up first, then balanced order (A B B A …) |
//! | [`trial`] | one trial from connecting the workers to sending them home |
//! | `faults` | carries out the faults of a scenario meanwhile |
//! | [`recording`] | what a trial yields: the input of the stage that measures |
//! | [`generator`] | the generator watches itself: CPU, memory, lag |
//! | [`machine`] | what others took of the machine's processors |
//! | [`file_size`] | a limit of a file's size is an error, not a signal |
//! | [`interrupt`] | Ctrl-C and SIGTERM |
//! | [`progress`] | what the terminal shows meanwhile |

mod faults;
pub mod file_size;
pub mod generator;
pub mod interrupt;
pub mod machine;
pub mod progress;
pub mod recording;
pub mod schedule;
pub mod trial;
