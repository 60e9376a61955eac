//! Where keys go, and that no message shows one.

use serde_json::json;

use super::{ask, folder, text};
use crate::server::{Reply, Server};

const KEY: &str = "sk-0123456789abcdef";

fn openai(text: &str) -> Reply {
    Reply::ok(json!({"choices": [{"message": {"content": text}}]}).to_string())
}

fn anthropic(text: &str) -> Reply {
    Reply::ok(json!({"content": [{"type": "text", "text": text}]}).to_string())
}

/// The error of a run that must fail.
fn refused(environment: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = ask(folder().path(), environment, arguments);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{arguments:?}");
    text(&output.stderr)
}

#[test]
fn the_variables_of_providers_name_server_and_key() {
    for (summarizer, base, key, reply, line, header, sent) in [
        (
            "openai",
            "OPENAI_BASE_URL",
            "OPENAI_API_KEY",
            openai("Fine."),
            "POST /v1/chat/completions",
            "authorization",
            "Bearer ",
        ),
        (
            "anthropic",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_API_KEY",
            anthropic("Fine."),
            "POST /v1/messages",
            "x-api-key",
            "",
        ),
    ] {
        let server = Server::with_replies(vec![reply]);
        let address = format!("{}/v1", server.address);
        let output = ask(folder().path(), &[(base, &address), (key, KEY)], &["--summarizer", summarizer]);
        assert!(text(&output.stdout).contains("Fine."), "{}", text(&output.stderr));
        let request = &server.received()[0];
        assert!(request.line.starts_with(line), "{}", request.line);
        assert_eq!(request.header(header), Some(format!("{sent}{KEY}").as_str()));
    }
}

#[test]
fn a_flag_comes_before_the_variable() {
    let (server, other) = (Server::with_replies(vec![openai("Fine.")]), Server::with_replies(vec![openai("Wrong.")]));
    let output = ask(
        folder().path(),
        &[("OPENAI_BASE_URL", &other.address)],
        &["--summarizer", "openai", "--endpoint", &server.address],
    );
    assert!(text(&output.stdout).contains("Fine."), "{}", text(&output.stderr));
    assert_eq!((server.received().len(), other.received().len()), (1, 0));
}

#[test]
fn the_query_of_an_endpoint_survives_and_a_whole_address_is_taken() {
    for (path, line) in [
        ("/x?api-version=2024-10-21", "POST /x/chat/completions?api-version=2024-10-21 HTTP/1.1"),
        ("/x/chat/completions?api-version=2024-10-21", "POST /x/chat/completions?api-version=2024-10-21 HTTP/1.1"),
        ("/v1/chat/completions", "POST /v1/chat/completions HTTP/1.1"),
    ] {
        let server = Server::with_replies(vec![openai("Fine.")]);
        let endpoint = format!("{}{path}", server.address);
        let output = ask(folder().path(), &[], &["--summarizer", "openai", "--endpoint", &endpoint]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(server.received()[0].line, line);
    }
}

/// No address that merely looks like a provider's is taken for the provider's, and no key leaves this machine unencrypted.
#[test]
fn a_key_is_not_sent_without_encryption() {
    for (environment, flags, expected) in [
        (
            &[("OPENAI_API_KEY", KEY)][..],
            &["--endpoint", "http://llm.example/v1"][..],
            "could read the key of $OPENAI_API_KEY",
        ),
        (&[("CURTAIL_API_KEY", KEY)], &["--endpoint", "http://llm.example/v1"], "the key of $CURTAIL_API_KEY"),
        (&[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "http://llm.example")], &[], "pass --allow-http"),
        (&[("OPENAI_API_KEY", KEY)], &["--endpoint", "http://127.0.0.1.llm.example/v1"], "is not encrypted"),
        (
            &[],
            &["--endpoint", "http://me:hunter22@llm.example/v1"],
            "http://***@llm.example/v1 is not encrypted, so others could read its password",
        ),
        (&[], &["--endpoint", "localhost:8000/v1"], "has no scheme; write http://localhost:8000/v1"),
        (&[("OPENAI_BASE_URL", "llm.example")], &[], "OPENAI_BASE_URL: the endpoint `llm.example` has no scheme"),
        (&[], &[], "https://api.openai.com/v1 needs a key: set OPENAI_API_KEY"),
        (&[], &["--endpoint", "https://API.openai.com/v1/chat/completions"], "needs a key"),
    ] {
        let why = refused(environment, &[&["--summarizer", "openai"], flags].concat());
        assert!(why.contains(expected) && !why.contains(KEY) && !why.contains("hunter22"), "{flags:?}: {why}");
    }
    // A proxy stands for a host that is not on this machine.
    let server = Server::with_replies(vec![Reply::Close]);
    let environment = [("OPENAI_API_KEY", KEY), ("HTTP_PROXY", server.address.as_str())];
    let flags = ["--summarizer", "openai", "--endpoint", "http://llm.example/v1", "--allow-http"];
    let output = ask(folder().path(), &environment, &flags);
    let why = text(&output.stderr);
    assert!(why.contains(&format!("through the proxy {} (HTTP_PROXY)", server.address)) && !why.contains(KEY), "{why}");
    assert_eq!(server.received()[0].line, "CONNECT llm.example:80 HTTP/1.1");
}

