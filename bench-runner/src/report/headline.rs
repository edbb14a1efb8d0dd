//! The sentence that answers the question of the run: what the herd costs, as a ratio. Terminal and HTML share it.

use crate::measure::figures::{Arm, Barriers, Contrast, Growth, GrowthPoint, Quantity};
use crate::report::format::{self, Unit, trimmed};
use crate::results::summary::Summary;
use workloads::settings::Recipe;

/// A ratio this close to 1 is called no difference, however small its spread: it is below what a machine shared with
/// anything else repeats.
pub(super) const ABOUT_EQUAL: f64 = 0.05;

/// The answer in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// One sentence for each contrast; without contrasts, one that says what was measured.
    pub sentences: Vec<String>,
}

/// The answer of a run: one sentence for each contrast, or one about what was measured where there is no contrast.
pub fn headline(summary: &Summary) -> Headline {
    let mut sentences: Vec<String> =
        summary.contrasts.iter().filter_map(|contrast| sentence(summary, contrast)).collect();
    sentences.extend(summary.arms.iter().filter_map(split_brain));
    // Where a counter was kept, what became of it is the answer.
    sentences.extend(summary.arms.iter().filter(|arm| arm.split_brain.is_none()).filter_map(failover));
    sentences.extend(summary.growth.iter().map(growth));
    if sentences.is_empty() {
        sentences = match summary.arms.as_slice() {
            [] => vec!["Nothing was measured: no trial of any arm ran.".to_owned()],
            arms => arms.iter().map(alone).collect(),
        };
    }
    Headline { sentences }
}

/// The arm that a contrast names.
fn arm<'a>(summary: &'a Summary, label: &str) -> Option<&'a Arm> {
    summary.arms.iter().find(|arm| arm.label == label)
}

fn sentence(summary: &Summary, contrast: &Contrast) -> Option<String> {
    let naive = arm(summary, &contrast.naive)?;
    let free = arm(summary, &contrast.herd_free)?;
    let lead = match naive.workers == free.workers {
        true => format!("With {}", format::plural(u64::from(naive.workers), "worker", "workers")),
        false => format!(
            "With {} and {} workers",
            format::count(u64::from(naive.workers)),
            format::count(u64::from(free.workers))
        ),
    };
    let (a, b) = (format::plain(&naive.label), format::plain(&free.label));
    // A settled drain waits for every watch to be armed before each release: its pace is the harness's own, its counts are
    // what it is for.
    let paced = naive.mode == "drain" && free.mode == "drain";
    if paced && naive.notifications.client > 0 && free.notifications.client > 0 {
        return Some(drained(&lead, naive, free));
    }
    let mut text = match &contrast.throughput {
        Some(ratio) => format!("{lead}, {}", throughput(ratio, naive, free)),
        None => {
            let who = match (naive.grants, free.grants) {
                (0, 0) => "neither granted the lock even once".to_owned(),
                (0, _) => format!("{a} never granted the lock"),
                (_, 0) => format!("{b} never granted the lock"),
                _ => "no two trials of theirs ran next to one another".to_owned(),
            };
            format!("{lead}, there is no ratio of grants per second between {b} and {a}: {who}")
        }
    };
    if naive.mode == "open" || contrast.throughput.is_some_and(|ratio| is_about_equal(&ratio)) {
        text += &latency(contrast, naive, free);
    }
    text += &cost(naive, free);
    text.push('.');
    Some(text)
}

/// `granted the lock 23 times as often as …`, honest where it was not.
fn throughput(ratio: &Quantity, naive: &Arm, free: &Arm) -> String {
    let (a, b) = (format::plain(&naive.label), format::plain(&free.label));
    let pairs = naive.trials.min(free.trials);
    let spread = match pairs {
        0 | 1 => "one pair of trials, so without a spread".to_owned(),
        pairs => format!("{} over {pairs} pairs of trials", range(ratio.min, ratio.max)),
    };
    if is_about_equal(ratio) {
        let about = format!("{b} granted the lock about as often as {a} (ratio {}, {spread})", trimmed(ratio.mean));
        // An open loop is paced by its arrivals; an arm that keeps up cannot be faster.
        return if naive.mode == "open" { about } else { format!("{about}, no difference in throughput") };
    }
    if ratio.mean < 1.0 {
        return format!(
            "{b} granted the lock only {} times as often as {a} ({spread}): here the herd was faster",
            trimmed(ratio.mean)
        );
    }
    format!("{b} granted the lock {} times as often as {a} ({spread})", trimmed(ratio.mean))
}

