//! The class of every code point, from the Unicode tables of the regex crate, which tiktoken-rs splits with.

use std::{fs, path::Path};

use regex_syntax::hir::{Class, HirKind};

use crate::{
    Result,
    layout::{CLASS_BLOCK, class},
};

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

/// Writes the number of a block for every 128 code points, then the distinct blocks.
pub(crate) fn write(out: &Path) -> Result<()> {
    let classes = all()?;
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

fn all() -> Result<Vec<u8>> {
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
