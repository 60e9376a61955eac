//! The fixtures and the real transcripts, and how a file is read and cut.

use std::path::{Path, PathBuf};

use curtail_core::dialects::{Dialect, Framing, ReadError, Reading, detect_framing, rebuilt};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::transcript::Transcript;

use crate::laws::check::cut_with;

/// A file, with the name that it has below its folder.
pub struct File {
    pub name: String,
    pub text: String,
}

/// The folder of the fixtures, with a folder for each dialect.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects")
}

/// The fixtures of every dialect, by `dialect/file`, in order.
pub fn fixtures() -> Vec<File> {
    below(&folder())
}

/// The folder with real transcripts, which `CURTAIL_DATA` names.
pub fn real_data() -> Option<PathBuf> {
    std::env::var_os("CURTAIL_DATA").map(PathBuf::from).filter(|folder| folder.is_dir())
}

/// Where every file of JSON below `folder` is, in order.
pub fn paths(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let paths = walk.map(|entry| entry.expect("the folder can be walked").into_path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jsonl" || kind == "json");
    paths.filter(|path| path.is_file() && is_json(path)).collect()
}

/// The text of the fixture with this name, such as `pi/branches.jsonl`.
pub fn fixture(name: &str) -> String {
    file(&folder(), &folder().join(name)).text
}

/// `text` after `chain`, in the framing and the dialect that are detected.
pub fn cut(chain: Chain, text: &str) -> String {
    cut_with(chain, None, detect_framing(text, None), text).expect("it can be cut")
}

/// Every file of JSON below `root`, in order.
pub fn below(root: &Path) -> Vec<File> {
    paths(root).iter().map(|path| file(root, path)).collect()
}

fn file(root: &Path, path: &Path) -> File {
    let name = path.strip_prefix(root).expect("it is below").to_string_lossy().replace('\\', "/");
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let text = rebuilt(&text).map_or(Ok(text), |made| made).expect("the patches can be applied");
    File { name, text }
}

/// The framing of a text, and its pieces that each hold one transcript or more: its lines where each is a record.
pub fn pieces(text: &str) -> (Framing, Vec<&str>) {
    let framing = detect_framing(text, None);
    match framing {
        Framing::Records => (framing, text.split_inclusive('\n').collect()),
        Framing::Lines | Framing::Document => (framing, vec![text]),
    }
}

/// Reads every transcript of `text` and hands it to `see`.
pub fn read_transcripts(text: &str, mut see: impl FnMut(&dyn Dialect, &Transcript<'_>)) -> Result<Framing, ReadError> {
    let (framing, pieces) = pieces(text);
    let reading = Reading { framing, dialect: None, named: false, messages_key: None };
    for piece in pieces {
        let document = Document::parse_log(piece)
            .map_err(|fault| ReadError { offset: fault.offset, what: fault.kind.to_string() })?;
        for (dialect, transcript) in reading.transcripts(&document)? {
            see(dialect, &transcript);
        }
    }
    Ok(framing)
}
