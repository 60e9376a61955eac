//! Posts JSON with time limits, retries and a bound on the answer's size. Follows no redirects.
//! It knows statuses and headers, and of a body only how it reports an error.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::connections::{Authorities, proxy_of_environment};
use super::endpoint::Address;
use super::overflow::{hidden_error, is_overflow};
use super::secrets::Secrets;
use super::{ApiKey, Failure};
use curtail_core::calendar::days_since_1970;
use curtail_core::system_error::system_message;

/// The most bytes that are read of an answer; no model writes a longer summary.
const LARGEST_ANSWER: u64 = 16 << 20;

/// Time limits and retries.
#[derive(Clone, Debug)]
pub struct RequestLimits {
    /// Time limit for a connection.
    pub connect: Duration,
    /// Time limit for one request, from its start to the last byte of the answer.
    pub total: Duration,
    /// The most retries after the first attempt.
    pub retries: u32,
    /// The wait before the first retry; it doubles before each further one.
    pub first_wait: Duration,
    /// The longest wait before a retry. If the server asks for a longer one, there is no retry.
    pub longest_wait: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            total: Duration::from_mins(2),
            retries: 3,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
        }
    }
}

/// A client that posts JSON to one server.
pub struct Http {
    limits: RequestLimits,
    authorities: Authorities,
    /// Made when the first request is sent.
    connection: OnceLock<Connection>,
}

/// An agent, and the proxy that it uses.
struct Connection {
    agent: ureq::Agent,
    proxy: Option<String>,
}

/// A request.
pub(super) struct Post<'r> {
    pub(super) to: &'r Address,
    pub(super) headers: &'r [(&'r str, String)],
    /// The key in the headers.
    pub(super) key: Option<&'r ApiKey>,
    pub(super) body: &'r str,
}

impl Post<'_> {
    /// The secrets that must not appear in messages.
    pub(super) fn secrets(&self) -> Secrets {
        let mut secrets = self.to.secrets.clone();
        if let Some(key) = &self.key {
            secrets.add(key.secret());
        }
        secrets
    }
}

impl Http {
    /// A client with these limits that trusts these certificate authorities. It uses the proxies of the environment
    /// (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`), except for servers on this machine.
    pub const fn new(limits: RequestLimits, authorities: Authorities) -> Self {
        Self { limits, authorities, connection: OnceLock::new() }
    }

    /// Posts a request, with retries, and returns the body of an answer whose status is 2xx. Secrets that the server repeats
    /// are masked in errors, and not in the body.
    ///
    /// # Errors
    /// [`Failure`] if the last attempt got another status or no answer.
    pub(super) fn post(&self, request: &Post<'_>) -> Result<Vec<u8>, Failure> {
        let secrets = request.secrets();
        let connection = self.connection(request.to)?;
        let mut retries = 0;
        loop {
            let outcome = self.attempt(&connection.agent, request, &secrets);
            match self.next_step(&outcome, retries) {
                NextStep::Wait(wait) => sleep(wait),
                NextStep::Stop(advice) => {
                    let mut place = request.to.shown.clone();
                    if let Some(proxy) = &connection.proxy {
                        place += &format!(", through the proxy {proxy}");
                    }
                    if retries > 0 {
                        place += &format!(": after {} attempts", retries + 1);
                    }
                    return conclude(&place, outcome, advice, &secrets);
                }
            }
            retries += 1;
        }
    }

    fn connection(&self, to: &Address) -> Result<&Connection, Failure> {
        if let Some(made) = self.connection.get() {
            return Ok(made);
        }
        let made = self.connect(to)?;
        Ok(self.connection.get_or_init(|| made))
    }

    fn connect(&self, to: &Address) -> Result<Connection, Failure> {
        let (proxy, shown) = if to.is_loopback { None } else { proxy_of_environment(&to.url)? }.unzip();
        // A redirect would send the key to another address.
        let mut settings = ureq::Agent::config_builder()
            .timeout_connect(Some(self.limits.connect))
            .timeout_global(Some(self.limits.total))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(proxy)
            .user_agent(concat!("curtail (curtail-memory/", env!("CARGO_PKG_VERSION"), ")"));
        if to.url.starts_with("https:") {
            settings = settings.tls_config(self.authorities.tls());
        }
        Ok(Connection { agent: settings.build().new_agent(), proxy: shown })
    }

