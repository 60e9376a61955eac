//! Both HTTP summarizers against a server on loopback that answers, refuses, stalls and breaks off.

use std::time::{Duration, Instant};

use crate::server::{Reply, Server};
use curtail::summarizers::{
    Anthropic, ApiKey, Budget, Failure, Http, OpenAi, Patience, Prompt, Speaker, Summarizer, Utterance,
};
use serde_json::{Map, Value, json};

const BOTH: [Wire; 2] = [Wire::OpenAi, Wire::Anthropic];

#[derive(Clone, Copy, Debug)]
enum Wire {
    OpenAi,
    Anthropic,
}

impl Wire {
    fn summarizer(self, address: &str, total: Duration, extra: Map<String, Value>) -> Box<dyn Summarizer> {
        let http = Http::new(Patience {
            total,
            retries: 2,
            first_wait: Duration::from_millis(10),
            longest_wait: Duration::from_secs(3),
            ..Patience::default()
        });
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "sk-secret\n").expect("a temporary file");
        let key = Some(ApiKey::from_file(file.path()).expect("the key can be read"));
        let (endpoint, model, prompt) = (address.to_owned(), "m".to_owned(), Prompt::default());
        match self {
            Self::OpenAi => Box::new(OpenAi { endpoint: endpoint + "/v1", model, key, prompt, extra, http }),
            Self::Anthropic => Box::new(Anthropic { endpoint, model, key, prompt, extra, http }),
        }
    }

    /// A good answer, as this wire format spells it.
    fn says(self, text: &str) -> String {
        match self {
            Self::OpenAi => {
                json!({"choices": [{"message": {"role": "assistant", "content": text}}]})
            }
            Self::Anthropic => json!({"content": [{"type": "text", "text": text}]}),
        }
        .to_string()
    }

    /// Asks `server` for a summary of at most 20 words.
    fn ask(self, server: &Server) -> Result<String, Failure> {
        self.ask_about(server, &[Utterance::new(Speaker::User, "Please fix src/main.rs")])
    }

    fn ask_about(self, server: &Server, said: &[Utterance<'_>]) -> Result<String, Failure> {
        let summarizer = self.summarizer(&server.address, Duration::from_secs(20), Map::new());
        summarizer.summarize(said, &words(20))
    }
}

fn words(tokens: usize) -> Budget<'static> {
    Budget { tokens, count: &|text: &str| text.split_whitespace().count() }
}

fn failure(outcome: Result<String, Failure>) -> String {
    outcome.expect_err("it should fail").to_string()
}

#[test]
fn a_request_carries_prompt_transcript_and_key() {
    for wire in BOTH {
        let server = Server::with_replies(vec![Reply::ok(wire.says("fine"))]);
        assert_eq!(wire.ask(&server).ok().as_deref(), Some("fine"));
        let request = &server.received()[0];
        let body: Value = serde_json::from_str(&request.body).expect("the body is JSON");
        let (line, key, instructions, user) = match wire {
            Wire::OpenAi => (
                "POST /v1/chat/completions HTTP/1.1",
                request.header("authorization") == Some("Bearer sk-secret"),
                &body["messages"][0]["content"],
                &body["messages"][1]["content"],
            ),
            Wire::Anthropic => (
                "POST /v1/messages HTTP/1.1",
                request.header("x-api-key") == Some("sk-secret") && request.header("anthropic-version").is_some(),
                &body["system"],
                &body["messages"][0]["content"],
            ),
        };
        assert_eq!(request.line, line);
        assert!(key, "{:?}", request.headers);
        assert!(instructions.as_str().is_some_and(|text| text.contains("at most 20 tokens")));
        assert!(user.as_str().is_some_and(|text| text.contains("user: Please fix src/main.rs")));
        assert_eq!(body["model"], "m");
    }
}

#[test]
fn extra_members_reach_the_server() {
    for wire in BOTH {
        let server = Server::with_replies(vec![Reply::ok(wire.says("fine"))]);
        let extra = json!({"max_tokens": 7, "top_p": 0.5}).as_object().cloned().unwrap_or_default();
        let summarizer = wire.summarizer(&server.address, Duration::from_secs(20), extra);
        let said = [Utterance::new(Speaker::User, "hi")];
        let shown = summarizer.request(&said, &words(20)).expect("something is sent");
        assert!(summarizer.summarize(&said, &words(20)).is_ok());
        let sent = &server.received()[0].body;
        assert_eq!(*sent, shown.body, "what a dry run shows is what is sent");
        let body: Value = serde_json::from_str(sent).expect("the body is JSON");
        assert_eq!((&body["max_tokens"], &body["top_p"]), (&json!(7), &json!(0.5)));
        assert!(shown.to.starts_with(&server.address), "{}", shown.to);
    }
}

#[test]
fn a_long_answer_is_brought_within_the_budget() {
    for wire in BOTH {
        let server = Server::with_replies(vec![Reply::ok(wire.says(&"word ".repeat(100)))]);
        let text = wire.ask(&server).expect("it answers");
        assert_eq!(text.split_whitespace().count(), 20, "{text}");
    }
}

