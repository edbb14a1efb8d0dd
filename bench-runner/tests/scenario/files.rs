//! Files that cannot be read, or are not there.

use std::path::Path;

use bench_runner::scenario::load;

use super::SMALLEST;

/// The message about a file of `folder`, with the folder called `folder`.
fn complaint(folder: &Path, file: &str) -> String {
    let error = load(&folder.join(file), &[]).expect_err("the file is no scenario");
    error.render(false).replace(&folder.display().to_string(), "folder")
}

#[test]
fn files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path();
    for name in ["quick.toml", "drain.toml", "notes.txt"] {
        std::fs::write(at.join(name), SMALLEST).expect("it can be written");
    }
    std::fs::write(at.join("latin1.toml"), b"version = 1\nquestion = \"\xe9t\xe9\"\n").expect("it can be written");
    std::fs::write(at.join("large.toml"), vec![b'#'; 2 << 20]).expect("it can be written");
    std::fs::create_dir(at.join("empty")).expect("it can be made");

    let all = ["quik.toml", "drain", "something.toml", "", "empty", "nowhere/quick.toml", "latin1.toml", "large.toml"]
        .map(|file| complaint(at, file))
        .join("\n\n");
    insta::assert_snapshot!(all);
}

#[test]
fn the_name_is_the_stem() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("my.first.scenario.toml");
    std::fs::write(&path, SMALLEST).expect("it can be written");
    assert_eq!(load(&path, &[]).expect("it is valid").name, "my.first.scenario");
}

#[test]
fn display_fits_after_error() {
    let error = load(Path::new("nowhere/quick.toml"), &[]).expect_err("it is not there");
    assert_eq!(format!("error: {error}"), error.render(false));
    assert_eq!(error.messages().collect::<Vec<_>>(), ["there is no such scenario"]);
    assert!(error.render(true).contains('\u{1b}') && !error.render(false).contains('\u{1b}'));
}
