//! What the library shows: the items that `lib.rs` exports, listed in a file that changes only on purpose.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, ItemUse, TraitItem, Type, UseTree, Visibility};

/// The most items that the library may show: types, traits, functions and methods.
const MOST: usize = 80;

const LISTING: &str = "crates/curtail-core/api.txt";

/// `CURTAIL_BLESS=1 cargo test -p curtail-core api::` writes the listing.
#[test]
fn the_public_items_are_those_that_are_listed() {
    let surface = Surface::read(&root().join("crates/curtail-core/src"));
    let listing = surface.listing();
    let path = root().join(LISTING);
    if std::env::var_os("CURTAIL_BLESS").is_some() {
        fs::write(&path, &listing).expect("the listing can be written");
    }
    let listed = fs::read_to_string(&path).expect("the listing can be read").replace("\r\n", "\n");
    assert_eq!(listing, listed, "the public items changed; if that is meant, bless {LISTING}");
    assert!(surface.items() <= MOST, "{} public items, more than {MOST}", surface.items());
}

#[test]
fn every_public_item_is_shown_in_an_example() {
    let mut files = sources(&root().join("crates/curtail-core/src/library"));
    files.extend(sources(&root().join("crates/curtail-core/src/counting")));
    files.extend(
        ["trim_before_sending", "own_processor", "read_a_log"].map(|name| root().join(format!("examples/{name}.rs"))),
    );
    files.push(root().join("crates/curtail-core/src/lib.rs"));
    let shown: String = files.iter().map(|path| examples_in(path)).collect();
    let surface = Surface::read(&root().join("crates/curtail-core/src"));
    let words: std::collections::HashSet<&str> = shown.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let missing: Vec<&String> = surface.functions.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no example shows {missing:?}");
}

/// The code of an example, or of the examples in the comments of a source.
fn examples_in(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source can be read");
    if path.components().any(|part| part.as_os_str() == "examples") {
        return text;
    }
    let mut is_code = false;
    let comment = |line: &str| {
        ["//!", "///"].iter().find_map(|mark| Some(line.trim_start().strip_prefix(mark)?.trim().to_owned()))
    };
    let code = text.lines().filter_map(comment).filter(|line| {
        is_code ^= line.starts_with("```");
        is_code
    });
    code.collect::<Vec<_>>().join("\n") + "\n"
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The exported items, with what is public of each.
struct Surface {
    /// The lines of each item, by its name: its head, and its members.
    items: BTreeMap<String, Vec<String>>,
    /// The names of the functions and methods.
    functions: Vec<String>,
}

impl Surface {
    fn read(src: &Path) -> Self {
        let parsed = |path: &Path| syn::parse_file(&fs::read_to_string(path).expect("a source")).expect("Rust");
        let exported = parsed(&src.join("lib.rs")).items.into_iter().filter_map(|item| match item {
            Item::Use(item) if is_shown(&item.vis, &item.attrs) => Some(exports(&item)),
            _ => None,
        });
        let mut surface = Self { items: BTreeMap::new(), functions: Vec::new() };
        let mut modules: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for (module, name) in exported.flatten() {
            let items = modules
                .entry(module.clone())
                .or_insert_with(|| sources(&src.join(&module)).iter().flat_map(|path| parsed(path).items).collect());
            surface.add(&name, items);
        }
        surface
    }

    fn add(&mut self, name: &str, items: &[Item]) {
        let mut lines = Vec::new();
        for item in items {
            match item {
                Item::Struct(item) if item.ident == name => {
                    lines.push(format!("struct {name}"));
                    lines.extend(fields(&item.fields, true).into_iter().map(|field| format!("    field {field}")));
                }
                Item::Enum(item) if item.ident == name => {
                    lines.push(format!("enum {name}"));
                    for variant in &item.variants {
                        let fields = fields(&variant.fields, false);
                        lines.push(
                            format!("    variant {} {{ {} }}", variant.ident, fields.join(", ")).replace(" {  }", ""),
                        );
                    }
                }
                Item::Trait(item) if item.ident == name => {
                    lines.push(format!("trait {name}: {}", tokens(&item.supertraits)));
                    let methods = item.items.iter().filter_map(|item| match item {
                        TraitItem::Fn(method) if !is_hidden(&method.attrs) => {
                            Some((&method.sig, method.default.is_some()))
                        }
                        _ => None,
                    });
                    for (signature, is_provided) in methods {
                        let provided = if is_provided { "provided " } else { "" };
                        lines.push(format!("    {provided}{}", self.function(signature)));
                    }
                }
                Item::Fn(item) if item.sig.ident == name => lines.push(self.function(&item.sig)),
                _ => {}
            }
        }
        assert!(!lines.is_empty(), "{name} is exported from a place that is not found");
        lines.extend(self.methods(name, items));
        self.items.insert(name.to_owned(), lines);
    }

    /// The public methods and constants of the type `name`.
    fn methods(&mut self, name: &str, items: &[Item]) -> Vec<String> {
        let is_own = |target: &Type| matches!(target, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name));
        let mut lines = Vec::new();
        for item in items {
            let Item::Impl(block) = item else { continue };
            if !is_own(&block.self_ty) {
                continue;
            }
            if let Some((of, _)) = &block.trait_ {
                lines.push(format!("    impl {}", tokens(of)));
                continue;
            }
            for item in &block.items {
                match item {
                    ImplItem::Fn(method) if is_shown(&method.vis, &method.attrs) => {
                        lines.push(format!("    {}", self.function(&method.sig)));
                    }
                    ImplItem::Const(constant) if is_shown(&constant.vis, &constant.attrs) => {
                        lines.push(format!("    const {}: {}", constant.ident, tokens(&constant.ty)));
                    }
                    _ => {}
                }
            }
        }
        lines
    }

    fn function(&mut self, signature: &syn::Signature) -> String {
        self.functions.push(signature.ident.to_string());
        tokens(signature)
    }

    /// The number of types, traits, functions, methods and constants.
    fn items(&self) -> usize {
        let methods =
            self.items.values().flatten().filter(|line| line.contains(" fn ") || line.starts_with("    const "));
        self.items.len() + methods.count()
    }

    fn fields(&self) -> usize {
        self.items.values().flatten().filter(|line| line.starts_with("    field ")).count()
    }

    fn listing(&self) -> String {
        let head = format!(
            "The public items of curtail-core: {} (types, traits, functions, methods and constants), and {} public fields of structs.\n\
             A test keeps this list: CURTAIL_BLESS=1 cargo test -p curtail-core api::\n\n",
            self.items(),
            self.fields()
        );
        head + &self.items.values().flatten().map(|line| format!("{line}\n")).collect::<String>()
    }
}

