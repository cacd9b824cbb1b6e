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
  encoder: { base: -1.94, share: -3.77, shareByWords: 3.55, cosine: 2.17, mean: 4.39, background: -6 },
  service: { base: -1.4, share: -1.82, shareByWords: 2.97, deviation: -0.02 },
  words: { base: -1.48, share: -2.01, shareByWords: 2.98 },
  good: 0.5,
  weak: 0.299,
}
