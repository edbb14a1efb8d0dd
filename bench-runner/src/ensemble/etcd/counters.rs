//! What is made of etcd's counters, and what they really count.
//!
//! Found by experiment on three nodes of 3.4.23 (the reading of the sources in brackets), since the names promise more than
//! the documentation says:
//!
//! | counter | counts | so here |
//! |---|---|---|
//! | `etcd_debugging_mvcc_events_total` | every event of every watcher, on the node that serves the watch, at the moment at which it is handed to the client's stream (`ReportEventReceived` in the send loop): one event for two watchers is two | the book of notifications, summed over the nodes |
//! | ″, filters | a put that a watcher's `NOPUT` filter holds back is not counted, neither for a live event nor for one out of the history | our watches filter, so only deletions are in it |
//! | ″, puts without a watcher | not counted; puts that an unfiltered watcher gets are | anybody else's unfiltered watch would be in the book |
//! | ″, cancelled watches | nothing once the server has read the cancellation, not even for an event that waited in the stream's buffer; an event that overtakes the cancellation is counted, and delivered | the client counts what arrives until the cancellation is confirmed |
//! | ″, created, cancelled and progress answers | not counted: they carry no event | |
//! | ″, a response with three events (a transaction of three puts) | three | it counts events, not messages |
//! | ″, a broken stream | an event that was handed over and then lost with the connection is counted | the server may be ahead of the clients after a reconnect, never behind |
//! | `etcd_debugging_mvcc_pending_events_total` | a gauge that does not come back to nought: what a filter or a cancellation drops is never taken off (one for each filtered put, measured) | not used |
//! | `etcd_debugging_mvcc_watcher_total` | a gauge of watchers, synced or not; falls at once with a cancellation or the end of the stream | watches held |
//! | `etcd_debugging_mvcc_watch_stream_total` | a gauge of watch streams, not of clients: a worker opens one with its first watch | sessions with this node |
//! | `etcd_debugging_mvcc_slow_watcher_total` | a gauge of watchers that are behind the present revision, new ones that start in the past among them | must be 0 at rest |
//! | `grpc_server_msg_sent_total{grpc_method="Watch"}` | messages: created and cancelled answers and progress too, and several events in one count once | no book of notifications |
//! | `etcd_debugging_lease_{granted,revoked}_total` | every node counts every lease when it applies the entry; an expiry is a revocation; both start at 0 with the process | sessions are granted − revoked of the node that has applied most |
//! | ″, after a restart | both begin again at 0 and know nothing of the leases of before | of a node that was started again, `LeaseLeases` tells the leases |
//! | `etcd_server_leader_changes_seen_total` | elections that the node has seen, the first one included | told where it grows during a trial |
//! | `etcd_debugging_lease_renewed_total` | renewals, on the leader alone, whichever node was asked | not used |
//! | `etcd_debugging_server_lease_expired_total` | expiries, on the leader alone | not used |
//!
//! A kind of event cannot be told: the book is a total.

use std::io;

use super::metrics::Metrics;
use crate::ensemble::counters::Notifications;
use crate::ensemble::description::Role;
use crate::ensemble::service::NodeReport;

/// What a page of `/metrics` says; see the module's documentation for each figure.
pub(crate) fn report(metrics: &Metrics) -> NodeReport {
    let count = |name: &str| metrics.count(name);
    let role = match (count("etcd_server_has_leader"), count("etcd_server_is_leader")) {
        (Some(1), Some(1)) => Role::Leader,
        (Some(1), _) if count("etcd_server_is_learner") == Some(1) => Role::Observer,
        (Some(1), _) => Role::Follower,
        _ => Role::Out,
    };
    let leases = count("etcd_debugging_lease_granted_total").zip(count("etcd_debugging_lease_revoked_total"));
    let undecided = count("etcd_server_proposals_pending").zip(count("etcd_debugging_mvcc_slow_watcher_total"));
    NodeReport {
        role,
        version: metrics.label("etcd_server_version", "server_version").map(String::from),
        notifications: count("etcd_debugging_mvcc_events_total").map(|total| Notifications { total, kinds: None }),
        received: metrics.sum("grpc_server_msg_received_total").unwrap_or(0),
        sent: metrics.sum("grpc_server_msg_sent_total").unwrap_or(0),
        watches: count("etcd_debugging_mvcc_watcher_total"),
        sessions: leases.map(|(granted, revoked)| granted.saturating_sub(revoked)),
        connections: count("etcd_debugging_mvcc_watch_stream_total"),
        data_bytes: count("etcd_mvcc_db_total_size_in_use_in_bytes"),
        outstanding: undecided.map(|(proposals, watchers)| proposals + watchers),
        leaders: count("etcd_server_leader_changes_seen_total"),
        applied: count("etcd_server_proposals_applied_total").unwrap_or(0),
        synced_followers: None,
    }
}

/// How many leases an answer of `LeaseLeases` lists: those that live, and those that are to be revoked.
///
/// # Errors
///
/// It is no such answer.
pub(crate) fn leases(answer: &str) -> io::Result<u64> {
    let answer: serde_json::Value = serde_json::from_str(answer)?;
    match (&answer["header"], &answer["leases"]) {
        (_, serde_json::Value::Array(leases)) => Ok(leases.len() as u64),
        // An empty list is left out.
        (serde_json::Value::Object(_), serde_json::Value::Null) => Ok(0),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("no list of leases: {answer}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_a_report() {
        let page = "etcd_server_has_leader 1\netcd_server_is_leader 0\netcd_debugging_mvcc_events_total 7\n\
                    etcd_debugging_lease_granted_total 5\netcd_debugging_lease_revoked_total 2\n\
                    etcd_server_version{server_version=\"3.4.23\"} 1\n";
        let report = report(&Metrics::parse(page));
        assert_eq!((report.role, report.version.as_deref()), (Role::Follower, Some("3.4.23")));
        assert_eq!(report.notifications, Some(Notifications { total: 7, kinds: None }));
        assert_eq!((report.sessions, report.watches), (Some(3), None));
    }

    #[test]
    fn a_node_without_a_leader_is_out() {
        assert_eq!(report(&Metrics::parse("etcd_server_has_leader 0\netcd_server_is_leader 1\n")).role, Role::Out);
        assert_eq!(report(&Metrics::default()), NodeReport::default());
    }

    #[test]
    fn leases_are_counted() {
        let header = r#""header":{"cluster_id":"1","revision":"1"}"#;
        assert_eq!(leases(&format!(r#"{{{header},"leases":[{{"ID":"7"}},{{"ID":"9"}}]}}"#)).unwrap(), 2);
        assert_eq!(leases(&format!("{{{header}}}")).unwrap(), 0);
        assert!(leases(r#"{"error":"etcdserver: not capable"}"#).is_err());
        assert!(leases("404 page not found\n").is_err());
    }
}
