//! Makes the tables of the encodings from the ranks in tiktoken-rs when `curtail` is built. The program uses most of
//! them in place: nothing is parsed or allocated when it starts. For the encodings of older models, the binary contains
//! only the merges, and the program makes the tables when an encoding is first used.

#[path = "src/tokenizers/tiktoken/tables.rs"]
mod tables;

use std::error::Error;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::{env, fs};

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

use tables::{CLASS_BLOCK, MergeTable, NAMES, NO_PAIR, Tables, Tokens, class};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    name_tables()?;
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let mut module = String::new();
    write_classes(out)?;
    for &(name, load) in RANKS {
        let tokens = learn(&Ranks::load(load)?).map_err(|error| format!("{name}: {error}"))?;
        writeln!(module, "/// The tables of `{name}`.")?;
        writeln!(module, "pub(crate) fn {name}() -> &'static Vocabulary {{")?;
        if IN_PLACE.contains(&name) {
            write_tables(&mut module, out, name, &tokens)?;
        } else {
            fs::write(out.join(format!("{name}.pairs")), tokens.packed())?;
            writeln!(module, "    static MADE: LazyLock<Vocabulary> = LazyLock::new(|| {{")?;
            writeln!(module, "        Vocabulary::from_packed(in_place!(\"{name}.pairs\"))")?;
            writeln!(module, "    }});\n    &MADE")?;
        }
        writeln!(module, "}}")?;
    }
    Ok(fs::write(out.join("vocabularies.rs"), module)?)
}

/// Where the sources are that decide what is kept of a `tokenizer.json`.
const KEPT: [&str; 2] = ["src/tokenizers/huggingface", "src/tokenizers/tiktoken"];

/// Names the version of the tables, by the text of these sources.
fn name_tables() -> Result<()> {
    let mut hasher = DefaultHasher::new();
    for folder in KEPT {
        println!("cargo::rerun-if-changed={folder}");
        let sources = fs::read_dir(folder)?.map(|source| Ok(source?.path()));
        let mut sources = sources.collect::<std::io::Result<Vec<_>>>()?;
        sources.sort();
        for source in sources {
            fs::read(source)?.hash(&mut hasher);
        }
    }
    println!("cargo::rustc-env=CURTAIL_TABLES={:x}", hasher.finish());
    Ok(())
}

/// Writes the tables, and declares the vocabulary as a static that borrows them.
fn write_tables(module: &mut String, out: &Path, name: &str, tokens: &Tokens) -> Result<()> {
    let Tables { longest, all } = Tables::from_tokens(tokens);
    writeln!(module, "    static IN_PLACE: Vocabulary = Vocabulary::from_tables({longest}, [")?;
    for (table, bytes) in NAMES.iter().zip(all) {
        fs::write(out.join(format!("{name}.{table}")), bytes)?;
        writeln!(module, "        in_place!(\"{name}.{table}\"),")?;
    }
    Ok(writeln!(module, "    ], &[]);\n    &IN_PLACE")?)
}

// The class of every code point, from the Unicode tables of the regex crate, which tiktoken-rs splits with.

const CLASSES: &[(&str, u8)] = &[
    (r"[\p{P}\p{S}]", class::OTHER),
    (r"\s", class::SPACE),
    (r"[\r\n]", class::NEWLINE),
    (r"\p{N}", class::NUMBER),
    (r"\p{M}", class::MARK),
    (r"[\p{Lm}\p{Lo}]", class::UNCASED),
    (r"\p{Ll}", class::LOWER),
    (r"[\p{Lu}\p{Lt}]", class::UPPER),
];

/// Writes the number of the block of every 128 code points to one file, and the distinct blocks to another.
fn write_classes(out: &Path) -> Result<()> {
    let classes = classes()?;
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut numbers = Vec::new();
    for block in classes.chunks(CLASS_BLOCK) {
        let known = blocks.iter().position(|other| *other == block);
        numbers.push(u8::try_from(known.unwrap_or(blocks.len()))?);
        if known.is_none() {
            blocks.push(block);
        }
    }
    fs::write(out.join("classes.blocks"), numbers)?;
    Ok(fs::write(out.join("classes"), blocks.concat())?)
}

