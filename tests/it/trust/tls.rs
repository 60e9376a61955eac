//! Certificates that are trusted, and proxies that fail. The servers are real and on loopback; `openssl` makes the
//! certificates.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::{ask, folder, text};
use crate::server::{Reply, Server, nobody};

/// Makes `ca.pem`, a private authority, and `server.pem` with `server.key`, which it issued for 127.0.0.1.
fn authority(folder: &Path) {
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n").expect("it can be written");
    let new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let ca = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Private authority", "-days", "30"];
    let request = ["req", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"];
    let issue = [
        "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
        "server.pem", "-days", "30", "-extfile", "names",
    ];
    for arguments in [[&ca[..], &new].concat(), [&request[..], &new].concat(), issue.to_vec()] {
        let output = Command::new("openssl").args(&arguments).current_dir(folder).output();
        let output = output.expect("openssl is installed: this test needs it to make certificates");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    }
}

/// A server with the certificate of `folder` that answers every request with a summary. Returns its address.
fn serve(folder: &Path) -> String {
    let chain = vec![CertificateDer::from_pem_file(folder.join("server.pem")).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("the key belongs to the certificate");
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = format!("https://{}", listener.local_addr().expect("it is bound"));
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            // A client that does not trust the certificate goes away.
            drop(answer(StreamOwned::new(connection, stream)));
        }
    });
    address
}

fn answer(stream: StreamOwned<ServerConnection, std::net::TcpStream>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        line.clear();
    }
    reader.read_exact(&mut vec![0; length])?;
    let body = json!({"choices": [{"message": {"content": "Fine."}}]}).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let stream = reader.get_mut();
    stream.write_all(format!("{head}{body}").as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

#[test]
fn a_private_authority_is_trusted_if_it_is_named() {
    let folder = folder();
    authority(folder.path());
    let address = serve(folder.path());
    let flags = ["--summarizer", "openai", "--endpoint", &address];
    let output = ask(folder.path(), &[], &flags);
    let why = text(&output.stderr);
    assert!(output.status.code() == Some(2) && why.contains("--ca-file"), "{why}");
    let output = ask(folder.path(), &[], &[&flags[..], &["--ca-file", "ca.pem"]].concat());
    assert!(text(&output.stdout).contains("Fine."), "{}", text(&output.stderr));
}

/// `SSL_CERT_FILE` takes the place of the system's certificates, on every system but Windows and macOS too.
#[test]
fn an_authority_of_the_system_is_trusted() {
    let folder = folder();
    authority(folder.path());
    let address = serve(folder.path());
    let file = folder.path().join("ca.pem");
    let environment = [("SSL_CERT_FILE", file.to_str().expect("UTF-8"))];
    let output = ask(folder.path(), &environment, &["--summarizer", "openai", "--endpoint", &address]);
    assert!(text(&output.stdout).contains("Fine."), "{}", text(&output.stderr));
}

#[test]
fn a_file_without_certificates_is_said() {
    let folder = folder();
    std::fs::write(folder.path().join("empty.pem"), "nothing\n").expect("it can be written");
    for (file, part) in [("empty.pem", "empty.pem: contains no certificate"), ("none.pem", "none.pem: cannot read")] {
        let flags = ["--summarizer", "openai", "--endpoint", "https://llm.example", "--ca-file", file];
        let output = ask(folder.path(), &[], &flags);
        assert!(output.status.code() == Some(2) && text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
    let output = ask(folder.path(), &[], &["--ca-file", "empty.pem"]);
    assert!(text(&output.stderr).contains("--ca-file needs --summarizer openai or anthropic"));
}

#[test]
fn a_proxy_that_fails_is_named() {
    let (_held, free) = nobody();
    let denies = Server::with_replies(vec![Reply::status(407, "who are you?")]);
    let denying = denies.address.trim_start_matches("http://");
    for (variable, proxy, endpoint, parts) in [
        (
            "HTTPS_PROXY",
            format!("http://me:hunter22@{free}"),
            "https://llm.example/v1",
            [format!("http://***@{free} (HTTPS_PROXY)"), "refused".into()],
        ),
        (
            "ALL_PROXY",
            format!("http://{free}"),
            "http://llm.example/v1",
            [format!("http://{free} (ALL_PROXY)"), "refused".into()],
        ),
        (
            "https_proxy",
            format!("http://{denying}"),
            "https://llm.example/v1",
            [format!("http://{denying} (https_proxy)"), "proxy".into()],
        ),
        (
            "HTTPS_PROXY",
            "http://a b".to_owned(),
            "https://llm.example/v1",
            ["HTTPS_PROXY is not the address of a proxy".into(), "http://HOST:PORT".into()],
        ),
    ] {
        let output = ask(folder().path(), &[(variable, &proxy)], &["--summarizer", "openai", "--endpoint", endpoint]);
        let why = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{why}");
        assert!(parts.iter().all(|part| why.contains(part)) && !why.contains("hunter22"), "{variable}={proxy}: {why}");
    }
    // A server on this machine is reached without a proxy, and so is a host of NO_PROXY.
    let server =
        Server::with_replies(vec![Reply::ok(json!({"choices": [{"message": {"content": "Fine."}}]}).to_string())]);
    let proxy = format!("http://{free}");
    let output =
        ask(folder().path(), &[("ALL_PROXY", &proxy)], &["--summarizer", "openai", "--endpoint", &server.address]);
    assert!(text(&output.stdout).contains("Fine."), "{}", text(&output.stderr));
}
