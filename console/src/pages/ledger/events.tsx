// What happened to the gate itself, each event in words; the record as it was written on demand. The
// search is in the address.

import { type JSX, useMemo } from 'react'
import type { LedgerEvents } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { TextField } from '../../ui/fields.tsx'
import { Empty, Loading } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/said.tsx'
import { date } from '../../ui/words.ts'

/** Others are shown by their own name. */
const NAMES: Readonly<Record<string, string>> = {
  start: 'Gate started',
  stop: 'Gate stopped',
  policy: 'Policy put in force',
  pin: 'Definition accepted',
  freeze: 'Frozen',
  thaw: 'Thawed',
  session: 'Session began',
  'session-end': 'Session ended by a person',
  server: 'Server changed',
  grant: 'Grant changed',
  grants: 'Grants changed',
  approver: 'Approver changed',
  'approval-requested': 'Approval requested',
  'approval-revealed': 'Masked arguments revealed',
  'approval-proposed': 'Arguments changed by an approver',
  labels: 'Labels seen',
  proof: 'Person proved who they are',
  'proof-refused': 'Proof of a person refused',
  restore: 'Backup restored',
  recovery: 'Ledger recovered',
  'ledger-recovery': 'Ledger recovered',
  export: 'Ledger exported',
  lock: 'Tools locked',
  'agents-trust': 'Installation trusted',
  'traces-start': 'Recording of sessions started',
  'traces-stop': 'Recording of sessions stopped',
  'traces-export': 'Recorded sessions exported',
}

/** Of events whose `how` says what it was. */
const NAMES_BY_HOW: Readonly<Record<string, string>> = {
  'pin new': 'New tools',
  'pin refused': 'Definition refused',
}

function nameOf({ name, detail }: LedgerEvents['events'][number]): string {
  const { how } = (parse(detail) ?? {}) as { how?: unknown }
  return NAMES_BY_HOW[`${name} ${how}`] ?? NAMES[name] ?? name
}

export function Events(): JSX.Element {
  const { value } = useResource<LedgerEvents>('/ledger/events', 5_000)
  const { query } = useRoute()
  const q = query.get('q') ?? ''
  const shown = useMemo(() => {
    const wanted = q.toLowerCase()
    return (value?.events ?? []).filter((event) =>
      `${event.name} ${nameOf(event)} ${event.detail}`.toLowerCase().includes(wanted),
    )
  }, [value, q])
  return (
    <div className="page-body stack">
      <div className="row">
        <TextField
          label="Search events"
          quiet
          className="search"
          placeholder="Event, person, server"
          value={q}
          onChange={(text) => setQuery({ q: text })}
        />
      </div>
      {value === undefined && <Loading />}
      {value !== undefined && shown.length === 0 && (
        <Empty icon="ledger" title={q === '' ? 'No events yet' : 'No matching events'}>
          Starts, policies, definitions, freezes and people are recorded here.
        </Empty>
      )}
      <ol className="card event-list" hidden={shown.length === 0}>
        {shown.map((event) => (
          <li key={event.seq} className="event">
            <span className="num muted">{event.seq}</span>
            <span className="num muted">{date(event.atMs)}</span>
            <span className="strong">{nameOf(event)}</span>
            <details>
              <summary>
                <UntrustedText text={describe(event.detail)} className="muted" />
              </summary>
              <UntrustedText text={event.detail} className="mono small" />
            </details>
          </li>
        ))}
      </ol>
    </div>
  )
}

const SHOWN_LENGTH = 240

/** Its plain values; who did it first. */
function describe(detail: string): string {
  const value: unknown = parse(detail)
  if (typeof value !== 'object' || value === null) return detail.slice(0, SHOWN_LENGTH)
  const members = Object.entries(value).flatMap(([name, one]) => {
    if (one === '' || one === null || Array.isArray(one)) return []
    const text = typeof one === 'object' ? String(one.by ?? one.name ?? '…') : String(one)
    return name === 'by' ? [`by ${text}`] : [`${name} ${text}`]
  })
  const [by, others] = [members.filter(isActor), members.filter((text) => !isActor(text))]
  const text = [...by, ...others].join(', ')
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

function isActor(text: string): boolean {
  return text.startsWith('by ')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
