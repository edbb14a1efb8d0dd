//! The folder of one run. It is written under a name that says `partial` and renamed when everything is in it, so that a run
//! which was killed leaves nothing that looks whole, and yet all that it had measured.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::summary::{SCHEMA_VERSION, Summary};
use super::{histograms, passages, tables, updates};
use crate::measure::histogram::Micros;
use crate::run::recording::TrialRecording;

/// What the names of folders end with while they are written, and for good when the run was not finished.
pub const PARTIAL: &str = ".partial";

/// A results folder that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {}: {source}{}", path.display(), remedy(verb, source))]
pub struct FolderError {
    verb: &'static str,
    path: PathBuf,
    source: io::Error,
}

const MAKE: &str = "make the folder";

fn remedy(verb: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write with --out"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some room, or choose another disk with --out"
        }
        io::ErrorKind::FileTooLarge => "; raise the limit of a file's size (`ulimit -f`)",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "; something else has that name: choose another with --out"
        }
        io::ErrorKind::NotFound if verb == MAKE => "; choose a folder that can be made with --out",
        io::ErrorKind::NotFound if verb == "read" => "; name a run's folder, or the summary.json in it",
        _ => "",
    }
}

/// A failure of this kind at this path.
pub(crate) fn failed(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError { verb, path, source }
}

/// What the system said. The conversion that `csv` brings hides the kind of the error, and with it the remedy.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The folder of a run that is under way.
pub struct Folder {
    partial: PathBuf,
    whole: PathBuf,
    /// The folders above it that were not there before, the outermost first.
    made: Vec<PathBuf>,
    acquisitions: csv::Writer<File>,
    timeline: csv::Writer<File>,
}

impl Folder {
    /// Makes `<results>/<scenario>/<time>.partial/` and begins the tables in it, before anything starts, so that a path that
    /// cannot be written fails at once.
    ///
    /// # Errors
    ///
    /// [`FolderError`]; nothing is left behind then.
    pub fn create(results: &Path, scenario: &str, time: SystemTime) -> Result<Folder, FolderError> {
        let of_scenario = results.join(scenario);
        let made = missing(&of_scenario);
        Folder::begin(&of_scenario, time, made.clone()).inspect_err(|_| remove_empty(&made))
    }

    fn begin(of_scenario: &Path, time: SystemTime, made: Vec<PathBuf>) -> Result<Folder, FolderError> {
        let (partial, whole) = make_partial(of_scenario, time)?;
        match begin_tables(&partial) {
            Ok((acquisitions, timeline)) => Ok(Folder { whole, partial, made, acquisitions, timeline }),
            Err(error) => {
                // Marked as partial as it is, it would mislead nobody.
                let _ = fs::remove_dir_all(&partial);
                Err(error)
            }
        }
    }

    /// Where the run's files are now.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Adds what a measured trial of the arm `label` recorded, and sees it to the disk.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn add_trial(&mut self, label: &str, recording: &TrialRecording) -> Result<(), FolderError> {
        let acquisitions = self.partial.join("acquisitions.csv");
        tables::write_acquisitions(&mut self.acquisitions, label, recording)
            .map_err(|error| failed("write", &acquisitions)(io_error(error)))?;
        self.acquisitions.flush().map_err(failed("write", &acquisitions))?;
        let timeline = self.partial.join("timeline.csv");
        tables::write_timeline(&mut self.timeline, label, recording)
            .map_err(|error| failed("write", &timeline)(io_error(error)))?;
        self.timeline.flush().map_err(failed("write", &timeline))?;
        let through_barriers = self.partial.join("passages.csv");
        passages::append(&through_barriers, label, recording)
            .map_err(|error| failed("write", &through_barriers)(io_error(error)))?;
        let updated = self.partial.join("updates.csv");
        updates::append(&updated, label, recording).map_err(|error| failed("write", &updated)(io_error(error)))?;
        let file = format!("histograms/trial-{}-{}.hlog", recording.planned.position, file_name(label));
        let workers = &recording.workers;
        self.write_with(&file, |writer| {
            histograms::write_intervals(writer, label, SystemTime::now(), workers.length, &workers.acquisitions)
        })
    }

    /// Writes the percentile file of one stage of an arm; its number, from 0, keeps apart arms whose labels differ only in
    /// what a file's name cannot hold.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn write_percentiles(
        &self,
        arm: usize,
        label: &str,
        stage: &str,
        histogram: &Micros,
    ) -> Result<(), FolderError> {
        let file = format!("histograms/arm-{arm}-{}-{stage}.hgrm", file_name(label));
        self.write_with(&file, |writer| histograms::write_percentiles(writer, histogram))
    }

    /// Writes `summary.json` and `environment.json`.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn write_summary(&self, summary: &Summary) -> Result<(), FolderError> {
        self.write_with("summary.json", |writer| json(writer, summary))?;
        self.write_with("environment.json", |writer| json(writer, &summary.environment))
    }

    /// Writes a file of the run; a file of that name is replaced in one step.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn write(&self, file: &str, content: &str) -> Result<(), FolderError> {
        self.write_with(file, |writer| writer.write_all(content.as_bytes()))
    }

    fn write_with(
        &self,
        file: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        replace(&self.partial.join(file), write)
    }

    /// Everything is in it: gives the folder its final name and returns that.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn publish(&self) -> Result<PathBuf, FolderError> {
        fs::rename(&self.partial, &self.whole).map_err(failed("rename", &self.partial))?;
        Ok(self.whole.clone())
    }

    /// Nothing was measured: removes the folder.
    pub fn discard(self) {
        // It is marked as partial, so one that cannot be removed misleads nobody.
        let _ = fs::remove_dir_all(&self.partial);
        remove_empty(&self.made);
    }
}

