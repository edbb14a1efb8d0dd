//! What a scenario may say about a local ensemble of ZooKeeper.
use std::time::Duration;

use crate::ensemble::error::EnsembleError;
use crate::ensemble::local::ports;

/// A local ensemble of ZooKeeper as it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct ZookeeperSettings {
    /// How many servers, 1 to 255 (ZooKeeper's ids end there). One runs standalone; even numbers work and tolerate no
    /// more losses than the odd number below.
    pub nodes: u32,
    /// ZooKeeper's `tickTime`, 50 ms to 60 s in whole milliseconds. Session timeouts are kept between 2 and 20 of them.
    pub tick: Duration,
    /// The most heap of each server, as the JVM takes it: `512m`, `2g`.
    pub heap: String,
    /// Whether a write is on disk before it is acknowledged (`forceSync`). A production ensemble has it on.
    pub fsync: bool,
    /// The first port. Client ports are `base_port` and the following, then two more for each node between the nodes.
    /// `None`: free ports are picked.
    pub base_port: Option<u16>,
    /// Further flags for each server's JVM. They come last, so they win.
    pub jvm_flags: Vec<String>,
}

impl Default for ZookeeperSettings {
    /// Three nodes with ticks of 500 ms, so that sessions may time out after 1 to 10 s.
    fn default() -> ZookeeperSettings {
        ZookeeperSettings {
            nodes: 3,
            tick: Duration::from_millis(500),
            heap: "512m".into(),
            fsync: true,
            base_port: None,
            jvm_flags: Vec::new(),
        }
    }
}

impl ZookeeperSettings {
    /// Sees whether the settings can be met by any machine; needs nothing installed.
    pub fn check(&self) -> Result<(), EnsembleError> {
        let refuse = |what: String| Err(EnsembleError::Settings { what });
        if !(1..=255).contains(&self.nodes) {
            return refuse(format!("nodes is {}, possible are 1 to 255", self.nodes));
        }
        if self.tick < Duration::from_millis(50) || self.tick > Duration::from_secs(60) {
            return refuse(format!("tick is {} ms, possible are 50 ms to 60 s", self.tick.as_millis()));
        }
        let number = self.heap.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or_default();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return refuse(format!("heap is `{}`, wanted is a number with k, m or g, as `512m`", self.heap));
        }
        // The client's port and two more for each node.
        ports::check_base(self.base_port, self.nodes, 3)
    }

    /// The tick in milliseconds.
    pub(crate) fn tick_ms(&self) -> u64 {
        // At most a minute, by `check`.
        u64::try_from(self.tick.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_defaults_are_possible() {
        ZookeeperSettings::default().check().unwrap();
    }

    #[test]
    fn what_is_impossible_is_named() {
        let base = ZookeeperSettings::default();
        for (settings, word) in [
            (ZookeeperSettings { nodes: 0, ..base.clone() }, "nodes"),
            (ZookeeperSettings { tick: Duration::from_millis(3), ..base.clone() }, "tick"),
            (ZookeeperSettings { heap: "lots".into(), ..base.clone() }, "heap"),
            (ZookeeperSettings { heap: "m".into(), ..base.clone() }, "heap"),
            (ZookeeperSettings { base_port: Some(80), ..base.clone() }, "80"),
            (ZookeeperSettings { base_port: Some(65_530), ..base.clone() }, "65530"),
        ] {
            let text = settings.check().unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
        ZookeeperSettings { base_port: Some(65_527), ..base }.check().unwrap();
    }

    proptest! {
        #[test]
        fn no_heap_makes_it_panic(heap in ".*") {
            let _ = ZookeeperSettings { heap, ..ZookeeperSettings::default() }.check();
        }
    }
}
