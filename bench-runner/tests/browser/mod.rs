//! Opens pages in a headless Chromium and brings back what `check.js` found.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Deserialize;

/// The browser gets this long for all pages of a theme; it needs some ten seconds on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The reader's theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

/// What was found in one page at one width.
#[derive(Debug, Deserialize)]
pub struct Findings {
    pub page: String,
    pub width: u32,
    pub dark: bool,
    pub background: String,
    pub wide_charts: usize,
    pub narrow_charts: usize,
    pub texts: usize,
    pub chart_texts: usize,
    pub complaints: Vec<String>,
}

/// What was found in all pages, and what the browser's console said.
pub struct Visit {
    pub findings: Vec<Findings>,
    pub console: Vec<String>,
}

/// Opens each page in a frame of each width; a headless window cannot be as narrow as a phone, a frame can.
pub fn visit(name: &str, pages: &[(String, String)], widths: &[u32], theme: Theme) -> Visit {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}-{theme:?}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the pages");

    let mut frames = String::new();
    for (page, html) in pages {
        std::fs::write(folder.join(format!("{page}.html")), html).expect("the page, to look at");
        let quoted = html.replace('&', "&amp;").replace('"', "&quot;");
        for width in widths {
            write!(
                frames,
                "<iframe data-page=\"{page}\" style=\"border:0;width:{width}px;height:900px\" srcdoc=\"{quoted}\"></iframe>"
            )
            .expect("a string takes all");
        }
    }
    let wrapper = format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\"></head>\
         <body>{frames}<script>{}</script></body></html>",
        include_str!("check.js")
    );
    let file = folder.join("wrapper.html");
    std::fs::write(&file, wrapper).expect("the wrapper page");
    let (dom, log) = run(&folder, &file, theme);
    let _ = std::fs::remove_dir_all(folder.join("profile"));
    let findings = dom
        .split_once("id=\"findings\">")
        .and_then(|(_, rest)| rest.split_once("</script>"))
        .map(|(json, _)| serde_json::from_str(json).expect("the findings are JSON"));
    let findings = findings.unwrap_or_else(|| panic!("the checker left no findings; the browser said:\n{log}"));
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    Visit { findings, console }
}

/// The browser's name: from `CHROMIUM`, or the first of the usual ones that is on `PATH`.
fn browser() -> PathBuf {
    if let Some(chosen) = std::env::var_os("CHROMIUM") {
        return chosen.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|candidate| candidate.is_file())
        .expect("this test needs Chromium: run `scripts/setup --test`, or set CHROMIUM to a browser")
}

/// The page's DOM after it was loaded, and the browser's log.
fn run(folder: &Path, file: &Path, theme: Theme) -> (String, String) {
    let scheme = match theme {
        Theme::Dark => 0,
        Theme::Light => 1,
    };
    let browser = browser();
    let child = Command::new(&browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1400,1000", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that the browser's children go with it when time is up.
        .process_group(0)
        .spawn();
    let mut child = child.unwrap_or_else(|error| {
        panic!("{} did not start ({error}): run `scripts/setup --test`, or set CHROMIUM", browser.display())
    });
    let dom = drain(child.stdout.take());
    let log = drain(child.stderr.take());
    let in_time = wait(&mut child);
    let (dom, log) = (dom.join().expect("the reader of stdout"), log.join().expect("the reader of stderr"));
    assert!(in_time, "the browser did not end within {TIMEOUT:?}; it said:\n{log}");
    (dom, log)
}

/// Reads all of a pipe on a thread of its own, so that neither pipe fills up while the other is read.
fn drain(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    let mut pipe = pipe.expect("the pipe was asked for");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Whether the browser ended in time; its whole group is ended either way.
fn wait(child: &mut Child) -> bool {
    let end = Instant::now() + TIMEOUT;
    let mut in_time = false;
    while Instant::now() < end && !in_time {
        in_time = child.try_wait().expect("the child can be waited for").is_some();
        std::thread::sleep(Duration::from_millis(20));
    }
    let group = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
    in_time
}
