// Tokens and cost of agents in the period of the overview, beside the period before; models on hover.

import type { JSX } from 'react'
import type { AgentUsage, UsageFigures } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { type PERIODS, REFRESH_MS } from '../../ui/periods.ts'
import { count, minute, money, plural, short } from '../../ui/words.ts'
import { Change } from './change.tsx'

export function Usage({ period }: { period: (typeof PERIODS)[number] }): JSX.Element | null {
  const { value } = useResource<AgentUsage>(`/usage?lengthMs=${period.ms}`, REFRESH_MS)
  if (value === undefined) return null
  const { totals, before, models, knownSinceMs, sinceMs } = value
  const hasBefore = knownSinceMs === null || knownSinceMs <= sinceMs - period.ms
  const hasCost = totals.cost > 0 || before.cost > 0
  return (
    <>
      <span className="small" title={describeTokens(value, hasBefore ? period.before : '')}>
        {period.says}: {short(totals.tokens)} model tokens{' '}
        {hasBefore && before.tokens > 0 && <Change now={totals.tokens} before={before.tokens} />}
      </span>
      {hasCost && (
        <span className="small" title={models.map(describeCost).join('\n')}>
          cost {money(totals.cost)}{' '}
          {hasBefore && before.cost > 0 && (
            <Change now={totals.cost} before={before.cost} format={money} />
          )}
        </span>
      )}
      {!hasBefore && <span className="small">known since {minute(knownSinceMs)}</span>}
    </>
  )
}

/** Without the period before, if it is not known. */
function describeTokens({ totals, before, models }: AgentUsage, beforeSays: string): string {
  const was = beforeSays === '' ? [] : [`${beforeSays}: ${describe(before)}`]
  const own = models.map(({ model, ...figures }) => `${model}: ${describe(figures)}`)
  return [describe(totals), ...was, ...own].join('\n')
}

function describe({ modelCalls, tokens, inputTokens, outputTokens }: UsageFigures): string {
  const parts = tokens === 0 ? '' : ` (${count(inputTokens)} in, ${count(outputTokens)} out)`
  return `${plural(tokens, 'token')}${parts} in ${plural(modelCalls, 'model call')}`
}

function describeCost({ model, cost }: AgentUsage['models'][number]): string {
  return `${model}: ${cost === 0 ? 'no price' : money(cost)}`
}
