// Calls over time by decision, and below them those that were held or refused, which are few among all.

import { type JSX, useMemo } from 'react'
import { pickRefusals, toLines } from './call-counts.ts'
import { Plot } from './plot.tsx'
import { short } from './words.ts'

export function CallPlots({
  data,
  label,
  height,
  onSelect,
}: {
  data: Parameters<typeof toLines>[0]
  label: string
  height: number
  onSelect: (fromMs: number, toMs: number) => void
}): JSX.Element {
  const { times, lines } = useMemo(() => toLines(data), [data])
  const refusals = useMemo(() => pickRefusals(lines), [lines])
  const common = { times, unit: short, onSelect }
  return (
    <>
      <Plot {...common} label={label} height={height} lines={lines} />
      {refusals.length > 0 && (
        <Plot
          {...common}
          label={`${label}, held or refused`}
          height={REFUSED_PX}
          lines={refusals}
        />
      )}
    </>
  )
}

const REFUSED_PX = 60
