// The schedules of an agent: the next time of each, what became of the last, and buttons that add and remove one.

import type { JSX } from 'react'
import type { ScheduleView } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { AskButton, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Panel } from '../../ui/panel.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { clock } from '../../ui/words.ts'

const REFRESH_MS = 5_000

const FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name', placeholder: 'nightly' },
  { name: 'input', label: 'What it is to do', type: 'area' },
  {
    name: 'when',
    label: 'When',
    type: 'chips',
    value: 'cron',
    choices: [
      { value: 'cron', says: 'At times' },
      { value: 'at', says: 'Once' },
    ],
  },
]
const LATER: readonly FormField[] = [
  { name: 'zone', label: 'Time zone', value: Intl.DateTimeFormat().resolvedOptions().timeZone },
]

function listFields({ when }: FormValues): readonly FormField[] {
  const time: FormField =
    when === 'at'
      ? { name: 'at', label: 'Time', placeholder: '2027-01-31T09:00' }
      : { name: 'cron', label: 'Minute hour day month weekday', value: '0 7 * * 1-5' }
  return [...FIELDS, time, ...LATER]
}

export function Schedules({ path }: { path: string }): JSX.Element | null {
  const { value, reload } = useResource<{ schedules: ScheduleView[] }>(
    `${path}/schedules`,
    REFRESH_MS,
  )
  if (value === undefined) return null
  const remove = async (name: string) => {
    await post(`${path}/unschedule`, { name })
    showToast('removed')
    reload()
  }
  const add = async ({ when: _, ...schedule }: FormValues) => {
    await post(`${path}/schedule`, { schedule })
    showToast(`scheduled ${schedule.name}`)
    reload()
  }
  return (
    <Panel
      title="Schedules"
      isSmall
      side={
        <AskButton
          says="New schedule…"
          button="quiet"
          title="New schedule"
          fields={listFields}
          findFault={({ name, input }) => (name === '' || input === '' ? '' : undefined)}
          confirm="Schedule it"
          onSubmit={add}
        >
          The agent is prompted by itself; the policy decides each prompt and each call. A webhook
          is made with <code>wasm_agent_schedule</code>.
        </AskButton>
      }
    >
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
