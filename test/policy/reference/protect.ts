// `protect` of the reference: docs/concepts/guards.md over values that are drawn from a table. What a text
// means (an address, in which spellings) is looked up and never parsed, and what a session has read is a
// list. Names of arguments have the one role that the table of the page gives them.

import type { Call, Facts } from '@sluice/policy/core/call'
import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import { ExactNumber, isObject } from '@sluice/policy/core/json'
import type { Category } from '@sluice/policy/core/tools'
import type { RefDocument } from './document.ts'
import { matchesKey } from './globs.ts'

export interface Address {
  readonly kind: 'email' | 'url' | 'account'
  /** The first has no blanks: it can stand within a text. */
  readonly spellings: readonly [string, ...string[]]
  readonly host?: string
  readonly isBareHost?: true
}

export const ADDRESSES: readonly Address[] = [
  { kind: 'email', spellings: ['ann@one.test', 'Ann@One.test', 'mailto:ann@one.test'] },
  { kind: 'email', spellings: ['bob@two.test', 'Bob Lee <bob@two.test>', '(bob@two.test)'] },
  {
    kind: 'url',
    spellings: ['https://shop.three.test/a', 'http://www.shop.three.test/a/'],
    host: 'shop.three.test',
  },
  {
    kind: 'url',
    spellings: ['https://shop.three.test/b', 'HTTPS://SHOP.THREE.TEST/B'],
    host: 'shop.three.test',
  },
  {
    kind: 'url',
    spellings: ['https://four.test', 'http://www.four.test/'],
    host: 'four.test',
    isBareHost: true,
  },
  {
    kind: 'account',
    spellings: [
      'DE89370400440532013000',
      'DE89 3704 0044 0532 0130 00',
      'de89-3704-0044-0532-0130-00',
    ],
  },
]

/** What a session has read; texts are words of one meaning, or addresses in any spelling. */
export interface RawMemory {
  readonly prompt: readonly string[]
  readonly fields: readonly string[]
  readonly prose: readonly string[]
  /** Values that stand in a record beside so many words of text. */
  readonly records: readonly { readonly values: readonly string[]; readonly words: number }[]
}

/** By the memory that the engine is given of the same texts. */
export const RAW_MEMORIES = new WeakMap<object, RawMemory>()

export type RefOrigin = 'user' | 'field' | 'shared field' | 'written field' | 'prose' | 'nowhere'

export function originIn(memory: RawMemory, text: string): RefOrigin {
  const address = findAddress(text)
  const isSame = (other: string) =>
    address === undefined ? other === text.toLowerCase() : findAddress(other) === address
  const isAtHost = (other: string) =>
    address?.host !== undefined && findAddress(other)?.host === address.host
  if (memory.prompt.some(isSame)) return 'user'
  if (memory.prompt.some((other) => isAtHost(other) && findAddress(other)?.isBareHost))
    return 'user'
  const holding = memory.records.filter(({ values }) => values.some(isSame))
  if (memory.fields.some(isSame) || holding.some(({ words }) => words === 0)) return 'field'
  if (holding.some(({ words }) => words < 12)) return 'shared field'
  if (holding.length > 0) return 'written field'
  return memory.prose.some((other) => isSame(other) || isAtHost(other)) ? 'prose' : 'nowhere'
}

function findAddress(text: string): Address | undefined {
  return ADDRESSES.find(({ spellings }) => spellings.includes(text))
}

/** The guardrails that each word stands for, in the order of their names. */
const PARTS = {
  'protect: unasked actions': 'actsUnasked',
  'protect: unasked changes': 'changesUnasked',
  'protect: unasked destruction': 'destroysUnasked',
  'protect: unproven values': 'valueUnproven',
  'protect: values from text': 'valueFromText',
} as const
export type ProtectionPart = (typeof PARTS)[keyof typeof PARTS]
const STRICT_ONLY: readonly ProtectionPart[] = ['actsUnasked', 'valueUnproven']

export function listParts(level: RefDocument['protect']): [name: string, part: ProtectionPart][] {
  if (level === undefined) return []
  return Object.entries(PARTS).filter(
    ([, part]) => level === 'strict' || !STRICT_ONLY.includes(part),
  )
}

interface Checked {
  readonly call: Call
  readonly facts: Facts
  /** Of this call. */
  readonly category: Category
  readonly flow: 'internal' | 'external' | undefined
  readonly memory: RawMemory
}

/** Whether a guardrail of `protect` holds the call; undefined if what was read is not known. */
export function isHeldBy(
  part: ProtectionPart,
  document: RefDocument,
  { call, facts, category }: Pick<Checked, 'call' | 'facts'> & { category: Category | undefined },
): boolean | undefined {
  const memory = RAW_MEMORIES.get(facts.provenance ?? {})
  if (memory === undefined || category === undefined) return undefined
  const checked = { call, facts, category, memory, flow: flowOf(document, call) }
  switch (part) {
    case 'valueFromText':
      return hasHeldValue(checked, 'balanced')
    case 'valueUnproven':
      return hasHeldValue(checked, 'strict')
    default:
      return isUnasked(checked, part)
  }
}

