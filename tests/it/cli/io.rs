//! One input, one output: which bytes are read, and which are written.

use crate::program::{Place, chat, chats, gzip, text, zstd};

/// Input on standard input, output, words on standard error, status.
type IoCase = (&'static str, &'static [u8], &'static [u8], &'static str, i32);

const CASES: &[IoCase] = &[
    ("nothing", b"", b"", "", 0),
    ("only white space", b" \n\n", b" \n\n", "", 0),
    ("zeros", b"\0\0\0\0", b"", "stdin:1:1: expected a JSON value", 2),
    ("no JSON", b"y\ny\n", b"", "stdin:1:1: expected a JSON value", 2),
    ("CRLF", b"{\"messages\":[]}\r\n{\"messages\":[]}\r\n", b"{\"messages\":[]}\r\n{\"messages\":[]}\r\n", "", 0),
    ("byte order mark", b"\xef\xbb\xbf{\"messages\":[]}\n", b"\xef\xbb\xbf{\"messages\":[]}\n", "", 0),
    ("no last line end", b"{\"messages\":[]}\n{\"messages\":[]}", b"{\"messages\":[]}\n{\"messages\":[]}", "", 0),
    (
        "blank lines",
        b"{\"messages\":[]}\n\n \n{\"messages\":[]}\n",
        b"{\"messages\":[]}\n\n \n{\"messages\":[]}\n",
        "",
        0,
    ),
    (
        "torn last record",
        b"{\"messages\":[]}\n{\"messages\":[",
        b"{\"messages\":[]}\n",
        "stdin:2:14: the text ends inside a value",
        2,
    ),
    (
        "invalid UTF-8",
        b"{\"messages\":[]}\n{\"x\":\"\xc3\xa9\xff\"}\n",
        b"{\"messages\":[]}\n",
        "stdin:2:8: invalid UTF-8",
        2,
    ),
    ("no messages", b"{\"messages\":[]}\n{\"x\":1}\n", b"{\"messages\":[]}\n", "stdin:2:1: no list of messages", 2),
];

#[test]
fn bytes_in_bytes_out() {
    let place = Place::new();
    for (name, input, output, expected, status) in CASES {
        let done = place.curtail(&["window"]).write_stdin(*input).output().unwrap();
        assert_eq!(text(&done.stdout), text(output), "{name}");
        assert!(text(&done.stderr).contains(expected), "{name}: {}", text(&done.stderr));
        assert_eq!(done.stderr.is_empty(), expected.is_empty(), "{name}: {}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(*status), "{name}");
    }
}

#[test]
fn a_long_line_is_read_whole() {
    let place = Place::new();
    let input = chat("long", 3).replace("question 1", &"x".repeat(3_000_000));
    let done = place.curtail(&["window", "-n", "100"]).write_stdin(input.as_str()).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stdout == input.as_bytes(), "the line came back otherwise");
}

/// The first block ends with the first line, which alone could be a whole document.
#[test]
fn a_list_longer_than_a_block_is_the_first_of_many() {
    let place = Place::new();
    let long = format!("[{{\"role\":\"user\",\"content\":\"{}\"}}]\n", "x".repeat(3_000_000));
    for lines in [long.repeat(2), format!("{long}[]\n{long}")] {
        place.write("lists.jsonl", lines.as_bytes());
        let done = place.curtail(&["window", "-n", "100", "lists.jsonl"]).output().unwrap();
        assert_eq!(text(&done.stderr), "");
        assert!(done.stdout == lines.as_bytes(), "the lines came back otherwise");
    }
}

#[test]
fn packed_streams_are_known_by_their_bytes_and_written_by_their_name() {
    let place = Place::new();
    let plain = chats(40);
    let cut = place.curtail(&["window", "-n", "2"]).write_stdin(plain.as_str()).output().unwrap().stdout;
    // Two members, as `cat one.gz two.gz` leaves them.
    let (head, tail) = plain.split_at(plain.len() / 3);
    for (name, packed) in [("a.jsonl", [gzip(head), gzip(tail)].concat()), ("b.jsonl", zstd(&plain))] {
        place.write(name, &packed);
        let done = place.curtail(&["window", "-n", "2", name]).output().unwrap();
        assert!(done.stdout == cut, "{name}");
    }
    for name in ["out.jsonl.gz", "out.jsonl.zst", "out.JSONL.GZ", "out.Zst"] {
        let done = place.curtail(&["window", "-n", "2", "a.jsonl", "-o", name]).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert_ne!(place.read(name), cut, "{name} is not packed");
        let again = place.curtail(&["window", "-n", "2", name]).output().unwrap();
        assert!(again.stdout == cut, "{name}");
    }
}

#[test]
fn a_broken_packed_stream_is_an_error_with_its_place_and_no_output() {
    let place = Place::new();
    let packed = gzip(&chats(40));
    let mut corrupt = packed.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 8].fill(0xff);
    let zstd = zstd(&chats(40));
    for (name, bytes, expected) in [
        ("cut.jsonl.gz", &packed[..packed.len() / 2], "the gzip stream is cut short near byte"),
        ("corrupt.jsonl.gz", &corrupt, "the gzip stream is corrupt near byte"),
        ("cut.jsonl.zst", &zstd[..zstd.len() / 2], "the zstd stream is cut short near byte"),
    ] {
        place.write(name, bytes);
        let done = place.curtail(&["window", name, "-o", "out"]).output().unwrap();
        assert!(text(&done.stderr).contains(expected), "{}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(2));
        assert!(!place.path("out").exists(), "{name} left an output");
    }
}
