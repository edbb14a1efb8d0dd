//! Renders numbers for the terminal and the HTML report alike: one place decides how a value looks.
//!
//! Values are given with three significant digits and the unit that suits their size; exact counts are given whole.
//! Bytes are decimal (1 KB is 1,000 bytes), as in the limits that the project states.

use unicode_width::UnicodeWidthStr;

use crate::measure::figures::Quantity;

/// What stands where a figure was not measured.
pub const ABSENT: &str = "–";

/// What a figure is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number: a rate, a mean of counts; from a thousand million on with G or T.
    Number,
    /// A number of things, shown whole.
    Count,
    /// Milliseconds; shown as µs, ms or s.
    Milliseconds,
    /// Bytes; shown as B, KB, MB, GB or TB.
    Bytes,
    /// A share from 0 to 1; shown in per cent.
    Share,
}

/// A figure in parts, so that a table can set the spread apart from the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The value without its unit.
    pub value: String,
    /// The spread, in the same unit and with as many decimals.
    pub spread: Option<String>,
    /// The unit's symbol; empty for plain numbers.
    pub symbol: &'static str,
}

impl Figure {
    /// The same without zeros at the end of the value's decimals: for running text, where nothing has to be aligned.
    pub fn trimmed(mut self) -> Self {
        if self.value.contains('.') {
            self.value = self.value.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        self
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.value)?;
        if let Some(spread) = &self.spread {
            write!(f, " ± {spread}")?;
        }
        if !self.symbol.is_empty() {
            write!(f, " {}", self.symbol)?;
        }
        Ok(())
    }
}

impl Unit {
    /// `value` alone.
    pub fn show(self, value: f64) -> String {
        self.figure(value, None).to_string()
    }

    /// `value` with its spread, which takes the value's unit and decimals.
    pub fn figure(self, value: f64, spread: Option<f64>) -> Figure {
        let (divisor, symbol) = self.scale(value);
        let scaled = value / divisor;
        let is_whole = self == Unit::Count || symbol == "B";
        let places = if is_whole { 0 } else { decimals(scaled) };
        let spread = spread.map(|spread| fixed(spread / divisor, places));
        Figure { value: fixed(scaled, places), spread, symbol }
    }

    /// What to divide by, and the symbol, so that three significant digits read well.
    fn scale(self, value: f64) -> (f64, &'static str) {
        // Rounded before the unit is chosen: 999.7 ms is 1.00 s, not 1,000 ms.
        let size = significant(value.abs());
        let steps: &[(f64, &'static str)] = match self {
            Unit::Number if size >= 1e9 => &[(1e12, "T"), (1e9, "G")],
            Unit::Number | Unit::Count => &[],
            Unit::Share => return (0.01, "%"),
            Unit::Milliseconds if size == 0.0 => return (1.0, "ms"),
            Unit::Milliseconds => &[(1e3, "s"), (1.0, "ms"), (1e-3, "µs")],
            Unit::Bytes => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
        };
        steps.iter().find(|(from, _)| size >= *from).or(steps.last()).copied().unwrap_or((1.0, ""))
    }
}

/// A figure of several trials: `12.3 ± 0.4 ms`.
pub fn quantity(quantity: &Quantity, unit: Unit) -> Figure {
    unit.figure(quantity.mean, quantity.spread)
}

/// An exact count, whole: `19,900`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// An exact count, or the sign that there is none.
pub fn maybe_count(value: Option<u64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), count)
}

/// Milliseconds, or the sign that there are none.
pub fn maybe_ms(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |ms| Unit::Milliseconds.show(ms))
}

/// A number for running text: three significant digits, whole from 100 on, without trailing zeros: `5`, `1.25`, `2,010`.
pub fn trimmed(value: f64) -> String {
    Unit::Number.figure(value, None).trimmed().to_string()
}

/// A large number for an axis: `1,000`, `250,000`, `1.5 M`, `2 G`.
pub fn tick(value: f64) -> String {
    let size = significant(value.abs());
    match [(1e12, "T"), (1e9, "G"), (1e6, "M")].into_iter().find(|(from, _)| size >= *from) {
        Some((from, symbol)) => format!("{} {symbol}", trimmed(value / from)),
        None => trimmed(value),
    }
}

/// A tick of an axis of bytes or milliseconds: as [`Unit::show`], without trailing zeros.
pub fn unit_tick(value: f64, unit: Unit) -> String {
    let (divisor, symbol) = unit.scale(value);
    let number = trimmed(value / divisor);
    if symbol.is_empty() || value == 0.0 { number } else { format!("{number} {symbol}") }
}

/// A length of time in words short enough for a line: `42 s`, `3 min 42 s`, `2 h 5 min`.
pub fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return ABSENT.to_owned();
    }
    if seconds < 60.0 {
        return format!("{} s", trimmed(seconds));
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, rest) => format!("{minutes} min {rest} s"),
        (hours, 0, _) => format!("{} h", count(hours)),
        (hours, minutes, _) => format!("{} h {minutes} min", count(hours)),
    }
}

