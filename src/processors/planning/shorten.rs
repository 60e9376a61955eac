//! Texts shortened in the middle until a segment fits: the longest give first, each keeps its beginning and its end.

use super::{Change, Counting};
use crate::tokenizers::Tokenizer;
use crate::transcript::{Content, Message, Part, PartOrigin, PartRef};

/// What stands where the middle was.
const MARKER: &str = "\n[… shortened …]\n";

/// A text that may be shortened.
struct Piece {
    message: usize,
    part: usize,
    text: String,
    tokens: usize,
}

/// The changes that bring the messages `own`, without the parts that are `gone`, down to `budget` tokens, by message;
/// `None` if that cannot be done.
pub(in crate::processors) fn shorten(
    messages: &[Message<'_>],
    own: &[usize],
    gone: impl Fn(PartRef) -> bool,
    budget: usize,
    counting: &Counting,
) -> Option<Vec<(usize, Vec<Change>)>> {
    let left = |&at: &usize| counting.message_without(&messages[at], |part| gone(PartRef { message: at, part }));
    let total: usize = own.iter().map(left).sum();
    let pieces = pieces(messages, own, &gone, counting);
    let texts: usize = pieces.iter().map(|piece| piece.tokens).sum();
    let room = budget.checked_sub(total - texts)?;
    let mut cap = water_level(&pieces, room);
    loop {
        let shortened: Vec<Option<String>> = pieces.iter().map(|piece| middle_out(piece, cap, counting)).collect();
        let count = |(piece, text): (&Piece, &Option<String>)| {
            text.as_ref().map_or(piece.tokens, |text| counting.tokenizer.count(text))
        };
        let sum: usize = pieces.iter().zip(&shortened).map(count).sum();
        if sum <= room {
            return Some(changes(&pieces, shortened));
        }
        // Tokens may join differently where a text was cut: give way until the sum holds.
        cap = cap.checked_sub(1 + (sum - room) / pieces.len().max(1))?;
    }
}

fn pieces(messages: &[Message<'_>], own: &[usize], gone: impl Fn(PartRef) -> bool, counting: &Counting) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for &at in own {
        for (nth, part) in messages[at].parts.iter().enumerate() {
            if gone(PartRef { message: at, part: nth }) {
                continue;
            }
            if let Some(text) = shortenable(part) {
                let tokens = part_tokens(part, counting);
                pieces.push(Piece { message: at, part: nth, text, tokens });
            }
        }
    }
    pieces
}

fn shortenable(part: &Part<'_>) -> Option<String> {
    if let PartOrigin::Source(place) | PartOrigin::Rewritten(place) | PartOrigin::Moved(place) = &part.origin {
        place.rewrite?;
    }
    match &part.content {
        Content::Text(text) => Some(text.decode().into_owned()),
        Content::ToolResult(result) if result.media == 0 => {
            let texts: Vec<_> = result.content.iter().map(|text| text.decode()).collect();
            Some(texts.join("\n"))
        }
        _ => None,
    }
}

fn part_tokens(part: &Part<'_>, counting: &Counting) -> usize {
    match &part.content {
        Content::Text(text) => counting.tokenizer.count(&text.decode()),
        Content::ToolResult(result) => result.content.iter().map(|text| counting.tokenizer.count(&text.decode())).sum(),
        _ => 0,
    }
}

/// The highest cap for which the pieces, each cut down to it, fill at most `room`.
fn water_level(pieces: &[Piece], room: usize) -> usize {
    let filled = |cap: usize| pieces.iter().map(|piece| piece.tokens.min(cap)).sum::<usize>();
    let (mut low, mut high) = (0, room);
    while low < high {
        let cap = low + (high - low).div_ceil(2);
        if filled(cap) <= room { low = cap } else { high = cap - 1 }
    }
    low
}

/// `piece` cut down to `cap` tokens, marker included; `None` if it is no longer than that.
fn middle_out(piece: &Piece, cap: usize, counting: &Counting) -> Option<String> {
    if piece.tokens <= cap {
        return None;
    }
    let tokenizer: &dyn Tokenizer = &*counting.tokenizer;
    let Some(room) = cap.checked_sub(tokenizer.count(MARKER)) else {
        return Some(piece.text[..tokenizer.head(&piece.text, cap)].to_owned());
    };
    let head = tokenizer.head(&piece.text, room.div_ceil(2));
    let tail = tokenizer.tail(&piece.text, room / 2).max(head);
    Some(format!("{}{MARKER}{}", &piece.text[..head], &piece.text[tail..]))
}

fn changes(pieces: &[Piece], shortened: Vec<Option<String>>) -> Vec<(usize, Vec<Change>)> {
    let mut changes: Vec<(usize, Vec<Change>)> = Vec::new();
    for (piece, text) in pieces.iter().zip(shortened) {
        let Some(text) = text else { continue };
        let change = Change::Rewrite(piece.part, text);
        match changes.last_mut() {
            Some((message, own)) if *message == piece.message => own.push(change),
            _ => changes.push((piece.message, vec![change])),
        }
    }
    changes
}
