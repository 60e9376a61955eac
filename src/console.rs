//! The only module that writes to standard output and standard error. Control characters in text for people are made visible;
//! data (transcripts, pages, exports) is written unchanged.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use anstyle::{AnsiColor, Style};

use curtail_core::secrets::Secret;
use curtail_core::visible::{self, JsonWriter, one_line};
use curtail_io::FileError;

/// The environment variables with API keys. Text for people shows neither these keys nor keys from files.
const KEYS: [&str; 3] = ["CURTAIL_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// Shorter values are not masked, because they would mask parts of words everywhere.
const SHORTEST_KEY: usize = 8;

/// Whether standard output was closed when the program started. Its replacement, `/dev/null`, would swallow all output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether only errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Records whether standard input and output were closed before the program started, so that reading or writing them becomes an
/// error.
#[doc(hidden)]
pub fn note_closed_streams(input: bool, output: bool) {
    curtail_io::note_closed_input(input);
    CLOSED.store(output, Ordering::Relaxed);
}

fn out_is_open() -> io::Result<()> {
    match CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("closed before the program started")),
        false => Ok(()),
    }
}

static SECRETS: LazyLock<RwLock<Vec<Secret>>> = LazyLock::new(|| {
    let values = KEYS.iter().filter_map(|name| std::env::var(name).ok());
    let values = values.map(|value| value.trim().to_owned()).filter(|value| value.len() >= SHORTEST_KEY);
    RwLock::new(values.map(|value| Secret::new(&value)).collect())
});

/// Masks `secret` in all text for people from now on, such as a key that was read from a file.
pub(crate) fn hide(secret: &str) {
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    if secret.len() >= SHORTEST_KEY && !secrets.iter().any(|known| known.is(secret)) {
        secrets.push(Secret::new(secret));
    }
}

/// Prints one message on standard error. What it quotes cannot break its line.
fn say(style: Style, message: &impl Display) {
    let message = message.to_string();
    err(&format!("{style}curtail:{style:#} {}\n", one_line(&message)));
}

/// Prints an error.
pub(crate) fn error(message: &impl Display) {
    say(AnsiColor::Red.on_default().bold(), message);
}

/// Prints a warning, unless only errors are printed.
pub(crate) fn warning(message: &impl Display) {
    if !QUIET.load(Ordering::Relaxed) {
        say(AnsiColor::Yellow.on_default().bold(), message);
    }
}

/// Prints a note, unless only errors are printed.
pub(crate) fn note(message: &impl Display) {
    if !QUIET.load(Ordering::Relaxed) {
        say(Style::new(), message);
    }
}

/// Prints only errors from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Prints text for people on standard error.
pub(crate) fn err(text: &str) {
    // If standard error is closed, nothing can be reported.
    drop(anstream::stderr().lock().write_all(visible(text).as_bytes()));
}

/// Prints text for people on standard output; a closed pipe is not an error.
pub(crate) fn out(text: &str) -> Result<(), FileError> {
    closed_is_fine(try_out(text))
}

/// Prints JSON on standard output; a closed pipe is not an error.
pub(crate) fn out_json(text: &str) -> Result<(), FileError> {
    closed_is_fine(try_out_json(text))
}

/// Prints a diff of JSON on standard output, where its lines have the colors of diffs; a closed pipe is not an error.
pub(crate) fn out_diff(text: &str) -> Result<(), FileError> {
    if !out_has_colors() {
        return out_json(text);
    }
    let shown = visible::json(&masked(text)).into_owned();
    let lines = shown.lines().map(|line| format!("{0}{line}{0:#}\n", diff_style(line)));
    let text: String = lines.collect();
    closed_is_fine(out_is_open().and_then(|()| write_all(&mut io::stdout().lock(), text.as_bytes())))
}

/// The style of a line of a diff.
fn diff_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] | [b'@', ..] => Style::new().dimmed(),
        [b'-', ..] => AnsiColor::Red.on_default(),
        [b'+', ..] => AnsiColor::Green.on_default(),
        _ => Style::new(),
    }
}

/// As [`out`], and a closed pipe is an error.
pub(crate) fn try_out(text: &str) -> io::Result<()> {
    out_is_open()?;
    write_all(&mut anstream::stdout().lock(), visible(text).as_bytes())
}

/// As [`out_json`], and a closed pipe is an error.
pub(crate) fn try_out_json(text: &str) -> io::Result<()> {
    out_is_open()?;
    write_all(&mut io::stdout().lock(), visible::json(&masked(text)).as_bytes())
}