    fn attempt(&self, agent: &ureq::Agent, post: &Post<'_>, secrets: &Secrets) -> Result<Answer, NoAnswer> {
        let deadline = Instant::now() + self.limits.total;
        let mut request = agent.post(&post.to.url).header("content-type", "application/json");
        for (name, value) in post.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(post.body).map_err(|error| NoAnswer::from_ureq(&error, secrets))?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| retry_after(value, SystemTime::now()));
        let reader = response.body_mut().with_config().limit(LARGEST_ANSWER).reader();
        let body = read_bounded(reader, deadline, secrets)?;
        let status = if (200..300).contains(&status) { hidden_error(&body).unwrap_or(status) } else { status };
        Ok(Answer { status, retry_after, body })
    }

    /// Whether to retry after this outcome, and after how long.
    fn next_step(&self, outcome: &Result<Answer, NoAnswer>, retries: u32) -> NextStep {
        let longest = self.limits.longest_wait;
        let retryable = match outcome {
            Ok(answer) => is_retryable(answer.status) && !is_overflow(answer.status, &answer.body),
            Err(error) => error.retryable,
        };
        let requested = outcome.as_ref().ok().and_then(|answer| answer.retry_after);
        match requested {
            _ if !retryable => NextStep::Stop(""),
            Some(wait) if wait > longest => NextStep::Stop("; the wait it asks for is too long"),
            _ if retries >= self.limits.retries => NextStep::Stop(""),
            Some(wait) => NextStep::Wait(wait),
            None => NextStep::Wait(self.backoff(retries)),
        }
    }

    /// The wait before retry number `retries` + 1. It doubles each time. Up to half of it is random, so that clients that
    /// were refused together do not retry together.
    fn backoff(&self, retries: u32) -> Duration {
        let longest =
            self.limits.first_wait.saturating_mul(2_u32.saturating_pow(retries)).min(self.limits.longest_wait);
        let random = RandomState::new().hash_one(retries) % 1000;
        longest.mul_f64(1.0 - 0.0005 * f64::from(u32::try_from(random).unwrap_or(0)))
    }
}

/// The step after an attempt.
enum NextStep {
    /// Another attempt, after this wait.
    Wait(Duration),
    /// No further attempt; the error ends with this text.
    Stop(&'static str),
}

struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// The body of an answer. The client limits the bytes that it receives, but a few compressed bytes can become gigabytes, so
/// size and time are checked again after decompression.
fn read_bounded(mut reader: impl std::io::Read, deadline: Instant, secrets: &Secrets) -> Result<Vec<u8>, NoAnswer> {
    let mut body = Vec::new();
    let mut block = vec![0; 64 * 1024];
    loop {
        let got = reader.read(&mut block).map_err(|error| NoAnswer::from_ureq(&ureq::Error::from(error), secrets))?;
        if got == 0 {
            return Ok(body);
        }
        if body.len() as u64 + got as u64 > LARGEST_ANSWER {
            return Err(NoAnswer {
                why: format!("the answer is longer than {LARGEST_ANSWER} bytes"),
                retryable: false,
            });
        }
        if Instant::now() > deadline {
            return Err(NoAnswer { why: "no answer in time".to_owned(), retryable: false });
        }
        body.extend_from_slice(&block[..got]);
    }
}

/// Why no answer came, and whether a retry may help.
struct NoAnswer {
    why: String,
    retryable: bool,
}

impl NoAnswer {
    /// A retry may help after a connection that was refused or closed early, or if the host was not found, as name servers fail
    /// for a moment; but not after a timeout or with a certificate that is not trusted.
    fn from_ureq(error: &ureq::Error, secrets: &Secrets) -> Self {
        use std::io::ErrorKind::{ConnectionRefused, InvalidData, TimedOut};
        let why = match error {
            ureq::Error::Timeout(phase) => format!("no answer in time ({phase})"),
            ureq::Error::Io(io) if io.kind() == TimedOut => "no answer in time".to_owned(),
            ureq::Error::Io(io) if io.to_string().starts_with("failed to lookup address") => {
                "the host was not found; check the address".to_owned()
            }
            ureq::Error::Io(io) if io.kind() == ConnectionRefused => {
                "connection refused; check that the server runs and that the address is right".to_owned()
            }
            ureq::Error::Io(io) => system_message(io),
            other => other.to_string(),
        };
        let untrusted = if why.contains("UnknownIssuer") {
            "; to trust the authority that issued the certificate, pass its file with --ca-file"
        } else {
            ""
        };
        let retryable = match error {
            ureq::Error::Io(io) => !matches!(io.kind(), TimedOut | InvalidData),
            ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => true,
            _ => false,
        };
        Self { why: format!("{}{untrusted}", secrets.mask(&why)), retryable }
    }
}

/// Request timeout, conflict, too many requests, and server errors.
fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// The body of the last answer, or the error for it.
fn conclude(
    place: &str,
    outcome: Result<Answer, NoAnswer>,
    advice: &str,
    secrets: &Secrets,
) -> Result<Vec<u8>, Failure> {
    match outcome {
        Err(error) => Err(Failure::Other(format!("{place}: {}", error.why))),
        Ok(answer) if (200..300).contains(&answer.status) => Ok(answer.body),
        Ok(answer) => Err(refusal(place, &answer, advice, secrets)),
    }
}

fn refusal(place: &str, answer: &Answer, advice: &str, secrets: &Secrets) -> Failure {
    let quoted = secrets.quote(&answer.body);
    if is_overflow(answer.status, &answer.body) {
        return Failure::Overflow(format!("{place}: {quoted}"));
    }
    let advice = match answer.status {
        300..=399 => "; redirects are not followed; name the final address",
        401 | 403 => "; the key is missing or was not accepted",
        404 => "; the server does not know the endpoint or the model",
        407 => "; the proxy demands a user and a password",
        _ => advice,
    };
    Failure::Other(format!("status {}: {place}: {quoted}{advice}", answer.status))
}

/// The wait that a `Retry-After` header asks for at the time `now`: seconds, or a date
/// (<https://www.rfc-editor.org/rfc/rfc9110#field.retry-after>).
fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = http_date(value)?;
    Some(then.duration_since(now).unwrap_or_default())
}

