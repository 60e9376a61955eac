//! Both HTTP summarizers against a server on loopback that answers, refuses, stalls and breaks off.

use std::time::{Duration, Instant};

use crate::server::{Reply, Server, nobody};
use curtail_memory::summarizers::{
    Api, ApiKey, Authorities, Budget, Failure, Http, Model, Prompt, RequestLimits, Speaker, Summarizer, Utterance,
};
use serde_json::{Map, Value, json};

const BOTH: [Wire; 2] = [Wire(Api::OpenAi), Wire(Api::Anthropic)];

#[derive(Clone, Copy, Debug)]
struct Wire(Api);

impl Wire {
    fn summarizer(self, address: &str, total: Duration, extra: Map<String, Value>) -> Box<dyn Summarizer> {
        let (first_wait, longest_wait) = (Duration::from_millis(10), Duration::from_secs(3));
        let limits = RequestLimits { total, retries: 2, first_wait, longest_wait, ..RequestLimits::default() };
        let http = Http::new(limits, Authorities::default());
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "sk-secret\n").expect("a temporary file");
        let key = Some(ApiKey::from_file(file.path()).expect("the key can be read"));
        let api = self.0;
        let endpoint = if api == Api::OpenAi { format!("{address}/v1") } else { address.to_owned() };
        let (endpoint, model, prompt) = (endpoint.parse().expect("an address"), "m".to_owned(), Prompt::default());
        Box::new(Model { api, endpoint, model, key, prompt, extra, http })
    }

    /// A good answer, as this wire format writes it.
    fn body(self, text: &str) -> String {
        match self.0 {
            Api::OpenAi => json!({"choices": [{"message": {"role": "assistant", "content": text}}]}),
            Api::Anthropic => json!({"content": [{"type": "text", "text": text}]}),
        }
        .to_string()
    }

    /// Asks `server` for a summary of at most 20 words.
    fn ask(self, server: &Server) -> Result<String, Failure> {
        self.ask_about(server, &[Utterance::new(Speaker::User, "Please fix src/main.rs")])
    }

    fn ask_about(self, server: &Server, utterances: &[Utterance<'_>]) -> Result<String, Failure> {
        let summarizer = self.summarizer(&server.address, crate::program::GUARD, Map::new());
        summarizer.summarize(utterances, &words(20))
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
        let server = Server::with_replies(vec![Reply::ok(wire.body("fine"))]);
        assert_eq!(wire.ask(&server).ok().as_deref(), Some("fine"));
        let request = &server.received()[0];
        let body: Value = serde_json::from_str(&request.body).expect("the body is JSON");
        let (line, key, instructions, user) = match wire.0 {
            Api::OpenAi => (
                "POST /v1/chat/completions HTTP/1.1",
                request.header("authorization") == Some("Bearer sk-secret"),
                &body["messages"][0]["content"],
                &body["messages"][1]["content"],
            ),
            Api::Anthropic => (
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
        let server = Server::with_replies(vec![Reply::ok(wire.body("fine"))]);
        let extra = json!({"max_tokens": 7, "top_p": 0.5}).as_object().cloned().unwrap_or_default();
        let summarizer = wire.summarizer(&server.address, crate::program::GUARD, extra);
        let utterances = [Utterance::new(Speaker::User, "hi")];
        let shown = summarizer.request(&utterances, &words(20)).expect("something is sent");
        assert!(summarizer.summarize(&utterances, &words(20)).is_ok());
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
        let server = Server::with_replies(vec![Reply::ok(wire.body(&"word ".repeat(100)))]);
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
            (Reply::status(400, &"x".repeat(2000)), &["status 400", &format!("{}…", "x".repeat(499))]),
            (
                Reply::Answer(302, &[("location", "/elsewhere")], String::new()),
                &["status 302", "redirects are not followed"],
            ),
            (
                Reply::Answer(307, &[("location", "/elsewhere")], String::new()),
                &["status 307", "redirects are not followed"],
            ),
            (Reply::ok("<html>hello</html>"), &["not JSON", "<html>hello"]),
            (Reply::ok(wire.body("")), &["without text"]),
            (Reply::ok(wire.body("<think>so much to do")), &["without text"]),
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
            Reply::Cut(wire.body("fine")),
            Reply::Close,
        ] {
            let server = Server::with_replies(vec![first.clone(), Reply::ok(wire.body("fine"))]);
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
        let server = Server::with_replies(vec![busy, Reply::ok(wire.body("fine"))]);
        let start = Instant::now();
        assert!(wire.ask(&server).is_ok());
        let waited = start.elapsed();
        assert!(waited >= Duration::from_secs(1), "{waited:?}");
    }
}

#[test]
fn tries_end() {
    for wire in BOTH {
        let cut = Reply::Cut(wire.body("a reply that is long enough to break off"));
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
        let server = Server::with_replies(vec![Reply::Hang(crate::program::GUARD)]);
        let summarizer = wire.summarizer(&server.address, Duration::from_millis(300), Map::new());
        let why = failure(summarizer.summarize(&[Utterance::new(Speaker::User, "hi")], &words(20)));
        // At the end of the wait, the server would close the connection, which is another error.
        assert!(why.contains("no answer in time"), "{why}");
        assert!(server.received().len() <= 1, "the next wait would be as long");
    }
}

#[test]
fn nobody_there_is_said_so() {
    for wire in BOTH {
        let (_held, free) = nobody();
        let address = format!("http://{free}");
        let summarizer = wire.summarizer(&address, Duration::from_secs(5), Map::new());
        let why = failure(summarizer.summarize(&[], &words(20)));
        assert!(why.contains(&address) && why.contains("refused"), "{why}");
    }
}

/// How servers say that a request exceeds the model's context.
const OVERFLOWS: [(u16, &str); 24] = [
    // llama.cpp
    (400, r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_ctx":1}}"#),
    // OpenAI
    (400, r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#),
    (400, r#"{"error":{"message":"Your input exceeds the context window of this model.","code":null}}"#),
    (
        429,
        r#"{"error":{"message":"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 48210. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    ),
    // vLLM
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}"#,
    ),
    (
        400,
        r#"{"error":{"message":"The decoder prompt (length 9154) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.","code":400}}"#,
    ),
    // OpenRouter, also in an answer whose status is 200
    (
        400,
        r#"{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400}}"#,
    ),
    (200, r#"{"error":{"message":"This endpoint's maximum context length is 32768 tokens.","code":400}}"#),
    (400, r#"{"error":{"message":"Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}"#),
    // Gemini
    (
        400,
        r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
    ),
    (
        400,
        r#"[{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}]"#,
    ),
    // Mistral
    (
        400,
        r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}"#,
    ),
    // Bedrock
    (400, r#"{"message":"Input is too long for requested model."}"#),
    (
        400,
        r#"{"message":"The model returned the following errors: Too many input tokens. Max input tokens: 8192, request input token count: 9000"}"#,
    ),
    // LM Studio
    (
        400,
        r#"{"error":"Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"}"#,
    ),
    (400, r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}"#),
    (200, r#"{"error":"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}"#),
    // TGI
    (
        422,
        r#"{"error":"Input validation error: `inputs` must have less than 1024 tokens. Given: 2000","error_type":"validation"}"#,
    ),
    (
        422,
        r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`","error_type":"validation"}"#,
    ),
    // Anthropic
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209353 tokens > 199999 maximum"}}"#,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
    ),
    (413, r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
    // SGLang, xAI
    (400, r#"{"message":"The input (263000 tokens) is longer than the model's context length (262144 tokens)."}"#),
    (400, r#"{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#),
];

/// A model whose context holds 1,000 characters of transcript.
#[test]
fn an_overflow_is_split_and_summarized_in_levels() {
    for wire in BOTH {
        for (status, error) in OVERFLOWS {
            let server = Server::answering(move |nth, request| {
                let body: Value = serde_json::from_str(&request.body).expect("the body is JSON");
                let reported = body["messages"].as_array().and_then(|all| all.last()).expect("a message");
                match reported["content"].as_str().map_or(0, str::len) {
                    0..1000 => Reply::ok(wire.body(&format!("part {nth}"))),
                    _ => Reply::status(status, error),
                }
            });
            let utterances: Vec<_> =
                (0..4).map(|n| Utterance::new(Speaker::User, format!("{n} ").repeat(300))).collect();
            let text = wire.ask_about(&server, &utterances).unwrap_or_else(|why| panic!("{error}: {why}"));
            let bodies = server.received();
            assert_eq!(bodies.len(), 10, "the whole, two halves of two quarters, three joins: {error}");
            let last = &bodies[9].body;
            assert!(last.contains("part 4") && last.contains("part 8"), "{last}");
            assert_eq!(text, "part 9");
        }
    }
}

/// What is left out of a long result does not come back when the transcript is halved.
#[test]
fn a_long_result_is_shortened_before_it_is_halved() {
    for wire in BOTH {
        let server = Server::answering(move |_, request| match request.body.len() {
            0..14_000 => Reply::ok(wire.body("part")),
            _ => Reply::status(413, "too large"),
        });
        let result = Utterance::new(Speaker::Tool("cat".into()), "word ".repeat(200_000));
        assert_eq!(wire.ask_about(&server, &[result]).ok().as_deref(), Some("part"));
        assert_eq!(server.received().len(), 4, "the whole, two halves and their join");
    }
}

/// A summary that ends in the middle of a word is not taken for a whole one.
#[test]
fn a_summary_that_the_server_cut_is_marked() {
    let openai = json!({"choices": [{"message": {"content": "It began well, bu"}, "finish_reason": "length"}]});
    let anthropic = json!({"content": [{"type": "text", "text": "It began well, bu"}], "stop_reason": "max_tokens"});
    for (wire, answer) in [(Wire(Api::OpenAi), openai), (Wire(Api::Anthropic), anthropic)] {
        let server = Server::with_replies(vec![Reply::ok(answer.to_string())]);
        assert_eq!(wire.ask(&server).ok().as_deref(), Some("It began well, bu …"));
        let summarizer = wire.summarizer(&server.address, crate::program::GUARD, Map::new());
        let text = summarizer.summarize(&[Utterance::new(Speaker::User, "hi")], &words(3)).expect("it answers");
        assert_eq!(text, "It began …", "the mark is within the budget");
    }
}

#[test]
fn a_key_that_the_server_repeats_is_masked() {
    for wire in BOTH {
        let long = format!("{}sk-secret", "x".repeat(495));
        for reply in [
            Reply::status(401, r#"{"error":{"message":"Incorrect API key provided: sk-secret."}}"#),
            Reply::status(400, "Bearer sk-secret"),
            Reply::status(400, &long),
            Reply::ok("sk-secret is no JSON"),
            Reply::ok(wire.body("<think>sk-secret")),
            Reply::Answer(500, &[], "oops sk-secret".to_owned()),
        ] {
            let server = Server::with_replies(vec![reply.clone()]);
            let why = failure(wire.ask(&server));
            assert!(!why.contains("sk-s"), "{reply:?}: {why}");
        }
        let server = Server::with_replies(vec![Reply::ok(wire.body("the key is sk-secret"))]);
        assert_eq!(wire.ask(&server).ok().as_deref(), Some("the key is ***"));
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
