//! etcd in memory: the ensemble that recipes can be explored on, by a seed.
//!
//! It stands in for the servers and for the way to them. The session in front of it is the product's own
//! [`Client`](super::session::Client), with its keep-alives, its giving up, and its watches that are made again: only the
//! [`Carrier`](super::session::line::Carrier) below it is another one. It is a model of what the servers promise and of what
//! they do not, under the clock of tokio, which tests pause:
//!
//! - One store with one revision; transactions and linearizable ranges happen at one moment between the request and its answer.
//!   Requests of one session may overtake one another, and a request that nobody waits for any more may happen all the same.
//! - A connection that breaks leaves open what became of the requests under way: lost, carried out, or carried out late. Its
//!   watch stream goes with it, and the server notices later.
//! - What a stream tells comes in order, and late where the server lags or the client is slow; a watch begins with the history.
//! - A lease counts from the moment at which the servers granted or renewed it. Those that have run out are looked for twice a
//!   second and revoked a little later, one revision each. A new leader gives all of them their ttl again.
//!
//! Left out: the servers themselves (elections are a moment in which no request is answered), users, watches of more than a
//! session's recipes need.
//!
//! | module | what it is |
//! |---|---|
//! | [`Ensemble`] | the ensemble as tests see it |
//! | `way` | a client's way to it |
//! | `stream` | a client's end of a watch stream |
//! | `store` | keys, revisions, leases |
//! | `watchers` | the watches that stand, and what they are told |
//! | `world` | what can happen, and what goes wrong |
//! | `frozen` | clients that stand still |

mod ensemble;
mod frozen;
mod store;
mod stream;
mod watchers;
mod way;
mod world;

pub use ensemble::{Counters, Ensemble, MemorySession, Settings};
pub use frozen::Frozen;
pub use stream::WayStream;
pub use way::{Path, Way};
