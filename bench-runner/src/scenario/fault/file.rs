//! Faults as the file has them. The documentation comments are the schema's descriptions, written for the author of a
//! scenario; what does not fit together is judged by `validate`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::duration::Span;
use super::{CutHow, FaultKind, FaultSettings, NodeFault, NodeTarget, WorkerFault, WorkerTarget};

/// How often one fault may fall due in a trial: far more than can heal.
pub const MOST_MOMENTS: u64 = 10_000;

/// Something that is broken on purpose in each trial; all of it heals at the trial's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fault")]
pub struct FaultFile {
    /// What breaks.
    #[schemars(required)]
    pub kind: Option<KindName>,
    /// Of whom. Workers: `"holder"`, `"waiter"`, or a share of all living workers at once, more than 0, at most 1. Nodes: `"leader"`, `"follower"` or `"random"`.
    #[schemars(required)]
    pub target: Option<TargetText>,
    /// When, since the start of the trial; with `every`, the first time.
    #[schemars(required)]
    pub at: Option<Span>,
    /// How long after that the next one falls due, and so on: `count` times in all, or to the end of the trial. Without it there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub every: Option<Span>,
    /// How many in all, with `every`; all of them must fall into the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 10_000))]
    pub count: Option<u32>,
    /// How long it lasts until it heals. `pause` needs it; `cut`, `kill-node`, `pause-node` and `disconnect-node` last to the end of the trial without it; `close`, `crash` and `restart-node` do not take it.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub length: Option<Span>,
    /// How the network is cut; only `cut` takes it. Default `sever`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HowName", extend("default" = "sever"))]
    pub how: Option<HowName>,
}

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FaultKind")]
pub enum KindName {
    /// A worker closes its session (etcd: revokes its lease), as a program does that ends in good order.
    Close,
    /// A worker's connection is dropped, and its session or lease is left to expire, as when a program is killed.
    Crash,
    /// A worker stops, as in a long collection of garbage, and wakes believing that nothing has happened.
    Pause,
    /// A worker's network is cut.
    Cut,
    /// A node's server is killed, and started again on its data when it heals.
    KillNode,
    /// A node's server is stopped, and goes on as if nothing had been when it heals; connections stay open meanwhile.
    PauseNode,
    /// A node's server is killed and started again at once.
    RestartNode,
    /// A node is taken off its network, and put on it again when it heals; `provider = "docker"` alone.
    DisconnectNode,
}

impl KindName {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            KindName::Close => "close",
            KindName::Crash => "crash",
            KindName::Pause => "pause",
            KindName::Cut => "cut",
            KindName::KillNode => "kill-node",
            KindName::PauseNode => "pause-node",
            KindName::RestartNode => "restart-node",
            KindName::DisconnectNode => "disconnect-node",
        }
    }

    /// Whether it befalls nodes, not workers.
    pub fn is_of_nodes(self) -> bool {
        matches!(self, KindName::KillNode | KindName::PauseNode | KindName::RestartNode | KindName::DisconnectNode)
    }
}

/// How a network is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "CutHow")]
pub enum HowName {
    /// Connections are reset and new ones are refused: both sides notice at once.
    #[default]
    Sever,
    /// Nothing is answered any more: each side notices when it has waited long enough.
    Blackhole,
}

/// Whom a fault befalls, in the file's notation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TargetText {
    /// Whoever holds the lock or leads.
    Holder,
    /// A worker that waits.
    Waiter,
    /// A share of all living workers at once.
    Share(f64),
    /// The node that leads.
    Leader,
    /// A node that follows.
    Follower,
    /// Any node.
    Random,
}

/// The words for a target, with what they mean.
const TARGETS: [(&str, TargetText); 5] = [
    ("holder", TargetText::Holder),
    ("waiter", TargetText::Waiter),
    ("leader", TargetText::Leader),
    ("follower", TargetText::Follower),
    ("random", TargetText::Random),
];

/// The words alone.
const TARGET_NAMES: [&str; 5] = [TARGETS[0].0, TARGETS[1].0, TARGETS[2].0, TARGETS[3].0, TARGETS[4].0];

