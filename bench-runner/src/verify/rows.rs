//! The rows of `acquisitions.csv`, read trial by trial. A row that no run can have written is refused, with its line.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;

use csv::ByteRecord;

use super::VerifyError;
use super::plan::Plan;
use crate::results::tables::ACQUISITIONS;

/// How an acquisition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Granted and released.
    Released,
    /// Granted, and held to the end of the trial.
    Held,
    /// Still waiting at the end of the trial.
    Waiting,
    /// Ended by an error.
    Failed,
    /// Granted, and over although nobody released it.
    Lost,
    /// The worker was ended on purpose, in good order or not.
    Ended,
}

/// One acquisition. Moments are nanoseconds since the start of the trial; 0 where they were not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the file, counted from 1.
    pub line: u64,
    /// The worker.
    pub worker: u32,
    /// The lock or election.
    pub lock: u32,
    /// How it ended.
    pub outcome: Ending,
    /// The fencing token; 0 without a grant.
    pub token: i64,
    /// Acquire was called.
    pub called: u64,
    /// It stood in the queue.
    pub enqueued: u64,
    /// The grant.
    pub granted: u64,
    /// The release was sent.
    pub release_sent: u64,
    /// The release was answered.
    pub released: u64,
    /// The worker did not act on the grant any more.
    pub over: u64,
    /// Whether the scenario asked for what may come of it: a fault stopped the worker, or cut it off, while it held; or the arm is
    /// wrong on purpose.
    pub asked: bool,
}

impl Row {
    /// Whether it was granted.
    pub fn is_granted(&self) -> bool {
        self.granted != 0
    }

    /// The last moment in it.
    pub fn latest(&self) -> u64 {
        [self.called, self.enqueued, self.granted, self.released, self.over].into_iter().fold(0, u64::max)
    }

    /// Until when the worker acted on its grant; `None` for one that did to the end of the trial. A grant whose end is not known was
    /// over with its session at an unknown moment: it counts for nothing.
    pub fn acted_until(&self) -> Option<u64> {
        match self.outcome {
            Ending::Held => None,
            _ if self.over == 0 => Some(self.granted),
            _ => Some(self.over),
        }
    }
}

/// The grants of each lock, by time; of two in one nanosecond the smaller token comes first.
pub fn granted_by_lock(rows: &[Row]) -> BTreeMap<u32, Vec<Row>> {
    let mut locks: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_granted()) {
        locks.entry(row.lock).or_default().push(*row);
    }
    locks.values_mut().for_each(|grants| grants.sort_unstable_by_key(|row| (row.granted, row.token)));
    locks
}

/// A table of a run that is read line by line.
pub(super) struct Table {
    reader: csv::Reader<File>,
    path: PathBuf,
    columns: usize,
    pub record: ByteRecord,
    line: u64,
}

impl Table {
    /// A table with these columns; the last `later` of them may be missing, as they came later.
    pub fn new(file: File, path: PathBuf, columns: &[&str], later: usize) -> Result<Table, VerifyError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
        let head = reader.byte_headers().cloned();
        let mut table = Table { reader, path, columns: 0, record: ByteRecord::new(), line: 1 };
        let head = head.map_err(|error| table.wrong(error.to_string()))?;
        let found: Vec<&[u8]> = head.iter().collect();
        let wanted: Vec<&[u8]> = columns.iter().map(|name| name.as_bytes()).collect();
        if found.len() + later < wanted.len() || !wanted.starts_with(&found) {
            return Err(table.wrong(format!("the columns are not {}", columns.join(","))));
        }
        table.columns = found.len();
        Ok(table)
    }

    /// Reads the next row into `record`; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, VerifyError> {
        let read = self.reader.read_byte_record(&mut self.record).map_err(|error| self.wrong(error.to_string()))?;
        if !read {
            return Ok(false);
        }
        self.line = self.record.position().map_or(self.line + 1, csv::Position::line);
        match self.record.len() == self.columns {
            true => Ok(true),
            false => Err(self.wrong(format!("{} of {} columns", self.record.len(), self.columns))),
        }
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Something is wrong with the line that was read last.
    pub fn wrong(&self, why: impl Into<String>) -> VerifyError {
        VerifyError::Line { path: self.path.clone(), line: self.line, why: why.into() }
    }

    /// A number in a column.
    pub fn number<T: FromStr>(&self, column: usize, name: &str) -> Result<T, VerifyError> {
        let text = self.text(column, name)?;
        text.parse().map_err(|_| self.wrong(format!("`{name}` is no number that it could be: `{text}`")))
    }

    /// A number in a column that may be empty, which is 0.
    pub fn maybe<T: FromStr + Default>(&self, column: usize, name: &str) -> Result<T, VerifyError> {
        if self.record[column].is_empty() { Ok(T::default()) } else { self.number(column, name) }
    }

    /// A text in a column.
    pub fn text(&self, column: usize, name: &str) -> Result<&str, VerifyError> {
        std::str::from_utf8(&self.record[column]).map_err(|_| self.wrong(format!("`{name}` is no text")))
    }

    /// The trial of the row, which is one of the plan, of the arm that the row names.
    pub fn trial(&self, plan: &Plan) -> Result<u32, VerifyError> {
        let trial: u32 = self.number(0, "trial")?;
        let label = self.text(1, "arm")?;
        match plan.arm_of(trial) {
            Some((_, planned)) if planned == label => Ok(trial),
            Some((_, planned)) => Err(self.wrong(format!("trial {trial} is of `{planned}`, and not of `{label}`"))),
            None => Err(self.wrong(format!("summary.json has no trial {trial}"))),
        }
    }
}