/// The time in the only date format that servers may send: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(value: &str) -> Option<SystemTime> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, date) = value.split_once(", ")?;
    let mut fields = date.split([' ', ':']);
    let day = fields.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = i64::try_from(MONTHS.find(fields.next()?)? / 3).ok()? + 1;
    let year = fields.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = 0;
    for most in [23_i64, 59, 60] {
        clock = clock * 60 + fields.next()?.parse().ok().filter(|field| (0..=most).contains(field))?;
    }
    let seconds = u64::try_from(days_since_1970(year, month, day) * 86_400 + clock).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).filter(|_| fields.next() == Some("GMT"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant, SystemTime};

    use super::{Authorities, Http, LARGEST_ANSWER, RequestLimits, Secrets, read_bounded, retry_after};

    /// The size and time limits apply to the decompressed bytes, not only to those that were sent.
    #[test]
    fn an_answer_is_bounded_after_decompression() {
        let read = |length: u64, left: i64| {
            let now = Instant::now();
            let seconds = Duration::from_secs(left.unsigned_abs());
            let deadline = if left < 0 { now.checked_sub(seconds).unwrap_or(now) } else { now + seconds };
            let answer =
                read_bounded(std::io::Read::take(std::io::repeat(b' '), length), deadline, &Secrets::default());
            answer.map(|body| body.len() as u64).map_err(|error| (error.why, error.retryable))
        };
        assert_eq!(read(LARGEST_ANSWER, 600), Ok(LARGEST_ANSWER));
        let long = format!("the answer is longer than {LARGEST_ANSWER} bytes");
        assert_eq!(read(1 << 40, 600), Err((long, false)));
        assert_eq!(read(1 << 40, -1), Err(("no answer in time".to_owned(), false)));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (value, seconds) in [
            ("7", Some(7)),
            ("0", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("Sun, 06 Nov 1993 08:49:37 GMT", Some(0)),
            ("Thu, 29 Feb 1996 00:00:00 GMT", Some(41_440_230)),
            ("-1", None),
            ("soon", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("Sun, 200000000000000 Jan 1970 00:00:00 GMT", None),
            ("Sun, 18446744073709551615 Jan 1970 00:00:00 GMT", None),
            ("Sun, 06 Nov 1994 18446744073709551615:00:00 GMT", None),
            ("Sun, 06 Nov 1994 00:307445734561825861:00 GMT", None),
            ("Fri, 31 Dec 9999 23:59:60 GMT", Some(252_618_189_030)),
            ("1e300", None),
        ] {
            let wait = retry_after(value, now);
            assert_eq!(wait, seconds.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn waits_double_up_to_a_bound() {
        let http = Http::new(RequestLimits::default(), Authorities::default());
        for (tries, whole) in [(0, 500), (1, 1000), (3, 4000), (40, 60_000)] {
            let wait = http.backoff(tries).as_millis();
            assert!((whole / 2..=whole).contains(&wait), "{wait} ms of {whole} ms");
        }
    }
}