/// Whether the ratio is close to 1, or its trials lie on both sides of it.
pub(super) fn is_about_equal(ratio: &Quantity) -> bool {
    (ratio.mean - 1.0).abs() <= ABOUT_EQUAL || (ratio.min < 1.0 && ratio.max > 1.0)
}

/// `; the median acquisition took 12 times as long with …`.
fn latency(contrast: &Contrast, naive: &Arm, free: &Arm) -> String {
    let (Some(ratio), Some(slow), Some(fast)) = (contrast.acquire_p50, naive.acquire_ms.p50, free.acquire_ms.p50)
    else {
        return String::new();
    };
    let (slow, fast) = (Unit::Milliseconds.show(slow), Unit::Milliseconds.show(fast));
    let label = format::plain(&naive.label);
    match (ratio - 1.0).abs() <= ABOUT_EQUAL {
        true => format!("; the median acquisition took about as long in both ({slow} and {fast})"),
        false => {
            format!(
                "; the median acquisition took {} times as long with {label} ({slow} instead of {fast})",
                trimmed(ratio)
            )
        }
    }
}

/// `; each naive release woke 987 workers instead of 1 and cost 2,010 requests instead of 5`.
fn cost(naive: &Arm, free: &Arm) -> String {
    let woke = naive.fan_out.mean.zip(free.fan_out.mean).map(|(many, one)| {
        let noun = if trimmed(many) == "1" { "worker" } else { "workers" };
        format!("each release woke {} {noun} instead of {}", trimmed(many), trimmed(one))
    });
    let asked = naive
        .requests
        .per_grant
        .zip(free.requests.per_grant)
        .map(|(many, few)| format!("each grant cost {} requests instead of {}", trimmed(many), trimmed(few)));
    let label = format::plain(&naive.label);
    match (woke, asked) {
        (Some(woke), Some(asked)) => format!("; with {label}, {woke} and {asked}"),
        (Some(only), None) | (None, Some(only)) => format!("; with {label}, {only}"),
        (None, None) => String::new(),
    }
}

/// The sentence of a settled drain: counts, not pace.
fn drained(lead: &str, naive: &Arm, free: &Arm) -> String {
    let per_trial = |arm: &Arm| trimmed(arm.notifications.client as f64 / f64::from(arm.trials.max(1)));
    let ratio = (naive.notifications.client as f64 / f64::from(naive.trials.max(1)))
        / (free.notifications.client as f64 / f64::from(free.trials.max(1)));
    let books = [naive, free].map(|arm| {
        let books = &arm.notifications;
        books
            .expected
            .is_some_and(|expected| expected == books.client && books.server.is_none_or(|server| server == expected))
    });
    let checked = if books == [true, true] { ", exactly as the closed form says" } else { "" };
    let mut text = format!(
        "{lead}, draining the queue once cost {} notifications with {} and {} with {}, {} times as many{checked}",
        per_trial(naive),
        format::plain(&naive.label),
        per_trial(free),
        format::plain(&free.label),
        trimmed(ratio),
    );
    text += &cost(naive, free);
    text.push('.');
    text
}

/// What became of the counter: `… : of 700 updates the plain store lost 123 (17.6 %), …`.
fn split_brain(arm: &Arm) -> Option<String> {
    let counter = arm.split_brain.as_ref()?;
    let label = format::plain(&arm.label);
    let (plain, fenced) = (&counter.plain, &counter.fenced);
    let share = match plain.acknowledged {
        0 => String::new(),
        all => format!(" ({})", Unit::Share.show(plain.lost as f64 / all as f64)),
    };
    Some(format!(
        "{label}: the plain store lost {} of {} acknowledged {}{share}; the fenced store lost {}, and refused {} of {}.",
        format::count(plain.lost),
        format::count(plain.acknowledged),
        if plain.acknowledged == 1 { "update" } else { "updates" },
        if fenced.lost == 0 { "none".to_owned() } else { format::count(fenced.lost) },
        format::count(fenced.refused),
        format::plural(counter.stale, "stale write", "stale writes"),
    ))
}

