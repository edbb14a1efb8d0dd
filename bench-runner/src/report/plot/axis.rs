//! Axes: which place a value has, and where the ticks are.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::report::format::{self, Unit};

/// The largest value that has a place on an axis. Nothing that is measured comes near it.
const MOST: f64 = 1e30;

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// In proportion.
    Linear,
    /// In proportion, with ticks at whole numbers alone.
    Whole,
    /// In equal ratios; only positive values have a place.
    Log,
    /// In proportion up to 1, in equal ratios from there: for counts, of which 0 is one.
    Counts,
    /// Percentiles: each further nine takes the same room.
    Nines,
    /// Places with names, one beside the other: a tick in the middle of each.
    Places,
}

impl Scale {
    fn apply(self, value: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Whole | Scale::Places => value,
            Scale::Log => value.log10(),
            Scale::Counts if value <= 1.0 => value,
            Scale::Counts => 1.0 + value.log10(),
            Scale::Nines => -(1.0 - value / 100.0).log10(),
        }
    }
}

/// An axis with its name, its domain and the way its ticks are written.
#[derive(Clone)]
pub(in crate::report) struct Axis {
    /// Name and unit.
    pub name: String,
    scale: Scale,
    low: f64,
    high: f64,
    write: fn(f64) -> String,
    /// Names of places; empty for numbers.
    names: Vec<String>,
}

impl Axis {
    /// Places with these names, one beside the other: the first from 0 to 1, the next from 1 to 2.
    pub fn places(name: &str, names: Vec<String>) -> Self {
        let high = names.len().max(1) as f64;
        Self { name: name.to_owned(), scale: Scale::Places, low: 0.0, high, write: format::tick, names }
    }

    /// Numbers from 0 to a round number above the largest of `values`.
    pub fn from_zero(name: &str, values: impl IntoIterator<Item = f64>, write: fn(f64) -> String) -> Self {
        let high = largest(values).unwrap_or(1.0);
        let high = if high > 0.0 { high } else { 1.0 };
        let step = nice_step(high / 4.0);
        // A little is taken off first, or 4.000000001 steps would become 5.
        let high = (high / step - 1e-9).ceil() * step;
        Self { name: name.to_owned(), scale: Scale::Linear, low: 0.0, high, write, names: Vec::new() }
    }

    /// Seconds from 0 to the largest of `values`, without room beyond.
    pub fn time(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let high = largest(values).filter(|high| *high > 0.0).unwrap_or(1.0);
        Self { name: name.to_owned(), scale: Scale::Linear, low: 0.0, high, write: format::tick, names: Vec::new() }
    }

    /// Numbers from `low` to `high`, both included.
    pub fn between(name: &str, low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { name: name.to_owned(), scale: Scale::Linear, low, high, write: format::tick, names: Vec::new() }
    }

    /// Milliseconds in equal ratios, around the positive ones of `values`; `None` without any.
    pub fn log_ms(name: &str, values: impl IntoIterator<Item = f64> + Clone) -> Option<Self> {
        Self::log(name, values, |ms| format::unit_tick(ms, Unit::Milliseconds))
    }

    /// Numbers in equal ratios, around the positive ones of `values`; `None` without any.
    pub fn log(name: &str, values: impl IntoIterator<Item = f64> + Clone, write: fn(f64) -> String) -> Option<Self> {
        let positive = || values.clone().into_iter().filter(|value| *value > 0.0 && *value <= MOST);
        let low = round_down(positive().reduce(f64::min)?);
        let mut high = round_up(positive().reduce(f64::max)?);
        if high <= low * 1.01 {
            high = round_up(low * 2.0);
        }
        Some(Self { name: name.to_owned(), scale: Scale::Log, low, high, write, names: Vec::new() })
    }

    /// Counts from 0, in equal ratios from 1 on.
    pub fn counts(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let high = round_up(largest(values).unwrap_or(1.0).max(1.0));
        Self {
            name: name.to_owned(),
            scale: Scale::Counts,
            low: 0.0,
            high: high.max(2.0),
            write: format::tick,
            names: Vec::new(),
        }
    }

    /// The same axis in proportion with ticks at whole numbers alone: for things that are counted.
    pub fn whole(self) -> Self {
        Self { scale: Scale::Whole, ..self }
    }

    /// Percentiles from 0 to the largest of `values` below 100, in steps of nines.
    pub fn nines(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let below = values.into_iter().filter(|value| *value < 100.0);
        let high = largest(below).unwrap_or(99.0).clamp(90.0, 99.999_999);
        Self { name: name.to_owned(), scale: Scale::Nines, low: 0.0, high, write: percentile, names: Vec::new() }
    }

