//! Lists whose clones share their memory.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A list whose clones share its memory until one of them is changed, which copies it first.
#[derive(Debug, PartialEq, Eq)]
pub struct SharedList<T>(Arc<Vec<T>>);

impl<T> Clone for SharedList<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for SharedList<T> {
    fn from(list: Vec<T>) -> Self {
        Self(Arc::new(list))
    }
}

impl<T> Deref for SharedList<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Clone> DerefMut for SharedList<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut SharedList<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: Serialize> Serialize for SharedList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::SharedList;

    #[test]
    fn a_clone_shares_the_list_until_it_is_changed() {
        let list = SharedList::from(vec![1, 2, 3]);
        let mut other = list.clone();
        assert_eq!(other.as_ptr(), list.as_ptr());
        other[1] = 5;
        assert_ne!(other.as_ptr(), list.as_ptr());
        assert_eq!((&list[..], &other[..]), (&[1, 2, 3][..], &[1, 5, 3][..]));
        // An owner that is alone changes the list in place.
        let before = other.as_ptr();
        other[0] = 4;
        assert_eq!(other.as_ptr(), before);
    }
}
