// `protect` of the reference: docs/concepts/guards.md over values that are drawn from a table. What a text
// means (an address, in which spellings) is looked up and never parsed, and what a session has read is a
// list. Names of arguments have the one role that the table of the page gives them.

import type { Call, Facts } from '@sluice/policy/calls/call'
import type { Category } from '@sluice/policy/calls/tools'
import type { JsonValue } from '@sluice/policy/values/json'
import { ExactNumber, isObject } from '@sluice/policy/values/json'
import { REF_ARGUMENT_ROLES, type RefArgumentRole, type RefDocument } from './document.ts'
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
  /** What `destinations` says, by path. */
  readonly roles: Readonly<Record<string, RefArgumentRole>>
}

/** Whether a guardrail of `protect` holds the call; undefined if what was read is not known. */
export function isHeldBy(
  part: ProtectionPart,
  document: RefDocument,
  { call, facts, category }: Pick<Checked, 'call' | 'facts'> & { category: Category | undefined },
): boolean | undefined {
  const memory = RAW_MEMORIES.get(facts.provenance ?? {})
  if (memory === undefined || category === undefined) return undefined
  const said = { flow: flowOf(document, call), roles: rolesOf(document, call) }
  const checked = { call, facts, category, memory, ...said }
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

/** Of several words for one argument the strictest counts. */
function rolesOf({ destinations = {} }: RefDocument, { server, name }: Call): Checked['roles'] {
  const lists = Object.keys(destinations)
    .filter((key) => matchesKey(key, server, name))
    .map((key) => destinations[key] ?? {})
  const paths = [...new Set(lists.flatMap((list) => Object.keys(list)))]
  return Object.fromEntries(
    paths.map((path) => [
      path,
      REF_ARGUMENT_ROLES.find((role) =>
        lists.some((list) => list[path] === role),
      ) as RefArgumentRole,
    ]),
  )
}

type Use = 'address' | 'recipient' | 'name' | 'mention' | 'code'

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
    const { use } = value
    const origin = use === 'code' ? originOfCode(memory, value.text) : originIn(memory, value.text)
    if (level === 'balanced') return use !== 'code' && isHeldBalanced(value, origin, checked)
    if (origin === 'user') return false
    if (origin === 'nowhere' && !hasReadAnything(memory))
      return memory.prompt.length > 0 && (use === 'address' || use === 'recipient')
    return use !== 'name' || GRAVE.includes(category) || isHeldBalanced(value, origin, checked)
  })
}

const GRAVE: readonly Category[] = ['Destructive', 'Financial', 'Execute']

/** All of its words stand in the prompt, one after the other. */
function originOfCode({ prompt }: RawMemory, text: string): RefOrigin {
  const words = (texts: string) =>
    ` ${texts
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .join(' ')
      .trim()} `
  if (words(prompt.join(' ')).includes(words(text))) return 'user'
  return 'nowhere'
}

/** The table under "What is held". */
function isHeldBalanced(value: Value, origin: RefOrigin, checked: Checked): boolean {
  const { use } = value
  if (origin === 'nowhere') return isHeldNowhere(value, checked)
  if (origin === 'written field') return use === 'address' || use === 'mention'
  return origin === 'prose'
}

function isHeldNowhere({ text, use }: Value, { call, memory, roles }: Checked): boolean {
  if (!hasReadText(memory) || use === 'name') return false
  if (use === 'address') return true
  const hasPrompt = memory.prompt.length > 0
  if (use === 'recipient') return hasPrompt
  const isMessage = Object.keys(call.args).some(
    (name) => name === 'to' || listBelow(roles, name).includes('recipient'),
  )
  if (isLongNumber(text)) return false
  return hasPrompt || isMessage || findAddress(text)?.kind !== 'url'
}

function hasReadAnything({ prose, fields, records }: RawMemory): boolean {
  return prose.length + fields.length + records.length > 0
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
  const values = listValues(checked).filter(({ use }) => use !== 'code')
  return values.length > 0 && values.every(({ text }) => originIn(checked.memory, text) === 'user')
}

/** What is said of an argument and of its members. */
function listBelow(roles: Checked['roles'], name: string): RefArgumentRole[] {
  return Object.entries(roles)
    .filter(([path]) => path === name || path.startsWith(`${name}.`))
    .map(([, role]) => role)
}

