import { describe, expect, it } from 'vitest'
import { confidenceWeights } from '../../search/confidence-weights.ts'
import { type Confidences, noteConfidence, scoreAbstention } from './set-scores.ts'

const hit = (id: string, score: number) => ({ score, tool: { id } })
const empty = (): Confidences => ({ served: [], unserved: [], removed: [] })
const { weak } = confidenceWeights

describe('abstention', () => {
  it('compares served queries with those that have no tool', () => {
    const seen = empty()
    noteConfidence(seen, [hit('a', 0.9), hit('b', 0.6)], ['a'])
    noteConfidence(seen, [hit('b', 0.4)], ['a'])
    noteConfidence(seen, [hit('b', weak - 0.01)], [])
    noteConfidence(seen, [hit('b', 0.5)], [])
    expect(seen).toEqual({ served: [0.9, 0.4], unserved: [weak - 0.01, 0.5], removed: [0.6, 0.4] })
    expect(scoreAbstention(seen)).toEqual({ auroc: 75, falseAbstention: 0, trueAbstention: 50 })
    expect(scoreAbstention(seen, 0.5)).toEqual({ auroc: 75, falseAbstention: 50, trueAbstention: 50 })
  })

  it('compares with removed tools where every query has one, and counts equal values as half', () => {
    const seen = empty()
    noteConfidence(seen, [hit('a', 0.5)], ['a'])
    noteConfidence(seen, [hit('b', 0.5)], ['a'])
    expect(scoreAbstention(seen)).toEqual({ auroc: 75, falseAbstention: 0, trueAbstention: 50 })
    expect(scoreAbstention(empty())).toEqual({ auroc: 0, falseAbstention: 0, trueAbstention: 0 })
  })
})
