//! The text of a state of the working memory.

use crate::options::choices::TextOrJson;
use curtail_memory::memory::State;

/// The state and a newline; nothing for an empty text.
pub(crate) fn state_text(format: TextOrJson, state: &State) -> String {
    match (format, state) {
        (TextOrJson::Json, _) => state.to_json() + "\n",
        (TextOrJson::Text, State::Text(text)) if text.is_empty() || text.ends_with('\n') => text.clone(),
        (TextOrJson::Text, _) => state.to_text() + "\n",
    }
}
