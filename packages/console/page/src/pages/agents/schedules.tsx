// The schedules of an agent: the next time of each, what became of the last, and a button that removes it.

import type { JSX } from 'react'
import type { ScheduleView } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { AskButton } from '../../ui/ask.tsx'
import { Panel } from '../../ui/panel.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { clock } from '../../ui/words.ts'

const REFRESH_MS = 5_000

/** Nothing if the agent has none. */
export function Schedules({ path }: { path: string }): JSX.Element | null {
  const { value, reload } = useResource<{ schedules: ScheduleView[] }>(
    `${path}/schedules`,
    REFRESH_MS,
  )
  if (value === undefined || value.schedules.length === 0) return null
  const remove = async (name: string) => {
    await post(`${path}/unschedule`, { name })
    showToast('removed')
    reload()
  }
  return (
    <Panel title="Schedules" isSmall>
      <ul className="stack">
        {value.schedules.map((schedule) => (
          <li key={schedule.name} className="stack">
            <div className="row">
              <TextLine text={schedule.name} className="strong" />
              <span className="spacer" />
              <AskButton
                says="Remove"
                button="quiet"
                title={`Remove ${schedule.name}?`}
                confirm="Remove it"
                kind="refuse"
                onSubmit={() => remove(schedule.name)}
              >
                The agent is not prompted by it any more. A run that it has begun goes on.
              </AskButton>
            </div>
            <p className="small muted mono">{planText(schedule)}</p>
            <UntrustedText text={schedule.input} className="small" />
            <p className="small muted num">
              {schedule.next === null ? '' : `next ${clock(Date.parse(schedule.next))} · `}
              {schedule.last === null ? (
                'not yet prompted'
              ) : (
                <>
                  last {clock(Date.parse(schedule.last.at))}:{' '}
                  <UntrustedText text={schedule.last.outcome} />
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function planText({ cron, zone, at, fresh }: ScheduleView): string {
  const plan = cron === undefined ? (at ?? 'webhook') : `${cron} ${zone}`
  return fresh ? `${plan}, fresh each time` : plan
}