/// Prints data on standard output unchanged, except for control characters on a terminal; a closed pipe is not an error.
pub(crate) fn data<D: AsRef<[u8]> + ?Sized>(data: &D) -> Result<(), FileError> {
    let mut stdout = io::stdout().lock();
    closed_is_fine(out_is_open().and_then(|()| match stdout.is_terminal() {
        true => write_all(&mut stdout, visible::lines(&String::from_utf8_lossy(data.as_ref())).as_bytes()),
        false => write_all(&mut stdout, data.as_ref()),
    }))
}

/// Standard output for a report in a format that escapes control characters itself, such as that of a CI. The report may appear
/// only when it is flushed.
pub(crate) fn report() -> impl Write + Send {
    // Without a terminal, output need not be flushed line by line.
    let out = if out_is_terminal() { Box::new(anstream::stdout()) } else { unbuffered() };
    io::BufWriter::with_capacity(64 * 1024, out)
}

/// Whether standard output shows colors.
pub(crate) fn out_has_colors() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Standard output for JSON that is written in parts, such as transcripts. Bytes are unchanged, except that control characters are
/// escaped on a terminal.
pub(crate) fn transcripts() -> Box<dyn Write + Send> {
    let raw = unbuffered();
    if io::stdout().is_terminal() { Box::new(JsonWriter::new(raw)) } else { raw }
}

/// Prints a transcript; a closed pipe is not an error.
pub(crate) fn transcript(text: &str) -> Result<(), FileError> {
    closed_is_fine(write_all(&mut transcripts(), text.as_bytes()))
}

/// Whether standard output is a terminal.
pub(crate) fn out_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub(crate) fn err_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// The columns of the terminal that standard output is; `None` for a file or a pipe.
pub(crate) fn out_width() -> Option<usize> {
    static WIDTH: LazyLock<Option<usize>> = LazyLock::new(|| columns(terminal_size::terminal_size_of(io::stdout())));
    *WIDTH
}

/// The columns of the terminal that standard error is; `None` for a file or a pipe.
pub(crate) fn err_width() -> Option<usize> {
    static WIDTH: LazyLock<Option<usize>> = LazyLock::new(|| columns(terminal_size::terminal_size_of(io::stderr())));
    *WIDTH
}

/// The width of a terminal that has one.
fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

/// Sets whether colors are used, independently of the streams.
pub(crate) fn use_colors(colors: bool) {
    let choice = if colors { anstream::ColorChoice::Always } else { anstream::ColorChoice::Never };
    choice.write_global();
}

/// Text as [`out`] prints it, for a program that prints it on standard output.
pub(crate) fn paged(text: &str) -> String {
    let text = visible(text);
    if out_has_colors() { text } else { anstream::adapter::strip_str(&text).to_string() }
}

/// Prints an error of the command line, or the help that was requested; a closed pipe is not an error. The arguments that it
/// quotes must have been made visible.
pub(crate) fn usage(error: &clap::Error) -> Result<(), FileError> {
    let open = if error.use_stderr() { Ok(()) } else { out_is_open() };
    closed_is_fine(open.and_then(|()| error.print()))
}

fn visible(text: &str) -> String {
    // Before characters become visible, which could be inside a key.
    visible::printed(&masked(text)).into_owned()
}

fn masked(text: &str) -> String {
    let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    secrets.iter().fold(text.to_owned(), |text, secret| secret.mask(&text).into_owned())
}

fn write_all(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}

/// The error of writing to standard output, unless its reader closed the pipe.
pub(crate) fn closed_is_fine(done: io::Result<()>) -> Result<(), FileError> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(FileError::system("standard output", &error)),
        _ => Ok(()),
    }
}

/// Standard output without a buffer: it gets whole blocks, which a buffer would only copy once more.
#[cfg(unix)]
fn unbuffered() -> Box<dyn Write + Send> {
    use std::os::fd::AsFd as _;
    if out_is_open().is_err() {
        return Box::new(Closed);
    }
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(descriptor) => Box::new(std::fs::File::from(descriptor)),
        Err(_) => Box::new(io::stdout()),
    }
}

#[cfg(not(unix))]
fn unbuffered() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

/// Standard output that was closed: writing to it is an error.
#[cfg(unix)]
struct Closed;

#[cfg(unix)]
impl Write for Closed {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        out_is_open().map(|()| 0)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