    /// Whether a value has a place on the axis. Edges have a tolerance, since a bin's edge may be the axis's.
    pub fn holds(&self, value: f64) -> bool {
        let place = self.place(value);
        place.is_finite() && (-1e-9..=1.0 + 1e-9).contains(&place)
    }

    /// The value nearest to `value` that the axis holds.
    pub fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Where the axis begins.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The place of a value: 0 at the low end, 1 at the high end.
    pub fn place(&self, value: f64) -> f64 {
        let (low, high) = (self.scale.apply(self.low), self.scale.apply(self.high));
        (self.scale.apply(value) - low) / (high - low)
    }

    /// A tick's text.
    pub fn text(&self, tick: f64) -> String {
        if self.scale == Scale::Places {
            return self.names.get(tick.max(0.0) as usize).cloned().unwrap_or_default();
        }
        (self.write)(tick)
    }

    /// Ticks for an axis that is `room` pixels long, where a tick's text takes `space(text)` pixels along the axis: round
    /// values, as many as stand clear of one another.
    pub fn ticks(&self, room: f64, space: impl Fn(&str) -> f64) -> Vec<f64> {
        let candidates = match self.scale {
            Scale::Linear | Scale::Whole => {
                let widest = space(&self.text(self.high)).max(space(&self.text(self.low))) + 24.0;
                let number = (room / widest).clamp(1.0, 8.0);
                let step = nice_step((self.high - self.low) / number);
                let step = if self.scale == Scale::Whole { step.max(1.0) } else { step };
                let from = (self.low / step - 1e-9).ceil() as i64;
                let to = (self.high / step + 1e-9).floor() as i64;
                (from..=to).map(|index| index as f64 * step).collect()
            }
            Scale::Places => (0..self.names.len()).map(|place| place as f64 + 0.5).collect(),
            Scale::Log => log_ticks(self.low, self.high, self.fine_fits(room, &space)),
            Scale::Counts => {
                // Below 2 the axis is in proportion, so that 2 and 5 would crowd a short one.
                std::iter::once(0.0).chain(log_ticks(1.0, self.high, self.high <= 20.0)).collect()
            }
            Scale::Nines => {
                let nines = (1..=8).map(|nines| 100.0 - 100.0 * 10f64.powi(-nines));
                let all: Vec<f64> =
                    [0.0, 50.0].into_iter().chain(nines).filter(|tick| *tick <= self.high + 1e-12).collect();
                // Where room is short, the median's tick is the one to go: each nine has to stay.
                if self.clear(&all, room, &space) {
                    all
                } else {
                    all.into_iter().filter(|tick| *tick != 50.0).collect()
                }
            }
        };
        self.thin(candidates, room, &space)
    }

    /// Whether the texts of these ticks stand clear of one another.
    fn clear(&self, ticks: &[f64], room: f64, space: &impl Fn(&str) -> f64) -> bool {
        let edges = |tick: f64| {
            let (middle, half) = (self.place(tick) * room, space(&self.text(tick)) / 2.0);
            (middle - half, middle + half)
        };
        ticks.windows(2).all(|pair| edges(pair[1]).0 - edges(pair[0]).1 >= 6.0)
    }

    /// Drops ticks whose texts would touch the one before.
    fn thin(&self, candidates: Vec<f64>, room: f64, space: &impl Fn(&str) -> f64) -> Vec<f64> {
        // Decades are dropped in step (every second, every third), not here and there.
        for every in 1..=candidates.len().max(1) {
            let kept: Vec<f64> = candidates.iter().copied().step_by(every).collect();
            if self.clear(&kept, room, space) {
                return kept;
            }
        }
        candidates.into_iter().take(1).collect()
    }

    /// Whether 2 and 5 have room between the decades of an axis in equal ratios.
    fn fine_fits(&self, room: f64, space: &impl Fn(&str) -> f64) -> bool {
        let fine = log_ticks(self.low, self.high, true);
        let widest = fine.iter().map(|tick| space(&self.text(*tick))).fold(0.0, f64::max);
        // The closest two are 1 and 2, or 5 and 10, a factor of 2 apart.
        let closest = room * 2f64.log10() / (self.high / self.low).log10();
        fine.len() <= 10 && closest >= widest + 10.0
    }
}

/// An axis with its ticks chosen, as plotters wants it.
#[derive(Clone)]
pub(super) struct Ticked {
    /// The axis.
    pub axis: Axis,
    /// Its ticks.
    pub ticks: Vec<f64>,
}

