//! File descriptors: thousands of sessions need as many, in the runner and, at worst all on one node, in a server.
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use thiserror::Error;

/// Why the process may not open as many files as it needs.
#[derive(Debug, Error)]
pub enum LimitError {
    /// The hard limit, which only the administrator may raise, is too low.
    #[error(
        "{needed} open files are needed, and the hard limit of this process (RLIMIT_NOFILE) is {hard}: use fewer workers, \
         or raise it: `ulimit -Hn {needed}` in a root shell, `LimitNOFILE={needed}` in a systemd unit, `--ulimit \
         nofile={needed}` for docker, or a `nofile` line in /etc/security/limits.conf"
    )]
    Hard {
        /// Descriptors that are needed.
        needed: u64,
        /// The hard limit.
        hard: u64,
    },
    /// The system refused to tell or to set the limit.
    #[error("the limit of open files (RLIMIT_NOFILE) cannot be {what}: {source}; raise it with `ulimit -n {needed}`")]
    System {
        /// `read` or `raised`.
        what: &'static str,
        /// Descriptors that are needed.
        needed: u64,
        /// What the system said.
        source: Errno,
    },
}

/// Sees to it that this process, and the children that it starts from now on, may open `needed` files at once. Raises
/// the soft limit as far as needed, never beyond: some programs walk all descriptors up to the limit.
///
/// To be called before an ensemble starts, so that the servers inherit the limit: each server needs a descriptor per
/// connection, and in the worst case all workers are connected to one node.
pub fn ensure_open_files(needed: u64) -> Result<(), LimitError> {
    let (soft, hard) =
        getrlimit(Resource::RLIMIT_NOFILE).map_err(|source| LimitError::System { what: "read", needed, source })?;
    match new_soft_limit(soft, hard, needed)? {
        None => Ok(()),
        Some(limit) => setrlimit(Resource::RLIMIT_NOFILE, limit, hard).map_err(|source| LimitError::System {
            what: "raised",
            needed,
            source,
        }),
    }
}

/// The soft limit to set, or `None` where the present one is enough.
fn new_soft_limit(soft: u64, hard: u64, needed: u64) -> Result<Option<u64>, LimitError> {
    // RLIM_INFINITY is the largest value of the type, so plain comparisons hold for it too.
    if needed <= soft {
        Ok(None)
    } else if needed <= hard {
        Ok(Some(needed))
    } else {
        Err(LimitError::Hard { needed, hard })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_is_left_alone_and_more_is_taken_only_as_far_as_needed() {
        assert_eq!(new_soft_limit(1024, 4096, 1024).unwrap(), None);
        assert_eq!(new_soft_limit(1024, 4096, 1025).unwrap(), Some(1025));
        assert_eq!(new_soft_limit(1024, u64::MAX, 500_000).unwrap(), Some(500_000));
    }

    #[test]
    fn beyond_the_hard_limit_the_error_names_the_limit_and_the_remedy() {
        let text = new_soft_limit(1024, 4096, 5000).unwrap_err().to_string();
        assert!(text.contains("5000 open files") && text.contains("RLIMIT_NOFILE") && text.contains("4096"), "{text}");
        assert!(text.contains("LimitNOFILE=5000"), "{text}");
    }

    #[test]
    fn this_process_may_open_what_it_already_may() {
        let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        ensure_open_files(soft).unwrap();
    }
}
