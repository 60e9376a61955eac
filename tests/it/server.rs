//! A server on loopback that speaks HTTP/1.1, written with std only: it answers as a test specifies, or fails as servers
//! do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// An address that refuses connections, and what keeps it: its port is that of an open connection, which no other program can
/// take meanwhile.
pub fn nobody() -> ((TcpListener, TcpStream), SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let client = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
    let address = client.local_addr().expect("it is connected");
    ((listener, client), address)
}

/// What came in.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// `POST /v1/messages HTTP/1.1`
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The response.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A whole answer.
    Answer(u16, &'static [(&'static str, &'static str)], String),
    /// An answer that breaks off half-way through its body.
    Cut(String),
    /// The connection is closed without a word.
    Close,
    /// Nothing for so long.
    Hang(Duration),
}

impl Reply {
    pub fn ok(body: impl Into<String>) -> Self {
        Self::Answer(200, &[], body.into())
    }

    pub fn status(status: u16, body: &str) -> Self {
        Self::Answer(status, &[], body.to_owned())
    }
}

/// A running server. Its threads end with the test's process.
pub struct Server {
    pub address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Answers the first request with the first reply, and so on; the last one for ever.
    pub fn with_replies(replies: Vec<Reply>) -> Self {
        Self::answering(move |nth, _| replies[nth.min(replies.len() - 1)].clone())
    }

    /// Answers the n-th request (from 0) with what `answer` makes of it.
    pub fn answering(answer: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&received), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &log, &*answer));
            }
        });
        Self { address, received }
    }

    /// All that came in so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no thread panicked").clone()
    }
}

/// One request of one connection: every reply says that it closes.
fn serve(
    mut stream: TcpStream,
    log: &Mutex<Vec<Received>>,
    answer: &(dyn Fn(usize, &Received) -> Reply + Send + Sync),
) {
    let Some(request) = read_request(&stream) else {
        return;
    };
    let nth = {
        let mut log = log.lock().expect("no thread panicked");
        log.push(request.clone());
        log.len() - 1
    };
    // A client that went away needs no answer.
    let _ = match answer(nth, &request) {
        Reply::Answer(status, headers, body) => write(&mut stream, status, headers, &body, body.len()),
        Reply::Cut(body) => write(&mut stream, 200, &[], &body[..body.len() / 2], body.len()),
        Reply::Close => Ok(()),
        Reply::Hang(time) => {
            thread::sleep(time);
            Ok(())
        }
    };
}

fn read_request(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut request = Received::default();
    reader.read_line(&mut request.line).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let header = (name.to_lowercase(), value.trim().to_owned());
        request.headers.push(header);
    }
    let length = request.header("content-length").map_or(Ok(0), str::parse).ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.line.truncate(request.line.trim_end().len());
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

fn write(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
    length: usize,
) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n"
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
    stream.flush()
}
