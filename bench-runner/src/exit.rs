//! Exit codes: part of the contract with scripts and CI jobs.

/// Done, nothing to complain about.
pub const DONE: u8 = 0;
/// The run was not finished for another reason than those below: its results could not be written, a drain did not end
/// within its limit, or this program has a fault.
pub const INTERNAL: u8 = 1;
/// The command line or the scenario is wrong.
pub const USAGE: u8 = 2;
/// The ensemble could not be started, or was lost.
pub const ENSEMBLE: u8 = 3;
/// A safety check failed: two workers held the same lock at once, or a fencing token went backwards,
/// a control that is wrong on purpose was not caught, or a stored run does not say what its rows say.
pub const UNSAFE: u8 = 4;
/// A gate: something got worse, or a limit is broken.
pub const REGRESSION: u8 = 10;
/// A gate: the trials do not tell.
pub const INCONCLUSIVE: u8 = 11;
/// A gate: the two runs must not be compared.
pub const NOT_COMPARABLE: u8 = 12;
/// Interrupted by the user; partial results are kept and marked.
pub const INTERRUPTED: u8 = 130;
