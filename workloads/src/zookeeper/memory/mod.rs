//! ZooKeeper in memory: the ensemble behind [`Session`](super::session::Session) that recipes can be explored on, by a seed.
//!
//! It is a model of what the servers promise and of what they do not, under the clock of tokio, which tests pause:
//!
//! - One server leads and decides all writes in one order; each of the others applies them in that order, and may lag behind.
//!   A session talks to one server. Its writes are answered when its server has applied them; its reads are answered from
//!   what that server has, and may be stale until a `sync`.
//! - What a session asks is carried out in the order in which it asked. What its server sends comes in order, too: a session
//!   is notified of a change before it sees any answer that shows it.
//! - A connection that breaks leaves open what became of the requests under way: lost, carried out, or still to be carried
//!   out until the session has moved to another server. The session goes on with any server that has seen all that it has
//!   seen; the watches are set again, and tell what they missed.
//! - A session that its server has not heard of for its timeout is over. The client gives up first: it knows its connection to
//!   be broken after two fifths of the timeout, unless it stood still itself.
//!
//! Left out: quorums and elections of the servers themselves, ACLs, versions, quotas, persistent watches.
//!
//! | module | what it is |
//! |---|---|
//! | [`Ensemble`] | the ensemble as tests see it |
//! | [`MemorySession`], [`MemoryWatch`] | a session as a recipe sees it |
//! | `tree`, `watches` | the znodes, and the watches, of one server |
//! | `world` | servers, sessions, and what can happen |
//! | `serve` | a server answers requests |
//! | `connection` | connections break and are made again; sessions end |
//! | `client` | the client library's half of a session |

mod client;
mod connection;
mod ensemble;
mod serve;
mod session;
mod tree;
mod watches;
mod world;

pub use ensemble::{Counters, Ensemble, Settings};
pub use session::{MemorySession, MemoryWatch};
