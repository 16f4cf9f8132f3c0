// The filters of the ledger, all of them in the address: names with suggestions from the ledger itself,
// free text, decision, and a range of time.

import { type JSX, type ReactNode, useEffect, useState } from 'react'
import type { LedgerNames } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OUTCOME_CHOICES } from '../../ui/marks.tsx'
import { useNarrow } from '../../ui/narrow.ts'
import { PERIODS } from '../../ui/periods.ts'
import { chosenZone } from '../../zone.ts'

const FILTERS = [
  'text',
  'principal',
  'agent',
  'session',
  'server',
  'name',
  'word',
  'action',
  'code',
  'sinceMs',
  'untilMs',
] as const
/** With a text field; `of` is the column that names are suggested from. */
const WRITTEN = [
  { name: 'principal', label: 'Who', placeholder: 'Principal', of: 'principal' },
  { name: 'server', label: 'Server', placeholder: 'Server', of: 'server' },
  { name: 'name', label: 'Tool', placeholder: 'Tool', of: 'tool' },
  { name: 'session', label: 'Session', placeholder: 'Session', of: 'session' },
  { name: 'agent', label: 'Agent', placeholder: 'Agent', of: 'agent' },
  { name: 'code', label: 'Code', placeholder: 'Code', of: 'code' },
] as const

type FilterName = (typeof FILTERS)[number]
export type CallFilter = Readonly<Record<FilterName, string>>

/** The filters of the address, and the same as the query of a request. */
export function useFilter(): { readonly filter: CallFilter; readonly key: string } {
  const { query } = useRoute()
  const filter = Object.fromEntries(
    FILTERS.map((name) => [name, query.get(name) ?? '']),
  ) as unknown as CallFilter
  return { filter, key: formatQuery(filter) }
}

/** On a phone all but the search are folded. */
export function Filters({
  filter,
  isSet,
  children,
}: {
  filter: CallFilter
  isSet: boolean
  children: ReactNode
}): JSX.Element {
  const isNarrow = useNarrow()
  const others = (
    <>
      <OtherFilters filter={filter} isSet={isSet} />
      {children}
    </>
  )
  return (
    <>
      <TextField
        quiet
        label="Search calls"
        className="search"
        placeholder="Search names, codes, reasons"
        value={filter.text}
        onChange={(text) => setQuery({ text })}
      />
      {isNarrow ? (
        <details className="ledger-more">
          <summary>{isSet ? `Filters: ${listSet(filter)}` : 'Filters and export'}</summary>
          <div className="row">{others}</div>
        </details>
      ) : (
        others
      )}
    </>
  )
}

/** What is filtered by, in words. */
function listSet({ text, session, agent, sinceMs, untilMs, ...named }: CallFilter): string {
  return [
    text,
    ...Object.values(named),
    session && 'one session',
    agent && 'one agent',
    (sinceMs || untilMs) && 'time range',
  ]
    .filter(Boolean)
    .join(', ')
}

function OtherFilters({ filter, isSet }: { filter: CallFilter; isSet: boolean }): JSX.Element {
  return (
    <>
      {WRITTEN.map((field) => (
        <NameField key={field.name} {...field} value={filter[field.name]} />
      ))}
      <SelectField
        label="Decision"
        value={filter.word}
        onChange={(word) => setQuery({ word, action: '' })}
        choices={[
          { value: '', says: filter.action === '' ? 'All decisions' : filter.action },
          ...OUTCOME_CHOICES,
        ]}
      />
      <TimeRange since={filter.sinceMs} until={filter.untilMs} />
      {isSet && (
        <Button
          kind="quiet"
          onPress={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])))}
        >
          <Icon name="close" /> Clear
        </Button>
      )}
    </>
  )
}

/** Names match exactly: what the ledger has is suggested once the field has the focus. */
function NameField({
  name,
  label,
  placeholder,
  of,
  value,
}: (typeof WRITTEN)[number] & { value: string }): JSX.Element {
  const [isUsed, setUsed] = useState(false)
  const path = `/ledger/names${formatQuery({ of, text: value })}`
  const { value: names } = useResource<LedgerNames>(isUsed ? path : undefined)
  // A name that was typed is known only when its suggestions have come.
  const isTool = of === 'tool' && names?.names.includes(value) === true
  useEffect(() => {
    if (isTool) setQuery(splitTool(value))
  }, [isTool, value])
  return (
    <TextField
      quiet
      label={label}
      placeholder={placeholder}
      value={value}
      onChange={(text) => setQuery({ [name]: text })}
      onFocus={() => setUsed(true)}
      suggestions={names?.names ?? []}
    />
  )
}

/** A period up to now is turned into its start, which is in the address; or from one time to another. */
function TimeRange({ since, until }: { since: string; until: string }): JSX.Element {
  const isSet = since !== '' || until !== ''
  const periods = PERIODS.map(({ ms, says }) => ({ value: String(ms), says }))
  return (
    <>
      <SelectField
        label="Time"
        value={isSet ? 'set' : ''}
        onChange={(ms) =>
          setQuery({ sinceMs: ms === '' ? '' : String(Date.now() - Number(ms)), untilMs: '' })
        }
        choices={[
          { value: '', says: 'Any time' },
          ...(isSet ? [{ value: 'set', says: 'Time range' }] : []),
          ...periods,
        ]}
      />
      {isSet && (
        <>
          <Moment label="From" value={since} onChange={(sinceMs) => setQuery({ sinceMs })} />
          <Moment label="To" value={until} onChange={(untilMs) => setQuery({ untilMs })} />
        </>
      )}
    </>
  )
}

function Moment({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (ms: string) => void
}): JSX.Element {
  const isUtc = chosenZone() === 'utc'
  const shown = value === '' ? '' : toFieldTime(Number(value), isUtc)
  return (
    <TextField
      quiet
      label={label}
      type="datetime-local"
      value={shown}
      onChange={(text) =>
        onChange(text === '' ? '' : String(Date.parse(isUtc ? `${text}Z` : text)))
      }
    />
  )
}

/** As the field wants it: without its zone. */
function toFieldTime(ms: number, isUtc: boolean): string {
  const aheadMs = isUtc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - aheadMs).toISOString().slice(0, 19)
}
