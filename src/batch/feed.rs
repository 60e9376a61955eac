//! What is to be worked on next: blocks of large files, small files whole.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{InputOptions, Opened};
use crate::dialects::{Framing, detect_framing};
use crate::error::Error;
use crate::io::{Blocks, Buffer, Source};
use crate::json::Document;

/// Files up to this length are worked on whole, each by one worker.
const SMALL: u64 = 1024 * 1024;

/// Something to work on.
pub(super) struct Task {
    /// Its number in the batch, from 0.
    pub(super) number: usize,
    pub(super) what: What,
}

pub(super) enum What {
    /// A file that one worker opens, reads and works on alone.
    File(Source, usize),
    /// A file of one transcript or document, opened, of which the worker's buffer holds the first block.
    Whole(Arc<Opened>, Box<Blocks>),
    /// The worker's buffer holds whole records of a file.
    Block {
        opened: Arc<Opened>,
        /// The number of its first line.
        line: usize,
        /// The place of its first byte in the file.
        offset: usize,
        first: bool,
        last: bool,
        /// Bytes of the file, as they lie there, that were read for it.
        taken: u64,
    },
    /// A file that could not be opened, or not be read on.
    Broken(Result<Arc<Opened>, Source>, Error),
}

/// Hands out the tasks of a batch, one at a time.
pub(super) struct Feed<'w> {
    input_options: &'w InputOptions,
    sources: VecDeque<Source>,
    tasks: usize,
    files: usize,
    /// The `records` file that is being handed out in blocks.
    current: Option<Current>,
}

struct Current {
    opened: Arc<Opened>,
    blocks: Box<Blocks>,
    /// The number of the next line.
    line: usize,
    /// The place of the next byte.
    offset: usize,
    taken: u64,
}

impl<'w> Feed<'w> {
    pub(super) fn new(input_options: &'w InputOptions, sources: Vec<Source>) -> Self {
        Self { input_options, sources: sources.into(), tasks: 0, files: 0, current: None }
    }

    /// Whether nothing is left to hand out.
    pub(super) fn is_done(&self) -> bool {
        self.current.is_none() && self.sources.is_empty()
    }

    /// The next task; where it is a block, `buffer` holds its text.
    pub(super) fn next(&mut self, buffer: &mut Buffer) -> Option<Task> {
        if self.current.as_ref().is_some_and(|current| current.opened.left.load(Ordering::Relaxed)) {
            self.current = None;
        }
        let what = match self.current.take() {
            Some(current) => self.block(current, buffer, false),
            None => self.open(buffer)?,
        };
        self.tasks += 1;
        Some(Task { number: self.tasks - 1, what })
    }

    fn open(&mut self, buffer: &mut Buffer) -> Option<What> {
        let source = self.sources.pop_front()?;
        let number = self.files;
        self.files += 1;
        if !self.sources.is_empty() && source.len_hint().is_some_and(|len| len <= SMALL) {
            return Some(What::File(source, number));
        }
        Some(match open(self.input_options, &source, number, buffer) {
            Err(error) => What::Broken(Err(source), error),
            Ok((opened, blocks)) if opened.reading.framing == Framing::Records => {
                self.block(Current { opened, blocks, line: 1, offset: 0, taken: 0 }, buffer, true)
            }
            Ok((opened, blocks)) => What::Whole(opened, blocks),
        })
    }

    fn block(&mut self, mut current: Current, buffer: &mut Buffer, first: bool) -> What {
        if !first && let Err(error) = current.blocks.next_lines(buffer) {
            return What::Broken(Ok(current.opened), error);
        }
        let (line, offset) = (current.line, current.offset);
        current.offset += buffer.len();
        current.line += memchr::memchr_iter(b'\n', buffer).count();
        let taken = current.blocks.taken() - current.taken;
        current.taken += taken;
        let opened = Arc::clone(&current.opened);
        let last = current.blocks.is_done();
        self.current = (!last).then_some(current);
        What::Block { opened, line, offset, first, last, taken }
    }
}

/// Opens `source`, reads its first block and decides how it is read.
pub(super) fn open(
    input_options: &InputOptions,
    source: &Source,
    number: usize,
    buffer: &mut Buffer,
) -> Result<(Arc<Opened>, Box<Blocks>), Error> {
    let mut blocks = Box::new(Blocks::open(source)?);
    blocks.next_lines(buffer)?;
    let head = valid_prefix(buffer);
    let framing = input_options.framing.unwrap_or_else(|| detect_framing(head, input_options.messages_key.as_deref()));
    let mut reading = input_options.reading(framing)?;
    if reading.dialect.is_none() {
        reading.dialect = reading.dialect_of_head(head);
    }
    let packing = blocks.packing();
    Ok((Arc::new(Opened { source: source.clone(), number, packing, reading, left: AtomicBool::new(false) }), blocks))
}

/// Reads on to the end of a file that is one unit, unless its first lines show already that it never will be, all of them:
/// an endless stream of what is no JSON must end.
pub(super) fn read_whole(blocks: &mut Blocks, framing: Framing, buffer: &mut Buffer) -> Result<(), Error> {
    let hopeless = framing == Framing::Lines
        && !buffer.is_empty()
        && valid_prefix(buffer).lines().take(16).all(|line| Document::read_all(line).is_err());
    if hopeless || blocks.is_done() { Ok(()) } else { blocks.rest(buffer) }
}

/// What of `bytes` is text.
pub(super) fn valid_prefix(bytes: &[u8]) -> &str {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}
