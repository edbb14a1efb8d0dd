//! The ensemble's own counters: the second of the three books.
use serde::Serialize;

use super::service::NodeReport;

/// Counters of all nodes, added up. All but `watches`, `sessions` and `outstanding` only grow, from the servers' start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// How often servers were started, over all nodes. A server counts from its own start: figures of different lives have no
    /// difference.
    pub lives: u64,
    /// Notifications that the servers sent; `None` where a node has no counter of them.
    pub notifications: Option<Notifications>,
    /// ZooKeeper: packets that clients sent, pings and the runner's own questions (one per node and question) among them.
    /// etcd: gRPC messages that clients sent, keep-alives among them.
    pub packets_received: u64,
    /// ZooKeeper: packets sent to clients: replies, notifications, answers to pings and questions (two or so for each
    /// `mntr`). etcd: gRPC messages sent to clients; one may carry several notifications.
    pub packets_sent: u64,
    /// Watches that are armed now.
    pub watches: u64,
    /// Sessions (etcd: leases) that are alive now, those whose client is gone and whose timeout is not over among them.
    pub sessions: u64,
    /// Leaders that the ensemble has had since the servers' start, where it tells (etcd).
    pub leaders: Option<u64>,
    /// ZooKeeper: requests accepted and not answered now. etcd: proposals that are not decided, and watchers that lag.
    pub outstanding: u64,
}

/// Notifications as the servers count them; how exactly is documented where each service is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Notifications {
    /// All of them.
    pub total: u64,
    /// By the kind of event, where the servers tell kinds apart. ZooKeeper does.
    pub kinds: Option<Kinds>,
}

/// Notifications by the kind of event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Kinds {
    /// What was watched came into being.
    pub created: u64,
    /// What was watched went.
    pub deleted: u64,
    /// The watched data changed.
    pub changed: u64,
    /// The watched list of children changed.
    pub children: u64,
}

impl Kinds {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.created + self.deleted + self.changed + self.children
    }

    fn combine(self, other: Kinds, with: fn(u64, u64) -> u64) -> Kinds {
        Kinds {
            created: with(self.created, other.created),
            deleted: with(self.deleted, other.deleted),
            changed: with(self.changed, other.changed),
            children: with(self.children, other.children),
        }
    }
}

impl Notifications {
    fn combine(self, other: Notifications, with: fn(u64, u64) -> u64) -> Notifications {
        Notifications {
            total: with(self.total, other.total),
            kinds: self.kinds.zip(other.kinds).map(|(own, other)| own.combine(other, with)),
        }
    }
}

impl Counters {
    /// Adds up the reports of all nodes. They do not tell how often they were started.
    pub(crate) fn of(nodes: &[NodeReport]) -> Counters {
        let sum = |of: fn(&NodeReport) -> u64| nodes.iter().map(of).sum();
        // Every node knows all sessions, some sooner than others. Where none tells (ZooKeeper before 3.6), what is left to
        // count are the connections.
        let known = nodes.iter().filter_map(|node| Some((node.applied, node.sessions?))).max();
        Counters {
            lives: 0,
            // One node that does not count would make the sum pass for one over all.
            notifications: nodes
                .iter()
                .map(|node| node.notifications)
                .reduce(|one, other| Some(one?.combine(other?, u64::saturating_add)))
                .flatten(),
            packets_received: sum(|node| node.received),
            packets_sent: sum(|node| node.sent),
            watches: sum(|node| node.watches.unwrap_or(0)),
            sessions: known.map_or_else(|| sum(|node| node.connections.unwrap_or(0)), |(_, sessions)| sessions),
            leaders: nodes.iter().filter_map(|node| node.leaders).max(),
            outstanding: sum(|node| node.outstanding.unwrap_or(0)),
        }
    }

    /// What was counted since `earlier`; the figures that tell a present state stay as they are. `None` where a node was
    /// started again in between, so that its counters began again.
    pub fn since(&self, earlier: &Counters) -> Option<Counters> {
        if self.lives != earlier.lives {
            return None;
        }
        let notifications = self.notifications.zip(earlier.notifications);
        Some(Counters {
            notifications: notifications.map(|(now, before)| now.combine(before, u64::saturating_sub)),
            packets_received: self.packets_received.saturating_sub(earlier.packets_received),
            packets_sent: self.packets_sent.saturating_sub(earlier.packets_sent),
            leaders: self.leaders.zip(earlier.leaders).map(|(now, before)| now.saturating_sub(before)),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deleted(deleted: u64) -> Notifications {
        Notifications { total: deleted, kinds: Some(Kinds { deleted, ..Kinds::default() }) }
    }

    #[test]
    fn nodes_are_added_up_and_sessions_are_not() {
        let node = |count: u64, sessions: u64| NodeReport {
            notifications: Some(deleted(count)),
            watches: Some(2),
            sessions: Some(sessions),
            ..NodeReport::default()
        };
        let counters = Counters::of(&[node(1, 5), node(10, 6), node(100, 5)]);
        assert_eq!(counters.notifications, Some(deleted(111)));
        assert_eq!((counters.watches, counters.sessions), (6, 6));
    }

    #[test]
    fn a_node_that_lags_does_not_tell_the_sessions() {
        let node = |applied, sessions| NodeReport { applied, sessions: Some(sessions), ..NodeReport::default() };
        assert_eq!(Counters::of(&[node(7, 9), node(12, 3), node(11, 4)]).sessions, 3);
    }

    #[test]
    fn an_old_server_tells_its_sessions_by_its_connections() {
        let node = NodeReport { connections: Some(3), ..NodeReport::default() };
        assert_eq!(Counters::of(&[node.clone(), node]).sessions, 6);
    }

    #[test]
    fn a_node_without_the_counter_leaves_no_sum() {
        let node = |notifications| NodeReport { notifications, ..NodeReport::default() };
        assert_eq!(Counters::of(&[node(Some(deleted(3))), node(None)]).notifications, None);
    }

    #[test]
    fn a_difference_keeps_the_present_state() {
        let earlier = Counters { packets_sent: 10, watches: 7, notifications: Some(deleted(4)), ..Counters::default() };
        let later = Counters { packets_sent: 25, watches: 3, notifications: Some(deleted(9)), ..Counters::default() };
        let difference = later.since(&earlier).unwrap();
        assert_eq!((difference.packets_sent, difference.watches), (15, 3));
        assert_eq!(difference.notifications, Some(deleted(5)));
    }

    #[test]
    fn lives_that_differ_have_no_difference() {
        let earlier = Counters { lives: 3, packets_sent: 10, ..Counters::default() };
        assert_eq!(Counters { lives: 4, packets_sent: 25, ..Counters::default() }.since(&earlier), None);
    }
}
