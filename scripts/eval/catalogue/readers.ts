// Inter-annotator agreement of two readings of the same definitions: the share, and Cohen's kappa,
// which corrects for chance.

import { CATEGORIES } from '@sluice/policy/calls/tools'
import type { Labelled } from './data.ts'

interface Agreement {
  readonly twice: number
  readonly agreed: number
  readonly kappa: number
  /** Of those whose risk was read twice as well. */
  readonly risksTwice: number
  readonly risksAgreed: number
}

export function computeAgreement(labels: readonly Labelled[]): Agreement {
  const twice = labels.filter(({ second }) => second !== undefined)
  const agreed = twice.filter(({ first, second }) => first === second).length
  const chance = CATEGORIES.reduce((sum, category) => {
    const of = (reading: 'first' | 'second') =>
      twice.filter((label) => label[reading] === category).length / twice.length
    return sum + of('first') * of('second')
  }, 0)
  const risks = twice.filter(({ secondRisk }) => secondRisk !== undefined)
  const share = agreed / twice.length
  return {
    twice: twice.length,
    agreed,
    kappa: Math.round(((share - chance) / (1 - chance)) * 1_000) / 1_000,
    risksTwice: risks.length,
    risksAgreed: risks.filter(({ risk, secondRisk }) => risk === secondRisk).length,
  }
}
