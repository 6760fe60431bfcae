//! Prefetching: memory is asked for some time before it is needed, so that a program does not wait for it.
//!
//! `core::hint` has no stable function for this, and those of `core::arch` are unsafe. They are called here and nowhere
//! else ([decision 116](https://github.com/floodway-sim/floodway/blob/main/docs/decisions/0116-frames-are-looked-ahead-for.md)).
//! On processors other than x86-64 nothing is asked for.

/// Octets of a cache line.
const LINE: usize = 64;

/// Asks for the cache line in which this value begins.
#[inline(always)]
pub fn ask_for<T>(value: &T) {
    ask_at(core::ptr::from_ref(value).cast());
}

/// Asks for the first cache lines of this value, at most so many.
#[inline(always)]
pub fn ask_for_lines<T>(value: &T, most: usize) {
    let begin = core::ptr::from_ref(value).cast::<i8>();
    let lines = size_of::<T>().div_ceil(LINE).min(most);
    (0..lines).for_each(|line| ask_at(begin.wrapping_add(line * LINE)));
}

#[inline(always)]
#[allow(unsafe_code)]
fn ask_at(place: *const i8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has the instruction. It is a hint: it neither faults nor changes or returns
    // anything, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing can be observed but that it does not fault: at the end of an allocation, at the end of the address
    /// space, and for a value without a size.
    #[test]
    fn any_place_may_be_asked_for() {
        let values = vec![[0u64; 40]; 3];
        values.iter().for_each(|value| ask_for_lines(value, usize::MAX));
        ask_for(&());
        ask_at(std::ptr::null());
        ask_at(std::ptr::without_provenance(usize::MAX));
    }
}
