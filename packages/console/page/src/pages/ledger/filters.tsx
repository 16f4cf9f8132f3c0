// The filters of the ledger, all of them in the address: one field that takes `tool:office/send_mail`,
// `who:support`, `args.amount > 5000` or free text, a chip for each that is set, and a range of time.

import { type JSX, useState } from 'react'
import type { LedgerNames } from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OUTCOME_CHOICES } from '../../ui/marks.tsx'
import { PERIODS } from '../../ui/periods.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { chosenZone } from '../../zone.ts'

/** What is typed before the colon, the filter of the address, and the column that names come from. */
const TERMS = [
  { term: 'tool', name: 'name', of: 'tool' },
  { term: 'server', name: 'server', of: 'server' },
  { term: 'who', name: 'principal', of: 'principal' },
  { term: 'decision', name: 'word', of: undefined },
  { term: 'session', name: 'session', of: 'session' },
  { term: 'agent', name: 'agent', of: 'agent' },
  { term: 'program', name: 'parent', of: undefined },
  { term: 'code', name: 'code', of: 'code' },
  { term: 'text', name: 'text', of: undefined },
] as const
const OTHERS = ['action', 'where', 'sinceMs', 'untilMs'] as const

type FilterName = (typeof TERMS)[number]['name'] | (typeof OTHERS)[number]
export type CallFilter = Readonly<Record<FilterName, string>>

const NAMES: readonly FilterName[] = [...TERMS.map(({ name }) => name), ...OTHERS]
const CONDITION = /^args\.\S+?\s*(<=|>=|=|<|>)\s*\S/
/** As the head of the column has it. */
const SHORT_CONDITION = /^[\w.]+\s*(<=|>=|<|>)\s*-?\d/

/** The filters of the address, and the same as the query of a request. */
export function useFilter(): { readonly filter: CallFilter; readonly key: string } {
  const { query } = useRoute()
  const filter = Object.fromEntries(
    NAMES.map((name) => [name, query.get(name) ?? '']),
  ) as unknown as CallFilter
  return { filter, key: formatQuery(filter) }
}

export function Filters({ filter }: { filter: CallFilter }): JSX.Element {
  const [text, setText] = useState('')
  const options = useSuggestions(text)
  const apply = (given: string) => {
    const set = readTerm(given.trim(), filter)
    if (set === undefined) return
    setText('')
    setQuery(set, 'push')
  }
  return (
    <>
      <TextField
        quiet
        label="Search calls"
        className="search"
        placeholder="tool:  who:  decision:  args.amount > 5000  or text"
        value={text}
        suggestions={options}
        onChange={(next) => {
          // One that was chosen from the list is whole.
          if (options.includes(next) && /[^:>\s]$/.test(next)) apply(next)
          else setText(next)
        }}
        onEnter={() => apply(text)}
      />
      <TimeRange since={filter.sinceMs} until={filter.untilMs} />
      <Chips filter={filter} />
    </>
  )
}

/** What a text that was entered sets; undefined if there is nothing in it. */
function readTerm(text: string, { where }: CallFilter): Record<string, string> | undefined {
  const condition = SHORT_CONDITION.test(text) && !text.startsWith('args.') ? `args.${text}` : text
  if (CONDITION.test(condition)) return { where: [where, condition].filter(Boolean).join('; ') }
  const colon = text.indexOf(':')
  const term = TERMS.find(({ term: one }) => one === text.slice(0, colon))
  const value = text.slice(colon + 1).trim()
  if (text === '' || value === '') return undefined
  if (term === undefined) return { text }
  if (term.term === 'tool' && value.includes('/')) return splitTool(value)
  return term.name === 'word' ? { word: value, action: '' } : { [term.name]: value }
}

/** Terms, and the names that the ledger has for the one that is typed. */
function useSuggestions(text: string): string[] {
  const [, term = '', part = ''] = /^(\w+):(.*)$/.exec(text) ?? []
  const of = TERMS.find((one) => one.term === term)?.of
  const isValue = text.startsWith('args')
  const names = useResource<LedgerNames>(
    of === undefined && !isValue
      ? undefined
      : `/ledger/names${formatQuery({ of: of ?? 'value', text: isValue ? '' : part })}`,
  ).value?.names
  if (isValue) return (names ?? []).map((name) => `${name} > `)
  if (term === 'decision') return OUTCOME_CHOICES.map(({ value }) => `decision:${value}`)
  if (of !== undefined) return (names ?? []).map((name) => `${term}:${name}`)
  return [...TERMS.map((one) => `${one.term}:`), 'args.']
}

function Chips({ filter }: { filter: CallFilter }): JSX.Element | null {
  const chips = listChips(filter)
  if (chips.length === 0 && filter.sinceMs === '' && filter.untilMs === '') return null
  return (
    <ul className="row full filter-chips" aria-label="Filters">
      {chips.map(({ says, without }) => (
        <li key={says}>
          <Button onPress={() => setQuery(without, 'push')}>
            <UntrustedText text={says} className="cut" />
            <Icon name="close" size={12} />
            <span className="visually-hidden">remove this filter</span>
          </Button>
        </li>
      ))}
      <li>
        <Button
          kind="quiet"
          onPress={() => setQuery(Object.fromEntries(NAMES.map((name) => [name, ''])), 'push')}
        >
          Clear
        </Button>
      </li>
    </ul>
  )
}

function listChips(filter: CallFilter) {
  const { server, name, action, where } = filter
  const conditions = where.split(';').map((one) => one.trim())
  const isTool = server !== '' && name !== ''
  return [
    ...(isTool ? [{ says: `tool:${server}/${name}`, without: { server: '', name: '' } }] : []),
    ...TERMS.filter((one) => filter[one.name] !== '')
      .filter((one) => !isTool || (one.term !== 'tool' && one.term !== 'server'))
      .map((one) => ({ says: `${one.term}:${filter[one.name]}`, without: { [one.name]: '' } })),
    ...(action === '' ? [] : [{ says: `action:${action}`, without: { action: '' } }]),
    ...conditions.filter(Boolean).map((says) => ({
      says,
      without: { where: conditions.filter((one) => one !== says).join('; '), sort: '' },
    })),
  ]
}

/** A period up to now is turned into its start, which is in the address; or from one time to another. */
function TimeRange({ since, until }: { since: string; until: string }): JSX.Element {
  const isSet = since !== '' || until !== ''
  const isUtc = chosenZone() === 'utc'
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
      {isSet &&
        (
          [
            ['From', 'sinceMs', since],
            ['To', 'untilMs', until],
          ] as const
        ).map(([label, name, ms]) => (
          <TextField
            key={name}
            quiet
            label={label}
            type="datetime-local"
            value={ms === '' ? '' : toFieldTime(Number(ms), isUtc)}
            onChange={(text) => {
              const chosen = text === '' ? '' : String(Date.parse(isUtc ? `${text}Z` : text))
              setQuery({ [name]: chosen })
            }}
          />
        ))}
    </>
  )
}

/** As the field wants it: without its zone. */
function toFieldTime(ms: number, isUtc: boolean): string {
  const aheadMs = isUtc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - aheadMs).toISOString().slice(0, 19)
}
