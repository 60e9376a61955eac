//! Runs a program that reads messages as JSON from standard input and writes a summary to standard output.
//! It knows processes and pipes, not what the program does.

use std::io::{self, Read, Write as _};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::thread::{park, sleep, spawn};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::prompt::MISSING;
use super::quote::quote;
use super::{Budget, Failure, Request, Speaker, Summarizer, Utterance, clip};
use curtail_core::system_error::system_message;

/// The variable that passes the budget, in tokens, to the program.
const BUDGET_VARIABLE: &str = "CURTAIL_SUMMARY_TOKENS";

/// The most bytes that are kept of standard output, and of standard error.
const MAX_OUTPUT: u64 = 16 << 20;

/// The interval at which the program's status is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long what a program wrote is awaited at least, once it has ended: the program may have ended just before its time limit.
const GRACE: Duration = Duration::from_millis(500);

/// Set this flag to stop all programs that make summaries, for example after a signal that ends this process: they run in
/// process groups of their own, so a terminal does not send the signal to them.
pub fn stop_flag() -> &'static Arc<AtomicBool> {
    static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
    &STOP
}

/// How many programs that make summaries run now.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether this process is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Stops all programs that make summaries and waits until they have ended, for a process that is about to end itself. The threads
/// that wait for a summary never get one, so that nothing is made of what was stopped.
pub fn stop_programs() {
    ENDING.store(true, Ordering::SeqCst);
    stop_flag().store(true, Ordering::SeqCst);
    let deadline = Instant::now() + GRACE;
    while RUNNING.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        sleep(POLL_INTERVAL);
    }
}

/// Runs a program for each summary.
///
/// The program reads one JSON array of messages, each with `role` (`system`, `user`, `assistant` or `tool`) and `content`. A
/// tool result also has the tool's `name`. A tool call has `tool_call` with `name` and `arguments` instead of `content`. The
/// first message may be a system message with the name `facts`: these facts are kept in front of the summary. If
/// it is run once more because its summary lacked facts, a system message with the name `missing` is the last one and lists them. The
/// environment variable `CURTAIL_SUMMARY_TOKENS` holds the budget, in tokens.
pub struct Command {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl Command {
    /// The program and arguments of a command line, which is split as a shell does, although there is none: words are separated by
    /// white space, except within `'…'` or `"…"`. A backslash takes the next character literally, and joins two lines; within `"…"`,
    /// it does so only before `$`, `` ` ``, `"`, `\` and a line break, and within `'…'` never. On Windows, where paths have
    /// backslashes, a backslash outside quotes is a character like any other.
    ///
    /// # Errors
    /// [`Failure`] if the command line has no program, an unclosed quote, or nothing after the last backslash.
    pub fn new(line: &str, timeout: Duration) -> Result<Self, Failure> {
        let mut words = split_words(line, !cfg!(windows)).map_err(Failure::Other)?.into_iter();
        let Some(program) = words.next() else {
            return Err(Failure::Other(
                "the summarizer's command is empty; give a program and its arguments".to_owned(),
            ));
        };
        Ok(Self { program, arguments: words.collect(), timeout })
    }

    fn start(&self, tokens: usize) -> Result<Child, Failure> {
        let mut command = std::process::Command::new(&self.program);
        // A process group, so that the programs that it starts can be ended with it. Windows has no such groups.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .args(&self.arguments)
            .env(BUDGET_VARIABLE, tokens.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.failed(&format!("cannot be started: {}", system_message(&error))))
    }

    /// Runs the program to its end and returns what it wrote.
    fn run(&self, input: String, tokens: usize) -> Result<Vec<u8>, Failure> {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let output = self.output(input, tokens);
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        while ENDING.load(Ordering::SeqCst) {
            park();
        }
        output
    }

    fn output(&self, input: String, tokens: usize) -> Result<Vec<u8>, Failure> {
        let deadline = Instant::now() + self.timeout;
        let mut child = self.start(tokens)?;
        if let Some(mut pipe) = child.stdin.take() {
            // A program may close the pipe early, and its exit status shows whether it failed.
            spawn(move || drop(pipe.write_all(input.as_bytes())));
        }
        let output = drain(child.stdout.take());
        let errors = drain(child.stderr.take());
        let ended = wait_for_end(&mut child, deadline)
            .map_err(|error| self.failed(&format!("cannot be waited for: {}", system_message(&error))))?;
        if ended.is_some_and(|status| status.success()) {
            let output = rest(&output, deadline.max(Instant::now() + GRACE));
            return output.map_err(|error| {
                stop(&mut child);
                self.failed(match error {
                    // A program that it started has it open.
                    RecvTimeoutError::Timeout => "ended, but its standard output stayed open",
                    RecvTimeoutError::Disconnected => "its output cannot be read",
                })
            });
        }
        stop(&mut child);
        let reason = match ended {
            Some(status) => status.to_string(),
            None if stop_flag().load(Ordering::Relaxed) => return Err(self.failed("was stopped by a signal")),
            None => format!("was stopped after {} s", self.timeout.as_secs_f64()),
        };
        let errors = errors.recv_timeout(GRACE).unwrap_or_default();
        Err(self.failed(&format!("{reason}; its standard error: {}", quote(&errors))))
    }

    fn failed(&self, reason: &str) -> Failure {
        Failure::Other(format!("{}: {reason}", self.program))
    }
}

impl Summarizer for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let output = self.run(messages(utterances), budget.tokens)?;
        let text = text_of(&output).ok_or_else(|| self.failed("its output is not UTF-8; a summary must be text"))?;
        // Some programs put a byte order mark before a text.
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(self.failed("wrote nothing; it must write a summary to standard output"));
        }
        Ok(clip(text, budget))
    }

    fn request(&self, utterances: &[Utterance<'_>], _: &Budget<'_>) -> Option<Request> {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        Some(Request { to: shown_command(words), body: messages(utterances) })
    }
}

