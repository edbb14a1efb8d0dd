//! Latency histograms in HdrHistogram's own formats, for its own tools.
//!
//! `.hlog`: an interval log (base64, V2), one histogram for each second of a trial, of the acquisitions granted in it.
//! `.hgrm`: the percentile distribution of one stage over all trials of an arm.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use workloads::record::Acquisition;

use crate::measure::histogram::{self, Micros, millis};

/// Nanoseconds in an interval.
const INTERVAL: u64 = 1_000_000_000;

/// Writes the acquisition latencies of one trial that ended at about `ended`, second by second. Values are microseconds.
///
/// # Errors
///
/// What writing answers.
pub fn write_intervals(
    writer: &mut impl Write,
    tag: &str,
    ended: SystemTime,
    length: u64,
    acquisitions: &[Acquisition],
) -> io::Result<()> {
    let mut intervals: BTreeMap<u64, Micros> = BTreeMap::new();
    for acquisition in acquisitions.iter().filter(|acquisition| acquisition.is_granted()) {
        let interval = intervals.entry(acquisition.granted / INTERVAL).or_insert_with(histogram::empty);
        histogram::record(interval, acquisition.granted.saturating_sub(acquisition.due));
    }
    let started = ended.checked_sub(Duration::from_nanos(length)).unwrap_or(ended);
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    // A tag may not contain what separates the log's columns.
    let tag: String = tag.chars().map(|c| if c.is_whitespace() || c == ',' { '_' } else { c }).collect();
    let mut log = builder
        .add_comment("acquisition latency, due to granted, microseconds, by the second in which it was granted")
        .with_start_time(started)
        .with_base_time(started)
        .begin_log_with(writer, &mut serializer)?;
    for (number, interval) in &intervals {
        let start = Duration::from_nanos(number * INTERVAL);
        log.write_histogram(interval, start, Duration::from_nanos(INTERVAL), Tag::new(&tag))
            .map_err(|error| io::Error::other(format!("{error:?}")))?;
    }
    Ok(())
}

/// Writes a percentile distribution as HdrHistogram's `outputPercentileDistribution` does, in milliseconds, five steps for
/// each halving of the distance to 100 %.
///
/// # Errors
///
/// What writing answers.
pub fn write_percentiles(writer: &mut impl Write, histogram: &Micros) -> io::Result<()> {
    writeln!(writer, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut total = 0;
    for step in histogram.iter_quantiles(5) {
        total += step.count_since_last_iteration();
        let value = millis(step.value_iterated_to());
        let quantile = step.quantile_iterated_to();
        if quantile < 1.0 {
            writeln!(writer, "{value:>12.3} {quantile:>2.12} {total:>10} {:>14.2}", 1.0 / (1.0 - quantile))?;
        } else {
            writeln!(writer, "{value:>12.3} {quantile:>2.12} {total:>10}")?;
        }
    }
    let (mean, deviation) = (histogram.mean() / 1e3, histogram.stdev() / 1e3);
    writeln!(writer, "#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]")?;
    writeln!(writer, "#[Max     = {:>12.3}, Total count    = {:>12}]", millis(histogram.max()), histogram.len())?;
    writeln!(writer, "#[Buckets = {:>12}, SubBuckets     = {:>12}]", histogram.buckets(), 2_048)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    #[test]
    fn an_interval_log_reads_back() {
        let granted = |at: u64, latency: u64| Acquisition {
            granted: at,
            ..Acquisition::called(0, 0, at - latency, at - latency)
        };
        let acquisitions =
            [granted(500_000_000, 3_000_000), granted(700_000_000, 5_000_000), granted(2_100_000_000, 9_000_000)];
        let mut written = Vec::new();
        write_intervals(&mut written, "lock/naive, 1", SystemTime::now(), 3_000_000_000, &acquisitions).unwrap();
        let mut deserializer = Deserializer::new();
        let read: Vec<(f64, u64)> = IntervalLogIterator::new(&written)
            .filter_map(|entry| match entry.unwrap() {
                LogEntry::Interval(interval) => {
                    let encoded = interval.encoded_histogram();
                    let bytes = base64_decode(encoded);
                    let histogram: Micros = deserializer.deserialize(&mut bytes.as_slice()).unwrap();
                    Some((interval.start_timestamp().as_secs_f64(), histogram.len()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(read, [(0.0, 2), (2.0, 1)]);
    }

    /// Base64 of the standard alphabet, enough to read back what was written.
    fn base64_decode(text: &str) -> Vec<u8> {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut bytes = Vec::new();
        let (mut bits, mut count) = (0u32, 0);
        for symbol in text.bytes().filter(|symbol| *symbol != b'=') {
            bits = bits << 6 | ALPHABET.iter().position(|letter| *letter == symbol).unwrap() as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                bytes.push((bits >> count) as u8);
            }
        }
        bytes
    }

    #[test]
    fn a_percentile_file_ends_with_every_value_counted() {
        let mut histogram = histogram::empty();
        (1..=1_000u64).for_each(|value| histogram::record(&mut histogram, value * 1_000_000));
        let mut written = Vec::new();
        write_percentiles(&mut written, &histogram).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert!(text.contains("1.000000000000       1000"), "{text}");
        assert!(text.contains("Total count    =         1000]"), "{text}");
    }
}
