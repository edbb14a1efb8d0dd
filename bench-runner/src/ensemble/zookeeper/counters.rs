//! The ensemble's own counters: the second of the three books.
use serde::Serialize;

use super::mntr::Mntr;

/// Counters of all nodes, added up. All but `watches`, `sessions` and `outstanding` only grow, from the servers' start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Notifications that the servers sent.
    pub notifications: Notifications,
    /// Packets that clients sent, pings and the runner's own questions (one per node and question) among them.
    pub packets_received: u64,
    /// Packets sent to clients: replies, notifications, answers to pings and questions (two or so for each `mntr`).
    pub packets_sent: u64,
    /// Watches that are armed now.
    pub watches: u64,
    /// Sessions that are alive now, those whose client is gone and whose timeout is not over among them.
    pub sessions: u64,
    /// Requests accepted and not answered now.
    pub outstanding: u64,
}

/// Notifications by the kind of event, counted by the server just after it fired a watch: one for each session that
/// watches the path (a session that watches one path for data and for children is counted for both, and told once).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Notifications {
    /// A watched znode came into being.
    pub created: u64,
    /// A watched znode went.
    pub deleted: u64,
    /// A watched znode's data changed.
    pub changed: u64,
    /// A watched znode's list of children changed.
    pub children: u64,
}

impl Notifications {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.created + self.deleted + self.changed + self.children
    }

    fn minus(&self, earlier: &Notifications) -> Notifications {
        Notifications {
            created: self.created.saturating_sub(earlier.created),
            deleted: self.deleted.saturating_sub(earlier.deleted),
            changed: self.changed.saturating_sub(earlier.changed),
            children: self.children.saturating_sub(earlier.children),
        }
    }
}

impl Counters {
    /// Adds up the answers of all nodes. A counter that a server does not have (the notifications, before 3.6) is 0.
    pub fn of(nodes: &[Mntr]) -> Counters {
        let sum = |key: &str| nodes.iter().filter_map(|node| node.count(key)).sum::<u64>();
        // Every node of an ensemble knows all its sessions; the leader knows first. Before 3.6 no node tells, and what
        // is left to count are the connections.
        let sessions = nodes.iter().filter_map(|node| node.count("zk_global_sessions")).max();
        Counters {
            notifications: Notifications {
                created: sum("zk_sum_node_created_watch_count"),
                deleted: sum("zk_sum_node_deleted_watch_count"),
                changed: sum("zk_sum_node_changed_watch_count"),
                children: sum("zk_sum_node_children_watch_count"),
            },
            packets_received: sum("zk_packets_received"),
            packets_sent: sum("zk_packets_sent"),
            watches: sum("zk_watch_count"),
            sessions: sessions.unwrap_or_else(|| nodes.iter().filter_map(Mntr::connections).sum()),
            outstanding: sum("zk_outstanding_requests"),
        }
    }

    /// What was counted since `earlier`; the figures that tell a present state stay as they are. A counter that fell,
    /// because a node was restarted in between, counts as 0.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            notifications: self.notifications.minus(&earlier.notifications),
            packets_received: self.packets_received.saturating_sub(earlier.packets_received),
            packets_sent: self.packets_sent.saturating_sub(earlier.packets_sent),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_added_up_and_sessions_are_not() {
        let node = |deleted: u64, sessions: u64| {
            Mntr::parse(&format!(
                "zk_sum_node_deleted_watch_count\t{deleted}\nzk_watch_count\t2\nzk_global_sessions\t{sessions}\n"
            ))
        };
        let counters = Counters::of(&[node(1, 5), node(10, 6), node(100, 5)]);
        assert_eq!(counters.notifications.deleted, 111);
        assert_eq!(counters.notifications.total(), 111);
        assert_eq!(counters.watches, 6);
        assert_eq!(counters.sessions, 6);
    }

    #[test]
    fn an_old_server_tells_its_sessions_by_its_connections() {
        let node = Mntr::parse("zk_num_alive_connections\t4\n");
        assert_eq!(Counters::of(&[node.clone(), node]).sessions, 6);
    }

    #[test]
    fn a_difference_keeps_the_present_state() {
        let earlier = Counters { packets_sent: 10, watches: 7, ..Counters::default() };
        let later = Counters { packets_sent: 25, watches: 3, ..Counters::default() };
        let difference = later.since(&earlier);
        assert_eq!((difference.packets_sent, difference.watches), (15, 3));
        assert_eq!(earlier.since(&later).packets_sent, 0);
    }
}
