// By how much a figure differs from the period before; its value then on hover.

import type { JSX } from 'react'
import { count, short } from '../../ui/words.ts'

export function Change({
  now,
  before,
  format = count,
}: {
  now: number
  before: number
  format?: (value: number) => string
}): JSX.Element | null {
  if (now === before) return null
  const text = before === 0 ? 'new' : `${now > before ? '+' : '−'}${formatShare(now, before)}`
  return (
    <span className="muted small num change" title={`${format(before)} before`}>
      {text}
    </span>
  )
}

function formatShare(now: number, before: number): string {
  return `${short(Math.round((Math.abs(now - before) / before) * 100))} %`
}
