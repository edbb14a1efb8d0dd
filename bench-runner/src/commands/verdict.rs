//! What a run that is over amounts to: its exit code, and what stderr says of it where stdout carries the tables or the JSON.

use std::path::Path;

use super::Failure;
use crate::exit;

/// The exit code of a run, and the lines for stderr. `violations` of safety are a line each; `folder` is where the results
/// are.
pub(super) fn of(violations: &[String], failure: Option<&Failure>, folder: &Path, styled: bool) -> (u8, Vec<String>) {
    let mut lines: Vec<String> =
        violations.iter().map(|violation| format!("error: safety violated: {violation}")).collect();
    if let Some(failure) = failure {
        lines.push(match failure {
            Failure::Interrupted => failure.reason(),
            _ => failure.render(styled),
        });
        lines.push(format!("what was measured until then is in {}, marked as incomplete", folder.display()));
    }
    let code = match failure {
        // Before everything else: that the lock does not exclude is worse than that the run is not complete.
        _ if !violations.is_empty() => exit::UNSAFE,
        Some(failure) => failure.exit_code(),
        None => exit::DONE,
    };
    (code, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(violations: &[&str], failure: Option<Failure>) -> (u8, String) {
        let violations: Vec<String> = violations.iter().map(|violation| violation.to_string()).collect();
        let (code, lines) = of(&violations, failure.as_ref(), Path::new("results/quick/now.partial"), false);
        (code, lines.join("\n"))
    }

    #[test]
    fn a_safe_run_says_nothing() {
        assert_eq!(verdict(&[], None), (exit::DONE, String::new()));
    }

    #[test]
    fn a_violation_fails_loudly() {
        let (code, text) = verdict(&["lock/naive: 1 overlapping grant"], None);
        assert_eq!(code, exit::UNSAFE);
        assert_eq!(text, "error: safety violated: lock/naive: 1 overlapping grant");
    }

    #[test]
    fn a_violation_is_not_hidden_by_an_interruption() {
        let (code, text) = verdict(&["lock/naive: 1 overlapping grant"], Some(Failure::Interrupted));
        assert_eq!(code, exit::UNSAFE);
        assert!(text.contains("overlapping") && text.contains("interrupted"), "{text}");
    }

    #[test]
    fn a_cut_run_says_where_the_rest_is() {
        let (code, text) = verdict(&[], Some(Failure::Ensemble("zookeeper-1 was lost".to_owned())));
        assert_eq!(code, exit::ENSEMBLE);
        assert!(text.contains("error: zookeeper-1 was lost\n") && text.contains("quick/now.partial"), "{text}");
    }
}