impl Ranged for Ticked {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (f64::from(limit.0), f64::from(limit.1));
        (from + (to - from) * self.axis.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.axis.low..self.axis.high
    }
}

impl ValueFormatter<f64> for Ticked {
    fn format_ext(&self, value: &f64) -> String {
        self.axis.text(*value)
    }
}

/// A percentile as it is spoken of: `50`, `99.9`; as many decimals as it has nines.
fn percentile(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The largest of `values` that an axis can count up to; beyond it, steps would overflow.
fn largest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().filter(|value| *value <= MOST).reduce(f64::max)
}

/// The next of 1, 2, 5, 10, … that is at least `step`.
fn nice_step(step: f64) -> f64 {
    round_up(if step.is_finite() && step > 0.0 { step } else { 1.0 })
}

/// The next of … 0.5, 1, 2, 5, 10, … from `value` up.
fn round_up(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|step| step * decade)
        .find(|edge| *edge >= value * (1.0 - 1e-9))
        .unwrap_or(value)
}

/// The next of … 0.5, 1, 2, 5, 10, … from `value` down.
fn round_down(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|step| step * decade).find(|edge| *edge <= value * (1.0 + 1e-9)).unwrap_or(decade)
}

/// Decades from `low` to `high`; with 2 and 5 between them where `fine`.
fn log_ticks(low: f64, high: f64, fine: bool) -> Vec<f64> {
    let exponents = (low.log10() - 1e-9).floor() as i32..=(high.log10() + 1e-9).floor() as i32;
    let within = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
    let of = |steps: &'static [f64]| -> Vec<f64> {
        let ticks = exponents.clone().flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)));
        ticks.filter(within).collect()
    };
    let decades = of(&[1.0]);
    // A short axis may lie between two decades.
    if fine || decades.is_empty() { of(&[1.0, 2.0, 5.0]) } else { decades }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDE: fn(&str) -> f64 = |text| 8.0 * text.chars().count() as f64;

    #[test]
    fn each_nine_takes_the_same_room() {
        let axis = Axis::nines("percentile", [99.99]);
        let places: Vec<f64> = [90.0, 99.0, 99.9].into_iter().map(|value| axis.place(value)).collect();
        assert!((places[1] - 2.0 * places[0]).abs() < 1e-9 && (places[2] - 3.0 * places[0]).abs() < 1e-9);
        let texts: Vec<String> = axis.ticks(800.0, WIDE).into_iter().map(|tick| axis.text(tick)).collect();
        assert_eq!(texts, ["0", "50", "90", "99", "99.9", "99.99"]);
    }

    #[test]
    fn a_count_of_zero_has_a_place() {
        let axis = Axis::counts("fan-out", [999.0]);
        assert_eq!(axis.place(0.0), 0.0);
        assert_eq!(axis.ticks(300.0, |_| 16.0), [0.0, 1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn there_is_no_half_of_a_thing() {
        let axis = Axis::between("failover", 0.5, 3.5);
        assert_eq!(axis.ticks(600.0, |_| 16.0), [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]);
        assert_eq!(axis.whole().ticks(600.0, |_| 16.0), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn latencies_need_a_positive_value() {
        assert!(Axis::log_ms("ms", [0.0, f64::NAN]).is_none());
        let axis = Axis::log_ms("ms", [0.3, 0.3]).expect("one positive value");
        assert!(axis.holds(0.3));
    }

    proptest! {
        #[test]
        fn ticks_never_touch(high in 1e-3f64..1e15, room in 60.0f64..900.0) {
            for axis in [
                Axis::from_zero("n", [high], format::tick),
                Axis::time("s", [high]),
                Axis::counts("n", [high]),
                Axis::log_ms("ms", [high, high / 777.0]).expect("positive"),
            ] {
                let ticks = axis.ticks(room, WIDE);
                prop_assert!(!ticks.is_empty());
                for pair in ticks.windows(2) {
                    let gap = (axis.place(pair[1]) - axis.place(pair[0])) * room;
                    let texts = (WIDE(&axis.text(pair[0])) + WIDE(&axis.text(pair[1]))) / 2.0;
                    prop_assert!(gap > texts, "{:?} in {} px", ticks, room);
                }
            }
        }

        #[test]
        fn an_axis_holds_its_values(values in proptest::collection::vec(1e-3f64..1e12, 1..20)) {
            let log = Axis::log_ms("ms", values.clone()).expect("positive");
            let linear = Axis::from_zero("n", values.clone(), format::tick);
            for value in values {
                prop_assert!(log.holds(value) && linear.holds(value));
            }
        }
    }
}
