//! What `mntr` answers: one `key<TAB>value` a line.
use std::collections::BTreeMap;

use crate::ensemble::description::Role;

/// The answer to `mntr`, by key. Lines that have no tab (as the sentence of a node that does not serve) are left out,
/// so a node that is not in yields an empty map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mntr(BTreeMap<String, String>);

impl Mntr {
    /// Reads an answer; any text will do.
    pub fn parse(answer: &str) -> Mntr {
        let pairs = answer.lines().filter_map(|line| line.split_once('\t'));
        Mntr(pairs.map(|(key, value)| (key.trim().to_string(), value.trim().to_string())).collect())
    }

    /// The value of `key`, as it was sent.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The value of `key` as a count. Servers print some counts as `12.0`; what is no number, not finite or below zero
    /// is `None`.
    pub fn count(&self, key: &str) -> Option<u64> {
        let text = self.text(key)?;
        text.parse().ok().or_else(|| {
            let number: f64 = text.parse().ok()?;
            // Casts saturate; a count beyond u64 does not occur.
            (number.is_finite() && number >= 0.0).then_some(number as u64)
        })
    }

    /// The node's role; [`Role::Out`] when the answer does not tell.
    pub fn role(&self) -> Role {
        self.text("zk_server_state").map_or(Role::Out, Role::from_state)
    }

    /// The version without the build's details: `3.8.0` of `3.8.0-${mvngit.commit.id}, built on 2024-12-29`.
    pub fn version(&self) -> Option<&str> {
        let text = self.text("zk_version")?;
        text.split([',', ' ', '-']).next().filter(|version| !version.is_empty())
    }

    /// Client connections without the one that asked, which the server counts as well.
    pub fn connections(&self) -> Option<u64> {
        self.count("zk_num_alive_connections").map(|count| count.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines of a real answer of 3.8.0.
    const ANSWER: &str = "zk_version\t3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC\n\
        zk_server_state\tfollower\nzk_num_alive_connections\t4\nzk_avg_latency\t0.75\nzk_packets_received\t2\n\
        zk_sum_node_deleted_watch_count\t19900\nzk_min_latency\t-1\n";

    #[test]
    fn a_real_answer_is_read() {
        let mntr = Mntr::parse(ANSWER);
        assert_eq!(mntr.role(), Role::Follower);
        assert_eq!(mntr.version(), Some("3.8.0"));
        assert_eq!(mntr.connections(), Some(3));
        assert_eq!(mntr.count("zk_sum_node_deleted_watch_count"), Some(19_900));
        assert_eq!(mntr.count("zk_avg_latency"), Some(0));
        assert_eq!(mntr.count("zk_min_latency"), None);
        assert_eq!(mntr.count("zk_version"), None);
        assert_eq!(mntr.count("no_such_key"), None);
    }

    #[test]
    fn a_node_that_does_not_serve_is_out() {
        let mntr = Mntr::parse("This ZooKeeper instance is not currently serving requests\n");
        assert_eq!(mntr, Mntr::default());
        assert_eq!(mntr.role(), Role::Out);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(answer in "(?s).*", key in ".*") {
            let mntr = Mntr::parse(&answer);
            let _ = (mntr.role(), mntr.version().map(str::len), mntr.connections(), mntr.count(&key));
        }

        #[test]
        fn what_was_written_is_read(pairs in proptest::collection::btree_map("zk_[a-z_]{1,20}", any::<u64>(), 0..20)) {
            let answer: String = pairs.iter().map(|(key, value)| format!("{key}\t{value}\n")).collect();
            let mntr = Mntr::parse(&answer);
            for (key, value) in &pairs {
                prop_assert_eq!(mntr.count(key), Some(*value));
            }
        }

        #[test]
        fn values_that_are_no_numbers_are_none(value in "[^\t\r\n]*") {
            let mntr = Mntr::parse(&format!("key\t{value}\n"));
            let expected = value.trim().parse::<f64>().is_ok_and(|number| number.is_finite() && number >= 0.0);
            prop_assert_eq!(mntr.count("key").is_some(), expected);
        }
    }
}
