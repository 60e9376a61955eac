//! A list that is empty for most of its owners.

use std::ops::{Deref, DerefMut};

/// A list that takes the space of a pointer as long as it is empty: a third of a [`Vec`].
#[expect(clippy::box_collection, reason = "most are empty, and an owner is as large as what it could hold")]
#[derive(Debug, Clone)]
pub struct Seldom<T>(Option<Box<Vec<T>>>);

impl<T> Seldom<T> {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Appends `item`.
    pub fn push(&mut self, item: T) {
        self.0.get_or_insert_default().push(item);
    }
}

impl<T> Default for Seldom<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Seldom<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |items| items.as_slice())
    }
}

impl<T> DerefMut for Seldom<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map_or(&mut [], |items| items.as_mut_slice())
    }
}

impl<T> Extend<T> for Seldom<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> FromIterator<T> for Seldom<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::new();
        all.extend(items);
        all
    }
}

impl<'s, T> IntoIterator for &'s Seldom<T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
