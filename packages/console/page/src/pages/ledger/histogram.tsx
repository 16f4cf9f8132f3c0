// Calls that match the filters over time, by decision. A click on a bar or a brush over several filters
// by that stretch of time.

import type { JSX } from 'react'
import type { CallHistogram } from '../../../../src/contract/contract.ts'
import { setQuery } from '../../route.ts'
import { CallPlots } from '../../ui/call-plots.tsx'
import { count } from '../../ui/words.ts'

export function Histogram({ data }: { data: CallHistogram }): JSX.Element {
  const all = data.intervals
    .flatMap(({ counts }) => Object.values(counts))
    .reduce((sum, value) => sum + value, 0)
  return (
    <section className="card ledger-histogram" aria-label="Calls over time">
      <p className="small muted">
        <b className="num">{count(all)}</b> {all === 1 ? 'call' : 'calls'}
        {data.newest !== undefined && ` among the newest ${count(data.newest)} records`}. Click a
        bar, or drag over several, to see only those.
      </p>
      <CallPlots
        data={data}
        label="Matching calls over time"
        height={52}
        onSelect={(fromMs, toMs) =>
          setQuery({ range: '', sinceMs: String(fromMs), untilMs: String(toMs) }, 'push')
        }
      />
    </section>
  )
}
