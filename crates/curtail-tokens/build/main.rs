//! Makes the tables of the encodings from the ranks in tiktoken-rs when `curtail` is built. The program uses most of
//! them in place: nothing is parsed or allocated when it starts. Of the encodings of older models it holds the merges alone,
//! and makes their tables when one is used.

#![expect(clippy::print_stdout, reason = "cargo reads what a build script prints")]

mod classes;
#[path = "../src/tokenizers/tiktoken/layout.rs"]
mod layout;
mod merges;
mod ranks;
#[path = "../src/tokenizers/tiktoken/tables/mod.rs"]
mod tables;

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

use ranks::Ranks;
use tables::{Tables, Tokens};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/tokenizers/tiktoken/layout.rs");
    println!("cargo::rerun-if-changed=src/tokenizers/tiktoken/tables");
    println!("cargo::rerun-if-changed=src/tokenizers/tiktoken/encodings/list.inc");
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let mut module = String::new();
    classes::write(out)?;
    for (name, load) in ranks::all() {
        let tokens = merges::learn(&Ranks::load(load)?).map_err(|error| format!("{name}: {error}"))?;
        writeln!(module, "/// The tables of `{name}`.")?;
        writeln!(module, "pub(crate) fn {name}() -> &'static Vocabulary {{")?;
        if ranks::IN_PLACE.contains(&name) {
            describe(&mut module, (out, name), &tokens)?;
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

/// Writes the tables, and declares the vocabulary as a static that borrows them.
fn describe(module: &mut String, (out, name): (&Path, &str), tokens: &Tokens) -> Result<()> {
    let tables = Tables::from_tokens(tokens);
    writeln!(module, "    static IN_PLACE: Vocabulary = Vocabulary {{\n        longest: {},", tables.longest)?;
    let files = [
        ("merges", tables.merges),
        ("filter", tables.filter),
        ("bytes", tables.bytes),
        ("first", tables.first),
        ("blocks", tables.blocks),
        ("units", tables.units),
        ("boundaries", tables.boundaries),
        ("neighbors", tables.neighbors),
        ("words", tables.words),
    ];
    for (table, bytes) in files {
        fs::write(out.join(format!("{name}.{table}")), bytes)?;
        writeln!(module, "        {table}: rows(in_place!(\"{name}.{table}\")),")?;
    }
    Ok(writeln!(module, "        whole: &[],\n    }};\n    &IN_PLACE")?)
}
