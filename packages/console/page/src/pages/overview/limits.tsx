// How full the limits of the policy are now, the fullest first, and whose they are.

import type { JSX } from 'react'
import type { LimitsView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { LimitOwner } from '../../ui/limit-owner.tsx'
import { Panel } from '../../ui/panel.tsx'
import { REFRESH_MS } from '../../ui/periods.ts'
import { useSection } from '../../ui/section.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { count, span } from '../../ui/words.ts'

const SHOWN = 8
/** The share from which a limit is shown as a warning. */
export const NEARLY_FULL = 0.8

export function Limits(): JSX.Element | null {
  const { value } = useResource<LimitsView>('/limits', REFRESH_MS)
  const section = useSection<HTMLElement>('limits', (value?.limits.length ?? 0) > 0)
  if (value === undefined || value.limits.length === 0) return null
  return (
    <Panel
      ref={section}
      title="Limits in use"
      isSmall
      side={
        <span className="muted small num">
          {count(Math.min(SHOWN, value.count))} of {count(value.count)}
        </span>
      }
    >
      <ul className="stack">
        {value.limits.slice(0, SHOWN).map(({ limit, whose, windowMs, used, max, share }) => {
          const name = `${limit}${whose === '' ? '' : `, ${whose}`}`
          return (
            <li key={`${limit} ${whose} ${windowMs} ${max}`} className="meter-row">
              <span className="cut">
                <UntrustedText text={limit} className="strong" /> <LimitOwner whose={whose} />
              </span>
              <span className="num small">
                {used} of {max} in {span(windowMs / 1_000)}
              </span>
              <meter
                min={0}
                max={1}
                high={NEARLY_FULL}
                optimum={0}
                value={share}
                aria-label={name}
              />
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}
