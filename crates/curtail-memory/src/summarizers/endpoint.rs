//! The address of a model's server: checked, completed with the path of its API, and safe to show.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ureq::http::Uri;

use super::Failure;
use super::secrets::Secrets;

/// Query parameters whose values are shown; the value of any other may be a key.
const PLAIN_PARAMETERS: [&str; 4] = ["api-version", "version", "deployment", "model"];

/// The address of a server. `Display` and `Debug` mask its password and the values of its query.
#[derive(Clone)]
pub struct Endpoint(Uri);

/// The address that requests are sent to.
#[derive(Clone)]
pub(super) struct Address {
    /// The address, secrets included.
    pub(super) url: String,
    /// The address as messages show it.
    pub(super) shown: String,
    /// The passwords and keys in it.
    pub(super) secrets: Secrets,
    /// Whether it is on this machine.
    pub(super) is_loopback: bool,
}

impl FromStr for Endpoint {
    type Err = Failure;

    /// Reads an address such as `https://api.openai.com/v1`; the API's path, a user, a password and a query are optional.
    ///
    /// # Errors
    /// [`Failure`] if the scheme is not `http` or `https`, or the address has no host.
    fn from_str(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        let wrong = |why: &str| Failure::Other(format!("the endpoint `{}` {why}", masked_text(text)));
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => return Err(wrong(&format!("has no scheme; write {}", with_scheme(text)))),
        };
        if !matches!(scheme.as_str(), "https" | "http") {
            return Err(wrong("has a scheme that is not supported; use https:// or http://"));
        }
        let uri: Uri = format!("{scheme}://{rest}").parse().map_err(|_| wrong("is not an address"))?;
        if uri.host().is_none_or(str::is_empty) {
            return Err(wrong("names no host"));
        }
        let endpoint = Self(uri);
        // The beginning of a password looks like a port if it has a `?` in it.
        if endpoint.host_and_port() != endpoint.host() && endpoint.0.port_u16().is_none() {
            return Err(wrong("is not an address"));
        }
        Ok(endpoint)
    }
}

/// An address as messages show it, valid or not: without its password and the values of its query.
pub fn shown_endpoint(text: &str) -> String {
    text.parse().map_or_else(|_| masked_text(text), |endpoint: Endpoint| endpoint.to_string())
}

/// An address that may be invalid, without the text before an `@` and without the query.
fn masked_text(text: &str) -> String {
    let scheme = text.find("://").filter(|at| !text[..*at].contains(['/', '?', '@']));
    let (scheme, rest) = text.split_at(scheme.map_or(0, |at| at + "://".len()));
    let (user, host) = rest.rsplit_once('@').map_or(("", rest), |(_, host)| ("***@", host));
    let (host, query) = host.split_once('?').map_or((host, ""), |(host, _)| (host, "?***"));
    format!("{scheme}{user}{host}{query}")
}

/// The address with the scheme that was probably meant.
fn with_scheme(text: &str) -> String {
    let shown = masked_text(text);
    for scheme in ["https", "http"] {
        if let Some(rest) = after_scheme(&shown, scheme) {
            return format!("{scheme}://{rest}");
        }
    }
    let shown = shown.trim_start_matches('/');
    let host = shown.split('/').next().unwrap_or_default();
    let host = if host.ends_with(']') { host } else { host.rsplit_once(':').map_or(host, |(host, _)| host) };
    if is_loopback(host) { format!("http://{shown}") } else { format!("https://{shown}") }
}

/// The address after `scheme` if the `://` between them is incomplete. Before a digit, a colon is that of a port.
fn after_scheme<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(scheme.len())?;
    let is_separated = match rest.strip_prefix(':') {
        Some(rest) => !rest.starts_with(|first: char| first.is_ascii_digit()),
        None => rest.starts_with("//"),
    };
    (start.eq_ignore_ascii_case(scheme) && is_separated).then(|| rest.trim_start_matches([':', '/']))
}

