//! Descriptions that extend others: the messages of a dialect in an envelope, or all that another description says, with keys
//! of other names.

use super::paths::Path;
use super::rules::{Kind, RoleRule, Rules};
use super::source::{At, Fault, Table};
use super::texts::{enveloped, extendable, extended};
use crate::suggest;

impl Rules {
    /// What a description begins with that extends another one, or a dialect that is code: everything that the other one says, or
    /// the messages of the dialect in an envelope. `roles`, `reads_parts` and `renames` say what of it is changed.
    pub(super) fn extending(
        base: &At<&str>,
        roles: &[RoleRule],
        reads_parts: bool,
        renames: bool,
    ) -> Result<Self, Fault> {
        let code = enveloped(base.value);
        let text = extended(base.value);
        let names_roles = roles.iter().any(RoleRule::names_a_role);
        // Roles beside names of metadata may only tell what is a message.
        let must_name_roles = names_roles && !roles.iter().any(RoleRule::names_others);
        let changes = reads_parts || renames || if text.is_some() { names_roles } else { must_name_roles };
        if let (Some(dialect), false) = (code, changes) {
            return Ok(Self { base: Some(dialect), about: dialect.format().signature.to_owned(), ..Self::default() });
        }
        let fixed = |name: &str| {
            let reason = format!(
                "`{name}` is code, so its messages can stand in an envelope in which a `role` says what is `metadata` or `pinned`, \
                 but no `rename`, `part` or name of a role can change how they are read"
            );
            Fault::new(&base.span, reason)
        };
        let Some(text) = text else {
            return Err(code.map_or_else(|| unknown_base(base), |_| fixed(base.value)));
        };
        let rules = Self::read(text)
            .map_err(|fault| Fault::new(&base.span, format!("`{}` is wrong itself: {}", base.value, fault.what)))?;
        match rules.base.filter(|_| reads_parts || must_name_roles) {
            Some(code) => Err(fixed(code.name())),
            None => Ok(Self { marks: Vec::new(), unlike: Vec::new(), samples: Vec::new(), ..rules }),
        }
    }

    /// Gives keys of the description that this one extends other names.
    pub(super) fn rename(&mut self, table: &Table<'_>) -> Result<(), Fault> {
        let Some(renames) = table.table("rename")? else { return Ok(()) };
        let mut names = Vec::new();
        for (new, old) in renames.members() {
            let old = old.get_ref().as_str().ok_or_else(|| {
                Fault::new(&old.span(), "`rename` gives each key here the name that it has there, as a string")
            })?;
            names.push((old.to_owned(), new.value.to_owned()));
        }
        let renamed = |key: &str| names.iter().find(|(old, _)| old == key).map(|(_, new)| new.clone());
        for path in self.paths_mut() {
            *path = path.renamed(renamed);
        }
        for known in &mut self.known {
            // With a dot before it, it is a key of the item itself.
            let key = known.trim_start_matches('.');
            if let Some(new) = renamed(key) {
                *known = known.replace(key, &new);
            }
        }
        if let Some(writing) = &mut self.writing {
            writing.rename(&renamed);
        }
        Ok(())
    }

    /// All paths.
    fn paths_mut(&mut self) -> Vec<&mut Path> {
        let Self {
            message,
            lists,
            records,
            marks,
            unlike,
            roles,
            whole,
            groups,
            preamble,
            model,
            reply,
            order,
            boundary,
            automatic,
            name: _,
            about: _,
            base: _,
            provider: _,
            known: _,
            results: _,
            is_log: _,
            shares_ids: _,
            writing: _,
            samples: _,
        } = self;
        let mut paths: Vec<&mut Path> = [message, model, reply, order].into_iter().flatten().collect();
        paths.extend(lists.iter_mut().flat_map(|place| std::iter::once(&mut place.list).chain(&mut place.inner)));
        paths.extend(records.iter_mut().chain(preamble));
        paths
            .extend(marks.iter_mut().chain(unlike).flatten().chain(boundary).chain(automatic).map(|one| &mut one.path));
        for role in roles {
            paths.extend(role.at.iter_mut().chain(role.when.iter_mut().map(|one| &mut one.path)));
        }
        for group in groups {
            paths.extend(group.list.iter_mut().chain(group.kinds.iter_mut().flat_map(Kind::paths_mut)));
        }
        paths.extend(whole.iter_mut().flat_map(Kind::paths_mut));
        paths
    }
}

impl Kind {
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        let Self {
            inner,
            when,
            text,
            id,
            name,
            arguments,
            result,
            signed,
            copy,
            is: _,
            roles: _,
            frames: _,
            custom: _,
            several: _,
        } = self;
        let optional = [text, id, name, arguments, result, signed, copy].into_iter().flatten();
        std::iter::once(inner).chain(optional).chain(when.iter_mut().map(|one| &mut one.path))
    }
}

fn unknown_base(base: &At<&str>) -> Fault {
    Fault::new(&base.span, suggest::unknown("no dialect that can be extended is called", base.value, &extendable()))
}
