//! `--set key=value`: changes to the document before it is read.
//!
//! The document keeps its comments and its order, so that the text of a run is still the author's.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

use super::path::{KeyPath, Step};
use super::problem::{At, Problem};

/// The format is five steps deep; far deeper keys are unknown anyway, and would only build deep tables.
const DEEPEST: usize = 8;

/// One override.
#[derive(Clone, Debug)]
pub struct Override {
    /// As the user wrote it.
    pub text: String,
    /// The key.
    pub path: KeyPath,
    /// Its new value; `None` takes the key out, so that its default applies.
    value: Option<Value>,
}

/// Why an override cannot be applied: what is wrong, and the remedy.
type Refusal = (String, String);

impl Override {
    /// Reads `key=value`. The value is TOML where it can be read as TOML, else a text: `10s` needs no quotes.
    pub fn parse(text: &str) -> Result<Self, Box<Problem>> {
        let refuse =
            |(message, remedy): Refusal| Box::new(Problem::new(At::Override(text.to_owned()), message).remedy(remedy));
        let example = || "write a key with dots and a value: --set workers.count=50".to_owned();
        let (key, value) = text.split_once('=').ok_or_else(|| refuse(("there is no `=`".to_owned(), example())))?;
        if key.trim().is_empty() {
            return Err(refuse(("there is no key before the `=`".to_owned(), example())));
        }
        let keys = Key::parse(key.trim()).map_err(|_| refuse((format!("`{}` is not a key", key.trim()), example())))?;
        if keys.len() > DEEPEST {
            return Err(refuse(("the key has too many parts".to_owned(), example())));
        }
        let value = parse_value(value.trim()).map_err(refuse)?;
        let step = |key: &Key| match key.get().parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Key(key.get().to_owned()),
        };
        Ok(Override { text: text.to_owned(), path: KeyPath(keys.iter().map(step).collect()), value })
    }

    /// Changes the document.
    pub fn apply(&self, document: &mut DocumentMut) -> Result<(), Box<Problem>> {
        let walk = Walk { whole: &self.path, value: self.value.as_ref() };
        walk.table(document.as_table_mut(), &self.path.0).map_err(|(message, remedy)| {
            Box::new(Problem::new(At::Override(self.text.clone()), message).remedy(remedy))
        })
    }
}

/// The value of an override; `None` for an empty one.
fn parse_value(text: &str) -> Result<Option<Value>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<Value>() {
        Ok(value) => Ok(Some(value)),
        // Nobody means a text that begins like TOML's own brackets and quotes.
        Err(_) if text.starts_with(['[', '{', '"', '\'']) => {
            let message = format!("`{text}` is not a value of TOML");
            Err((message, "texts within it need quotes: --set 'workers.hold={ exponential = \"5ms\" }'".to_owned()))
        }
        Err(_) => Ok(Some(Value::from(text))),
    }
}

/// The way down to the value.
struct Walk<'a> {
    whole: &'a KeyPath,
    value: Option<&'a Value>,
}

impl Walk<'_> {
    fn table(&self, table: &mut dyn TableLike, steps: &[Step]) -> Result<(), Refusal> {
        let Some((step, rest)) = steps.split_first() else { return Ok(()) };
        let key = match step {
            Step::Key(key) => key.clone(),
            // A table may have a key that looks like a number.
            Step::Index(index) => index.to_string(),
        };
        if !rest.is_empty() {
            if table.get(&key).is_none_or(Item::is_none) {
                if self.value.is_none() {
                    return Ok(());
                }
                let mut fresh = Table::new();
                fresh.set_implicit(true);
                table.insert(&key, Item::Table(fresh));
            }
            return match table.get_mut(&key) {
                Some(item) => self.item(item, rest),
                None => Ok(()),
            };
        }
        match (self.value, table.get_mut(&key)) {
            (None, _) => {
                table.remove(&key);
            }
            (Some(value), Some(Item::Value(old))) => replace(old, value),
            (Some(value), _) => {
                table.remove(&key);
                table.insert(&key, Item::Value(value.clone()));
            }
        }
        Ok(())
    }

    fn item(&self, item: &mut Item, steps: &[Step]) -> Result<(), Refusal> {
        match item {
            Item::Table(table) => self.table(table, steps),
            Item::Value(value) => self.value(value, steps),
            Item::ArrayOfTables(tables) => {
                let count = tables.len();
                let (index, rest) = self.element(steps, count)?;
                match (tables.get_mut(index), rest, self.value) {
                    (Some(table), [_, ..], _) => self.table(table, rest),
                    (Some(table), [], Some(Value::InlineTable(value))) => {
                        *table = value.clone().into_table();
                        Ok(())
                    }
                    _ => Err((
                        format!("`{}` is a table, and only a table can take its place", self.whole),
                        format!("set one of its keys: --set {}.recipe=lock/naive", self.whole),
                    )),
                }
            }
            Item::None => Ok(()),
        }
    }

    fn value(&self, value: &mut Value, steps: &[Step]) -> Result<(), Refusal> {
        match value {
            Value::InlineTable(table) => self.table(table as &mut InlineTable, steps),
            Value::Array(array) => self.array(array, steps),
            _ => {
                let above = self.above(steps);
                Err((
                    format!("`{above}` is no table, so there is no `{}`", self.whole),
                    format!("set `{above}` itself: --set '{above}=…'"),
                ))
            }
        }
    }

    fn array(&self, array: &mut Array, steps: &[Step]) -> Result<(), Refusal> {
        let (index, rest) = self.element(steps, array.len())?;
        match (array.get_mut(index), rest, self.value) {
            (Some(element), [_, ..], _) => self.value(element, rest),
            (Some(element), [], Some(value)) => {
                replace(element, value);
                Ok(())
            }
            _ => Err((
                format!("`{}` cannot be taken out of its list", self.whole),
                format!("set the whole list: --set '{}=[…]'", self.above(steps)),
            )),
        }
    }

    /// The element that the next step names, of `count`, and the steps behind it.
    fn element<'s>(&self, steps: &'s [Step], count: usize) -> Result<(usize, &'s [Step]), Refusal> {
        let above = self.above(steps);
        match steps.split_first() {
            Some((Step::Index(index), rest)) if *index < count => Ok((*index, rest)),
            _ => {
                let message = match count {
                    0 => format!("`{above}` is an empty list"),
                    1 => format!("`{above}` has one element"),
                    _ => format!("`{above}` has {count} elements"),
                };
                let remedy = match count {
                    0 => format!("set the whole list: --set '{above}=[…]'"),
                    1 => format!("name it by its place: `{above}.0`"),
                    2 => format!("name one by its place: `{above}.0` or `{above}.1`"),
                    _ => format!("name one by its place: `{above}.0` to `{above}.{}`", count - 1),
                };
                Err((message, remedy))
            }
        }
    }

    /// The path of what the remaining steps start from.
    fn above(&self, steps: &[Step]) -> KeyPath {
        KeyPath(self.whole.0[..self.whole.0.len() - steps.len()].to_vec())
    }
}

/// Puts a value in another's place, with the spaces and comments around it.
fn replace(old: &mut Value, new: &Value) {
    let decor = old.decor().clone();
    *old = new.clone();
    *old.decor_mut() = decor;
}
