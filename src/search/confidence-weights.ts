// Made by training/fit-confidence.mjs from requests with known tools; do not edit.

/** The weights of a logistic regression by feature. */
export type ConfidenceWeights = Readonly<Record<string, number>> & { readonly base: number }

interface Calibration {
  /** With the encoder of the package, with another one, and by words alone. */
  readonly encoder: ConfidenceWeights
  readonly service: ConfidenceWeights
  readonly words: ConfidenceWeights
  /** The minimum confidence of a good and of a weak fit. */
  readonly good: number
  readonly weak: number
}

export const confidenceWeights: Calibration = {
  encoder: { base: -1.818, share: -2.089, shareByWords: 2.546, cosine: 1.212, mean: 6.904 },
  service: { base: -1.353, share: -1.769, shareByWords: 2.947, deviation: -0.02 },
  words: { base: -1.482, share: -2.007, shareByWords: 2.978 },
  good: 0.5,
  weak: 0.268,
}
