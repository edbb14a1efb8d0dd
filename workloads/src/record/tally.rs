//! Counts of requests and notifications by kind.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// A kind of request that a session sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum RequestKind {
    /// ZooKeeper `create`.
    Create,
    /// ZooKeeper `delete`.
    Delete,
    /// ZooKeeper `exists`, with or without a watch.
    Exists,
    /// ZooKeeper `getData`, with or without a watch.
    GetData,
    /// ZooKeeper `setData`.
    SetData,
    /// ZooKeeper `getChildren`, with or without a watch.
    GetChildren,
    /// ZooKeeper `removeWatches`, which the client sends when an unfired watch is dropped.
    RemoveWatches,
    /// ZooKeeper `sync`, with which a recipe settles what became of a request whose reply was lost.
    Sync,
    /// etcd `Range`.
    Range,
    /// etcd `Put`.
    Put,
    /// etcd `Txn`.
    Txn,
    /// etcd `DeleteRange`.
    DeleteRange,
    /// A watch created on an etcd `Watch` stream.
    WatchCreate,
    /// A watch cancelled on an etcd `Watch` stream: one that has fired, or that is taken back.
    WatchCancel,
    /// etcd `LeaseGrant`.
    LeaseGrant,
    /// One message on an etcd `LeaseKeepAlive` stream; the bytes of its answer are not counted.
    LeaseKeepAlive,
    /// etcd `LeaseRevoke`.
    LeaseRevoke,
}

impl RequestKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [RequestKind; 17] = [
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::Exists,
        RequestKind::GetData,
        RequestKind::SetData,
        RequestKind::GetChildren,
        RequestKind::RemoveWatches,
        RequestKind::Sync,
        RequestKind::Range,
        RequestKind::Put,
        RequestKind::Txn,
        RequestKind::DeleteRange,
        RequestKind::WatchCreate,
        RequestKind::WatchCancel,
        RequestKind::LeaseGrant,
        RequestKind::LeaseKeepAlive,
        RequestKind::LeaseRevoke,
    ];

    /// The service's own name of the request.
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::Create => "create",
            RequestKind::Delete => "delete",
            RequestKind::Exists => "exists",
            RequestKind::GetData => "getData",
            RequestKind::SetData => "setData",
            RequestKind::GetChildren => "getChildren",
            RequestKind::RemoveWatches => "removeWatches",
            RequestKind::Sync => "sync",
            RequestKind::Range => "range",
            RequestKind::Put => "put",
            RequestKind::Txn => "txn",
            RequestKind::DeleteRange => "deleteRange",
            RequestKind::WatchCreate => "watchCreate",
            RequestKind::WatchCancel => "watchCancel",
            RequestKind::LeaseGrant => "leaseGrant",
            RequestKind::LeaseKeepAlive => "leaseKeepAlive",
            RequestKind::LeaseRevoke => "leaseRevoke",
        }
    }

    /// Whether it keeps the session rather than serves the recipe. Such requests are counted by kind and are in no sum:
    /// the pings of a ZooKeeper session, which do the same, cannot be counted at all.
    pub fn is_upkeep(self) -> bool {
        matches!(self, RequestKind::LeaseGrant | RequestKind::LeaseKeepAlive | RequestKind::LeaseRevoke)
    }
}

/// A kind of notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum EventKind {
    /// The watched node came into being.
    Created,
    /// The watched node was deleted.
    Deleted,
    /// The watched node's data changed.
    Changed,
    /// The watched node's list of children changed.
    Children,
}

impl EventKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [EventKind; 4] = [EventKind::Created, EventKind::Deleted, EventKind::Changed, EventKind::Children];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Created => "created",
            EventKind::Deleted => "deleted",
            EventKind::Changed => "changed",
            EventKind::Children => "children",
        }
    }
}

/// Totals of one trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests sent, indexed by [`RequestKind`].
    pub requests: [u64; RequestKind::ALL.len()],
    /// Bytes of the responses, headers included, indexed by [`RequestKind`].
    pub response_bytes: [u64; RequestKind::ALL.len()],
    /// Notifications received, indexed by [`EventKind`].
    pub notifications: [u64; EventKind::ALL.len()],
}

impl Tally {
    /// All requests but the [upkeep](RequestKind::is_upkeep).
    pub fn total_requests(&self) -> u64 {
        without_upkeep(&self.requests)
    }

    /// Bytes of all responses but those to the [upkeep](RequestKind::is_upkeep).
    pub fn total_response_bytes(&self) -> u64 {
        without_upkeep(&self.response_bytes)
    }

    /// All notifications.
    pub fn total_notifications(&self) -> u64 {
        self.notifications.iter().sum()
    }
}

fn without_upkeep(counts: &[u64; RequestKind::ALL.len()]) -> u64 {
    RequestKind::ALL.into_iter().filter(|kind| !kind.is_upkeep()).map(|kind| counts[kind as usize]).sum()
}

/// More than the generator has threads; a power of two.
const SHARDS: usize = 8;

/// One thread's counters, on cache lines of their own so that threads do not take them from one another.
#[derive(Default)]
#[repr(align(128))]
struct Shard {
    requests: [AtomicU64; RequestKind::ALL.len()],
    response_bytes: [AtomicU64; RequestKind::ALL.len()],
    notifications: [AtomicU64; EventKind::ALL.len()],
}

/// The counters behind a [`Tally`].
#[derive(Default)]
pub(super) struct ShardedTally {
    shards: [Shard; SHARDS],
}

static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_SHARD.fetch_add(1, Relaxed) % SHARDS;
}

impl ShardedTally {
    fn shard(&self) -> &Shard {
        &self.shards[SHARD.with(|shard| *shard)]
    }

    pub(super) fn request(&self, kind: RequestKind) {
        self.shard().requests[kind as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn response(&self, kind: RequestKind, bytes: u64) {
        self.shard().response_bytes[kind as usize].fetch_add(bytes, Relaxed);
    }

    pub(super) fn notification(&self, kind: EventKind) {
        self.shard().notifications[kind as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn total(&self) -> Tally {
        let mut tally = Tally::default();
        let add = |sums: &mut [u64], counters: &[AtomicU64]| {
            for (sum, counter) in sums.iter_mut().zip(counters) {
                *sum += counter.load(Relaxed);
            }
        };
        for shard in &self.shards {
            add(&mut tally.requests, &shard.requests);
            add(&mut tally.response_bytes, &shard.response_bytes);
            add(&mut tally.notifications, &shard.notifications);
        }
        tally
    }
}
