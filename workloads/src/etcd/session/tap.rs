//! What is counted of a session's traffic.

use crate::record::{EventKind, Recorder, RequestKind};

/// Is told of everything that a session sends and receives, at the moment at which it does. Called on the path that is
/// measured: it must not lock, allocate or wait.
pub trait Tap: Send + Sync + 'static {
    /// A request is being sent.
    fn request(&self, kind: RequestKind);
    /// A response of so many bytes has arrived; see `wire` for what they are.
    fn response(&self, kind: RequestKind, bytes: u64);
    /// A watch on the instance stands on the server.
    fn armed(&self, instance: i64);
    /// A watch on the instance was taken back before it fired.
    fn disarmed(&self, instance: i64);
    /// The deletion of the instance, at this revision, has notified a watch on it.
    fn notified(&self, instance: i64, revision: i64);
    /// A deletion at this revision has notified a watch that had already fired and whose cancellation is under way, or one for
    /// any key: a notification like any other, of an instance that this watch does not know.
    fn notified_late(&self, revision: i64);
    /// A value that was put has notified a watch: the first of its key (`created`), or another. No instance has ended.
    fn notified_put(&self, created: bool);
    /// This session itself has deleted the instance, at this revision.
    fn ended(&self, instance: i64, revision: i64);
}

impl Tap for Recorder {
    fn request(&self, kind: RequestKind) {
        Recorder::request(self, kind);
    }

    fn response(&self, kind: RequestKind, bytes: u64) {
        Recorder::response(self, kind, bytes);
    }

    fn armed(&self, instance: i64) {
        Recorder::armed(self, instance);
    }

    fn disarmed(&self, instance: i64) {
        Recorder::disarmed(self, instance);
    }

    fn notified(&self, instance: i64, revision: i64) {
        Recorder::ended(self, instance, revision);
        Recorder::notification(self, EventKind::Deleted, Some(instance));
    }

    fn notified_late(&self, revision: i64) {
        Recorder::late_notification(self, EventKind::Deleted, revision);
    }

    fn notified_put(&self, created: bool) {
        let kind = if created { EventKind::Created } else { EventKind::Changed };
        Recorder::notification(self, kind, None);
    }

    fn ended(&self, instance: i64, revision: i64) {
        Recorder::ended(self, instance, revision);
    }
}

/// Counts nothing: for sessions that are not measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untapped;

impl Tap for Untapped {
    fn request(&self, _: RequestKind) {}
    fn response(&self, _: RequestKind, _: u64) {}
    fn armed(&self, _: i64) {}
    fn disarmed(&self, _: i64) {}
    fn notified(&self, _: i64, _: i64) {}
    fn notified_late(&self, _: i64) {}
    fn notified_put(&self, _: bool) {}
    fn ended(&self, _: i64, _: i64) {}
}