impl Endpoint {
    /// Whether requests to it are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.scheme() == "https"
    }

    /// Whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.host())
    }

    /// Whether it contains a user or a password.
    pub fn has_user(&self) -> bool {
        self.userinfo().is_some()
    }

    /// Whether `other` is on the same host.
    pub fn is_same_host(&self, other: &Self) -> bool {
        let [host, other] = [self, other].map(|endpoint| endpoint.host().trim_end_matches('.'));
        host.eq_ignore_ascii_case(other)
    }

    fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    fn userinfo(&self) -> Option<&str> {
        self.authority().rsplit_once('@').map(|(user, _)| user)
    }

    fn host_and_port(&self) -> &str {
        self.authority().rsplit('@').next().unwrap_or_default()
    }

    /// The endpoint's address with the path `api`, such as `/v1/messages`, appended. The part of `api` with which the
    /// endpoint's path already ends is not repeated; the query stays at the end.
    pub(super) fn join(&self, api: &str) -> Address {
        let path = self.0.path().trim_end_matches('/');
        let known = segment_ends(api).rev().find(|&end| path.ends_with(&api[..end])).unwrap_or(0);
        let path = format!("{path}{}", &api[known..]);
        let query = self.0.query().map_or_else(String::new, |query| format!("?{query}"));
        Address {
            url: format!("{}://{}{path}{query}", self.scheme(), self.authority()),
            shown: self.shown(&path),
            secrets: self.secrets(),
            is_loopback: self.is_loopback(),
        }
    }

    fn scheme(&self) -> &str {
        self.0.scheme_str().unwrap_or_default()
    }

    fn authority(&self) -> &str {
        self.0.authority().map_or("", |authority| authority.as_str())
    }

    fn shown(&self, path: &str) -> String {
        let user = if self.has_user() { "***@" } else { "" };
        let parameters: Vec<String> = self.parameters().map(|(name, value)| shown_parameter(name, value)).collect();
        let query = if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) };
        format!("{}://{user}{}{path}{query}", self.scheme(), self.host_and_port())
    }

    /// The names and values of the query.
    fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.query().into_iter().flat_map(|query| query.split('&')).map(parameter)
    }

    fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        if let Some(user) = self.userinfo() {
            secrets.add(user);
            secrets.add(user.split_once(':').map_or(user, |(_, password)| password));
        }
        let hidden = self.parameters().filter(|(name, _)| !is_plain(name));
        hidden.for_each(|(_, value)| secrets.add(value));
        secrets
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(self.0.path().trim_end_matches('/')))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

/// Where a path may be cut: before each `/`, and at its end.
fn segment_ends(path: &str) -> impl DoubleEndedIterator<Item = usize> {
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]).collect();
    slashes.into_iter()
}

/// The name and the value of a pair of a query. Without a value, it may be a key, whose Base64 ends with `=`; then it has no name.
fn parameter(pair: &str) -> (&str, &str) {
    let bare = pair.trim_end_matches('=');
    match bare.split_once('=') {
        Some((name, _)) => (name, &pair[name.len() + 1..]),
        None if is_plain(bare) => (bare, ""),
        None => ("", bare),
    }
}

fn is_plain(parameter: &str) -> bool {
    PLAIN_PARAMETERS.iter().any(|plain| plain.eq_ignore_ascii_case(parameter))
}

fn shown_parameter(name: &str, value: &str) -> String {
    match (name, value) {
        (name, "") => name.to_owned(),
        ("", _) => "***".to_owned(),
        (name, value) if is_plain(name) => format!("{name}={value}"),
        _ => format!("{name}=***"),
    }
}

