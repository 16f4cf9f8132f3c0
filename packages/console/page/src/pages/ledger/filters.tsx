// The filters of the ledger, all of them in the address: one field that takes `tool:office/send_mail`,
// `who:support`, `args.amount > 5000` or free text, a chip for each that is set, and a range of time.

import { type JSX, useMemo, useState } from 'react'
import type { LedgerNames } from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { SuggestingField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OUTCOME_CHOICES } from '../../ui/marks.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { zoneName } from '../../zone.ts'
import { resolveRange } from './range.ts'
import { TimeRangePicker } from './time-range.tsx'

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
const OTHERS = ['action', 'where', 'range', 'sinceMs', 'untilMs'] as const

type FilterName = (typeof TERMS)[number]['name'] | (typeof OTHERS)[number]
export type CallFilter = Readonly<Record<FilterName, string>>

const NAMES: readonly FilterName[] = [...TERMS.map(({ name }) => name), ...OTHERS]
const TAGS = ['approver', 'label', 'redacted'] as const
/** Tags of a call, each a condition of its own. */
const TAG = /^(approver|label|redacted):\s*(\S.*)$/
const CONDITION = /^args\.\S+?\s*(<=|>=|=|<|>)\s*\S/
/** As the head of the column has it. */
const SHORT_CONDITION = /^[\w.]+\s*(<=|>=|<|>)\s*-?\d/

/** The filters of the address, and the same as the query of a request. */
export function useFilter(): { readonly filter: CallFilter; readonly key: string } {
  const { query } = useRoute()
  const filter = Object.fromEntries(
    NAMES.map((name) => [name, query.get(name) ?? '']),
  ) as unknown as CallFilter
  const { range, ...rest } = filter
  // Up to the moment when it was chosen: what comes later is counted as new.
  const times = useMemo(() => {
    const { sinceMs, untilMs } = resolveRange(range, Date.now(), zoneName()) ?? {}
    return sinceMs === undefined ? {} : { sinceMs: String(sinceMs), untilMs: String(untilMs ?? '') }
  }, [range])
  return { filter, key: formatQuery({ ...rest, ...times }) }
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
      <SuggestingField
        label="Search calls"
        placeholder="tool:  who:  approver:  decision:  args.amount > 5000  or text"
        value={text}
        suggestions={options}
        onChange={setText}
        // One that is only begun is typed on.
        onChosen={(chosen) => (/[:>\s.]$/.test(chosen) ? setText(chosen) : apply(chosen))}
        onEnter={() => apply(text)}
      />
      <TimeRangePicker filter={filter} />
      <Chips filter={filter} />
    </>
  )
}

/** What a text that was entered sets; undefined if there is nothing in it. */
function readTerm(text: string, { where }: CallFilter): Record<string, string> | undefined {
  const condition = SHORT_CONDITION.test(text) && !text.startsWith('args.') ? `args.${text}` : text
  const tag = TAG.exec(text)
  if (tag !== null) return { where: [where, `${tag[1]}:${tag[2]}`].filter(Boolean).join('; ') }
  if (CONDITION.test(condition)) return { where: [where, condition].filter(Boolean).join('; ') }
  const colon = text.indexOf(':')
  const term = TERMS.find(({ term: one }) => one === text.slice(0, colon))
  const value = text.slice(colon + 1).trim()
  if (text === '' || value === '') return undefined
  if (term === undefined) return { text }
  if (term.term === 'tool' && value.includes('/')) return splitTool(value)
  return term.name === 'word' ? { word: value, action: '' } : { [term.name]: value }
}

/** Terms that begin so, or the names that the ledger has for the one that is typed. */
function useSuggestions(text: string): string[] {
  const [, term = '', part = ''] = /^(\w+):(.*)$/.exec(text) ?? []
  const of = TERMS.find((one) => one.term === term)?.of ?? TAGS.find((tag) => tag === term)
  const isValue = text.startsWith('args')
  const names = useResource<LedgerNames>(
    of === undefined && !isValue
      ? undefined
      : `/ledger/names${formatQuery({ of: of ?? 'value', text: isValue ? '' : part })}`,
  ).value?.names
  if (isValue) {
    const paths = (names ?? []).filter((name) => name.startsWith(text))
    return paths.map((name) => `${name} > `)
  }
  if (term === 'decision')
    return OUTCOME_CHOICES.map(({ value }) => `decision:${value}`).filter((one) =>
      one.startsWith(text),
    )
  // A list that is empty for a moment is closed, and stays so.
  if (of !== undefined) return names?.map((name) => `${term}:${name}`) ?? [text]
  const terms = [...[...TERMS.map((one) => one.term), ...TAGS].map((one) => `${one}:`), 'args.']
  // With nothing typed the list is closed: the rest of the page can be used.
  return text === '' ? [] : terms.filter((one) => one.startsWith(text))
}

function Chips({ filter }: { filter: CallFilter }): JSX.Element | null {
  const chips = listChips(filter)
  if (chips.length === 0) return null
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
