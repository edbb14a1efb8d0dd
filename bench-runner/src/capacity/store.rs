//! The folder of a sweep: `results/<scenario>/<UTC time>/`, with `.partial` at its end as long as points are missing.
//!
//! | file | what |
//! |---|---|
//! | `<scenario>.toml` | the scenario as it is run |
//! | `sweep.json` | what the sweep is of, written before the first point |
//! | `points/0001.json`, … | each point as soon as it was measured; a file is there whole or not at all |
//! | `capacity.json`, `points.csv`, `report.html`, `charts/*.svg` | what came of them, written at the end |

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use super::document::{Capacity, Header, SCHEMA_VERSION};
use super::point::Point;
use crate::results::FolderError;
use crate::results::folder::{self, PARTIAL, replace};

/// Names of the files.
const HEADER: &str = "sweep.json";
const POINTS: &str = "points";
const CAPACITY: &str = "capacity.json";
const TABLE: &str = "points.csv";

/// The folder of a sweep that is under way.
#[derive(Debug)]
pub struct Store {
    partial: PathBuf,
    made: Vec<PathBuf>,
}

impl Store {
    /// Makes the folder of a new sweep and writes what it is of.
    ///
    /// # Errors
    ///
    /// [`FolderError`]; nothing is left behind then.
    pub fn create(results: &Path, text: &str, header: &Header) -> Result<Store, FolderError> {
        let of_scenario = results.join(&header.scenario);
        let made = folder::missing(&of_scenario);
        let (partial, _) = folder::make_partial(&of_scenario, SystemTime::now())?;
        let store = Store { partial, made };
        let written = fs::create_dir(store.partial.join(POINTS))
            .map_err(folder::failed("make the folder", &store.partial.join(POINTS)))
            .and_then(|()| store.write(&format!("{}.toml", header.scenario), |to| to.write_all(text.as_bytes())))
            .and_then(|()| store.write_header(header));
        match written {
            Ok(()) => Ok(store),
            Err(error) => {
                store.discard();
                Err(error)
            }
        }
    }

    /// Opens the folder of a sweep that was interrupted, with what it is of and the points that it has.
    ///
    /// # Errors
    ///
    /// [`FolderError`] where it is none.
    pub fn open(path: &Path) -> Result<(Store, Header, Vec<Point>), FolderError> {
        let header: Header = read(&path.join(HEADER))?;
        let mut points: Vec<Point> = Vec::new();
        let folder = path.join(POINTS);
        let files = fs::read_dir(&folder).map_err(folder::failed("read", &folder))?;
        for file in files {
            let file = file.map_err(folder::failed("read", &folder))?.path();
            // What was being written when it was killed has another name.
            if file.extension().is_some_and(|extension| extension == "json") {
                points.push(read(&file)?);
            }
        }
        points.sort_by_key(|point| point.order);
        Ok((Store { partial: path.to_owned(), made: Vec::new() }, header, points))
    }

    /// Where its files are now.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Adds a point.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn add(&self, point: &Point) -> Result<(), FolderError> {
        self.write(&format!("{POINTS}/{:04}.json", point.order), |to| json(to, point))
    }

    /// Writes what the sweep is of.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn write_header(&self, header: &Header) -> Result<(), FolderError> {
        self.write(HEADER, |to| json(to, header))
    }

    /// Writes what came of the points.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn write_capacity(&self, capacity: &Capacity) -> Result<(), FolderError> {
        self.write(TABLE, |to| table(to, capacity).map_err(io::Error::other))?;
        self.write(CAPACITY, |to| json(to, capacity))
    }

    fn write(
        &self,
        file: &str,
        content: impl FnOnce(&mut io::BufWriter<fs::File>) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        replace(&self.partial.join(file), content)
    }

    /// Every point is there: gives the folder its final name and returns that.
    ///
    /// # Errors
    ///
    /// [`FolderError`].
    pub fn publish(&self) -> Result<PathBuf, FolderError> {
        let name = self.partial.to_string_lossy();
        let Some(whole) = name.strip_suffix(PARTIAL).map(PathBuf::from) else { return Ok(self.partial.clone()) };
        fs::rename(&self.partial, &whole).map_err(folder::failed("rename", &self.partial))?;
        Ok(whole)
    }

    /// Nothing was measured: removes the folder.
    pub fn discard(self) {
        // It is marked as partial, so one that cannot be removed misleads nobody.
        let _ = fs::remove_dir_all(&self.partial);
        folder::remove_empty(&self.made);
    }
}

/// The newest interrupted sweep of a scenario below `results`, by the checksum of its text; `None` where there is none.
pub fn newest_interrupted(results: &Path, scenario: &str, sha256: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(results.join(scenario)).ok()?.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let is_partial = path.to_string_lossy().ends_with(PARTIAL);
        is_partial && read::<Header>(&path.join(HEADER)).is_ok_and(|it| it.environment.scenario_sha256 == sha256)
    };
    // Names are times.
    entries.filter(is_it).max()
}

/// Reads the capacity of a sweep: of its folder, or of the file itself. `None` where the folder has none.
///
/// # Errors
///
/// [`FolderError`] when it is there and cannot be read.
pub fn read_capacity(path: &Path) -> Result<Option<Capacity>, FolderError> {
    let file = if path.is_dir() { path.join(CAPACITY) } else { path.to_owned() };
    if !file.exists() || file.file_name().is_none_or(|name| name != CAPACITY) {
        return Ok(None);
    }
    read(&file).map(Some)
}

/// The part of a file that says how to read it.
#[derive(serde::Deserialize)]
struct Format {
    schema_version: Option<u32>,
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    let parse = || {
        let text = fs::read_to_string(path)?;
        let refuse = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        let format: Format = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        if format.schema_version.is_some_and(|version| version > SCHEMA_VERSION) {
            return Err(refuse("it is of a later version of the format; use a newer bench-runner".to_owned()));
        }
        serde_json::from_str(&text).map_err(|error| refuse(format!("it is not what a sweep writes: {error}")))
    };
    parse().map_err(folder::failed("read", path))
}

fn json(writer: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, value)?;
    writeln!(writer)
}

/// `points.csv`: a row for each point, a column for each figure that any point has.
fn table(writer: impl Write, capacity: &Capacity) -> csv::Result<()> {
    let mut names: Vec<&String> = capacity.points.iter().flat_map(|point| point.figures.keys()).collect();
    names.sort();
    names.dedup();
    let key = |place: usize| capacity.variables.get(place).map_or("", |axis| axis.variable.key());
    let mut writer = csv::Writer::from_writer(writer);
    let fixed =
        ["order", "arm", "recipe", "service", "mode", key(0), key(1), "repeat", "nodes", "incomplete", "little"];
    writer.write_record(
        fixed.into_iter().filter(|name| !name.is_empty()).chain(names.iter().map(|name| name.as_str())),
    )?;
    for point in &capacity.points {
        let number = |value: f64| value.to_string();
        let mut row = vec![
            point.order.to_string(),
            point.label.clone(),
            point.recipe.to_string(),
            point.service.to_string(),
            point.mode.clone(),
            number(point.cell.x),
        ];
        row.extend(point.cell.y.map(number));
        row.extend([point.cell.repeat.to_string(), point.nodes.to_string()]);
        row.push(point.incomplete.clone().unwrap_or_default());
        row.push(point.little.map(|little| number(little.ratio)).unwrap_or_default());
        row.extend(names.iter().map(|name| point.figure(name).map(number).unwrap_or_default()));
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}
