//! One POST with patience: time limits, no redirects, a bounded answer, and another try where that can help.
//! Knows statuses and headers, not what the body says.

use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use super::Failure;
use super::failure::quote;

/// No summary is longer than this, in bytes; an answer that is comes from something else than a model.
const LARGEST_ANSWER: u64 = 16 << 20;

/// How long to wait, and how often to try again.
#[derive(Clone, Debug)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For one request, from its beginning to the answer's last byte.
    pub total: Duration,
    /// How often to try again.
    pub retries: u32,
    /// The wait before the second try; it doubles with every further one.
    pub first_wait: Duration,
    /// The longest wait between two tries; a server that asks for a longer one is not asked again.
    pub longest_wait: Duration,
}

impl Default for Patience {
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

/// A client that posts JSON.
pub struct Http {
    agent: ureq::Agent,
    patience: Patience,
}

impl Http {
    /// A client of this patience. Proxies come from the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`).
    #[must_use]
    pub fn new(patience: Patience) -> Self {
        // A redirect would carry the key to whatever place it names, so none is followed.
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(patience.connect))
            .timeout_global(Some(patience.total))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("curtail/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { agent, patience }
    }

    /// The body of the answer, whose status is 2xx.
    ///
    /// # Errors
    ///
    /// Any other status, and no answer, both after the tries that may help.
    pub(super) fn post(&self, url: &str, headers: &[(&str, String)], body: &str) -> Result<Vec<u8>, Failure> {
        let mut tries = 0;
        loop {
            let outcome = self.once(url, headers, body);
            let Some(wait) = self.wait(&outcome, tries) else {
                return conclude(url, outcome, tries + 1);
            };
            sleep(wait);
            tries += 1;
        }
    }

    fn once(&self, url: &str, headers: &[(&str, String)], body: &str) -> Result<Answer, Missed> {
        let mut request = self.agent.post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(body).map_err(|error| Missed::of(&error))?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| asked_wait(value, SystemTime::now()));
        let mut body = Vec::new();
        response
            .body_mut()
            .with_config()
            .limit(LARGEST_ANSWER)
            .reader()
            .read_to_end(&mut body)
            .map_err(|error| Missed::of(&ureq::Error::from(error)))?;
        Ok(Answer { status, retry_after, body })
    }

    /// How long to wait for another try, or `None` if there should be none.
    fn wait(&self, outcome: &Result<Answer, Missed>, tries: u32) -> Option<Duration> {
        if tries >= self.patience.retries {
            return None;
        }
        match outcome {
            Ok(answer) if !worth_another_try(answer.status) => None,
            Err(missed) if !missed.again => None,
            Ok(Answer { retry_after: Some(asked), .. }) => (*asked <= self.patience.longest_wait).then_some(*asked),
            _ => Some(self.backoff(tries)),
        }
    }

    /// The wait before try number `tries` + 2: it doubles each time, and up to half of it is chance, so that many clients
    /// that were turned away together do not come back together.
    fn backoff(&self, tries: u32) -> Duration {
        let whole =
            self.patience.first_wait.saturating_mul(2_u32.saturating_pow(tries)).min(self.patience.longest_wait);
        let chance = RandomState::new().hash_one(tries) % 1000;
        whole.mul_f64(1.0 - 0.0005 * f64::from(u32::try_from(chance).unwrap_or(0)))
    }
}

struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// No answer, why, and whether it may be different next time.
struct Missed {
    why: String,
    again: bool,
}

impl Missed {
    /// A time that ran out will run out again, an address that is none will not become one; a connection that was refused
    /// or broke off may stand next time.
    fn of(error: &ureq::Error) -> Self {
        use std::io::ErrorKind::TimedOut;
        let why = match error {
            ureq::Error::Timeout(what) => format!("no answer in time ({what})"),
            ureq::Error::Io(io) if io.kind() == TimedOut => "no answer in time".to_owned(),
            other => other.to_string(),
        };
        let again = match error {
            ureq::Error::Io(io) => io.kind() != TimedOut,
            ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => true,
            _ => false,
        };
        Self { why, again }
    }
}

/// Request timeout, conflict, too many requests, and whatever is the server's own fault.
fn worth_another_try(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

fn conclude(url: &str, outcome: Result<Answer, Missed>, tries: u32) -> Result<Vec<u8>, Failure> {
    let place = if tries > 1 { format!("{url}: after {tries} tries") } else { url.to_owned() };
    match outcome {
        Err(missed) => Err(Failure::Unreachable(format!("{place}: {}", missed.why))),
        Ok(answer) if (200..300).contains(&answer.status) => Ok(answer.body),
        Ok(answer) => Err(refusal(&place, &answer)),
    }
}

fn refusal(place: &str, answer: &Answer) -> Failure {
    let said = quote(&answer.body);
    if is_overflow(answer) {
        return Failure::Overflow(format!("{place}: {said}"));
    }
    let advice = match answer.status {
        300..=399 => "; redirects are not followed, name the final address",
        401 | 403 => "; the key is missing or not accepted",
        404 => "; the endpoint or the model is not known there",
        429 if answer.retry_after.is_some() => "; the wait it asks for is too long",
        _ => "",
    };
    Failure::Refused { status: answer.status, message: format!("{place}: {said}{advice}") }
}

/// llama.cpp's server says `exceed_context_size_error`, `OpenAI` and those who follow it `context_length_exceeded`, Anthropic
/// `prompt is too long`, and 413 is said by whatever stands before a model.
fn is_overflow(answer: &Answer) -> bool {
    let said = String::from_utf8_lossy(&answer.body);
    let named = ["exceed_context_size_error", "context_length_exceeded", "prompt is too long"];
    answer.status == 413 || answer.status == 400 && named.iter().any(|name| said.contains(name))
}

/// The wait that a `Retry-After` header asks for at the time `now`: seconds, or a date
/// (<https://www.rfc-editor.org/rfc/rfc9110#field.retry-after>).
fn asked_wait(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = http_date(value)?;
    Some(then.duration_since(now).unwrap_or_default())
}

/// The one date form that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(value: &str) -> Option<SystemTime> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, date) = value.split_once(", ")?;
    let mut fields = date.split([' ', ':']);
    let day: u64 = fields.next()?.parse().ok()?;
    let month = MONTHS.find(fields.next()?)? as u64 / 3;
    let year: u64 = fields.next()?.parse().ok()?;
    let mut clock = 0;
    for _ in 0..3 {
        clock = clock * 60 + fields.next()?.parse::<u64>().ok()?;
    }
    (fields.next()? == "GMT" && (1970..10_000).contains(&year)).then_some(())?;
    let seconds = days_since_epoch(year, month, day) * 86_400 + clock;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Days from 1970-01-01 to a day of a month (0 to 11) of a year of the Gregorian calendar.
fn days_since_epoch(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let this_leap = month > 1 && leaps(year) > leaps(year - 1);
    (year - 1970) * 365 + leaps(year - 1) - leaps(1969)
        + BEFORE[usize::try_from(month).unwrap_or(0) % 12]
        + u64::from(this_leap)
        + day.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Http, Patience, asked_wait};

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
        ] {
            let wait = asked_wait(value, now);
            assert_eq!(wait, seconds.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn waits_double_up_to_a_bound() {
        let http = Http::new(Patience::default());
        for (tries, whole) in [(0, 500), (1, 1000), (3, 4000), (40, 60_000)] {
            let wait = http.backoff(tries).as_millis();
            assert!((whole / 2..=whole).contains(&wait), "{wait} ms of {whole} ms");
        }
    }
}
