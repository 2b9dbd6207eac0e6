//! The modules of a crate: which file each is written in, and what its names stand for.

use proc_macro2::TokenTree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMacro, ItemUse, Meta, UseTree, Visibility};

/// A place in [`Tree::modules`].
pub(crate) type ModuleId = usize;

/// A place in [`Tree::files`].
pub(crate) type FileId = usize;

/// What is defined somewhere.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// Where.
    pub(crate) file: FileId,
    /// Under which name.
    pub(crate) name: String,
    /// Whether it is a `const` or a `static`.
    pub(crate) is_constant: bool,
}

/// What a path leads to.
pub(crate) enum Target {
    /// A file, or a module within one.
    Module(ModuleId),
    /// Anything else; a path into a type leads to the type.
    Definition(Definition),
}

/// One name of a `use` declaration.
pub(crate) struct Import {
    /// The name that it brings into scope; `*` for all of a module.
    pub(crate) name: String,
    /// What it stands for.
    pub(crate) path: Vec<String>,
}

/// A module without those inside it.
pub(crate) struct Module {
    /// Where it is written.
    pub(crate) file: FileId,
    /// What is written there.
    pub(crate) items: Vec<Item>,
    parent: Option<ModuleId>,
    children: BTreeMap<String, ModuleId>,
    definitions: BTreeMap<String, Definition>,
    imports: Vec<Import>,
}

/// The modules of a crate, the root first, without those for tests.
pub(crate) struct Tree {
    /// In the order in which they are declared.
    pub(crate) modules: Vec<Module>,
    /// Paths from the folder of the root.
    pub(crate) files: Vec<PathBuf>,
    /// Macros by name, as code after them knows them.
    macros: BTreeMap<String, Definition>,
}

/// Imports that lead to each other could be followed for ever.
const DEPTH_MAX: u32 = 16;

impl Tree {
    /// The modules that `root` declares; `read` gives the text of the file at a path, if there is one.
    pub(crate) fn load(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut tree = Self { modules: Vec::new(), files: Vec::new(), macros: BTreeMap::new() };
        let folder = root.parent().expect("a file lies in a folder");
        let text = read(root).unwrap_or_else(|| panic!("{} cannot be read", root.display()));
        Loader { tree: &mut tree, folder, read }.file(root, folder, None, &text);
        tree
    }

    /// What `path` leads to from `module`; `None` for what other crates, preludes and functions
    /// define.
    pub(crate) fn resolve(&self, module: ModuleId, path: &[String]) -> Option<Target> {
        self.follow(module, path, DEPTH_MAX)
    }

    /// Where the macro that code calls `name`, without a path, is defined.
    pub(crate) fn macro_named(&self, name: &str) -> Option<&Definition> {
        self.macros.get(name)
    }

    fn follow(&self, from: ModuleId, path: &[String], depth: u32) -> Option<Target> {
        let depth = depth.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let module = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.modules[from].parent?,
            _ => match self.look_up(from, first, !rest.is_empty(), depth)? {
                Target::Module(module) => module,
                definition @ Target::Definition(_) => return Some(definition),
            },
        };
        if rest.is_empty() {
            Some(Target::Module(module))
        } else {
            self.follow(module, rest, depth)
        }
    }

    /// What `name` stands for in `module`. A module and a function may share a name: the module is
    /// preferred where a path continues.
    fn look_up(&self, module: ModuleId, name: &str, continues: bool, depth: u32) -> Option<Target> {
        let depth = depth.checked_sub(1)?;
        let Module { children, definitions, imports, .. } = &self.modules[module];
        let mut found: Vec<Target> = Vec::new();
        found.extend(definitions.get(name).cloned().map(Target::Definition));
        found.extend(children.get(name).map(|child| Target::Module(*child)));
        for import in imports {
            if import.name == name && import.path != [name] {
                found.extend(self.follow(module, &import.path, depth));
            } else if import.name == "*"
                && let Some(Target::Module(all)) = self.follow(module, &import.path, depth)
                && all != module
            {
                found.extend(self.look_up(all, name, continues, depth));
            }
        }
        let preferred =
            found.iter().position(|target| matches!(target, Target::Module(_)) == continues);
        found.into_iter().nth(preferred.unwrap_or(0))
    }
}

/// Whether code with these attributes is compiled for tests only.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

/// The attributes of an item, of the kinds that code for tests may be.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(crate) fn impl_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Every name of a `use` declaration.
pub(crate) fn imports(item: &ItemUse) -> Vec<Import> {
    let mut imports = Vec::new();
    if item.leading_colon.is_none() {
        flatten(&item.tree, &mut Vec::new(), &mut imports);
    }
    imports
}

fn flatten(tree: &UseTree, path: &mut Vec<String>, imports: &mut Vec<Import>) {
    let (name, last) = match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            flatten(&part.tree, path, imports);
            path.pop();
            return;
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| flatten(tree, path, imports));
            return;
        }
        UseTree::Name(name) => (name.ident.to_string(), Some(name.ident.to_string())),
        UseTree::Rename(new) => (new.rename.to_string(), Some(new.ident.to_string())),
        UseTree::Glob(_) => ("*".to_owned(), None),
    };
    let mut path = path.clone();
    path.extend(last.filter(|last| last != "self"));
    let name = if name == "self" { path.last().expect("a path before it").clone() } else { name };
    imports.push(Import { name, path });
}

