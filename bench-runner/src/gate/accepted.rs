//! Changes that were accepted, in a TOML file of their own, each with a reason:
//!
//! ```toml
//! [[accepted]]
//! metric = "handoff_ms.p50"
//! arm = "lock/sequential"    # every arm without it
//! up_to = 1.3                # candidate over baseline; without it, whatever the ratio
//! reason = "writes are on disk before they are acknowledged since #42"
//! ```

use serde::Deserialize;

use super::verdict::Finding;
use crate::scenario::gate::{Better, Kind, Metric};

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The changes.
    #[serde(default)]
    accepted: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    metric: Metric,
    arm: Option<String>,
    up_to: Option<f64>,
    reason: String,
}

impl Accepted {
    /// Reads the file's text.
    ///
    /// # Errors
    ///
    /// What is wrong with it: TOML, keys, a reason that is blank, a promise that cannot be waived.
    pub fn parse(text: &str) -> Result<Accepted, String> {
        let read: Accepted = toml::from_str(text).map_err(|error| error.to_string())?;
        for change in &read.accepted {
            if change.reason.trim().is_empty() {
                return Err(format!("the accepted change of {} has no reason", change.metric));
            }
            if change.metric.kind() == Kind::Safety {
                return Err(format!("{} is a promise: breaking it cannot be accepted", change.metric));
            }
        }
        Ok(read)
    }

    /// Why a regression is accepted; `None` where it is not.
    pub fn reason(&self, finding: &Finding) -> Option<String> {
        let ratio = finding.ratio.map(|ratio| ratio.estimate);
        let within = |up_to: f64| match finding.better {
            Better::Lower => ratio.is_some_and(|ratio| ratio <= up_to),
            Better::Higher => ratio.is_some_and(|ratio| ratio >= up_to),
        };
        let covers = |change: &&Change| {
            change.metric == finding.metric
                && change.arm.as_ref().is_none_or(|arm| *arm == finding.arm)
                && change.up_to.is_none_or(within)
        };
        self.accepted.iter().find(covers).map(|change| change.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_needed_and_promises_cannot_be_waived() {
        let of = |text: &str| Accepted::parse(text);
        assert!(of("").is_ok());
        assert!(of("[[accepted]]\nmetric = \"handoff_ms.p50\"\nreason = \"known\"\n").is_ok());
        for (text, words) in [
            ("[[accepted]]\nmetric = \"handoff_ms.p50\"\n", "reason"),
            ("[[accepted]]\nmetric = \"handoff_ms.p50\"\nreason = \" \"\n", "no reason"),
            ("[[accepted]]\nmetric = \"handoff\"\nreason = \"x\"\n", "handoff"),
            ("[[accepted]]\nmetric = \"safety.overlaps\"\nreason = \"x\"\n", "promise"),
            ("[[acepted]]\nmetric = \"safety.overlaps\"\nreason = \"x\"\n", "acepted"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
