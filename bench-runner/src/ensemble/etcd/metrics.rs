//! What `/metrics` answers: Prometheus' text format, one sample a line.
//!
//! A small reader of its own: of some 1,500 lines a dozen are wanted, without their times and with hardly a label.
use std::collections::BTreeMap;

/// The samples of a page that [`Metrics::parse`] was told to keep, by name with labels as they were printed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// Reads a page; any text will do. Comments, buckets of histograms and lines that are no sample are left out.
    pub fn parse(page: &str) -> Metrics {
        let samples = page.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
        Metrics(samples.filter_map(sample).collect())
    }

    /// The value of the sample without labels, as a count; `None` where it is missing, negative or no number.
    pub fn count(&self, name: &str) -> Option<u64> {
        count(*self.0.get(name)?)
    }

    /// The sum over all samples of this name, whatever their labels; `None` where there is none.
    pub fn sum(&self, name: &str) -> Option<u64> {
        let with_labels = format!("{name}{{");
        let samples = self.0.range(with_labels.clone()..).take_while(|(key, _)| key.starts_with(&with_labels));
        samples.map(|(_, value)| count(*value)).chain(self.0.get(name).map(|value| count(*value))).fold(
            None,
            |sum, value| match (sum, value) {
                (Some(sum), Some(value)) => Some(sum + value),
                (sum, value) => sum.or(value),
            },
        )
    }

    /// The text of a label of the first sample of this name, as in `etcd_server_version{server_version="3.4.23"} 1`.
    pub fn label(&self, name: &str, label: &str) -> Option<&str> {
        let with_labels = format!("{name}{{");
        let (key, _) = self.0.range(with_labels.clone()..).next().filter(|(key, _)| key.starts_with(&with_labels))?;
        let (_, rest) = key[with_labels.len()..].split_once(&format!("{label}=\""))?;
        rest.split('"').next()
    }
}

/// Reads `name{labels} value` or `name value`, with a time behind or without. A label may hold blanks.
fn sample(line: &str) -> Option<(String, f64)> {
    let line = line.trim();
    let end = line.rfind('}').map_or_else(|| line.find(' '), |brace| Some(brace + 1))?;
    let (name, rest) = line.split_at_checked(end)?;
    let value = rest.split_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then(|| (name.to_owned(), value))
}

fn count(value: f64) -> Option<u64> {
    // Casts saturate; a count beyond u64 does not occur.
    (value.is_finite() && value >= 0.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines of a real page of 3.4.23.
    const PAGE: &str = "# HELP etcd_debugging_mvcc_events_total Total number of events sent by this member.\n\
        # TYPE etcd_debugging_mvcc_events_total counter\n\
        etcd_debugging_mvcc_events_total 209\n\
        etcd_debugging_mvcc_compact_revision -1\n\
        etcd_server_quota_backend_bytes 2.147483648e+09\n\
        etcd_server_version{server_version=\"3.4.23\"} 1\n\
        etcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.001\"} 7\n\
        grpc_server_msg_received_total{grpc_method=\"Put\",grpc_service=\"etcdserverpb.KV\",grpc_type=\"unary\"} 3\n\
        grpc_server_msg_received_total{grpc_method=\"Txn\",grpc_service=\"etcdserverpb.KV\",grpc_type=\"unary\"} 4\n";

    #[test]
    fn a_real_page_is_read() {
        let metrics = Metrics::parse(PAGE);
        assert_eq!(metrics.count("etcd_debugging_mvcc_events_total"), Some(209));
        assert_eq!(metrics.count("etcd_server_quota_backend_bytes"), Some(2_147_483_648));
        assert_eq!(metrics.count("etcd_debugging_mvcc_compact_revision"), None);
        assert_eq!(metrics.label("etcd_server_version", "server_version"), Some("3.4.23"));
        assert_eq!(metrics.sum("grpc_server_msg_received_total"), Some(7));
        assert_eq!(metrics.sum("etcd_debugging_mvcc_events_total"), Some(209));
        assert_eq!(metrics.sum("etcd_disk_wal_fsync_duration_seconds_bucket"), None);
        assert_eq!(metrics.sum("no_such_metric"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(page in "(?s).*", name in ".*") {
            let metrics = Metrics::parse(&page);
            let _ = (metrics.count(&name), metrics.sum(&name), metrics.label(&name, &name).map(str::len));
        }

        #[test]
        fn what_was_written_is_read(samples in proptest::collection::btree_map("etcd_[a-z_]{1,20}", any::<u32>(), 0..20)) {
            let page: String = samples.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
            let metrics = Metrics::parse(&page);
            for (name, value) in &samples {
                prop_assert_eq!(metrics.count(name), Some(u64::from(*value)));
            }
        }
    }
}
