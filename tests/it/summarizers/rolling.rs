//! The rolling window against a small reference that plays it message by message, as its description has it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use curtail_facts::Facts;
use curtail_memory::rolling::{InteractionRange, Rolling, RollingState, Summary};

fn rolling(window: usize, max_summaries: usize) -> Rolling {
    Rolling {
        window: NonZeroUsize::new(window).expect("not zero"),
        max_summaries: NonZeroUsize::new(max_summaries).expect("not zero"),
    }
}

/// Plays the description: add one; if there is one too many, slide; when the first is too many, and every `window`
/// after, summarize what is held; drop the oldest summary if there is one too many.
#[derive(Default)]
struct Reference {
    held: VecDeque<usize>,
    summaries: VecDeque<(usize, usize)>,
    since: Option<usize>,
}

impl Reference {
    fn add(&mut self, message: usize, window: usize, max_summaries: usize) {
        self.held.push_back(message);
        if self.held.len() > window {
            self.held.pop_front();
            let since = self.since.map_or(window, |since| since + 1);
            self.since = Some(since % window);
            if since == window {
                self.summaries.push_back((self.held[0], message));
            }
        }
        if self.summaries.len() > max_summaries {
            self.summaries.pop_front();
        }
    }
}

fn advance(memory: &mut RollingState, rolling: Rolling, seen: usize, asked: &mut usize) {
    let due = memory.due(rolling, seen);
    *asked += due.len();
    let tell = |span: InteractionRange| Summary {
        range: span.into(),
        text: format!("{}-{}", span.start, span.end),
        facts: Facts::default(),
        ts: None,
    };
    memory.advance(rolling, seen, due.into_iter().map(tell).collect());
}

fn ranges(memory: &RollingState) -> Vec<(usize, usize)> {
    memory.summaries.iter().map(|summary| (summary.range.span.start, summary.range.span.end)).collect()
}

#[test]
fn the_table_of_the_design_holds() {
    let shape = rolling(21, 3);
    for (seen, summaries, held) in [
        (0, &[][..], (1, 0)),
        (1, &[], (1, 1)),
        (21, &[], (1, 21)),
        (22, &[(2, 22)], (2, 22)),
        (42, &[(2, 22)], (22, 42)),
        (43, &[(2, 22), (23, 43)], (23, 43)),
        (64, &[(2, 22), (23, 43), (44, 64)], (44, 64)),
        (84, &[(2, 22), (23, 43), (44, 64)], (64, 84)),
        (85, &[(23, 43), (44, 64), (65, 85)], (65, 85)),
    ] {
        let mut memory = RollingState::default();
        advance(&mut memory, shape, seen, &mut 0);
        assert_eq!(ranges(&memory), summaries, "after {seen}");
        let (start, end) = held;
        assert_eq!(shape.held(seen), InteractionRange { start, end }, "after {seen}");
    }
}

#[test]
fn every_length_is_as_the_reference_plays_it() {
    for window in 2..=40 {
        for max_summaries in 1..=5 {
            every_message(rolling(window, max_summaries));
        }
    }
}

fn every_message(shape: Rolling) {
    let (window, max_summaries) = (shape.window.get(), shape.max_summaries.get());
    let (mut reference, mut by_one) = (Reference::default(), RollingState::default());
    let mut asked = 0;
    for seen in 1..=300 {
        reference.add(seen, window, max_summaries);
        advance(&mut by_one, shape, seen, &mut asked);
        let mut at_once = RollingState::default();
        advance(&mut at_once, shape, seen, &mut 0);
        assert_eq!(at_once, by_one, "{shape:?} after {seen}");
        assert_eq!(ranges(&by_one), Vec::from(reference.summaries.clone()), "{shape:?} after {seen}");
        let held = shape.held(seen);
        assert_eq!((held.start, held.end), (reference.held[0], seen), "{shape:?} after {seen}");
        assert_eq!(held.len(), reference.held.len());
        assert!(held.len() <= window && by_one.summaries.len() <= max_summaries);
        assert_eq!(shape.due(seen).is_some(), reference.since == Some(0), "{shape:?} at {seen}");
    }
    assert_eq!(asked, 299 / window, "each summary is asked for once");
}

#[test]
fn steps_of_any_size_end_the_same() {
    let shape = rolling(4, 2);
    for step in 1..50 {
        let (mut stepped, mut at_once) = (RollingState::default(), RollingState::default());
        for seen in (step..=100).step_by(step).chain([100]) {
            advance(&mut stepped, shape, seen, &mut 0);
        }
        advance(&mut at_once, shape, 100, &mut 0);
        assert_eq!(stepped, at_once, "steps of {step}");
    }
}

#[test]
fn what_was_seen_is_not_seen_again() {
    let shape = rolling(2, 3);
    let mut memory = RollingState::default();
    let mut asked = 0;
    for seen in [9, 9, 4, 9] {
        advance(&mut memory, shape, seen, &mut asked);
    }
    assert_eq!((memory.seen, asked), (9, 3));
}

#[test]
fn a_memory_outlives_its_process_as_json() {
    let mut memory = RollingState::default();
    advance(&mut memory, rolling(21, 3), 22, &mut 0);
    let text = serde_json::to_string(&memory).expect("it can be written");
    assert_eq!(text, r#"{"seen":22,"summaries":[{"range":{"startIndex":2,"endIndex":22},"text":"2-22"}]}"#);
    assert_eq!(serde_json::from_str::<RollingState>(&text).ok(), Some(memory));
}