#[test]
fn what_cannot_help_is_not_tried_again() {
    for wire in BOTH {
        for (reply, expected) in [
            (
                Reply::status(401, r#"{"detail":"bad key"}"#),
                &["status 401", "bad key", "the key is missing or was not accepted"][..],
            ),
            (
                Reply::status(404, "no model m"),
                &["status 404", "no model m", "the server does not know the endpoint or the model"],
            ),
            (Reply::status(400, &"x".repeat(2000)), &["status 400", &"x".repeat(500)]),
            (
                Reply::Answer(302, &[("location", "/elsewhere")], String::new()),
                &["status 302", "redirects are not followed"],
            ),
            (
                Reply::Answer(307, &[("location", "/elsewhere")], String::new()),
                &["status 307", "redirects are not followed"],
            ),
            (Reply::ok("<html>hello</html>"), &["not JSON", "<html>hello"]),
            (Reply::ok(wire.says("")), &["without text"]),
            (Reply::ok(wire.says("<think>so much to do")), &["without text"]),
            (Reply::Answer(429, &[("retry-after", "3600")], "later".to_owned()), &["status 429", "later", "too long"]),
        ] {
            let server = Server::with_replies(vec![reply.clone()]);
            let why = failure(wire.ask(&server));
            assert!(expected.iter().all(|part| why.contains(part)), "{reply:?}: {why}");
            assert!(!why.contains(&"x".repeat(501)) && !why.contains("sk-secret"), "{why}");
            assert_eq!(server.received().len(), 1, "{reply:?}");
        }
    }
}

#[test]
fn what_may_pass_is_tried_again() {
    for wire in BOTH {
        for first in [
            Reply::status(500, "oops"),
            Reply::status(503, "busy"),
            Reply::status(408, ""),
            Reply::status(409, ""),
            Reply::status(429, ""),
            Reply::Cut(wire.says("fine")),
            Reply::Close,
        ] {
            let server = Server::with_replies(vec![first.clone(), Reply::ok(wire.says("fine"))]);
            let outcome = wire.ask(&server);
            assert!(matches!(&outcome, Ok(text) if text == "fine"), "{first:?}: {outcome:?}");
            assert_eq!(server.received().len(), 2, "{first:?}");
        }
    }
}

#[test]
fn retry_after_is_honoured() {
    for wire in BOTH {
        let busy = Reply::Answer(429, &[("retry-after", "1")], "busy".to_owned());
        let server = Server::with_replies(vec![busy, Reply::ok(wire.says("fine"))]);
        let start = Instant::now();
        assert!(wire.ask(&server).is_ok());
        let waited = start.elapsed();
        assert!(waited >= Duration::from_secs(1), "{waited:?}");
    }
}

#[test]
fn tries_end() {
    for wire in BOTH {
        let cut = Reply::Cut(wire.says("a reply that is long enough to break off"));
        for (reply, part) in [(Reply::status(500, "oops"), "oops"), (cut, "closed")] {
            let server = Server::with_replies(vec![reply]);
            let why = failure(wire.ask(&server));
            assert!(why.contains("after 3 attempts"), "{why}");
            assert!(why.contains(part) || why.contains("disconnect"), "{why}");
            assert_eq!(server.received().len(), 3);
        }
    }
}

#[test]
fn a_server_that_hangs_is_left() {
    for wire in BOTH {
        let server = Server::with_replies(vec![Reply::Hang(Duration::from_secs(30))]);
        let summarizer = wire.summarizer(&server.address, Duration::from_millis(300), Map::new());
        let start = Instant::now();
        let why = failure(summarizer.summarize(&[Utterance::new(Speaker::User, "hi")], &words(20)));
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(why.contains("no answer in time"), "{why}");
        assert_eq!(server.received().len(), 1, "the next wait would be as long");
    }
}

#[test]
fn nobody_there_is_said_so() {
    for wire in BOTH {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr());
        let address = format!("http://{}", free.expect("loopback has a free port"));
        let summarizer = wire.summarizer(&address, Duration::from_secs(5), Map::new());
        let why = failure(summarizer.summarize(&[], &words(20)));
        assert!(why.contains(&address) && why.contains("refused"), "{why}");
    }
}

#[test]
fn an_address_that_is_none_is_said_so() {
    for wire in BOTH {
        let summarizer = wire.summarizer("not an address", Duration::from_secs(5), Map::new());
        let why = failure(summarizer.summarize(&[], &words(20)));
        assert!(why.contains("not an address"), "{why}");
    }
}

/// A model whose context holds 1,000 characters of transcript, and how the two kinds of server say so.
#[test]
fn an_overflow_is_split_and_summarized_in_levels() {
    for wire in BOTH {
        for error in [
            r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_ctx":1}}"#,
            r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
        ] {
            let server = Server::answering(move |nth, request| {
                let body: Value = serde_json::from_str(&request.body).expect("the body is JSON");
                let reported = body["messages"].as_array().and_then(|all| all.last()).expect("a message");
                match reported["content"].as_str().map_or(0, str::len) {
                    0..1000 => Reply::ok(wire.says(&format!("part {nth}"))),
                    _ => Reply::status(400, error),
                }
            });
            let said: Vec<_> = (0..4).map(|n| Utterance::new(Speaker::User, format!("{n} ").repeat(300))).collect();
            let text = wire.ask_about(&server, &said).expect("halves fit in the end");
            let bodies = server.received();
            assert_eq!(bodies.len(), 10, "the whole, two halves of two quarters, three joins");
            let last = &bodies[9].body;
            assert!(last.contains("part 4") && last.contains("part 8"), "{last}");
            assert_eq!(text, "part 9");
        }
    }
}

#[test]
fn a_context_too_small_for_anything_is_said_so() {
    for wire in BOTH {
        let server = Server::with_replies(vec![Reply::status(400, "context_length_exceeded")]);
        let why = failure(wire.ask_about(&server, &[Utterance::new(Speaker::User, "word ".repeat(500))]));
        assert!(why.contains("larger context") && why.contains("context_length_exceeded"), "{why}");
    }
}