/// `1 node`, `3 nodes`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Text that came from a scenario or a server, made safe to show: control characters, which could command a terminal or
/// break an SVG file, become U+FFFD.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// `text` cut to `columns` terminal columns, with an ellipsis where something was cut.
pub fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut short = String::new();
    for c in text.chars() {
        // Measured as a whole: what a character adds depends on those around it.
        short.push(c);
        if short.width() > room {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

/// `value` rounded to three significant digits.
fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powi(value.abs().log10().floor() as i32 - 2);
    // Dividing by the inverse of a small step keeps values such as 0.07 exact enough to compare with a unit's edge.
    if step >= 1.0 { (value / step).round() * step } else { (value * step.recip()).round() / step.recip() }
}

/// Decimals that show three significant digits, none from 100 on, at most six.
fn decimals(value: f64) -> usize {
    let size = significant(value.abs());
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    (2 - size.log10().floor() as i32).clamp(0, 6) as usize
}

/// `value` with this many decimals and its thousands set apart.
fn fixed(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let text = format!("{:.places$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let whole = grouped(whole);
    match fraction {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    }
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_are_whole_and_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(19_900), "19,900");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(maybe_count(None), "–");
    }

    #[test]
    fn times_take_the_unit_that_suits_them() {
        let cases = [
            (0.0, "0 ms"),
            (0.001, "1.00 µs"),
            (0.42, "420 µs"),
            (0.9996, "1.00 ms"),
            (1.234, "1.23 ms"),
            (12.34, "12.3 ms"),
            (123.4, "123 ms"),
            (999.7, "1.00 s"),
            (3_600_000.0, "3,600 s"),
        ];
        for (ms, shown) in cases {
            assert_eq!(Unit::Milliseconds.show(ms), shown, "{ms}");
        }
    }

    #[test]
    fn bytes_are_decimal() {
        for (bytes, shown) in
            [(0.0, "0 B"), (512.0, "512 B"), (75_000.0, "75.0 KB"), (1_234_567.0, "1.23 MB"), (5e15, "5,000 TB")]
        {
            assert_eq!(Unit::Bytes.show(bytes), shown, "{bytes}");
        }
    }

    #[test]
    fn the_spread_takes_unit_and_decimals_of_its_value() {
        let of = |mean, spread| Quantity { mean, spread, min: mean, max: mean };
        assert_eq!(quantity(&of(12.345, Some(0.4)), Unit::Milliseconds).to_string(), "12.3 ± 0.4 ms");
        assert_eq!(quantity(&of(1234.5, Some(56.0)), Unit::Number).to_string(), "1,234 ± 56");
        assert_eq!(quantity(&of(1500.0, Some(250.0)), Unit::Milliseconds).to_string(), "1.50 ± 0.25 s");
        assert_eq!(quantity(&of(0.0714, Some(0.001)), Unit::Share).to_string(), "7.14 ± 0.10 %");
        assert_eq!(quantity(&of(7.0, None), Unit::Number).to_string(), "7.00");
    }

    #[test]
    fn running_text_has_no_trailing_zeros() {
        for (value, shown) in
            [(5.0, "5"), (1.25, "1.25"), (0.6, "0.6"), (2010.4, "2,010"), (100.0, "100"), (-3.5, "−3.5")]
        {
            assert_eq!(trimmed(value), shown);
        }
    }

    #[test]
    fn ticks_are_short() {
        for (value, shown) in [(0.0, "0"), (1_000.0, "1,000"), (250_000.0, "250,000"), (1.5e6, "1.5 M"), (2e9, "2 G")] {
            assert_eq!(tick(value), shown);
        }
        assert_eq!(unit_tick(0.1, Unit::Milliseconds), "100 µs");
        assert_eq!(unit_tick(10_000.0, Unit::Milliseconds), "10 s");
        assert_eq!(unit_tick(0.0, Unit::Bytes), "0");
    }

    #[test]
    fn lengths_of_time_read_well() {
        for (length, shown) in [
            (0.0, "0 s"),
            (59.4, "59.4 s"),
            (60.0, "1 min"),
            (222.0, "3 min 42 s"),
            (7500.0, "2 h 5 min"),
            (3600.0, "1 h"),
        ] {
            assert_eq!(seconds(length), shown);
        }
        assert_eq!(seconds(f64::NAN), "–");
    }

    #[test]
    fn text_from_outside_cannot_command_the_terminal() {
        assert_eq!(plain("red\u{1b}[31m\n"), "red\u{fffd}[31m\u{fffd}");
        assert_eq!(shorten("lock/sequential", 8), "lock/se…");
        assert_eq!(shorten("lock", 4), "lock");
    }

    proptest! {
        #[test]
        fn grouping_loses_no_digit(value: u64) {
            prop_assert_eq!(count(value).replace(',', ""), value.to_string());
        }

        #[test]
        fn a_time_never_reads_as_a_thousand_of_the_smaller_unit(ms in 0.0005f64..900_000.0) {
            let shown = Unit::Milliseconds.show(ms);
            prop_assert!(!shown.contains("1,000 µs") && !shown.contains("1,000 ms"), "{}", shown);
        }

        #[test]
        fn a_shown_value_is_within_half_a_percent(value in 0.001f64..9e8) {
            let back: f64 = Unit::Number.show(value).replace(',', "").parse().expect("a number");
            prop_assert!((back - value).abs() <= value * 0.0051, "{} -> {}", value, back);
        }

        #[test]
        fn shortened_text_fits(text in ".{0,60}", columns in 1usize..40) {
            prop_assert!(shorten(&text, columns).width() <= columns.max(1));
        }

        #[test]
        fn anything_can_be_shown(value: f64, spread: f64) {
            for unit in [Unit::Number, Unit::Count, Unit::Milliseconds, Unit::Bytes, Unit::Share] {
                prop_assert!(!unit.figure(value, Some(spread)).to_string().is_empty());
            }
            let _ = (tick(value), seconds(value));
        }
    }
}
