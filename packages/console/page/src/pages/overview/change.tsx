// By how much a figure differs from the period before. A share of very few, or many times as much, says
// nothing: then the figure of the period before.

import type { JSX } from 'react'
import { count } from '../../ui/words.ts'

const FEW = 20
const MANY_TIMES = 10

export function Change({
  now,
  before,
  isBad = false,
  format = count,
}: {
  now: number
  before: number
  /** More of it is worse. */
  isBad?: boolean
  format?: (value: number) => string
}): JSX.Element | null {
  if (now === before) return null
  const isTelling = before >= FEW && now < before * MANY_TIMES
  const share = Math.round((Math.abs(now - before) / before) * 100)
  return (
    <span
      className={`small num nowrap ${isBad && now > before ? 'worse' : 'muted'}`}
      title={`${format(before)} before`}
    >
      {isTelling ? `${now > before ? '+' : '−'}${share} %` : `before ${format(before)}`}
    </span>
  )
}
