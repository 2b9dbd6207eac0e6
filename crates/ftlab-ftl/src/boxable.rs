//! Traits that a box of them has as well.

/// Declares a trait as it stands, and lets a box of anything that has it have it: each method is called
/// on what is in the box.
macro_rules! boxable {
    (
        $(#[$doc:meta])*
        pub trait $trait:ident: $base:ident + $($bound:ident)+ { $($methods:tt)* }
    ) => {
        $(#[$doc])*
        pub trait $trait: $base + $($bound)+ { $($methods)* }

        /// Its type is not known until a program runs.
        impl<T: $trait + ?Sized> $trait for Box<T> {
            $crate::boxable::forward! { $($methods)* }
        }
    };
}
pub(crate) use boxable;

/// The methods of a box, from those of the trait: `&self` or `&mut self`, with a default or without.
macro_rules! forward {
    ($(
        $(#[$attribute:meta])*
        fn $method:ident(&$mut_or_self:ident $($self:ident)? $(, $name:ident: $type:ty)* $(,)?)
        $(-> $output:ident $(<$($of:ty),+>)?)? $(;)? $($default:block)?
    )*) => {$(
        #[inline]
        fn $method(&$mut_or_self $($self)? $(, $name: $type)*) $(-> $output $(<$($of),+>)?)? {
            (**$crate::boxable::last!($mut_or_self $($self)?)).$method($($name),*)
        }
    )*};
}
pub(crate) use forward;

/// The last of one or two tokens: `self` of `self` and of `mut self`.
macro_rules! last {
    ($last:ident) => {
        $last
    };
    ($first:ident $last:ident) => {
        $last
    };
}
pub(crate) use last;