fn classes() -> Result<Vec<u8>> {
    let mut classes = vec![class::SILENT; 0x11_0000];
    for (pattern, class) in CLASSES {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(set)) = hir.kind() else {
            return Err(format!("{pattern} is not a class").into());
        };
        for range in set.ranges() {
            classes[range.start() as usize..=range.end() as usize].fill(*class);
        }
    }
    if classes[0x5000..0x9000].iter().any(|class| *class != class::UNCASED) {
        return Err("U+5000 to U+8FFF are not all letters without case".into());
    }
    Ok(classes)
}

// The tokens of the encodings in the order of their ranks, from tiktoken-rs.

type Load = fn() -> std::result::Result<CoreBPE, anyhow::Error>;

/// The ranks that encodings use, as tiktoken-rs calls them.
const RANKS: &[(&str, Load)] = &[
    ("o200k_base", tiktoken_rs::o200k_base),
    ("cl100k_base", tiktoken_rs::cl100k_base),
    ("p50k_base", tiktoken_rs::p50k_base),
    ("r50k_base", tiktoken_rs::r50k_base),
];

/// The ranks whose tables are in the binary. The others belong to models from before 2023.
const IN_PLACE: &[&str] = &["o200k_base", "cl100k_base"];

/// The bytes of each token by its id; empty if the id is unused or a special token.
struct Ranks {
    tokens: Vec<Vec<u8>>,
}

impl Ranks {
    fn load(load: Load) -> Result<Self> {
        let encoding = load()?;
        // The highest id is 199,997.
        let tokens = (0..200_000)
            .map(|id| encoding.decode_bytes(&[id]).unwrap_or_default())
            .map(|token| if is_special(&token) { Vec::new() } else { token });
        Ok(Self { tokens: tokens.collect() })
    }

    /// Ids and bytes of all tokens in use, lowest rank first.
    fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..).zip(&self.tokens).filter(|(_, token)| !token.is_empty()).map(|(id, token)| (id, token.as_slice()))
    }
}

/// Whether a token is special, such as `<|endoftext|>`. It has no rank: in a text, it is counted as text.
fn is_special(token: &[u8]) -> bool {
    token.starts_with(b"<|") && token.ends_with(b"|>") && token.len() > 4
}

// The merges, which the ranks do not contain.

/// Finds the pair that makes each token, in the order of the ranks, by merging its bytes with the pairs found before.
fn learn(ranks: &Ranks) -> Result<Tokens> {
    let bytes: Vec<u8> = ranks.tokens[..256].iter().flatten().copied().collect();
    if bytes.len() != 256 || ranks.tokens[..256].iter().any(|token| token.len() != 1) {
        return Err("the first 256 tokens are not the bytes".into());
    }
    let mut ids = [0; 256];
    for (&byte, id) in bytes.iter().zip(0..) {
        ids[usize::from(byte)] = id;
    }
    let count = ranks.tokens.iter().rposition(|token| !token.is_empty()).map_or(0, |last| last + 1);
    let mut known = MergeTable::new(count);
    let mut pairs = vec![NO_PAIR; count];
    for (id, token) in ranks.iter().filter(|(_, token)| token.len() > 1) {
        let parts = token.iter().map(|byte| ids[usize::from(*byte)]).collect();
        let pair = only_pair(&known, id, parts)
            .ok_or_else(|| format!("token {id} ({token:?}) is not one merge of lower tokens"))?;
        known.insert(pair, id);
        pairs[id as usize] = pair;
    }
    Ok(Tokens::from_pairs(&bytes, pairs))
}

fn only_pair(known: &MergeTable, id: u32, mut parts: Vec<u32>) -> Option<[u32; 2]> {
    known.merge(&mut parts, |merged| merged);
    <[u32; 2]>::try_from(parts).ok().filter(|pair| pair.iter().all(|part| *part < id))
}
