//! The table on the terminal.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::rows;
use crate::gate::verdict::{Finding, Judgement, Verdict};
use crate::report::format::{plain, shorten};

/// What the widest column may take.
const VERDICT: usize = 14;

/// What a gate said as text that ends with a line break; with `styled` in ANSI colours.
pub fn terminal(judgement: &Judgement, styled: bool) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let mut arm = "";
    for finding in &judgement.findings {
        if finding.arm != arm {
            let [before, now] = [&judgement.baseline.name, &judgement.candidate.name].map(|name| shorten(name, 12));
            let label = shorten(&plain(&finding.arm), 32);
            line(&row([&label, &before, &now, "ratio", "p", "verdict"]));
            line(&"─".repeat(98));
            arm = &finding.arm;
        }
        let [before, now] = rows::both(finding);
        let verdict = paint(&format!("{:VERDICT$}", rows::verdict(finding)), style(finding), styled);
        let name = finding.metric.name();
        line(&row([name, &before, &now, &rows::ratio(finding), &rows::chance(finding), &verdict]));
        let quiet = matches!(finding.verdict, Verdict::Unchanged) && finding.note.is_none();
        if let Some(remark) = rows::remark(finding).filter(|_| !quiet) {
            wrap(&remark, 92).iter().for_each(|part| line(&format!("      {part}")));
        }
    }
    for slo in &judgement.slo {
        let style = if slo.kept { AnsiColor::Green.on_default() } else { AnsiColor::Red.on_default().bold() };
        let verdict = paint(if slo.kept { "kept" } else { "broken" }, style, styled);
        line(&format!("limit {}: {}, {verdict}", rows::limit(slo), rows::limited(slo)));
    }
    for difference in &judgement.differences {
        let [before, now] = [&difference.baseline, &difference.candidate].map(|value| plain(value));
        line(&format!("not comparable: {} differs: {before} in the baseline, {now} now", told(difference)));
    }
    for note in &judgement.notes {
        wrap(&format!("note: {}", plain(note)), 98).iter().for_each(|part| line(part));
    }
    line("");
    line(&paint(&rows::answer(judgement), whole(judgement.verdict), styled));
    text
}

/// `machine (processor)`.
fn told(difference: &crate::gate::comparable::Difference) -> String {
    let aspect = serde_json::to_value(difference.aspect).ok();
    let aspect = aspect.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    if aspect == difference.what { aspect } else { format!("{aspect} ({})", plain(&difference.what)) }
}

fn row([name, before, now, ratio, p, verdict]: [&str; 6]) -> String {
    let right = |text: &str, width: usize| format!("{}{text}", " ".repeat(width.saturating_sub(text.width())));
    let left = |text: &str, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(text.width())));
    let (before, now) = (right(before, 11), right(now, 11));
    format!("{}{before} {now}  {} {}  {verdict}", left(name, 35), right(ratio, 17), right(p, 7))
}

fn paint(text: &str, style: Style, styled: bool) -> String {
    if styled && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

fn style(finding: &Finding) -> Style {
    if finding.accepted.is_some() { AnsiColor::Yellow.on_default() } else { whole(finding.verdict) }
}

fn whole(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Improved => AnsiColor::Green.on_default().bold(),
        Verdict::Unchanged => AnsiColor::Green.on_default(),
        Verdict::Inconclusive => AnsiColor::Yellow.on_default(),
        Verdict::Regressed | Verdict::NotComparable => AnsiColor::Red.on_default().bold(),
    }
}

/// The text in lines of at most `columns`, broken at spaces.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().map_or(0, |line| line.width());
        if last > 0 && last + 1 + word.width() > columns {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