/// The module and the name of each item that `item` exports.
fn exports(item: &ItemUse) -> Vec<(String, String)> {
    let UseTree::Path(path) = &item.tree else { panic!("an item is exported by its module") };
    let names = |tree: &UseTree| match tree {
        UseTree::Name(name) => name.ident.to_string(),
        other => panic!("{} is not a name", tokens(other)),
    };
    let names: Vec<String> = match &*path.tree {
        UseTree::Group(group) => group.items.iter().map(names).collect(),
        tree => vec![names(tree)],
    };
    names.into_iter().map(|name| (path.ident.to_string(), name)).collect()
}

fn is_shown(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| tokens(attribute).contains("doc(hidden)"))
}

fn fields(fields: &Fields, only_public: bool) -> Vec<String> {
    let shown =
        fields.iter().filter(|field| !only_public && !is_hidden(&field.attrs) || is_shown(&field.vis, &field.attrs));
    shown
        .map(|field| match &field.ident {
            Some(name) => format!("{name}: {}", tokens(&field.ty)),
            None => tokens(&field.ty),
        })
        .collect()
}

/// Code on one line, spaced nearly as people do.
fn tokens(code: &impl ToTokens) -> String {
    let mut text = code.to_token_stream().to_string();
    text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let spaces = [
        (" :: ", "::"),
        (":: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        (" ;", ";"),
        ("[ ", "["),
        (" ]", "]"),
        ("' ", "'"),
        (" - >", " ->"),
        (",)", ")"),
        ("impl(", "impl ("),
        ("-> (", "-> ("),
        ("# [", "#["),
        (" [", "["),
        ("->[", "-> ["),
        (" ->", " ->"),
        ("->", " ->"),
        ("  ->", " ->"),
    ];
    for (from, to) in spaces {
        text = text.replace(from, to);
    }
    text
}

/// The Rust files of a module: a file or a folder.
fn sources(module: &Path) -> Vec<PathBuf> {
    let file = module.with_extension("rs");
    let Ok(entries) = fs::read_dir(module) else { return vec![file] };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| if path.is_dir() { sources(path) } else { vec![path.clone()] }).collect()
}