/// Whether `visibility` is more than none, which makes a `use` hand a name on.
pub(crate) fn hands_on(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

struct Loader<'a> {
    tree: &'a mut Tree,
    /// The folder of the root.
    folder: &'a Path,
    read: &'a dyn Fn(&Path) -> Option<String>,
}

impl Loader<'_> {
    /// Adds the module that `path` has, whose own modules lie in `folder`.
    fn file(
        &mut self,
        path: &Path,
        folder: &Path,
        parent: Option<ModuleId>,
        text: &str,
    ) -> ModuleId {
        let syntax =
            syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let shown = path.strip_prefix(self.folder).expect("files of a crate lie beside its root");
        self.tree.files.push(shown.to_owned());
        self.module(self.tree.files.len() - 1, folder, parent, syntax.items)
    }

    fn module(
        &mut self,
        file: FileId,
        folder: &Path,
        parent: Option<ModuleId>,
        items: Vec<Item>,
    ) -> ModuleId {
        let id = self.tree.modules.len();
        let (children, definitions, imports) = Default::default();
        let items: Vec<_> =
            items.into_iter().filter(|item| !is_for_tests(attributes(item))).collect();
        let (modules, items) = items.into_iter().partition(|item| matches!(item, Item::Mod(_)));
        self.tree.modules.push(Module { file, items, parent, children, definitions, imports });
        self.define(id);
        self.declare(id, folder, modules);
        id
    }

    /// Notes what the items of a module define and import, at any depth.
    fn define(&mut self, id: ModuleId) {
        let file = self.tree.modules[id].file;
        let mut scope = Scope { file, ..Scope::default() };
        for item in &self.tree.modules[id].items {
            scope.visit_item(item);
            let (name, is_constant) = match item {
                Item::Const(item) => (&item.ident, true),
                Item::Static(item) => (&item.ident, true),
                Item::Enum(item) => (&item.ident, false),
                Item::Fn(item) => (&item.sig.ident, false),
                Item::Struct(item) => (&item.ident, false),
                Item::Trait(item) => (&item.ident, false),
                Item::Type(item) => (&item.ident, false),
                _ => continue,
            };
            let name = name.to_string();
            scope.definitions.insert(name.clone(), Definition { file, name, is_constant });
        }
        for item in &self.tree.modules[id].items {
            if let Item::Macro(call) = item {
                scope.define_by_macro(call);
            }
        }
        self.tree.modules[0].definitions.extend(scope.exported);
        self.tree.macros.extend(scope.macros.clone());
        let module = &mut self.tree.modules[id];
        module.imports = scope.imports;
        module.definitions.extend(scope.definitions);
        module.definitions.extend(scope.macros);
    }

    fn declare(&mut self, parent: ModuleId, folder: &Path, modules: Vec<Item>) {
        for item in modules {
            let Item::Mod(item) = item else { continue };
            let name = item.ident.to_string();
            let inside = folder.join(&name);
            let child = if let Some((_, items)) = item.content {
                self.module(self.tree.modules[parent].file, &inside, Some(parent), items)
            } else {
                let paths = [inside.join("mod.rs"), folder.join(format!("{name}.rs"))];
                let (path, text) = paths
                    .iter()
                    .find_map(|path| Some((path, (self.read)(path)?)))
                    .unwrap_or_else(|| panic!("no file has the module {}", inside.display()));
                self.file(path, &inside, Some(parent), &text)
            };
            self.tree.modules[parent].children.insert(name, child);
        }
    }
}

/// What one module defines and imports.
#[derive(Default)]
struct Scope {
    file: FileId,
    definitions: BTreeMap<String, Definition>,
    imports: Vec<Import>,
    macros: BTreeMap<String, Definition>,
    exported: BTreeMap<String, Definition>,
}

impl Scope {
    /// A macro that is called at the top of a module may define what it names after `struct`, `enum`
    /// and the like.
    fn define_by_macro(&mut self, call: &ItemMacro) {
        if call.ident.is_some() {
            return;
        }
        let mut follows_keyword = None;
        for token in call.mac.tokens.clone() {
            let TokenTree::Ident(word) = token else { continue };
            let word = word.to_string();
            if let Some(is_constant) = follows_keyword.take() {
                let file = self.file;
                self.definitions.insert(word.clone(), Definition { file, name: word, is_constant });
                continue;
            }
            follows_keyword = match word.as_str() {
                "struct" | "enum" | "trait" | "type" | "fn" => Some(false),
                "const" | "static" => Some(true),
                _ => None,
            };
        }
    }
}

impl<'ast> Visit<'ast> for Scope {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.imports.extend(imports(item));
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        let Some(name) = &item.ident else { return };
        let name = name.to_string();
        let definition = Definition { file: self.file, name: name.clone(), is_constant: false };
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
            self.exported.insert(name.clone(), definition.clone());
        }
        self.macros.insert(name, definition);
    }
}
