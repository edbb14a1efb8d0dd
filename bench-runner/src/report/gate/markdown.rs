//! Markdown, as GitHub and GitLab render it: for the summary of a job or a comment.

use std::fmt::Write;

use super::rows;
use crate::gate::verdict::{Judgement, Verdict};
use crate::report::format::plain;

/// What a gate said as Markdown.
pub fn markdown(judgement: &Judgement) -> String {
    let mut text = format!("### {} {}\n\n", sign(judgement.verdict), cell(&rows::answer(judgement)));
    // Writing to a string cannot fail.
    if !judgement.differences.is_empty() {
        text += "| differs | baseline | candidate |\n|---|---|---|\n";
        for difference in &judgement.differences {
            let [what, before, now] = [&difference.what, &difference.baseline, &difference.candidate].map(|s| cell(s));
            let _ = writeln!(text, "| {what} | {before} | {now} |");
        }
        text.push('\n');
    }
    let mut arm = "";
    for finding in &judgement.findings {
        if finding.arm != arm {
            let head = "| metric | baseline | candidate | ratio | p | verdict | |\n|---|--:|--:|--:|--:|---|---|\n";
            let _ = write!(text, "{}**{}**\n\n{head}", if arm.is_empty() { "" } else { "\n" }, cell(&finding.arm));
            arm = &finding.arm;
        }
        let [before, now] = rows::both(finding);
        let sign = if finding.accepted.is_some() { "☑️" } else { sign(finding.verdict) };
        let remark = rows::remark(finding).unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{}` | {before} | {now} | {} | {} | {sign} {} | {} |",
            finding.metric,
            rows::ratio(finding),
            cell(&rows::chance(finding)),
            rows::verdict(finding),
            cell(&remark),
        );
    }
    if !judgement.slo.is_empty() {
        text += "\n| limit | figure | |\n|---|--:|---|\n";
        for slo in &judgement.slo {
            let verdict = if slo.kept { "✅ kept" } else { "❌ broken" };
            let _ = writeln!(text, "| {} | {} | {verdict} |", cell(&rows::limit(slo)), rows::limited(slo));
        }
    }
    if !judgement.notes.is_empty() {
        text.push('\n');
        judgement.notes.iter().for_each(|note| text += &format!("- {}\n", cell(note)));
    }
    text.push('\n');
    text
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "🎉",
        Verdict::Unchanged => "✅",
        Verdict::Inconclusive => "❔",
        Verdict::Regressed => "❌",
        Verdict::NotComparable => "🚫",
    }
}

/// Text that cannot end its cell or become markup.
fn cell(text: &str) -> String {
    plain(text).chars().fold(String::new(), |mut out, c| {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_cell() {
        assert_eq!(cell("a|b <i>&\n"), "a\\|b &lt;i&gt;&amp;\u{fffd}");
    }
}