/// The text of an output, without a character whose rest was not kept; `None` if it is not UTF-8.
fn text_of(output: &[u8]) -> Option<&str> {
    match str::from_utf8(output) {
        Ok(text) => Some(text),
        Err(error) if output.len() as u64 == MAX_OUTPUT && error.error_len().is_none() => {
            str::from_utf8(&output[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

/// The command line, quoted so that different words never look the same.
fn shown_command<'w>(words: impl Iterator<Item = &'w String>) -> String {
    let quoted = words.map(|word| {
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=".contains(c));
        if is_plain { word.clone() } else { format!("{word:?}") }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn messages(utterances: &[Utterance<'_>]) -> String {
    let messages: Vec<Value> = utterances.iter().map(message).collect();
    Value::Array(messages).to_string()
}

fn message(utterance: &Utterance<'_>) -> Value {
    let text = utterance.text.as_ref();
    match &utterance.speaker {
        Speaker::System => json!({"role": "system", "content": text}),
        Speaker::Facts => json!({"role": "system", "name": "facts", "content": text}),
        Speaker::Missing => json!({"role": "system", "name": "missing", "content": format!("{MISSING}\n{text}")}),
        Speaker::User => json!({"role": "user", "content": text}),
        Speaker::Assistant => json!({"role": "assistant", "content": text}),
        Speaker::Tool(name) => json!({"role": "tool", "name": name, "content": text}),
        Speaker::Call(name) => {
            json!({"role": "assistant", "tool_call": {"name": name, "arguments": text}})
        }
    }
}

/// Waits until a program ends; `None` if the deadline passes or the stop flag is set before that.
fn wait_for_end(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() || Instant::now() >= deadline || stop_flag().load(Ordering::Relaxed) {
            return Ok(ended);
        }
        sleep(POLL_INTERVAL);
    }
}

/// Ends a program, unless it has ended, and, on Unix, the programs in its group: no other group has its id as long as a program is
/// in it. Errors are ignored: all of them may have just ended by themselves.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The output, once it has ended. It is awaited until the deadline or the stop flag.
fn rest(output: &Receiver<Vec<u8>>, deadline: Instant) -> Result<Vec<u8>, RecvTimeoutError> {
    loop {
        let is_over = Instant::now() >= deadline || stop_flag().load(Ordering::Relaxed);
        match output.recv_timeout(POLL_INTERVAL) {
            Err(RecvTimeoutError::Timeout) if !is_over => {}
            received => return received,
        }
    }
}

/// Reads a pipe to its end in a thread of its own, so that no pipe fills up while another is read.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = pipe {
            let read = pipe.by_ref().take(MAX_OUTPUT).read_to_end(&mut kept);
            let rest = read.and_then(|_| io::copy(&mut pipe, &mut io::sink()));
            if rest.is_err() {
                return;
            }
        }
        // This fails if the program was stopped, because its output is no longer awaited.
        let _ = sender.send(kept);
    });
    receiver
}

/// The words of a command line, as [`Command::new`] says. Outside quotes, backslashes escape if `escapes`. The error says that a
/// quote is not closed or that nothing follows the last backslash.
fn split_words(line: &str, escapes: bool) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), close) if open == close => quote = None,
            (None, '\\') if escapes => match letters.next() {
                // The line goes on.
                Some('\n') => {}
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err(format!("nothing follows the last \\ in: {line}")),
            },
            (Some('"'), '\\') => match letters.next_if(|next| "$`\"\\\n".contains(*next)) {
                Some('\n') => {}
                escaped => word.get_or_insert_default().push(escaped.unwrap_or('\\')),
            },
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a {open} is not closed in: {line}"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{MAX_OUTPUT, split_words, text_of};

    #[test]
    fn a_long_output_may_be_cut_within_a_character() {
        let euros = "€".repeat(6 << 20);
        let kept = &euros.as_bytes()[..usize::try_from(MAX_OUTPUT).unwrap_or(0)];
        assert_eq!(text_of(kept).map(str::len), Some(kept.len() / 3 * 3));
        assert_eq!((text_of(&kept[..4]), text_of(&kept[..3])), (None, Some("€")));
    }

    #[test]
    fn command_lines_are_split_as_a_shell_would() {
        for (line, words) in [
            ("prog  a b", &["prog", "a", "b"][..]),
            ("'my prog' \"a b\"c", &["my prog", "a bc"]),
            (r#"p a\ b "\"" '\'"#, &["p", "a b", "\"", "\\"]),
            (r#"p "a\nb" "\$ \` \\ \'" a\nb"#, &["p", r"a\nb", r"$ ` \ \'", "anb"]),
            ("p a\\\nb \"c\\\nd\"", &["p", "ab", "cd"]),
            ("p ''", &["p", ""]),
            (" ", &[]),
        ] {
            assert_eq!(
                split_words(line, true).ok().as_deref(),
                Some(&words.iter().map(ToString::to_string).collect::<Vec<_>>()[..]),
                "{line}"
            );
        }
        for bad in ["p 'a", "p \"a", "p \\"] {
            assert!(split_words(bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn backslashes_in_paths_of_windows_are_kept() {
        let words = split_words(r#"C:\tools\sum.exe "C:\my files\a.txt" "\"""#, false);
        assert_eq!(words, Ok([r"C:\tools\sum.exe", r"C:\my files\a.txt", "\""].map(String::from).to_vec()));
    }
}