function flowOf({ labels = {} }: RefDocument, { server, name }: Call): Checked['flow'] {
  const words = Object.keys(labels)
    .filter((key) => matchesKey(key, server, name))
    .flatMap((key) => labels[key] ?? [])
  if (words.includes('external') || words.includes('public')) return 'external'
  return words.includes('internal') ? 'internal' : undefined
}

type Use = 'address' | 'recipient' | 'name' | 'mention'

interface Value {
  readonly text: string
  readonly use: Use
}

function hasHeldValue(checked: Checked, level: 'balanced' | 'strict'): boolean {
  const { category, flow, memory } = checked
  if (flow === 'internal') return false
  const isRead = category === 'Read' && flow !== 'external'
  const values = isRead ? listSent(checked) : listValues(checked)
  return values.some((value) => {
    const origin = originIn(memory, value.text)
    return origin === 'nowhere'
      ? isHeldNowhere(value, checked, level)
      : isHeldFrom(origin, value.use, level)
  })
}

/** The table under "What is held". */
function isHeldFrom(origin: RefOrigin, use: Use, level: 'balanced' | 'strict'): boolean {
  const isStrict = level === 'strict'
  if (origin === 'user' || origin === 'field') return false
  if (origin === 'prose') return true
  switch (use) {
    case 'address':
      return isStrict || origin !== 'shared field'
    case 'recipient':
      return isStrict && origin === 'written field'
    case 'mention':
      return origin === 'written field'
    case 'name':
      return false
  }
}

function isHeldNowhere(
  { text, use }: Value,
  { call, memory }: Checked,
  level: 'balanced' | 'strict',
): boolean {
  if (!hasReadText(memory) || use === 'name') return false
  if (use === 'address' || level === 'strict') return true
  const hasPrompt = memory.prompt.length > 0
  if (use === 'recipient') return hasPrompt
  const isMessage = Object.keys(call.args).includes('to')
  return hasPrompt || isMessage || findAddress(text)?.kind !== 'url'
}

function hasReadText({ prose, records }: RawMemory): boolean {
  return prose.length > 0 || records.some(({ words }) => words > 0)
}

function isUnasked(checked: Checked, part: ProtectionPart): boolean {
  const { call, category, flow, memory } = checked
  if (category === 'Read' || !hasReadText(memory)) return false
  if (category !== 'Destructive') {
    if (part === 'destroysUnasked' || memory.prompt.length === 0) return false
    if (part === 'changesUnasked' && flow === 'internal') return false
    if (part === 'changesUnasked' && isNamedWhole(checked)) return false
  }
  const [verb = ''] = call.name.split('/')
  return !memory.prompt.includes(verb)
}

function isNamedWhole(checked: Checked): boolean {
  const values = listValues(checked)
  return values.length > 0 && values.every(({ text }) => originIn(checked.memory, text) === 'user')
}

interface Leaf {
  readonly text: string
  /** The name of the argument or member that it stands under. */
  readonly name: string
  /** The tool declares which words it takes. */
  readonly isWord: boolean
}

/** Of a read: URLs, but for free text. */
function listSent({ call, facts }: Checked): Value[] {
  return listLeaves(call.args, facts)
    .filter(({ name, isWord }) => name !== 'body' && !isWord)
    .filter(({ text }) => findAddress(text)?.kind === 'url')
    .map(({ text }) => ({ text, use: 'address' }))
}

function listValues({ call, facts }: Checked): Value[] {
  return listLeaves(call.args, facts).flatMap(({ text, name, isWord }): Value[] => {
    if (isWord || text === '') return []
    if (name === 'body')
      return text
        .split(' ')
        .filter((word) => findAddress(word) !== undefined)
        .map((word) => ({ text: word, use: 'mention' }))
    // A number with so many digits is an account or a card.
    if (findAddress(text) !== undefined || /^\d{12,19}$/.test(text))
      return [{ text, use: 'address' }]
    if (name === 'due') return []
    return [{ text, use: name === 'to' || name === 'url' ? 'recipient' : 'name' }]
  })
}

/** Texts and exact numbers; names of members that the tool does not declare may be data too. */
function listLeaves(args: JsonObject, { tool }: Facts): Leaf[] {
  const leaves: Leaf[] = []
  const walk = (value: JsonValue, name: string, schema: JsonValue | undefined, depth: number) => {
    const isWord = isObject(schema) && schema.enum !== undefined
    if (typeof value === 'string') leaves.push({ text: value, name, isWord })
    else if (value instanceof ExactNumber) leaves.push({ text: value.text, name, isWord: false })
    else if (Array.isArray(value))
      for (const item of value) walk(item, name, member(schema, 'items'), depth + 1)
    else if (isObject(value))
      for (const [key, inner] of Object.entries(value)) {
        const declared = member(member(schema, 'properties'), key)
        if (depth > 0 && declared === undefined) leaves.push({ text: key, name, isWord: false })
        walk(inner as JsonValue, key, declared, depth + 1)
      }
  }
  walk(args, '', tool?.definition.inputSchema, 0)
  return leaves
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