interface Leaf {
  readonly text: string
  /** The name of the argument or member that it stands under. */
  readonly name: string
  /** The tool declares which words it takes. */
  readonly isWord: boolean
  readonly said: RefArgumentRole | undefined
}

const isSent = ({ said }: Leaf) => said === 'address' || said === 'recipient'
const isWhole = (leaf: Leaf) => isSent(leaf) || leaf.said === 'id'

/** Of a read: URLs, but for free text, and what `destinations` says that is sent. */
function listSent(checked: Checked): Value[] {
  return listLeaves(checked).flatMap((leaf): Value[] => {
    const { text, name, isWord, said } = leaf
    if (isSent(leaf)) return toValues(leaf)
    if (said === 'text' || said === 'none') return []
    if (said === undefined && (name === 'body' || isWord)) return []
    return findAddress(text)?.kind === 'url' ? [{ text, use: 'address' }] : []
  })
}

function listValues(checked: Checked): Value[] {
  const leaves = listLeaves(checked)
  const code = checked.category === 'Execute' ? leaves.filter(isFreeText) : []
  return [
    ...leaves.flatMap(toValues),
    ...code.map(({ text }): Value => ({ text: text.trim(), use: 'code' })),
  ]
}

function isFreeText({ text, name, isWord, said }: Leaf): boolean {
  if (text === '' || (isWord && said === undefined)) return false
  return said === 'text' || (said === undefined && name === 'body')
}

function toValues(leaf: Leaf): Value[] {
  const { text, name, isWord, said } = leaf
  if (text === '' || said === 'none' || (isWord && said === undefined)) return []
  if (said === 'text' || (said === undefined && name === 'body')) {
    // An account may be written in groups.
    if (findAddress(text)?.kind === 'account') return [{ text, use: 'mention' }]
    return text
      .split(/[\s<>()]/)
      .filter((word) => findAddress(word) !== undefined || isLongNumber(word))
      .map((word) => ({ text: word, use: 'mention' }))
  }
  if (findAddress(text) !== undefined || isLongNumber(text) || said === 'address')
    return [{ text, use: 'address' }]
  if (said === undefined && name === 'due') return []
  const isRecipient = said === undefined ? name === 'to' || name === 'url' : said === 'recipient'
  return [{ text, use: isRecipient ? 'recipient' : 'name' }]
}

/** A number with so many digits is an account or a card; those that are drawn have no valid checksum. */
function isLongNumber(text: string): boolean {
  return /^\d{12,19}$/.test(text)
}

/** Texts and exact numbers; names of members that the tool does not declare may be data too. Other numbers
 * only if `destinations` says that they name something. */
function listLeaves({ call, facts, roles }: Checked): Leaf[] {
  const leaves: Leaf[] = []
  type Place = Pick<Leaf, 'name' | 'said'> & { path: readonly string[]; depth: number }
  const walk = (value: JsonValue, place: Place, schema: JsonValue | undefined) => {
    const { name, said, path, depth } = place
    const isWord = isObject(schema) && schema.enum !== undefined
    if (typeof value === 'string') leaves.push({ text: value, name, said, isWord })
    else if (value instanceof ExactNumber)
      leaves.push({ text: value.text, name, said, isWord: false })
    else if (typeof value === 'number') {
      const leaf = { text: String(value), name, said, isWord: false }
      if (isWhole(leaf)) leaves.push(leaf)
    } else if (Array.isArray(value))
      for (const item of value) walk(item, { ...place, depth: depth + 1 }, member(schema, 'items'))
    else if (isObject(value))
      for (const [key, inner] of Object.entries(value)) {
        const declared = member(member(schema, 'properties'), key)
        if (depth > 0 && declared === undefined)
          leaves.push({ text: key, name, said, isWord: false })
        const own = [...path, key]
        const below = { name: key, said: roles[own.join('.')] ?? said, path: own, depth: depth + 1 }
        walk(inner as JsonValue, below, declared)
      }
  }
  const whole = { name: '', said: undefined, path: [], depth: 0 }
  walk(call.args, whole, facts.tool?.definition.inputSchema)
  return leaves
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