/// The folders down to this one that are not there, the outermost first.
pub(crate) fn missing(folder: &Path) -> Vec<PathBuf> {
    let there_not = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let mut missing: Vec<PathBuf> = folder.ancestors().take_while(there_not).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Makes the folder of a run that begins at this time below its scenario's: where it is now, and its final name.
pub(crate) fn make_partial(of_scenario: &Path, time: SystemTime) -> Result<(PathBuf, PathBuf), FolderError> {
    fs::create_dir_all(of_scenario).map_err(failed(MAKE, of_scenario))?;
    let stamp = stamp(time);
    // Two runs in one second get names of their own.
    let mut name = stamp.clone();
    let mut number = 1;
    loop {
        let partial = of_scenario.join(format!("{name}{PARTIAL}"));
        match fs::create_dir(&partial) {
            Ok(()) if !of_scenario.join(&name).exists() => return Ok((partial, of_scenario.join(name))),
            Ok(()) => fs::remove_dir(&partial).map_err(failed("remove", &partial))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(MAKE, &partial)(error)),
        }
        number += 1;
        name = format!("{stamp}-{number}");
    }
}

/// Removes folders that this run made, the innermost first, as far as nothing of another run has come into them.
pub(crate) fn remove_empty(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

/// Opens the tables and writes their heads, which would else be seen to fail only after the first trial.
fn begin_tables(partial: &Path) -> Result<(csv::Writer<File>, csv::Writer<File>), FolderError> {
    let histograms = partial.join("histograms");
    fs::create_dir(&histograms).map_err(failed(MAKE, &histograms))?;
    let table = |file: &str, columns: &[&str]| {
        let path = partial.join(file);
        let mut writer = csv::Writer::from_path(&path).map_err(|error| failed("write", &path)(io_error(error)))?;
        writer.write_record(columns).map_err(|error| failed("write", &path)(io_error(error)))?;
        writer.flush().map_err(failed("write", &path))?;
        Ok(writer)
    };
    Ok((table("acquisitions.csv", &tables::ACQUISITIONS)?, table("timeline.csv", &tables::TIMELINE)?))
}

/// Writes a file beside its place and moves it there, so that nobody ever reads half of it.
///
/// # Errors
///
/// [`FolderError`].
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), FolderError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed(MAKE, folder))?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let written = (|| {
        let mut writer = BufWriter::new(File::create(&beside)?);
        write(&mut writer)?;
        writer.into_inner().map_err(|error| error.into_error())?;
        fs::rename(&beside, path)
    })();
    written.map_err(failed("write", path))
}

/// The part of a summary that says how to read it.
#[derive(serde::Deserialize)]
struct Format {
    schema_version: u32,
}

/// Reads the summary of a run: of its folder, or of the file itself.
///
/// # Errors
///
/// [`FolderError`] when there is none or it is not one.
pub fn read_summary(run: &Path) -> Result<Summary, FolderError> {
    let path = if run.is_dir() { run.join("summary.json") } else { run.to_owned() };
    let read = || {
        let text = fs::read_to_string(&path)?;
        let refuse = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        // Alone at first: a format of another version may lack what this one has.
        let format: Format = serde_json::from_str(&text).map_err(|error| {
            refuse(format!("this is no summary of a run ({error}); name a run's folder, or the summary.json in it"))
        })?;
        if format.schema_version > SCHEMA_VERSION {
            return Err(refuse(format!(
                "it is of version {} of the format, and this bench-runner reads up to {SCHEMA_VERSION}; use a newer one",
                format.schema_version
            )));
        }
        serde_json::from_str(&text).map_err(|error| refuse(format!("this is no summary of a run: {error}")))
    };
    read().map_err(failed("read", &path))
}

fn json(writer: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, value)?;
    writeln!(writer)
}

/// A time as a folder's name: UTC, sortable, without characters that a file system might refuse.
fn stamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace(':', "-")
}

/// A label as part of a file's name.
fn file_name(label: &str) -> String {
    label.chars().map(|c| if c.is_alphanumeric() || c == '.' || c == '_' { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_folder_has_the_final_name() {
        let results = tempfile::tempdir().unwrap();
        let folder = Folder::create(results.path(), "quick", SystemTime::UNIX_EPOCH).unwrap();
        assert!(folder.path().ends_with("quick/1970-01-01T00-00-00Z.partial"));
        folder.write("report.html", "<p>").unwrap();
        let whole = folder.publish().unwrap();
        assert!(whole.ends_with("quick/1970-01-01T00-00-00Z"));
        assert_eq!(fs::read_to_string(whole.join("report.html")).unwrap(), "<p>");
    }

    #[test]
    fn two_runs_in_one_second_have_folders_of_their_own() {
        let results = tempfile::tempdir().unwrap();
        let create = || Folder::create(results.path(), "quick", SystemTime::UNIX_EPOCH).unwrap();
        let first = create().publish().unwrap();
        let (second, third) = (create(), create());
        assert_ne!(second.path(), third.path());
        assert_ne!(first, second.publish().unwrap());
    }

    #[test]
    fn a_discarded_folder_leaves_nothing() {
        let results = tempfile::tempdir().unwrap();
        Folder::create(results.path(), "quick", SystemTime::UNIX_EPOCH).unwrap().discard();
        assert_eq!(fs::read_dir(results.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let results = tempfile::tempdir().unwrap();
        fs::write(results.path().join("quick"), "in the way").unwrap();
        let error = Folder::create(results.path(), "quick", SystemTime::UNIX_EPOCH).err().unwrap().to_string();
        assert!(error.contains("quick") && error.contains("--out"), "{error}");
    }

    #[test]
    fn labels_are_safe_in_file_names() {
        assert_eq!(file_name("lock/naive ../x"), "lock-naive-..-x");
    }
}
