//! Parts of the translation by hand.