#[test]
fn no_message_shows_a_key_or_a_password() {
    let echo = |_: usize, request: &crate::server::Received| {
        let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        Reply::status(401, &format!("{} {} hunter22 {KEY} AIza-77", request.line, headers.join(", ")))
    };
    for summarizer in ["openai", "anthropic"] {
        let server = Server::answering(echo);
        let host = server.address.trim_start_matches("http://");
        let endpoint = format!("http://me:hunter22@{host}/v1?key=AIza-77&api-version=3");
        for flags in [&[][..], &["--dry-run"], &["--on-summary-error", "extractive"], &["-v", "--cache", "kept"]] {
            let folder = folder();
            let flags = [&["--summarizer", summarizer, "--endpoint", &endpoint], flags].concat();
            let output = ask(folder.path(), &[("CURTAIL_API_KEY", KEY)], &flags);
            let printed = text(&output.stdout) + &text(&output.stderr);
            for secret in [KEY, "hunter22", "AIza-77"] {
                assert!(!printed.contains(secret), "{flags:?}: {printed}");
            }
            assert!(printed.contains("***@") && printed.contains("api-version=3"), "{flags:?}: {printed}");
        }
    }
}

/// A gateway that repeats the request in its error writes the key as its format escapes it.
#[test]
fn no_spelling_of_a_key_is_shown() {
    const ODD: &str = "sk-SECRET/+=0123456789abcdef";
    let percent: String = ODD.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let spellings = [
        ODD.replace("/+=", "%2F%2B%3D"),
        ODD.replace("/+=", "&#x2F;&#43;="),
        ODD.replace("/+=", "\\u002f+="),
        ODD.replace("/+=", "\\/+="),
        ODD.replace("/+=", "/\u{200b}+="),
        ODD.to_lowercase(),
        percent,
        // The key and a user's name in Base64, as `Authorization: Basic` has them.
        String::from("bWU6c2stU0VDUkVULys9MDEyMzQ1Njc4OWFiY2RlZg=="),
    ];
    for spelling in spellings {
        let answer = format!("{{\"error\":\"you sent {spelling} here\"}}");
        let server = Server::answering(move |_: usize, _: &crate::server::Received| Reply::status(400, &answer));
        let flags = ["--summarizer", "openai", "--endpoint", &server.address];
        let output = ask(folder().path(), &[("OPENAI_API_KEY", ODD)], &flags);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(printed.contains("***"), "{spelling}: {printed}");
        for part in ["0123456789", "%30%31", "MDEyMzQ1"] {
            assert!(!printed.contains(part), "{spelling}: {printed}");
        }
    }
}

/// A command of the same chain may print the key of another stage: its standard error is shown without it.
#[test]
fn the_key_of_a_file_is_masked_in_what_a_command_prints() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it can be written");
    write("key.txt", &format!("{KEY}\n"));
    write(
        "chain.toml",
        "[[history.processors]]\ntype = \"summarize\"\nwindow = 1\nsummarizer-cmd = \"sh -c 'cat key.txt >&2; exit 3'\"\n\
         [[history.processors]]\ntype = \"summarize\"\nsummarizer = \"openai\"\nsummary-model = \"m\"\n\
         endpoint = \"http://127.0.0.1:9/v1\"\napi-key-file = \"key.txt\"\n",
    );
    write("chat.jsonl", &"{\"role\":\"user\",\"content\":\"Hello\"}\n".repeat(3));
    let mut command = super::curtail(folder.path());
    let output = command.args(["run", "-c", "chain.toml", "chat.jsonl"]).output().expect("the binary runs");
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("exit status: 3") && printed.contains("***") && !printed.contains(KEY), "{printed}");
}

/// Help names the variable and not its value.
#[test]
fn help_shows_no_endpoint_of_the_environment() {
    let folder = folder();
    let mut command = super::curtail(folder.path());
    command.env("CURTAIL_ENDPOINT", "https://me:hunter22@llm.example").args(["summarize", "--help"]);
    let output = command.output().expect("the binary runs");
    assert!(text(&output.stdout).contains("CURTAIL_ENDPOINT") && !text(&output.stdout).contains("hunter22"));
}

/// A summary in the cache is found again, whatever the key, and its file holds no password.
#[test]
fn a_cache_holds_no_password() {
    let folder = folder();
    let server = Server::with_replies(vec![openai("Fine.")]);
    let host = server.address.trim_start_matches("http://").to_owned();
    for password in ["hunter22", "hunter23"] {
        let endpoint = format!("http://me:{password}@{host}/v1");
        let output = ask(folder.path(), &[], &["--summarizer", "openai", "--endpoint", &endpoint, "--cache", "kept"]);
        assert!(text(&output.stdout).contains("Fine."), "{}", text(&output.stderr));
    }
    assert_eq!(server.received().len(), 1);
    assert!(server.received()[0].header("authorization").is_some_and(|sent| sent.starts_with("Basic ")));
    for entry in std::fs::read_dir(folder.path().join("kept")).expect("the cache") {
        let kept = std::fs::read_to_string(entry.expect("an entry").path()).expect("it can be read");
        assert!(!kept.contains("hunter"), "{kept}");
    }
}