/// `localhost`, and the addresses of this machine.
fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let named = host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost");
    named || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    const CHAT: &str = "/chat/completions";
    const MESSAGES: &str = "/v1/messages";

    fn endpoint(text: &str) -> Endpoint {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_path_of_the_api_is_added_once() {
        for (given, api, url) in [
            ("https://a.b/v1", CHAT, "https://a.b/v1/chat/completions"),
            ("https://a.b/v1/", CHAT, "https://a.b/v1/chat/completions"),
            ("HTTPS://a.b", CHAT, "https://a.b/chat/completions"),
            ("https://a.b/v1/chat/completions", CHAT, "https://a.b/v1/chat/completions"),
            ("https://a.b/x?api-version=2", CHAT, "https://a.b/x/chat/completions?api-version=2"),
            ("https://a.b/chat/completions?api-version=2", CHAT, "https://a.b/chat/completions?api-version=2"),
            ("https://a.b", MESSAGES, "https://a.b/v1/messages"),
            ("https://a.b/v1", MESSAGES, "https://a.b/v1/messages"),
            ("https://a.b/v1/messages/", MESSAGES, "https://a.b/v1/messages"),
            ("http://u:p@a.b:8/x", MESSAGES, "http://u:p@a.b:8/x/v1/messages"),
        ] {
            assert_eq!(endpoint(given).join(api).url, url, "{given}");
        }
    }

    #[test]
    fn passwords_and_keys_are_masked() {
        let given = endpoint("https://me:hunter22@a.b/v1?api-version=2&key=AIza1234&model");
        assert_eq!(given.to_string(), "https://***@a.b/v1?api-version=2&key=***&model");
        let address = given.join(CHAT);
        assert_eq!(address.shown, "https://***@a.b/v1/chat/completions?api-version=2&key=***&model");
        assert_eq!(address.secrets.mask("hunter22 AIza1234 2 model"), "*** *** 2 model");
        assert!(!format!("{given:?}").contains("hunter22"));
        for key in ["AIza1234", "AIza1234=", "AIza1234=="] {
            let given = endpoint(&format!("https://a.b/v1?{key}&api-version=2"));
            assert_eq!(given.to_string(), "https://a.b/v1?***&api-version=2", "{key}");
            assert!(given.join(CHAT).secrets.mask(key).starts_with("***"), "{key}");
        }
    }

    #[test]
    fn invalid_addresses_are_reported() {
        for (given, part) in [
            ("localhost:8000/v1", "`localhost:8000/v1` has no scheme; write http://localhost:8000/v1"),
            ("[::1]:8000/v1", "has no scheme; write http://[::1]:8000/v1"),
            ("https:/a.b", "`https:/a.b` has no scheme; write https://a.b"),
            ("HTTP:a.b", "has no scheme; write http://a.b"),
            ("http//a.b", "has no scheme; write http://a.b"),
            ("https:8000/v1", "has no scheme; write https://https:8000/v1"),
            ("//a.b", "has no scheme; write https://a.b"),
            ("//localhost:8000", "has no scheme; write http://localhost:8000"),
            ("api.example/v1", "has no scheme; write https://api.example/v1"),
            ("me:hunter22@a.b", "`***@a.b` has no scheme; write https://***@a.b"),
            ("https://me:hunter2?2@a.b", "`https://***@a.b` is not an address"),
            ("a.b?key=hunter22&to=http://c.d", "`a.b?***` has a scheme"),
            ("ftp://a.b", "use https:// or http://"),
            ("https://", "is not an address"),
            ("https://a b", "is not an address"),
            ("https://a:a/v1", "is not an address"),
            ("", "has no scheme"),
        ] {
            let why = given.parse::<Endpoint>().map_or_else(|error| error.to_string(), |found| found.to_string());
            assert!(why.contains(part) && !why.contains("hunter2"), "{given}: {why}");
        }
    }

    #[test]
    fn hosts_are_compared_as_hosts() {
        let openai = endpoint("https://api.openai.com/v1");
        for (given, same) in [
            ("https://API.openai.com./v1/chat/completions", true),
            ("https://api.openai.com.evil.example/v1", false),
            ("https://api.openai.com@evil.example/v1", false),
        ] {
            assert_eq!(endpoint(given).is_same_host(&openai), same, "{given}");
        }
        for (given, loopback) in [
            ("http://localhost:1", true),
            ("http://127.8.9.1", true),
            ("http://[::1]:80/v1", true),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(endpoint(given).is_loopback(), loopback, "{given}");
        }
    }
}
