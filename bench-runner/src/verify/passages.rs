//! The rows of `passages.csv`, and members that passed a barrier early.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use super::VerifyError;
use super::figures::Early;
use super::plan::Plan;
use super::rows::Table;
use crate::results::passages::PASSAGES;

/// One way through one barrier. Moments are nanoseconds since the start of the trial; 0 where they were not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The line of the file.
    pub line: u64,
    /// The member.
    pub worker: u32,
    /// The barrier.
    pub barrier: u32,
    /// It came to the way in.
    pub arrived: u64,
    /// It was inside.
    pub released: u64,
    /// It came to the way out.
    pub leaving: u64,
    /// It was out.
    pub left: u64,
}

/// The passages of a run.
pub struct Passages {
    table: Table,
    ahead: Option<(u32, Passage)>,
}

impl Passages {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Line`] where this is another table.
    pub fn new(file: File, path: PathBuf) -> Result<Passages, VerifyError> {
        Ok(Passages { table: Table::new(file, path, &PASSAGES, 0)?, ahead: None })
    }

    /// The next trial with its passages; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Line`].
    pub fn next_trial(&mut self, plan: &Plan) -> Result<Option<(u32, Vec<Passage>)>, VerifyError> {
        let first = match self.ahead.take() {
            Some(ahead) => Some(ahead),
            None => self.next(plan)?,
        };
        let Some((trial, passage)) = first else { return Ok(None) };
        let mut passages = vec![passage];
        while let Some((next, passage)) = self.next(plan)? {
            if next != trial {
                self.ahead = Some((next, passage));
                break;
            }
            passages.push(passage);
        }
        Ok(Some((trial, passages)))
    }

    fn next(&mut self, plan: &Plan) -> Result<Option<(u32, Passage)>, VerifyError> {
        if !self.table.advance()? {
            return Ok(None);
        }
        let table = &self.table;
        let trial = table.trial(plan)?;
        let passage = Passage {
            line: table.line(),
            worker: table.number(2, "worker")?,
            barrier: table.number(3, "barrier")?,
            arrived: table.number(4, "arrived_ns")?,
            released: table.maybe(5, "released_ns")?,
            leaving: table.maybe(6, "leaving_ns")?,
            left: table.maybe(7, "left_ns")?,
        };
        let after = |earlier: u64, later: u64| later == 0 || earlier <= later;
        let in_order = after(passage.arrived, passage.released)
            && after(passage.released, passage.leaving)
            && after(passage.leaving, passage.left);
        match in_order {
            true => Ok(Some((trial, passage))),
            false => Err(table.wrong("its moments are not in the order in which they must have come")),
        }
    }
}

/// Who was inside before all `members` had come, or out before all had finished.
pub fn early(passages: &[Passage], members: usize) -> Vec<Early> {
    let mut barriers: BTreeMap<u32, Vec<&Passage>> = BTreeMap::new();
    for passage in passages {
        barriers.entry(passage.barrier).or_default().push(passage);
    }
    let mut early = Vec::new();
    for (barrier, passages) in barriers {
        for (out, came, through) in doors() {
            let come: Vec<u64> = passages.iter().map(|passage| came(passage)).filter(|at| *at != 0).collect();
            // Where one never came nobody may be through.
            let last = if come.len() == members { come.into_iter().max().unwrap_or(0) } else { u64::MAX };
            let too_soon = passages.iter().filter(|passage| (1..last).contains(&through(passage)));
            early.extend(too_soon.map(|passage| Early {
                barrier,
                worker: passage.worker,
                out,
                at_ns: through(passage),
                last_ns: (last != u64::MAX).then_some(last),
                line: passage.line,
            }));
        }
    }
    early
}

type Moment = fn(&Passage) -> u64;

/// The way in and the way out: whether it is the latter, when a member comes to it, when it is through.
fn doors() -> [(bool, Moment, Moment); 2] {
    [
        (false, |passage| passage.arrived, |passage| passage.released),
        (true, |passage| passage.leaving, |passage| passage.left),
    ]
}
