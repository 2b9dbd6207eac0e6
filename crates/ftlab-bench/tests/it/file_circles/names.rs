//! What each file of a crate names of the others.

use super::modules::{
    self, Definition, FileId, ModuleId, Target, Tree, attributes, impl_attributes, is_for_tests,
};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemUse, Macro, Meta, Path, VisRestricted};

/// The names that a file takes from each other file.
pub(crate) type Uses = BTreeMap<FileId, BTreeMap<FileId, BTreeSet<String>>>;

/// What the files of `tree` name of each other, except constants that the messages of an error type
/// show.
pub(crate) fn uses(tree: &Tree) -> Uses {
    let mut uses = Uses::new();
    for (id, module) in tree.modules.iter().enumerate() {
        let mut reader = Reader { tree, module: id, file: module.file, uses: &mut uses };
        module.items.iter().for_each(|item| reader.visit_item(item));
    }
    uses
}

/// Which definitions a path may lead to and count.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    All,
    /// Constants do not: the message of an error may tell a limit that lies beside the code that
    /// keeps it. It is the one exception, and nothing but `#[error(...)]` has it.
    NoConstants,
}

struct Reader<'a> {
    tree: &'a Tree,
    module: ModuleId,
    file: FileId,
    uses: &'a mut Uses,
}

impl Reader<'_> {
    fn name(&mut self, path: &[String], counts: Counts) {
        if let Some(Target::Definition(definition)) = self.tree.resolve(self.module, path) {
            self.add(&definition, counts);
        }
    }

    fn add(&mut self, definition: &Definition, counts: Counts) {
        if definition.file == self.file || definition.is_constant && counts == Counts::NoConstants {
            return;
        }
        let names = self.uses.entry(self.file).or_default().entry(definition.file).or_default();
        names.insert(definition.name.clone());
    }

    /// The paths in the tokens of a macro or an attribute.
    fn tokens(&mut self, tokens: TokenStream, counts: Counts) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.tokens(group.stream(), counts),
                TokenTree::Literal(text) => self.literal(&text.to_string(), counts),
                TokenTree::Punct(_) => {}
                TokenTree::Ident(first) => {
                    let before = at.checked_sub(2);
                    let is_field = before.is_some_and(|before| is(before, '.'))
                        && !at.checked_sub(3).is_some_and(|before| is(before, '.'));
                    let mut path = vec![first.to_string()];
                    while is(at, ':') && is(at + 1, ':') {
                        let Some(TokenTree::Ident(next)) = tokens.get(at + 2) else { break };
                        path.push(next.to_string());
                        at += 3;
                    }
                    if is(at, '!') && path.len() == 1 {
                        self.macro_call(&path[0]);
                    } else if !is_field {
                        self.name(&path, counts);
                    }
                }
            }
        }
    }

    /// Attributes name functions in quotes, as in `#[serde(with = "crate::seconds")]`.
    fn literal(&mut self, text: &str, counts: Counts) {
        if let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'))
            && let Ok(path) = syn::parse_str::<Path>(text)
        {
            self.name(&segments(&path), counts);
        }
    }

    fn macro_call(&mut self, name: &str) {
        if let Some(definition) = self.tree.macro_named(name).cloned() {
            self.add(&definition, Counts::All);
        }
    }
}

fn segments(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !is_for_tests(impl_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if modules::hands_on(&item.vis) {
            return;
        }
        for import in modules::imports(item) {
            // What is done with a constant tells whether it counts.
            self.name(&import.path, Counts::NoConstants);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            self.name(&segments(path), Counts::All);
        }
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _visibility: &'ast VisRestricted) {}

    fn visit_macro(&mut self, call: &'ast Macro) {
        match segments(&call.path).as_slice() {
            [name] => self.macro_call(name),
            path => self.name(path, Counts::All),
        }
        self.tokens(call.tokens.clone(), Counts::All);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            let is_message = list.path.is_ident("error");
            let counts = if is_message { Counts::NoConstants } else { Counts::All };
            self.tokens(list.tokens.clone(), counts);
        }
    }
}