/// The acquisitions of a run.
pub struct Rows {
    table: Table,
    /// The first row of the trial that comes next.
    ahead: Option<(u32, Row)>,
    seen: Vec<u32>,
}

impl Rows {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Line`] where this is another table.
    pub fn new(file: File, path: PathBuf) -> Result<Rows, VerifyError> {
        // `struck` came later.
        Ok(Rows { table: Table::new(file, path, &ACQUISITIONS, 1)?, ahead: None, seen: Vec::new() })
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.table.line()
    }

    /// The next trial with its acquisitions; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Line`].
    pub fn next_trial(&mut self, plan: &Plan) -> Result<Option<(u32, Vec<Row>)>, VerifyError> {
        let first = match self.ahead.take() {
            Some(ahead) => Some(ahead),
            None => self.next(plan)?,
        };
        let Some((trial, row)) = first else { return Ok(None) };
        if self.seen.contains(&trial) {
            return Err(self.table.wrong(format!("trial {trial} begins a second time")));
        }
        self.seen.push(trial);
        let mut rows = vec![row];
        while let Some((next, row)) = self.next(plan)? {
            if next != trial {
                self.ahead = Some((next, row));
                break;
            }
            rows.push(row);
        }
        Ok(Some((trial, rows)))
    }

    fn next(&mut self, plan: &Plan) -> Result<Option<(u32, Row)>, VerifyError> {
        if !self.table.advance()? {
            return Ok(None);
        }
        let table = &self.table;
        let trial = table.trial(plan)?;
        let is_control = plan.arm_of(trial).is_some_and(|(arm, _)| arm.is_control);
        let outcome = match table.text(4, "outcome")? {
            "released" => Ending::Released,
            "held" => Ending::Held,
            "waiting" => Ending::Waiting,
            "failed" => Ending::Failed,
            "lost" => Ending::Lost,
            "closed" | "crashed" => Ending::Ended,
            other => return Err(table.wrong(format!("there is no outcome `{other}`"))),
        };
        let row = Row {
            line: table.line(),
            worker: table.number(2, "worker")?,
            lock: table.number(3, "lock")?,
            outcome,
            token: table.maybe(5, "token")?,
            called: table.number(8, "called_ns")?,
            enqueued: table.maybe(9, "enqueued_ns")?,
            granted: table.maybe(11, "granted_ns")?,
            release_sent: table.maybe(12, "release_sent_ns")?,
            released: table.maybe(13, "released_ns")?,
            over: table.maybe(14, "over_ns")?,
            asked: is_control || (table.columns > 16 && table.number::<u8>(16, "struck")? != 0),
        };
        self.check(plan, trial, &row)?;
        Ok(Some((trial, row)))
    }

    /// What every row of a run keeps, whatever the recipe did.
    fn check(&self, plan: &Plan, trial: u32, row: &Row) -> Result<(), VerifyError> {
        let wrong = |why: &str| Err(self.table.wrong(why));
        let Some((arm, _)) = plan.arm_of(trial) else { return Ok(()) };
        if row.worker >= arm.workers {
            return wrong(&format!("there is no worker {} among {}", row.worker, arm.workers));
        }
        if row.lock >= arm.locks {
            return wrong(&format!("there is no lock {} among {}", row.lock, arm.locks));
        }
        if row.is_granted() != (row.token != 0) {
            return wrong("a grant and its token come together or not at all");
        }
        let after = |earlier: u64, later: u64| later == 0 || earlier <= later;
        let in_order = after(row.called, row.enqueued)
            && after(row.called, row.granted)
            && after(row.granted, row.release_sent)
            && after(row.release_sent, row.released)
            && after(row.granted, row.over);
        if !in_order {
            return wrong("its moments are not in the order in which they must have come");
        }
        let whole = match row.outcome {
            Ending::Released => row.is_granted() && row.released != 0 && row.over != 0,
            Ending::Held => row.is_granted() && row.over == 0,
            Ending::Waiting => !row.is_granted(),
            Ending::Lost => row.is_granted() && row.over != 0,
            Ending::Failed | Ending::Ended => true,
        };
        if whole { Ok(()) } else { wrong("its moments do not fit its outcome") }
    }
}
