//! An absolute limit, as in `acquire_ms.p99 < 500` or `lock/sequential: handoff_ms.p50 <= 20`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::super::similar::{list, similar};
use super::metric::Metric;

/// How a figure has to stand to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// The signs, the longer ones first.
const SIGNS: [(&str, Relation); 4] =
    [("<=", Relation::AtMost), (">=", Relation::AtLeast), ("<", Relation::Below), (">", Relation::Above)];

/// What an error says besides: how to write one.
const REMEDY: &str = "write for example \"acquire_ms.p99 < 500\" or \"lock/sequential: fan_out.mean <= 1\"";

/// An absolute limit of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// The label of the arm that it holds for; `None` is every arm.
    pub arm: Option<String>,
    /// The figure.
    pub metric: Metric,
    /// How it has to stand to the limit.
    pub relation: Relation,
    /// The limit, in the metric's unit.
    pub limit: f64,
}

impl Slo {
    /// Whether a figure keeps to it.
    pub fn holds(&self, value: f64) -> bool {
        match self.relation {
            Relation::Below => value < self.limit,
            Relation::AtMost => value <= self.limit,
            Relation::Above => value > self.limit,
            Relation::AtLeast => value >= self.limit,
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(arm) = &self.arm {
            write!(f, "{arm}: ")?;
        }
        let sign = SIGNS.iter().find(|(_, relation)| *relation == self.relation).map_or("", |(sign, _)| sign);
        write!(f, "{} {sign} {}", self.metric, self.limit)
    }
}

impl FromStr for Slo {
    type Err = String;

    /// What is wrong, and behind a line break what to write.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: String| format!("{what}\n{REMEDY}");
        let (left, relation, right) = SIGNS
            .iter()
            .find_map(|(sign, relation)| text.split_once(sign).map(|(left, right)| (left, *relation, right)))
            .ok_or_else(|| wrong(format!("`{text}` has none of <, <=, > and >=")))?;
        let limit: f64 = right.trim().parse().map_err(|_| wrong(format!("`{}` is no number", right.trim())))?;
        if !limit.is_finite() {
            return Err(wrong(format!("`{limit}` is no limit")));
        }
        // The last one: a label may have colons of its own, a metric has none.
        let (arm, metric) = match left.rsplit_once(':') {
            Some((arm, metric)) => (Some(arm.trim().to_owned()), metric.trim()),
            None => (None, left.trim()),
        };
        let metric = metric.parse().map_err(|_| {
            let names = || Metric::ALL.iter().map(|metric| metric.name());
            match similar(metric, names()) {
                Some(name) => format!("there is no metric `{metric}`\ndid you mean `{name}`?"),
                None => format!("there is no metric `{metric}`\none of {}", list(names())),
            }
        })?;
        Ok(Slo { arm, metric, relation, limit })
    }
}

impl Serialize for Slo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Slo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Slo {
    fn schema_name() -> Cow<'static, str> {
        "Slo".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "[<>]=? *[0-9.eE+-]+ *$",
            "description": "An absolute limit of an arm's figure: `acquire_ms.p99 < 500`, or for one arm `lock/sequential: fan_out.mean <= 1`.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_written() {
        for text in ["acquire_ms.p99 < 500", "a: b: fan_out.mean <= 1.5", "grants_per_second >= 100"] {
            assert_eq!(text.parse::<Slo>().unwrap().to_string(), text);
        }
        let slo: Slo = "lock/naive:handoff_ms.p50<20".parse().unwrap();
        assert_eq!((slo.arm.as_deref(), slo.metric, slo.limit), (Some("lock/naive"), Metric::HandoffP50, 20.0));
        assert!(slo.holds(19.9) && !slo.holds(20.0));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, words) in [
            ("acquire_ms.p99 = 5", "none of <"),
            ("acquire_ms.p98 < 5", "did you mean `acquire_ms.p9"),
            ("acquire_ms.p99 < 5ms", "no number"),
            ("acquire_ms.p99 < inf", "no limit"),
        ] {
            let error = text.parse::<Slo>().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
