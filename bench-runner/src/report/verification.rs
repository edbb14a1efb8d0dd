//! What a verification found, on the terminal.

use anstyle::{AnsiColor, Style};

use crate::report::format::{self, ABSENT, Unit, plain, shorten};
use crate::verify::figures::{Collision, Early, Regression, Side, TrialVerdict, Verification};

/// So many findings of a kind are told of each trial; all that were kept are in the JSON.
const MOST: usize = 5;

/// What a verification found as text that ends with a line break; with `styled` in ANSI colours.
pub fn verification(found: &Verification, styled: bool) -> String {
    let mut lines =
        vec![row(["", "trial", "grants", "overlaps", "asked for", "tokens back", "overtook", "starved", "Jain"])];
    lines.push("─".repeat(lines[0].chars().count()));
    for trial in &found.trials {
        let text = row([
            &shorten(&plain(&trial.arm), 24),
            &trial.trial.to_string(),
            &format::count(trial.grants),
            &format::count(trial.overlaps),
            &format::count(trial.overlaps_asked),
            &format::count(trial.token_regressions),
            &format::count(trial.fifo_inversions),
            &format::count(trial.starved),
            &trial.jain.map_or_else(|| ABSENT.to_owned(), |index| format!("{index:.3}")),
        ]);
        lines.push(paint(&text, if trial.is_violated() { ALARM } else { Style::new() }, styled));
    }
    for trial in &found.trials {
        lines.extend(findings(trial));
    }
    for difference in &found.differences {
        lines.push(String::new());
        lines.push(format!(
            "trial {} ({}): the rows say {} {}, and summary.json says {}: one of the two was changed, or worked out wrongly",
            difference.trial,
            plain(&difference.arm),
            difference.figure,
            format::count(difference.rows),
            format::count(difference.summary),
        ));
    }
    for label in &found.uncaught {
        lines.push(String::new());
        lines
            .push(format!("{}: wrong on purpose, and no two grants collide: the control was not caught", plain(label)));
    }
    lines.push(String::new());
    lines.push(paint(&answer(found), if found.holds { GOOD } else { ALARM }, styled));
    lines.join("\n") + "\n"
}

const ALARM: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();

/// Whether it holds, in a sentence or two.
fn answer(found: &Verification) -> String {
    let trials = format::plural(found.trials.len() as u64, "trial", "trials");
    let grants = format::plural(found.trials.iter().map(|trial| trial.grants).sum(), "grant", "grants");
    let broken = found.trials.iter().filter(|trial| trial.is_violated()).count() as u64;
    let mut answer = match (broken, found.differences.len() as u64) {
        (0, 0) if !found.uncaught.is_empty() => {
            "What was to be kept was kept, and yet a control was not caught.".to_owned()
        }
        (0, 0) => format!("Holds: {grants} in {trials}, and summary.json says what the rows say."),
        (0, differences) => {
            let figures = format::plural(differences, "figure", "figures");
            format!("The promises were kept in {trials}, and yet summary.json differs from the rows in {figures}.")
        }
        (broken, _) => format!("Violated in {} of {trials}.", format::count(broken)),
    };
    let asked: u64 = found.trials.iter().map(|trial| trial.overlaps_asked).sum();
    if asked > 0 {
        let overlaps = format::plural(asked, "overlap was", "overlaps were");
        answer += &format!(" {overlaps} asked for by the scenario, and held against nobody.");
    }
    if !found.complete {
        let why = found.incomplete_reason.as_deref().map_or_else(|| "no reason was recorded".to_owned(), plain);
        answer += &format!(" This is a partial run ({why}): what it did not come to is not verified.");
    }
    answer
}

/// What was found in a trial, the worst first.
fn findings(trial: &TrialVerdict) -> Vec<String> {
    let mut lines = Vec::new();
    let mut group = |number: u64, one: &str, many: &str, told: Vec<String>| {
        if number == 0 {
            return;
        }
        let arm = plain(&trial.arm);
        lines.push(String::new());
        lines.push(format!("trial {} ({arm}): {}", trial.trial, format::plural(number, one, many)));
        let shown = told.len().min(MOST);
        lines.extend(told.into_iter().take(MOST));
        if number > shown as u64 {
            lines.push(format!("  and {} more; --format json has them", format::count(number - shown as u64)));
        }
    };
    let of = |asked: bool| trial.collisions.iter().filter(move |one| one.asked == asked).map(collision).collect();
    group(trial.overlaps, "pair of grants collides", "pairs of grants collide", of(false));
    let asked = ("pair of grants collides as the scenario asked", "pairs of grants collide as the scenario asked");
    group(trial.overlaps_asked, asked.0, asked.1, of(true));
    let backwards =
        |asked: bool| trial.regressions.iter().filter(move |one| one.asked == asked).map(regression).collect();
    group(trial.token_regressions, "token went backwards", "tokens went backwards", backwards(false));
    let asked = ("token went backwards as the scenario asked", "tokens went backwards as the scenario asked");
    group(trial.token_regressions_asked, asked.0, asked.1, backwards(true));
    let early = trial.early.iter().map(passed_early).collect();
    group(trial.early_passages, "member passed a barrier early", "members passed a barrier early", early);
    lines.extend(trial.counter.iter().flat_map(|counter| {
        let store = |lost: u64, all: u64| format!("lost {} of {}", format::count(lost), format::count(all));
        [
            String::new(),
            format!(
                "trial {} ({}): of {} by holders, {} stale; the plain store {}, the fenced one refused {} and {}",
                trial.trial,
                plain(&trial.arm),
                format::plural(counter.updates, "update", "updates"),
                format::count(counter.stale),
                store(counter.lost_plain, counter.updates),
                format::count(counter.refused),
                store(counter.lost_fenced, counter.updates - counter.refused),
            ),
        ]
    }));
    lines
}

fn collision(collision: &Collision) -> String {
    let length = Unit::Milliseconds.show(collision.overlap_ns as f64 / 1e6);
    let [earlier, later] = [&collision.earlier, &collision.later].map(side);
    format!("  lock {}, both held for {length}:\n    {earlier}\n    {later}", collision.lock)
}

fn side(side: &Side) -> String {
    let to = side.to_ns.map_or_else(|| "the end".to_owned(), |to| format!("{} s", seconds(to)));
    format!(
        "worker {}, grant {}, token {}, from {} s to {to} (line {})",
        side.worker,
        side.grant,
        side.token,
        seconds(side.from_ns),
        side.line
    )
}

fn regression(regression: &Regression) -> String {
    format!(
        "  lock {}: worker {}, grant {}, has token {} after {} (line {})",
        regression.lock, regression.worker, regression.grant, regression.token, regression.before, regression.line
    )
}

fn passed_early(early: &Early) -> String {
    let way = if early.out { "out" } else { "inside" };
    let last = early
        .last_ns
        .map_or_else(|| "one never came".to_owned(), |last| format!("the last came at {} s", seconds(last)));
    let (barrier, worker, line) = (early.barrier, early.worker, early.line);
    format!("  barrier {barrier}: member {worker} was {way} at {} s, and {last} (line {line})", seconds(early.at_ns))
}

/// Seconds to the nanosecond: what the table has.
fn seconds(nanos: u64) -> String {
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

fn row(cells: [&str; 9]) -> String {
    let [arm, trial, numbers @ ..] = cells;
    let widths = [9, 8, 9, 11, 8, 7, 5];
    let numbers: String = numbers.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
    format!("{arm:24} {trial:>5}{numbers}")
}

fn paint(text: &str, style: Style, styled: bool) -> String {
    if styled && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
