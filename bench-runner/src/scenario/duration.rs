//! Durations as the file has them: text with a unit, `"10s"`.
//!
//! A bare number is refused although a default unit would be easy: `timeout = 30` is read as seconds by half of the readers
//! and as milliseconds by the other half.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest duration that a scenario may name: one day. Far beyond any trial, and small enough that sums and nanoseconds
/// in 64 bits never overflow.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What to write instead, in the words of every message about durations.
pub(super) const REMEDY: &str = "write a number with its unit, for example \"10s\" or \"500ms\"";

/// A duration in the file's notation, zero to [`LONGEST`]. Nanoseconds are kept exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// So many whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Span(Duration::from_secs(seconds))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One unit where the length has a whole number of it: "1500ms" is easier to compare than "1s 500ms".
        let nanos = self.0.as_nanos();
        for (unit, size) in [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000)] {
            if nanos > 0 && nanos.is_multiple_of(size) {
                return write!(f, "{}{unit}", nanos / size);
            }
        }
        match nanos {
            0 => f.write_str("0s"),
            _ if nanos.is_multiple_of(1_000) => write!(f, "{}us", nanos / 1_000),
            _ => write!(f, "{nanos}ns"),
        }
    }
}

impl FromStr for Span {
    /// What is wrong, then after a line break what to write instead.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(format!("the duration is empty\n{REMEDY}"));
        }
        if trimmed.starts_with('-') {
            return Err(format!("`{trimmed}` is negative, and a duration cannot be\n{REMEDY}"));
        }
        // The parser beneath would take a bare zero.
        if trimmed.parse::<f64>().is_ok() {
            return Err(without_unit(trimmed));
        }
        let length = humantime::parse_duration(trimmed).map_err(|why| match why {
            humantime::DurationError::UnknownUnit { unit, .. } if !unit.is_empty() => {
                format!("`{unit}` is no unit of time in `{trimmed}`\nthe units are ns, us, ms, s, m and h")
            }
            humantime::DurationError::NumberOverflow => too_long_or_fine(trimmed),
            _ => format!("`{trimmed}` is not a duration\n{REMEDY}"),
        })?;
        if length > LONGEST {
            return Err(too_long_or_fine(trimmed));
        }
        Ok(Span(length))
    }
}

/// The complaint about a number alone.
fn without_unit(number: impl fmt::Display) -> String {
    format!("`{number}` has no unit, and seconds are not guessed\nwrite \"10s\" or \"500ms\"")
}

/// The complaint about a length outside what can be kept.
fn too_long_or_fine(text: &str) -> String {
    format!("`{text}` is longer than a day, or finer than a nanosecond\nthe longest is \"24h\"")
}

/// Reads the text, and meets a number with a better answer than "invalid type".
struct SpanVisitor;

impl Visitor<'_> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Span, E> {
        Err(E::custom(without_unit(number)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Span, E> {
        Err(E::custom(without_unit(number)))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Span, E> {
        Err(E::custom(without_unit(number)))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A duration with its unit: `10s`, `500ms`, `1m 30s`. Units: ns, us, ms, s, m, h. A number alone is refused.",
            "pattern": "^\\s*([0-9]+(\\.[0-9]+)?\\s*[A-Za-zµ]+\\s*)+$",
            "examples": ["10s", "500ms", "1m 30s"]
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, millis) in [
            ("10s", 10_000),
            ("500ms", 500),
            ("1m 30s", 90_000),
            ("1.5s", 1_500),
            ("0ms", 0),
            (" 2 s ", 2_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(text.parse(), Ok(Span(Duration::from_millis(millis))), "{text}");
        }
    }

    #[test]
    fn refuses_what_could_be_misread() {
        for text in
            ["10", "0", "1.5", "", "-5s", "10 parsecs", "s", "ten seconds", "25h", "99999999999999999999s", "NaN"]
        {
            let complaint = text.parse::<Span>().expect_err(text);
            assert!(complaint.contains('\n'), "`{text}` has no remedy: {complaint}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(nanos in 0..=LONGEST.as_nanos() as u64) {
            let span = Span(Duration::from_nanos(nanos));
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn round_trip_of_whole_units(seconds in 0..=86_400_u64, size in prop::sample::select(vec![1_u32, 60, 3_600])) {
            let span = Span(Duration::from_secs(seconds) / size);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = text.parse::<Span>();
        }

        #[test]
        fn never_panics_near_durations(text in "[-+0-9.eE nuµmshd]{0,12}") {
            let _ = text.parse::<Span>();
        }
    }
}
