//! The server that is asked for summaries: its address, its key, and where the key may go.

use std::path::Path;

use anyhow::{Context as _, anyhow, bail};

use crate::console;
use curtail_memory::summarizers::{Anthropic, ApiKey, Endpoint, OpenAi};

/// A provider with a server of its own, and the variables that its own tools read.
pub(super) struct Provider {
    /// The name that `--summarizer` takes.
    pub(super) name: &'static str,
    /// The address of the provider's server.
    endpoint: &'static str,
    /// The variable with the key.
    key_variable: &'static str,
    /// The variable with another address.
    base_variable: &'static str,
}

pub(super) const OPENAI: Provider = Provider {
    name: "openai",
    endpoint: OpenAi::ENDPOINT,
    key_variable: "OPENAI_API_KEY",
    base_variable: "OPENAI_BASE_URL",
};

pub(super) const ANTHROPIC: Provider = Provider {
    name: "anthropic",
    endpoint: Anthropic::ENDPOINT,
    key_variable: "ANTHROPIC_API_KEY",
    base_variable: "ANTHROPIC_BASE_URL",
};

/// What the command line says of the server.
pub(super) struct ServerChoice<'f> {
    /// `--endpoint`
    pub(super) endpoint: Option<&'f str>,
    /// `--api-key-file`
    pub(super) api_key_file: Option<&'f Path>,
    /// `--allow-http`
    pub(super) allow_http: bool,
}

/// The variable with a key for any server.
const KEY_VARIABLE: &str = "CURTAIL_API_KEY";

impl Provider {
    /// The endpoint of `--endpoint`, else of the provider's variable, else the provider's own, with the key to send.
    ///
    /// The key of the environment is sent to the provider's own host and to an endpoint that the user named. A file that was
    /// found can name none.
    pub(super) fn endpoint_and_key(&self, choice: &ServerChoice<'_>) -> anyhow::Result<(Endpoint, Option<ApiKey>)> {
        let own: Endpoint = self.endpoint.parse()?;
        let base = variable(self.base_variable);
        let endpoint = match (choice.endpoint, base) {
            (Some(named), _) => named.parse()?,
            (None, Some(base)) => base.parse::<Endpoint>().context(self.base_variable)?,
            (None, None) => own.clone(),
        };
        let key = self.key(choice)?;
        if key.is_none() && endpoint.is_same_host(&own) {
            let variable = self.key_variable;
            bail!("{} needs a key: set {variable}, or pass a file that contains it with --api-key-file", self.endpoint);
        }
        let secret = match &key {
            Some((_, origin)) => Some(format!("the key of {origin}")),
            None => endpoint.has_user().then(|| String::from("its password")),
        };
        if let Some(secret) =
            secret.filter(|_| !(endpoint.is_encrypted() || endpoint.is_loopback() || choice.allow_http))
        {
            bail!("{endpoint} is not encrypted, so others could read {secret}; use https://, or pass --allow-http");
        }
        Ok((endpoint, key.map(|(key, _)| key)))
    }

    /// The key, and where it comes from.
    fn key(&self, choice: &ServerChoice<'_>) -> anyhow::Result<Option<(ApiKey, String)>> {
        if let Some(path) = choice.api_key_file {
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
