//! What one simulated worker does, and what it reports.
//!
//! This library knows nothing of files, charts, processes or the command line; the runner above it knows nothing of znodes,
//! keys or watches. Between the two stand the [`settings`] of the workers, the [recipes](recipe) by name, and the
//! [`record`] that a worker writes.
//!
//! | module | what it is |
//! |---|---|
//! | [`settings`] | what a scenario says about the workers |
//! | [`recipe`] | the verbs that recipes have in common |
//! | [`zookeeper`], [`etcd`] | each service's instrumented session, and one recipe a file |
//! | [`worker`] | one simulated worker: acquire, hold, release, think |
//! | `member` | one simulated member of barriers: enter, work, leave |
//! | [`fleet`] | all workers of a trial: connect, start, stop, close the books |
//! | [`fenced_store`] | a store that refuses the writes of whoever has been overtaken |
//! | [`shared_counter`] | what holders update: a counter in a plain and in a fenced store |
//! | [`holders`] | who holds what, for those who pick the victim of a fault |
//! | [`bystander`] | sessions that have nothing to do with the lock, and suffer from it |
//! | [`access`] | how sessions get at servers that are not ours: TLS, a login, a ceiling on requests |
//! | [`claim`] | a run's own root on such servers, and what earlier runs have left |
//! | [`record`] | what is counted on the way, without a lock or an allocation |
//! | `chaos` | feature `memory`: what goes wrong in a service in memory, and when, by one seed |

pub mod access;
pub mod bystander;
#[cfg(feature = "memory")]
pub mod chaos;
pub mod claim;
pub mod etcd;
pub mod fenced_store;
pub mod fleet;
mod fresh;
pub mod holders;
mod member;
pub mod recipe;
pub mod record;
mod removals;
pub mod settings;
pub mod shared_counter;
pub mod worker;
pub mod zookeeper;
