//! The second round: what one round called worse is measured again, and only what is worse again is called a regression.

use super::judge::Which;
use super::verdict::{Finding, Judgement, Verdict};
use crate::scenario::gate::Kind;

/// What has to be measured again: regressions of times, and of counts that have a band. A broken promise and a number that
/// must be exact are certain the first time.
pub fn to_confirm(judgement: &Judgement) -> Which {
    let certain =
        |finding: &Finding| finding.kind == Kind::Safety || finding.kind == Kind::Count && finding.band == 0.0;
    let findings = judgement.findings.iter().filter(|finding| finding.fails() && !certain(finding));
    findings.map(|finding| (finding.arm.clone(), finding.metric)).collect()
}

/// Takes the second round's word for what the first one called worse. The second was judged on its own trials alone, with the
/// candidates of the first as its only metrics.
pub fn confirm(first: &mut Judgement, second: &Judgement) {
    let (mut confirmed, mut not) = (0, 0);
    for finding in first.findings.iter_mut().filter(|finding| finding.fails()) {
        let again = |other: &&Finding| (&other.arm, other.metric) == (&finding.arm, finding.metric);
        let Some(again) = second.findings.iter().find(again) else { continue };
        if again.verdict == Verdict::Regressed {
            confirmed += 1;
            finding.note = Some("confirmed by a second round".to_owned());
            continue;
        }
        not += 1;
        finding.note = Some("worse in the first round, and not confirmed by a second".to_owned());
        finding.verdict = match again.verdict {
            Verdict::Improved | Verdict::Unchanged => Verdict::Unchanged,
            _ => Verdict::Inconclusive,
        };
        finding.more_trials = again.more_trials;
    }
    // A promise broken in the second round is broken.
    let broken = second.findings.iter().filter(|finding| finding.kind == Kind::Safety && finding.fails());
    for broken in broken {
        match first.findings.iter_mut().find(|one| (&one.arm, one.metric) == (&broken.arm, broken.metric)) {
            Some(finding) => *finding = broken.clone(),
            None => first.findings.push(broken.clone()),
        }
    }
    if !second.differences.is_empty() {
        first.differences = second.differences.clone();
    }
    first.notes.push(format!("a second round confirmed {confirmed} of {} regressions", confirmed + not));
    first.conclude();
}
