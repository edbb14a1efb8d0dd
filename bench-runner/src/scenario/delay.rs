//! Hold and think times as the file has them: `"5ms"`, `{ exponential = "5ms" }` or `{ uniform = ["1ms", "5ms"] }`; a hold
//! also as `"forever"`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use workloads::settings::Delay;

use super::duration::Span;

/// The ways to write a delay, for messages.
pub(super) const REMEDY: &str = "write \"5ms\", { exponential = \"5ms\" } or { uniform = [\"1ms\", \"5ms\"] }";

/// The word for a hold that does not end by itself.
const FOREVER: &str = "forever";

/// The names of the distributions.
const NAMES: [&str; 2] = ["exponential", "uniform"];

/// A delay in the file's notation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DelayText {
    /// The same length each time.
    Fixed(Span),
    /// Exponentially distributed with this mean.
    Exponential(Span),
    /// Uniformly distributed between the two, both included; the first is not longer than the second.
    Uniform(Span, Span),
    /// Until the grant is lost or the trial ends; no think lasts so long.
    Forever,
}

impl DelayText {
    /// Whether it is no delay at all, whatever is drawn.
    pub fn is_zero(self) -> bool {
        let none = Span::default();
        matches!(self, DelayText::Fixed(length) | DelayText::Exponential(length) | DelayText::Uniform(_, length) if length == none)
    }
}

impl From<DelayText> for Delay {
    fn from(text: DelayText) -> Self {
        match text {
            DelayText::Fixed(length) => Delay::Fixed(length.0),
            DelayText::Exponential(mean) => Delay::Exponential(mean.0),
            DelayText::Uniform(low, high) => Delay::Uniform(low.0, high.0),
            DelayText::Forever => Delay::Forever,
        }
    }
}

/// The name of a distribution. Not an enum of serde's: its message would speak of a variant, and this format has none.
struct Name(&'static str);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        NAMES.into_iter().find(|known| *known == name).map(Name).ok_or_else(|| de::Error::unknown_field(&name, &NAMES))
    }
}

struct DelayVisitor;

impl<'de> Visitor<'de> for DelayVisitor {
    type Value = DelayText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration or a distribution")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DelayText, E> {
        if text.trim() == FOREVER {
            return Ok(DelayText::Forever);
        }
        text.parse().map(DelayText::Fixed).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<DelayText, E> {
        number.to_string().parse().map(DelayText::Fixed).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<DelayText, E> {
        // `2.0` prints as `2`, which has no unit either.
        number.to_string().parse().map(DelayText::Fixed).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DelayText, A::Error> {
        let Some(Name(name)) = map.next_key()? else {
            return Err(de::Error::custom(format!("the table names no distribution\n{REMEDY}")));
        };
        let delay = match name {
            "exponential" => DelayText::Exponential(map.next_value()?),
            _ => {
                let ends: Vec<Span> = map.next_value()?;
                let [low, high] = ends[..] else {
                    let count = ends.len();
                    return Err(de::Error::custom(format!(
                        "`uniform` takes the shortest and the longest, two durations, not {count}\nwrite {{ uniform = [\"1ms\", \"5ms\"] }}"
                    )));
                };
                if low > high {
                    return Err(de::Error::custom(format!(
                        "the interval from {low} to {high} is empty\nput the shorter one first: {{ uniform = [\"{high}\", \"{low}\"] }}"
                    )));
                }
                DelayText::Uniform(low, high)
            }
        };
        match map.next_key::<Name>()? {
            None => Ok(delay),
            Some(_) => Err(de::Error::custom(format!("a delay has one distribution, not two\n{REMEDY}"))),
        }
    }
}

impl<'de> Deserialize<'de> for DelayText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelayVisitor)
    }
}

impl Serialize for DelayText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, ends): (&str, &[Span]) = match self {
            DelayText::Fixed(length) => return length.serialize(serializer),
            DelayText::Forever => return serializer.serialize_str(FOREVER),
            DelayText::Exponential(mean) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("exponential", mean)?;
                return map.end();
            }
            DelayText::Uniform(low, high) => ("uniform", &[*low, *high]),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, ends)?;
        map.end()
    }
}

impl JsonSchema for DelayText {
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let span = generator.subschema_for::<Span>();
        json_schema!({
            "description": "How long something lasts: always the same, or drawn anew from a distribution each time.",
            "oneOf": [
                span,
                { "const": FOREVER, "description": "Until the grant is lost or the trial ends; only for `hold`." },
                {
                    "type": "object",
                    "description": "Exponentially distributed with this mean: many short ones, few long ones.",
                    "properties": { "exponential": span },
                    "required": ["exponential"],
                    "additionalProperties": false
                },
                {
                    "type": "object",
                    "description": "Uniformly distributed from the first to the second, both included.",
                    "properties": { "uniform": { "type": "array", "items": span, "minItems": 2, "maxItems": 2 } },
                    "required": ["uniform"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// A delay alone is no TOML document; this is the smallest one around it.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Document {
        hold: DelayText,
    }

    fn delays() -> impl Strategy<Value = DelayText> {
        let span = || (0..=86_400_000_000_000_u64).prop_map(|nanos| Span(Duration::from_nanos(nanos)));
        prop_oneof![
            Just(DelayText::Forever),
            span().prop_map(DelayText::Fixed),
            span().prop_map(DelayText::Exponential),
            (span(), span()).prop_map(|(a, b)| DelayText::Uniform(a.min(b), a.max(b))),
        ]
    }

    #[test]
    fn refuses_what_is_no_delay() {
        for text in [
            "5",
            "5.0",
            "\"5\"",
            "true",
            "[\"1ms\"]",
            "{}",
            "{ gaussian = \"5ms\" }",
            "{ uniform = [\"5ms\", \"1ms\"] }",
            "{ uniform = [\"5ms\"] }",
            "{ uniform = \"5ms\" }",
            "{ exponential = 5 }",
            "{ exponential = \"5ms\", uniform = [\"1ms\", \"5ms\"] }",
        ] {
            assert!(toml::from_str::<Document>(&format!("hold = {text}")).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(hold in delays()) {
            let text = toml::to_string(&Document { hold }).expect("a delay is valid TOML");
            prop_assert_eq!(toml::from_str::<Document>(&text).expect(&text), Document { hold });
        }
    }
}
