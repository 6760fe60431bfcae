//! The HTTP traffic model of 3GPP (R1-070674) and IEEE 802.16m (evaluation methodology document). The values are those that
//! ns-3 has for it (`ThreeGppHttpVariables`, whose upper bound of numbers is 55 less 2 as here); the examples of its module
//! `nr` cite the white paper of NGMN for the same ones.
//!
//! | what | distribution | values |
//! | --- | --- | --- |
//! | size of the document | lognormal, truncated | mean 10,710 B, deviation 25,032 B, from 100 B to 2 MB |
//! | size of an object in it | lognormal, truncated | mean 7,758 B, deviation 126,168 B, from 50 B to 2 MB |
//! | objects in it | Pareto, truncated | shape 1.1, from 2 to 55, less 2: mean 5.64, at most 53 |
//! | parsing time | exponential | mean 0.13 s |
//! | reading time | exponential | mean 30 s |
//!
//! Means and deviations of sizes are those before truncation, and what is outside is drawn again. Numbers of objects
//! above 55 are 55, and are rounded.

use floodway_model::random::Stream;

/// A truncated lognormal distribution by the mean and deviation that it has without bounds, in bytes.
struct Sizes {
    mean: f64,
    deviation: f64,
    least: f64,
    most: f64,
}

const DOCUMENT: Sizes =
    Sizes { mean: 10_710.0, deviation: 25_032.0, least: 100.0, most: LARGEST as f64 };
const OBJECT: Sizes =
    Sizes { mean: 7_758.0, deviation: 126_168.0, least: 50.0, most: LARGEST as f64 };

/// The largest object, in bytes.
pub const LARGEST: u64 = 2_000_000;

/// Shape, least and most of the distribution of numbers.
const NUMBER: (f64, f64, f64) = (1.1, 2.0, 55.0);

/// About as many objects as a page has in the mean, by level.
pub const MEAN_OBJECTS: [usize; 2] = [1, 6];

impl Sizes {
    fn draw(&self, rng: &mut Stream) -> u64 {
        let variance = libm::log1p((self.deviation / self.mean) * (self.deviation / self.mean));
        let (mu, sigma) = (libm::log(self.mean) - variance / 2.0, variance.sqrt());
        loop {
            let size = libm::exp(mu + sigma * rng.normal());
            if (self.least..=self.most).contains(&size) {
                return size as u64;
            }
        }
    }
}

/// The number of objects that a document refers to.
fn number(rng: &mut Stream) -> u64 {
    let (shape, least, most) = NUMBER;
    let drawn = least * libm::pow(1.0 - rng.unit(), -1.0 / shape);
    libm::round(drawn.min(most) - least) as u64
}

/// The sizes of the objects of a page by level.
pub fn page(rng: &mut Stream) -> Vec<Vec<u64>> {
    let document = DOCUMENT.draw(rng);
    let objects: Vec<u64> = (0..number(rng)).map(|_| OBJECT.draw(rng)).collect();
    let levels = [vec![document], objects];
    levels.into_iter().filter(|level| !level.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    /// The distribution function of the standard normal distribution.
    fn phi(x: f64) -> f64 {
        libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
    }

    /// Raw moments of a lognormal distribution between bounds a and b: with A = (ln a - mu) / sigma and B likewise,
    /// E(x^n) = exp(n mu + n^2 sigma^2 / 2) (phi(B - n sigma) - phi(A - n sigma)) / (phi(B) - phi(A)).
    fn moment(sizes: &Sizes, n: f64) -> f64 {
        let variance = (1.0 + (sizes.deviation / sizes.mean).powi(2)).ln();
        let (mu, sigma) = (sizes.mean.ln() - variance / 2.0, variance.sqrt());
        let [a, b] = [sizes.least, sizes.most].map(|bound| (bound.ln() - mu) / sigma);
        let share = |shift: f64| phi(b - shift) - phi(a - shift);
        (n * mu + n * n * variance / 2.0).exp() * share(n * sigma) / share(0.0)
    }

    /// The parameters that the documents print beside means and deviations: mu 8.35 and sigma 1.37, mu 6.17 and
    /// sigma 2.36.
    #[test]
    fn parameters_are_those_of_the_model() {
        for (sizes, mu, sigma) in [(DOCUMENT, 8.35, 1.37), (OBJECT, 6.17, 2.36)] {
            let variance = (1.0 + (sizes.deviation / sizes.mean).powi(2)).ln();
            assert!((variance.sqrt() - sigma).abs() < 0.005);
            assert!((sizes.mean.ln() - variance / 2.0 - mu).abs() < 0.005);
        }
    }

    #[test]
    fn sizes_have_the_mean_of_the_closed_form() {
        for sizes in [DOCUMENT, OBJECT] {
            let mut rng = Stream::named(7, "sizes");
            let drawn: Vec<f64> = (0..DRAWS).map(|_| sizes.draw(&mut rng) as f64).collect();
            assert!(drawn.iter().all(|size| (sizes.least.floor()..=sizes.most).contains(size)));
            let mean = drawn.iter().sum::<f64>() / f64::from(DRAWS);
            let expected = moment(&sizes, 1.0);
            let deviation = (moment(&sizes, 2.0) - expected * expected).sqrt();
            // Five standard errors, and half a byte because sizes are rounded down.
            let margin = 5.0 * deviation / f64::from(DRAWS).sqrt() + 0.5;
            assert!((mean - expected).abs() < margin, "{mean} is not {expected}");
        }
    }

    /// The mean is shape x least / (shape - 1) x (1 - (least / most)^(shape - 1)) + most x (least / most)^shape - least =
    /// 22 x 0.2821 + 55 x 0.02611 - 2 = 5.64.
    #[test]
    fn numbers_have_the_mean_of_the_model() {
        let mut rng = Stream::named(7, "numbers");
        let drawn: Vec<u64> = (0..DRAWS).map(|_| number(&mut rng)).collect();
        assert_eq!(drawn.iter().max(), Some(&53));
        let mean = drawn.iter().sum::<u64>() as f64 / f64::from(DRAWS);
        // The variance is below 53 x 5.64, so five standard errors are below 0.2. Rounding to the nearest number moves
        // the mean of a density that falls by less than 0.05.
        assert!((mean - 5.64).abs() < 0.25, "{mean}");
    }

    #[test]
    fn a_page_is_a_document_and_objects() {
        let mut rng = Stream::named(1, "pages");
        for _ in 0..1_000 {
            let page = page(&mut rng);
            assert!(page[0].len() == 1 && page.len() <= 2);
            assert!(page.iter().all(|level| !level.is_empty()));
        }
    }
}