impl FaultFile {
    /// As the later stages have it; `None` if something is missing that `validate` asks for, or does not fit.
    pub fn resolve(&self) -> Option<FaultSettings> {
        let length = self.length.map(|length| length.0);
        let worker = |fault| Some(FaultKind::Worker { fault, target: self.target?.of_workers()? });
        let node = |fault| Some(FaultKind::Node { fault, target: self.target?.of_nodes()? });
        let kind = match self.kind? {
            KindName::Close => worker(WorkerFault::Close)?,
            KindName::Crash => worker(WorkerFault::Crash)?,
            KindName::Pause => worker(WorkerFault::Pause(length?))?,
            KindName::Cut => worker(WorkerFault::Cut { how: self.how.unwrap_or_default().into(), length })?,
            KindName::KillNode => node(NodeFault::Kill { length })?,
            KindName::PauseNode => node(NodeFault::Pause { length })?,
            KindName::RestartNode => node(NodeFault::Restart)?,
            KindName::DisconnectNode => node(NodeFault::Disconnect { length })?,
        };
        Some(FaultSettings { kind, at: self.at?.0, every: self.every.map(|every| every.0), count: self.count })
    }
}

impl From<HowName> for CutHow {
    fn from(name: HowName) -> Self {
        match name {
            HowName::Sever => CutHow::Sever,
            HowName::Blackhole => CutHow::Blackhole,
        }
    }
}

impl TargetText {
    /// As a target among the workers; `None` for one among the nodes.
    pub fn of_workers(self) -> Option<WorkerTarget> {
        match self {
            TargetText::Holder => Some(WorkerTarget::Holder),
            TargetText::Waiter => Some(WorkerTarget::Waiter),
            TargetText::Share(share) => Some(WorkerTarget::Share(share)),
            TargetText::Leader | TargetText::Follower | TargetText::Random => None,
        }
    }

    /// As a target among the nodes; `None` for one among the workers.
    pub fn of_nodes(self) -> Option<NodeTarget> {
        match self {
            TargetText::Leader => Some(NodeTarget::Leader),
            TargetText::Follower => Some(NodeTarget::Follower),
            TargetText::Random => Some(NodeTarget::Random),
            TargetText::Holder | TargetText::Waiter | TargetText::Share(_) => None,
        }
    }

    /// The word for it; `None` for a share, which is a number.
    pub fn word(self) -> Option<&'static str> {
        TARGETS.into_iter().find(|(_, target)| *target == self).map(|(word, _)| word)
    }
}

struct TargetVisitor;

impl Visitor<'_> for TargetVisitor {
    type Value = TargetText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word in quotes or a share of the workers")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TargetText, E> {
        match TARGETS.into_iter().find(|(name, _)| *name == text) {
            Some((_, target)) => Ok(target),
            None if text.trim().parse::<f64>().is_ok() => {
                let text = text.trim();
                Err(E::custom(format!(
                    "a share of the workers is a number, not a text\nwrite it without quotes: {text}"
                )))
            }
            None => Err(E::unknown_variant(text, &TARGET_NAMES)),
        }
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<TargetText, E> {
        Ok(TargetText::Share(share))
    }

    fn visit_i64<E: de::Error>(self, share: i64) -> Result<TargetText, E> {
        // Only 1 is in range; what a large number loses here does not matter.
        Ok(TargetText::Share(share as f64))
    }
}

impl<'de> Deserialize<'de> for TargetText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TargetVisitor)
    }
}

impl Serialize for TargetText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self, self.word()) {
            (TargetText::Share(share), _) => serializer.serialize_f64(*share),
            (_, word) => serializer.serialize_str(word.unwrap_or_default()),
        }
    }
}

impl JsonSchema for TargetText {
    fn schema_name() -> Cow<'static, str> {
        "FaultTarget".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let word = |word: &str, description: &str| json_schema!({ "const": word, "description": description });
        json_schema!({
            "description": "Whom a fault befalls.",
            "oneOf": [
                word("holder", "The worker that holds the lock or leads."),
                word("waiter", "A worker that waits."),
                {
                    "type": "number",
                    "description": "This share of all living workers, at once.",
                    "exclusiveMinimum": 0,
                    "maximum": 1
                },
                word("leader", "The node that leads the ensemble."),
                word("follower", "A node that follows."),
                word("random", "Any node that is up.")
            ]
        })
    }
}
