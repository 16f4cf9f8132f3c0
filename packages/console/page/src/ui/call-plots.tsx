// Calls over time by decision, and below them those that were held or refused, which are few among all.

import { type JSX, useMemo } from 'react'
import { pickRefusals, toLines } from './call-counts.ts'
import { Plot } from './plot.tsx'
import { short } from './words.ts'

interface CallPlotsProps {
  readonly data: Parameters<typeof toLines>[0]
  readonly label: string
  readonly height: number
  readonly onSelect: (fromMs: number, toMs: number) => void
}

export function CallPlots({ data, label, height, onSelect }: CallPlotsProps): JSX.Element {
  const { times, lines } = useMemo(() => toLines(data), [data])
  const refusals = useMemo(() => pickRefusals(lines), [lines])
  const common = { times, unit: short, onSelect }
  return (
    <div className="plots">
      <Plot {...common} label={label} height={height} lines={lines} />
      {refusals.length > 0 && (
        <Plot
          {...common}
          label={`${label}, held or refused`}
          height={REFUSED_PX}
          lines={refusals}
        />
      )}
    </div>
  )
}

const REFUSED_PX = 52
