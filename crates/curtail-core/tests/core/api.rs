//! What the library shows: the items that `lib.rs` exports, listed in a file that changes only on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, ItemUse, TraitItem, Type, UseTree, Visibility};

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
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The exported items, with what is public of each.
struct Surface {
    /// The lines of each item, by its name: its head, and its members.
    items: BTreeMap<String, Vec<String>>,
    /// The names in each public module.
    modules: BTreeMap<String, BTreeSet<String>>,
}

impl Surface {
    fn read(src: &Path) -> Self {
        let mut surface = Self { items: BTreeMap::new(), modules: BTreeMap::new() };
        let mut exported = Vec::new();
        for item in parsed(&src.join("lib.rs")).items {
            match item {
                Item::Use(item) if is_shown(&item.vis) => exported.extend(exports(&item)),
                Item::Mod(item) if is_shown(&item.vis) => {
                    let module = item.ident.to_string();
                    surface.modules.insert(module.clone(), names_in(&src.join(module)));
                }
                _ => {}
            }
        }
        let mut modules: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for (module, name) in exported {
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
                    lines.extend(item.items.iter().map(|item| format!("    {}", trait_item(item))));
                }
                Item::Fn(item) if item.sig.ident == name => lines.push(tokens(&item.sig)),
                _ => {}
            }
        }
        assert!(!lines.is_empty(), "{name} is exported from a place that is not found");
        lines.extend(Self::methods(name, items));
        self.items.insert(name.to_owned(), lines);
    }

    /// The public methods and constants of the type `name`, and the traits that it implements with their types.
    fn methods(name: &str, items: &[Item]) -> Vec<String> {
        let is_own = |target: &Type| matches!(target, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name));
        let mut lines = Vec::new();
        for item in items {
            let Item::Impl(block) = item else { continue };
            if !is_own(&block.self_ty) {
                continue;
            }
            if let Some((of, _)) = &block.trait_ {
                lines.push(format!("    impl {}", tokens(of)));
                lines.extend(block.items.iter().filter_map(|item| match item {
                    ImplItem::Type(item) => Some(format!("        type {} = {}", item.ident, tokens(&item.ty))),
                    _ => None,
                }));
                continue;
            }
            for item in &block.items {
                match item {
                    ImplItem::Fn(method) if is_shown(&method.vis) => {
                        lines.push(format!("    {}", tokens(&method.sig)));
                    }
                    ImplItem::Const(constant) if is_shown(&constant.vis) => {
                        lines.push(format!("    const {}: {}", constant.ident, tokens(&constant.ty)));
                    }
                    _ => {}
                }
            }
        }
        lines
    }

    fn listing(&self) -> String {
        let head = "The public items of curtail-core: those of the crate with their members, and the names in its modules.\n\
                    A test keeps this list: CURTAIL_BLESS=1 cargo test -p curtail-core api::\n\n";
        let items = self.items.values().flatten().map(|line| format!("{line}\n"));
        let modules = self.modules.iter().map(|(module, names)| {
            let names: String = names.iter().map(|name| format!("    {name}\n")).collect();
            format!("module {module}\n{names}")
        });
        head.to_owned() + &items.chain(modules).collect::<String>()
    }
}

/// A method, a constant or a type of a trait.
fn trait_item(item: &TraitItem) -> String {
    let (is_provided, text) = match item {
        TraitItem::Fn(method) => (method.default.is_some(), tokens(&method.sig)),
        TraitItem::Const(constant) => {
            (constant.default.is_some(), format!("const {}: {}", constant.ident, tokens(&constant.ty)))
        }
        TraitItem::Type(item) => (item.default.is_some(), format!("type {}: {}", item.ident, tokens(&item.bounds))),
        other => panic!("{} is not listed", tokens(other)),
    };
    if is_provided { format!("provided {text}") } else { text }
}

/// The names that the module at `path` shows, without those of its own modules.
fn names_in(path: &Path) -> BTreeSet<String> {
    let file = [path.with_extension("rs"), path.join("mod.rs")].into_iter().find(|file| file.exists());
    let items = parsed(&file.expect("a module has a file")).items;
    items.iter().flat_map(shown_names).collect()
}

fn shown_names(item: &Item) -> Vec<String> {
    let (visibility, name) = match item {
        Item::Use(item) if is_shown(&item.vis) => return leaves(&item.tree),
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Mod(item) => (&item.vis, &item.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        _ => return Vec::new(),
    };
    if is_shown(visibility) { vec![name.to_string()] } else { Vec::new() }
}

/// The names at the ends of a `use`.
fn leaves(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => leaves(&path.tree),
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(rename) => vec![rename.rename.to_string()],
        UseTree::Glob(_) => panic!("what is public is named"),
    }
}

fn parsed(path: &Path) -> syn::File {
    syn::parse_file(&fs::read_to_string(path).expect("a source")).expect("Rust")
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

fn is_shown(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn fields(fields: &Fields, only_public: bool) -> Vec<String> {
    let shown = fields.iter().filter(|field| !only_public || is_shown(&field.vis));
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
    paths.retain(|path| path.is_dir() || path.extension().is_some_and(|ending| ending == "rs"));
    paths.sort();
    paths.iter().flat_map(|path| if path.is_dir() { sources(path) } else { vec![path.clone()] }).collect()
}
