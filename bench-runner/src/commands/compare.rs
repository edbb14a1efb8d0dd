//! `bench-runner compare`: judges one stored run against another.

use super::{Failure, judged};
use crate::cli::CompareArgs;
use crate::gate::{Pairing, Rules, judge};
use crate::results::folder::read_summary;

pub(super) fn compare(args: &CompareArgs) -> Result<u8, Failure> {
    let read = |path| read_summary(path).map_err(|error| Failure::Usage(error.to_string()));
    let (baseline, candidate) = (read(&args.baseline)?, read(&args.candidate)?);
    let accepted = judged::accepted(&args.judge)?;
    let gate = judged::gate_of(&candidate)?;
    let rules =
        Rules { gate: &gate, pairing: Pairing::Apart, allowed: &args.judge.allow, accepted: &accepted, only: None };
    let judgement = judge(&baseline, &candidate, &rules);
    judged::publish(&judgement, (&baseline, &candidate), args.judge.format, args.write.as_deref())
}
