//! Keys, kept exactly as etcd's `client/v3/concurrency` has them, so that `etcdctl lock` can stand in the same queue.
//!
//! A queue is a prefix; an entry of it is `<prefix>/<lease id in hexadecimal>`: small letters, no leading zeros, and no
//! number of the queue, since the order is that of the create revisions.

/// What all entries of the queue under `base` begin with.
pub fn prefix(base: &str) -> String {
    format!("{base}/")
}

/// The entry of the session with this lease.
pub fn entry(base: &str, lease: i64) -> String {
    format!("{base}/{}", name(lease))
}

/// What a session is called: its lease in hexadecimal.
pub fn name(lease: i64) -> String {
    format!("{lease:x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_named_as_etcds_own() {
        // Go: fmt.Sprintf("%s%x", "/lock/", int64(0x694d7ab1c2d3e4f0)).
        assert_eq!(entry("/lock", 0x694d_7ab1_c2d3_e4f0), "/lock/694d7ab1c2d3e4f0");
        assert_eq!(entry("/lock", 0x0a), "/lock/a");
        assert!(entry("/lock", 7).starts_with(&prefix("/lock")));
    }
}
