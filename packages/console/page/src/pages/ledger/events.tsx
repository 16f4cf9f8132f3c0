// What happened to the gate itself, each event in words; the record as it was written on demand. The
// search is in the address.

import { describeEvent, titleOfEvent } from '@sluice/ledger/records/event-title'
import { attempt } from '@sluice/policy/structures/attempt'
import { type JSX, useMemo } from 'react'
import type { LedgerEvents } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { TextField } from '../../ui/fields.tsx'
import { Empty, Loading, NotFollowed } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { date, nameRecord } from '../../ui/words.ts'

export function Events(): JSX.Element {
  const { value } = useResource<LedgerEvents>('/ledger/events', 5_000)
  const { query } = useRoute()
  const q = query.get('q') ?? ''
  const shown = useMemo(() => {
    const wanted = q.toLowerCase()
    return (value?.events ?? []).filter((event) =>
      `${event.name} ${titleOfEvent(event.name, parse(event.detail))} ${event.detail}`
        .toLowerCase()
        .includes(wanted),
    )
  }, [value, q])
  return (
    <div className="scroll page-body stack">
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
      {value?.notFollowed !== undefined && <NotFollowed why={value.notFollowed} />}
      {value === undefined && <Loading />}
      {value !== undefined && shown.length === 0 && (
        <Empty icon="ledger" title={q === '' ? 'No events yet' : 'No matching events'}>
          Starts, policies, definitions, freezes and people are recorded here.
        </Empty>
      )}
      <ol className="card" hidden={shown.length === 0}>
        {shown.map((event) => (
          <li key={event.seq} className="event">
            <span className="num muted">{nameRecord(event)}</span>
            <span className="num muted">{date(event.atMs)}</span>
            <span className="strong">{titleOfEvent(event.name, parse(event.detail))}</span>
            <details>
              <summary>
                <UntrustedText text={describe(event)} className="muted" />
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

function describe({ name, detail }: LedgerEvents['events'][number]): string {
  const text = describeEvent(parse(detail), name)
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

function parse(text: string): unknown {
  return attempt(() => JSON.parse(text), text)
}
