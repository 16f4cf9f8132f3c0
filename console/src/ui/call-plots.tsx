// Calls over time by decision, and below them those that were held or refused, which are few among all.

import { type JSX, useMemo } from 'react'
import { pickRefusals } from './call-counts.ts'
import { Plot, type PlotLine } from './plot.tsx'
import { short } from './words.ts'

interface PlotSize {
  readonly label: string
  readonly height: number
}

export function CallPlots({
  times,
  lines,
  all,
  refused,
  onSelect,
}: {
  times: readonly number[]
  lines: readonly PlotLine[]
  all: PlotSize
  refused: PlotSize
  onSelect: (fromMs: number, toMs: number) => void
}): JSX.Element {
  const refusals = useMemo(() => pickRefusals(lines), [lines])
  const common = { times, unit: short, onSelect }
  return (
    <>
      <Plot {...common} {...all} lines={lines} />
      {refusals.length > 0 && <Plot {...common} {...refused} lines={refusals} />}
    </>
  )
}