/// How an arm survived its faults: `… : nobody led for 2.3 s in the median of 20 faults (…), and each woke 190 workers`.
fn failover(arm: &Arm) -> Option<String> {
    let failovers = arm.failovers.as_ref()?;
    let label = format::plain(&arm.label);
    let ms = |value: f64| Unit::Milliseconds.show(value);
    let mut text = match arm.failover_ms.total.p50.zip(arm.failover_ms.total.max) {
        Some((median, max)) => {
            let verb = if arm.recipe.is_election() { "led" } else { "held the lock" };
            let faults = format::plural(arm.failover_ms.total.count, "failover", "failovers");
            let mut text =
                format!("{label}: nobody {verb} for {} in the median of {faults} (at most {})", ms(median), ms(max));
            if let Some((detection, takeover)) = arm.failover_ms.detection.p50.zip(arm.failover_ms.takeover.p50) {
                text += &format!(", {} until the servers saw it and {} to take over", ms(detection), ms(takeover));
            }
            text
        }
        None => {
            let faults = format::plural(failovers.faults, "fault", "faults");
            format!("{label}: {faults}, and no holder was lost")
        }
    };
    if let Some(mean) = failovers.fan_out.mean {
        let noun = if trimmed(mean) == "1" { "worker" } else { "workers" };
        text += &format!("; each woke {} {noun}", trimmed(mean));
    }
    if let Some(recovery) = arm.failover_ms.recovery.p50 {
        text += &format!("; grants were back to 90 % after {}", ms(recovery));
    }
    text.push('.');
    Some(text)
}

/// How the notifications of a barrier grow: `… from 625 to 40,000 … : as N to the power of 2.00`.
fn growth(growth: &Growth) -> String {
    let shown = |point: Option<&GrowthPoint>| match point {
        Some(point) => format!(
            "{} with {}",
            format::plural(point.notifications.round() as u64, "notification", "notifications"),
            format::plural(u64::from(point.members), "member", "members")
        ),
        None => "nothing".to_owned(),
    };
    format!(
        "{} on {}: one barrier, in and out, cost {} and {}: it grows as their number to the power of {:.2}.",
        growth.recipe,
        growth.service,
        shown(growth.points.first()),
        shown(growth.points.last()),
        growth.exponent,
    )
}

/// The sentence about an arm of barriers.
fn met(label: &str, arm: &Arm, barriers: &Barriers) -> String {
    let each = format::plural(u64::from(barriers.barriers), "barrier", "barriers");
    let mut text = format!(
        "{label}: {} passed {each} in {}",
        format::plural(u64::from(arm.workers), "member", "members"),
        format::seconds(barriers.client_seconds.mean)
    );
    if let Some(requests) = barriers.requests_per_operation {
        text += &format!(", with {} requests for each enter or leave", trimmed(requests));
    }
    text.push('.');
    text
}

/// The sentence about an arm that has no counterpart.
fn alone(arm: &Arm) -> String {
    let label = format::plain(&arm.label);
    let workers = format::plural(u64::from(arm.workers), "worker", "workers");
    let time = format::seconds(arm.seconds);
    if arm.trials == 0 {
        return format!("{label} was not measured: none of its trials ran.");
    }
    if arm.recipe == Recipe::IdleSession {
        let sessions = format::plural(u64::from(arm.workers), "idle session", "idle sessions");
        let memory = Unit::Bytes.show(arm.generator.rss_per_worker_bytes as f64);
        return format!("{label} held {sessions} for {time}, at {memory} of the generator's memory each.");
    }
    if let Some(barriers) = &arm.barriers {
        return met(&label, arm, barriers);
    }
    if arm.grants == 0 {
        return format!("{label} with {workers} got no grant in {time}.");
    }
    let rate = format::quantity(&arm.grants_per_second, Unit::Number);
    let mut text = format!(
        "{label} with {workers} was granted the {} {} in {time}: {rate} grants per second",
        if arm.recipe.is_election() { "leadership" } else { "lock" },
        format::plural(arm.grants, "time", "times")
    );
    if let Some(mean) = arm.fan_out.mean {
        let noun = if trimmed(mean) == "1" { "worker" } else { "workers" };
        text += &format!("; each release woke {} {noun}", trimmed(mean));
    }
    text.push('.');
    text
}

/// `21–25`, or one number where both are the same.
fn range(low: f64, high: f64) -> String {
    let (low, high) = (trimmed(low), trimmed(high));
    if low == high { low } else { format!("{low}–{high}") }
}
