//! The flags that choose the summarizer and configure its requests.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::{ArgGroup, ValueEnum};
use serde_json::{Map, Value};

use crate::console;
use crate::options::files::{Reads, read_text, written_path};
use crate::options::processor::TRUSTED;
use curtail_io::sweep;
use curtail_memory::summarizers::{
    Api, ApiKey, Authorities, Bounded, Budget, Cached, Command, Endpoint, Extractive, Failure, Fallback, Http, Model,
    Prompt, Request, RequestLimits, Summarizer, Utterance, clip,
};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Summaries", group = ArgGroup::new(TRUSTED).multiple(true))]
pub(crate) struct AskFlags {
    /// Summarizer to use [default: extractive, or command with --summarizer-cmd]
    #[arg(long, value_enum, value_name = "NAME")]
    summarizer: Option<SummarizerKind>,

    /// Address of the server [default: `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, or the provider's own]
    #[arg(long, value_name = "URL", env = "CURTAIL_ENDPOINT", group = TRUSTED, hide_short_help = true)]
    endpoint: Option<String>,

    /// Model that writes the summaries
    #[arg(long, value_name = "MODEL", env = "CURTAIL_SUMMARY_MODEL", hide_short_help = true)]
    summary_model: Option<String>,

    /// File with the API key [default: `CURTAIL_API_KEY`, `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    api_key_file: Option<PathBuf>,

    /// File in PEM format with certificate authorities to trust, in addition to the built-in ones and the system's
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    ca_file: Option<PathBuf>,

    /// Send the key without encryption to a server that is not on this machine
    #[arg(long, group = TRUSTED, hide_short_help = true)]
    allow_http: bool,

    /// Time limit of one request or command, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120", hide_short_help = true)]
    timeout: f64,

    /// Number of retries after a temporary failure
    #[arg(long, value_name = "N", default_value_t = RequestLimits::default().retries, hide_short_help = true)]
    retries: u32,

    /// Number of concurrent requests or commands
    #[arg(long, value_name = "N", default_value_t = 4, hide_short_help = true)]
    concurrency: usize,

    /// JSON object to merge into every request
    // It can replace the instructions of a request, and give the model tools that reach other servers.
    #[arg(long, value_name = "JSON", value_parser = object, group = TRUSTED, hide_short_help = true)]
    extra_body: Option<Map<String, Value>>,

    /// File with instructions for the model; `{tokens}` is replaced with --summary-tokens
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) prompt: Option<PathBuf>,

    /// Command that reads messages as JSON and prints a summary
    #[arg(long, value_name = "COMMAND", group = TRUSTED, hide_short_help = true)]
    summarizer_cmd: Option<String>,

    /// What to do if a summary fails
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail", hide_short_help = true)]
    on_summary_error: OnSummaryError,

    /// Directory that stores summaries for later runs
    #[arg(long, value_name = "DIR", value_parser = written_path(), hide_short_help = true)]
    cache: Option<PathBuf>,
}

/// `--summarizer`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SummarizerKind {
    /// Selects sentences of the transcript; needs no network
    Extractive,
    /// A server with the Chat Completions API
    Openai,
    /// A server with the Anthropic Messages API
    Anthropic,
    /// The command of --summarizer-cmd
    Command,
}

/// `--on-summary-error`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnSummaryError {
    /// Write no output for the transcript and exit with status 2
    Fail,
    /// Use the extractive summarizer instead, with a warning
    Extractive,
}

impl AskFlags {
    /// The files that the summarizer reads.
    pub(crate) fn files(&self) -> Reads {
        let secrets = self.api_key_file.iter().chain(&self.ca_file);
        Reads { content: self.prompt.iter().cloned().collect(), other: secrets.cloned().collect() }
    }

    /// The summarizer that these flags describe.
    pub(crate) fn summarizer(&self) -> anyhow::Result<Box<dyn Summarizer>> {
        let kind = self.kind();
        if kind == SummarizerKind::Extractive {
            return Ok(Box::new(Extractive));
        }
        let summarizer = Bounded::new(self.external_summarizer(kind)?, self.concurrency);
        let summarizer: Box<dyn Summarizer> = match &self.cache {
            Some(folder) => {
                sweep(folder);
                Box::new(Cached::new(summarizer, folder.clone(), warn))
            }
            None => Box::new(summarizer),
        };
        Ok(match self.on_summary_error {
            OnSummaryError::Fail => summarizer,
            OnSummaryError::Extractive => Box::new(Fallback { first: summarizer, second: Extractive, warn }),
        })
    }

    /// The summarizer of a dry run: it makes extractive summaries, and only announces others.
    pub(crate) fn dry_summarizer(&self) -> Box<dyn Summarizer> {
        let name = match self.kind() {
            SummarizerKind::Extractive => return Box::new(Extractive),
            SummarizerKind::Openai => "openai",
            SummarizerKind::Anthropic => "anthropic",
            SummarizerKind::Command => "command",
        };
        Box::new(DrySummarizer { name })
    }

    fn kind(&self) -> SummarizerKind {
        let default = if self.summarizer_cmd.is_some() { SummarizerKind::Command } else { SummarizerKind::Extractive };
        self.summarizer.unwrap_or(default)
    }

    fn external_summarizer(&self, kind: SummarizerKind) -> anyhow::Result<Box<dyn Summarizer>> {
        let timeout = Duration::from_secs_f64(self.timeout);
        if kind == SummarizerKind::Command {
            let line = self.summarizer_cmd.as_deref().context("--summarizer command needs --summarizer-cmd")?;
            return Ok(Box::new(Command::new(line, timeout)?));
        }
        let provider = if kind == SummarizerKind::Openai { &OPENAI } else { &ANTHROPIC };
        let name = provider.api.name();
        let model = self.summary_model.clone().with_context(|| format!("--summarizer {name} needs --summary-model"))?;
        let (endpoint, key) = provider.endpoint_and_key(self)?;
        let prompt = self.prompt()?;
        let extra = self.extra_body.clone().unwrap_or_default();
        let http = self.http(timeout)?;
        Ok(Box::new(Model { api: provider.api, endpoint, model, key, prompt, extra, http }))
    }

    fn http(&self, total: Duration) -> anyhow::Result<Http> {
        let mut authorities = Authorities::default();
        if let Some(file) = &self.ca_file {
            authorities.add_file(file)?;
        }
        let retries = self.retries;
        Ok(Http::new(RequestLimits { total, retries, ..RequestLimits::default() }, authorities))
    }

    /// The instructions for the model.
    pub(crate) fn prompt(&self) -> anyhow::Result<Prompt> {
        let Some(path) = &self.prompt else { return Ok(Prompt::default()) };
        Prompt::new(read_text(path)?).with_context(|| path.display().to_string())
    }
}

fn warn(message: &str) {
    console::warning(&message);
}

/// Replaces a summarizer that would run a program or send a request.
struct DrySummarizer {
    /// The name of that summarizer.
    name: &'static str,
}

impl Summarizer for DrySummarizer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let text = format!("(dry run: {} would summarize {} texts)", self.name, utterances.len());
        Ok(clip(&text, budget))
    }

    fn request(&self, _utterances: &[Utterance<'_>], _budget: &Budget<'_>) -> Option<Request> {
        None
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0 && seconds <= 86_400.0);
    seconds.ok_or_else(|| String::from("expected a number of seconds above 0 and up to 86400"))
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(String::from("expected a JSON object, such as {\"temperature\":0}")),
    }
}

// The server that makes summaries: its address, its key, and to which hosts the key may be sent.

/// A provider: its server, and the environment variables that its own tools read.
struct Provider {
    api: Api,
    /// The variable with the key.
    key_variable: &'static str,
    /// The variable with another address.
    base_variable: &'static str,
}

const OPENAI: Provider =
    Provider { api: Api::OpenAi, key_variable: "OPENAI_API_KEY", base_variable: "OPENAI_BASE_URL" };

const ANTHROPIC: Provider =
    Provider { api: Api::Anthropic, key_variable: "ANTHROPIC_API_KEY", base_variable: "ANTHROPIC_BASE_URL" };

/// The variable with a key for any server.
const KEY_VARIABLE: &str = "CURTAIL_API_KEY";

impl Provider {
    /// The endpoint of `--endpoint`, else of the provider's variable, else the provider's own, with the key to send.
    ///
    /// The key of the environment is sent to the provider's own host and to an endpoint that the user named. A configuration file
    /// that was found cannot name an endpoint.
    fn endpoint_and_key(&self, flags: &AskFlags) -> anyhow::Result<(Endpoint, Option<ApiKey>)> {
        let providers_own = self.api.endpoint();
        let default: Endpoint = providers_own.parse()?;
        let endpoint = match (&flags.endpoint, variable(self.base_variable)) {
            (Some(named), _) => named.parse()?,
            (None, Some(base)) => base.parse::<Endpoint>().context(self.base_variable)?,
            (None, None) => default.clone(),
        };
        let key = self.key(flags)?;
        if key.is_none() && endpoint.is_same_host(&default) {
            let variable = self.key_variable;
            bail!("{providers_own} needs a key: set {variable}, or pass a file that contains it with --api-key-file");
        }
        let secret = match &key {
            Some((_, origin)) => Some(format!("the key of {origin}")),
            None => endpoint.has_user().then(|| String::from("its password")),
        };
        if let Some(secret) =
            secret.filter(|_| !(endpoint.is_encrypted() || endpoint.is_loopback() || flags.allow_http))
        {
            bail!("{endpoint} is not encrypted, so others could read {secret}; use https://, or pass --allow-http");
        }
        Ok((endpoint, key.map(|(key, _)| key)))
    }

    /// The key, and where it comes from.
    fn key(&self, flags: &AskFlags) -> anyhow::Result<Option<(ApiKey, String)>> {
        if let Some(path) = &flags.api_key_file {
            let key = ApiKey::from_file(path)?;
            // A command of the same chain may print it.
            console::hide(key.secret());
            return Ok(Some((key, path.display().to_string())));
        }
        let set = [KEY_VARIABLE, self.key_variable].into_iter().find_map(|name| Some((name, variable(name)?)));
        let Some((name, value)) = set else { return Ok(None) };
        let key = ApiKey::new(&value, &format!("${name}")).map_err(|error| anyhow!(error))?;
        Ok(Some((key, format!("${name}"))))
    }
}

/// The value of a variable that is set and not blank.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
