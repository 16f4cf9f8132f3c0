// Collects the values of a call whose origin is checked: walks its arguments and takes of each what the table of
// checks-by-role.ts says. Pure, total and bounded.

import type { ArgumentFlow, ArgumentRoles, ValueReading } from '../calls/provenance.ts'
import type { Category } from '../calls/tools.ts'
import type { JsonObject, JsonValue } from '../values/json.ts'
import { type ArgumentChecks, CHECKS_BY_NAME, CHECKS_BY_POLICY } from './checks-by-role.ts'
import { listReplaced, withoutDescription } from './client-tools.ts'
import { listEncodedAddresses } from './encoded-addresses.ts'
import { foldText } from './fold-text.ts'
import { isSentence, SENTENCE_CHARS_MIN } from './is-prose.ts'
import { CHECKED_VALUES_MAX } from './limits.ts'
import { isEverybody, isPathName, type ValueRole } from './names.ts'
import {
  isDestinationKind,
  isSeparated,
  listAddresses,
  listHosts,
  looksLikeUrl,
  readSimple,
  readValue,
} from './read-value.ts'
import { getToolWords } from './tool-words.ts'
import { type ArgumentLeaf, type ArgumentPlace, visitLeaves } from './visit-arguments.ts'

/** A call as `protect` sees it. */
export interface CheckedCall {
  readonly name: string
  readonly category: Category
  readonly args: JsonObject
  /** Where the arguments go, if `labels` of the policy says it. */
  readonly flow?: ArgumentFlow | undefined
  /** What arguments are, if `destinations` of the policy says it. */
  readonly roles?: ArgumentRoles | undefined
  /** The schema of the tool, for enums and declared formats. */
  readonly inputSchema?: JsonValue | undefined
  /** A coding client carries it out itself (client-tools.ts). */
  readonly isClientTool?: boolean | undefined
}

/**
 * What a value is used for; the rows of "What is held" in docs/concepts/guards.md. `address`: an e-mail address, a URL
 * or an account. `recipient`: a person, a group or a credential by the name of its argument. `identifier`: any other id
 * or name. `host`: a bare host in an argument for something else. `mention`: an address within free text. `code`: the
 * text of a call that executes something.
 */
export type ValueUse = 'address' | 'recipient' | 'identifier' | 'host' | 'mention' | 'code'

/** A value whose origin is checked, and the place of its argument. */
export interface CheckedValue extends ArgumentPlace {
  readonly parent: ArgumentPlace
  readonly reading: ValueReading
  readonly use: ValueUse
  /** The policy says what the argument is. */
  readonly isDeclared?: boolean
  /** The argument is a credential, which no reason repeats. */
  readonly isSecret?: boolean
}

/** The values of a call whose origin is checked. */
export interface CollectedValues {
  readonly values: readonly CheckedValue[]
  /** The call has more than is checked, so `values` does not have all of them. */
  readonly isTooLarge: boolean
  /** The addresses that a file holds before a coding client edits it. */
  readonly replaced: ReadonlySet<string>
}

interface LastCall {
  readonly call: CheckedCall
  readonly isRead: boolean
  readonly collected: CollectedValues
}

/** Several conditions look at the values of one call, one after the other. */
let last: LastCall | undefined

/** `isRead`: the call only reads, so that only what it sends counts. */
export function collectValues(call: CheckedCall, isRead: boolean): CollectedValues {
  if (last === undefined || last.isRead !== isRead || !isSameCall(last.call, call))
    last = { call, isRead, collected: listValues(call, isRead) }
  return last.collected
}

function isSameCall(one: CheckedCall, other: CheckedCall): boolean {
  return (
    one.args === other.args &&
    one.name === other.name &&
    one.category === other.category &&
    one.roles === other.roles &&
    one.inputSchema === other.inputSchema &&
    one.isClientTool === other.isClientTool
  )
}

const NOTHING: ReadonlySet<string> = new Set()

function listValues(
  { name, category, args, inputSchema, roles, isClientTool }: CheckedCall,
  isRead: boolean,
): CollectedValues {
  const to: ValueCollector = {
    values: [],
    isRead,
    reachesHosts: isRead && getToolWords(name).reachesHosts,
    category,
  }
  const checked = isClientTool === true ? withoutDescription(args) : args
  const isTooLarge = visitLeaves(checked, inputSchema, (leaf) => collectArgument(leaf, to), roles)
  return {
    values: to.values,
    isTooLarge: isTooLarge || to.values.length >= CHECKED_VALUES_MAX,
    replaced: isClientTool === true ? listReplaced(args) : NOTHING,
  }
}

/** Takes the values of a call as its arguments are visited. */
interface ValueCollector {
  readonly values: CheckedValue[]
  /** The call only reads: then only what it sends counts. */
  readonly isRead: boolean
  /** A read by a tool that talks to any host: an argument may be one. */
  readonly reachesHosts: boolean
  readonly category: Category
}

/** The steps are those of docs/concepts/guards.md, "What is checked of an argument", in the same order. */
function collectArgument(leaf: ArgumentLeaf, to: ValueCollector): void {
  const { text, parent, key, role, isEnum, policyRole } = leaf
  const checks = policyRole === undefined ? CHECKS_BY_NAME[role] : CHECKS_BY_POLICY[policyRole]
  if (text === '' || checks === undefined) return
  if (!to.isRead && isEverybody(text))
    to.values.push({ parent, key, reading: readValue(text), use: 'recipient' })
  if (isEnum && policyRole === undefined) return
  if (to.isRead && checks.read !== 'same') {
    collectSentByRead(leaf, checks, to)
    return
  }
  if (!to.isRead) {
    for (const reading of listEncodedAddresses(text, CHECKED_VALUES_MAX - to.values.length))
      to.values.push({ parent, key, reading, use: 'mention' })
    if (policyRole === undefined && collectOneValue(leaf, checks, to)) return
  }
  if (isFreeText(text, checks)) collectFreeText(leaf, to)
  else collectParts(leaf, checks, to)
}

function isFreeText(text: string, { free }: ArgumentChecks): boolean {
  return free === 'every' || (free === 'long' && isSentence(text.trim()))
}

/** Column `read`: of an argument that is sent to no one only URLs count, as they carry what stands in them. */
function collectSentByRead(leaf: ArgumentLeaf, { read }: ArgumentChecks, to: ValueCollector): void {
  const { text } = leaf
  const isFree = read === 'nothing'
  if ((isFree && !to.reachesHosts) || HOLDS_NO_URL.test(text)) return
  const countsHosts = read === 'hosts' || (to.reachesHosts && !isFree)
  if (countsHosts ? isUrlOrHost(text) : looksLikeUrl(text))
    addValue(leaf, to, { reading: readValue(text, true), use: 'address' })
  else if (isSeparated(text) && !isFree)
    for (const reading of listAddresses(text, CHECKED_VALUES_MAX - to.values.length))
      if (reading.kind === 'url') addValue(leaf, to, { reading, use: 'address' })
}

/** A URL has a scheme or a host with a dot; beyond ASCII are other spellings of both. */
const HOLDS_NO_URL = /^[^.:\u0080-\uffff]*$/

function isUrlOrHost(text: string): boolean {
  return readValue(text, true).kind === 'url'
}

/**
 * A shortcut of `collectParts`: most values are one word, or a few, and neither several values nor a sentence. False
 * if this one has to be looked into.
 */
function collectOneValue(
  { text, parent, key, name, role }: ArgumentLeaf,
  { value, free }: ArgumentChecks,
  to: ValueCollector,
): boolean {
  if (free === 'every') return false
  const reading = readOneValue(text, role)
  if (reading === undefined || isHostLike(text, name)) return false
  const use = isDestinationKind(reading.kind) ? 'address' : value
  if (use !== 'nothing' && (use === 'address' || !isDateText(text)))
    to.values.push({ parent, key, reading, use, isSecret: role === 'credential' })
  return true
}

/** A value that cannot be several, and holds no address within. Undefined if it has to be looked into. */
function readOneValue(text: string, role: ValueRole): ValueReading | undefined {
  const simple = text.length > SENTENCE_CHARS_MIN ? undefined : readSimple(text)
  // In an argument for addresses a path may be a host: `example.com/x`.
  if (simple !== undefined && !(role === 'address' && simple.kind === 'path')) return simple
  return WORD.test(text) ? readValue(text, role === 'address') : undefined
}

const WORD = /^[\w-]+$/

/** Column `free`: the addresses within the text, and the whole of it if the call executes something. */
function collectFreeText(leaf: ArgumentLeaf, to: ValueCollector): void {
  addAddressesWithin(leaf, to, { text: leaf.text, use: 'mention' })
  if (to.category !== 'Execute') return
  const whole = foldText(leaf.text).trim()
  addValue(leaf, to, { reading: { kind: 'text', whole }, use: 'code' })
}

/** Columns `value`, `host` and `list`: a value, or each of several values in one text. */
function collectParts(leaf: ArgumentLeaf, checks: ArgumentChecks, to: ValueCollector): void {
  const { text, name, policyRole } = leaf
  const isLong = checks.free === 'never' && isSentence(text.trim())
  for (const part of checks.list === 'each' ? text.split(/[,;|\n\r]+/) : [text]) {
    if (to.values.length >= CHECKED_VALUES_MAX) return
    if (part.trim() === '') continue
    const reading = readValue(part, checks.host === 'address')
    const use = isDestinationKind(reading.kind) ? 'address' : checks.value
    if (use === 'address') addValue(leaf, to, { reading, use })
    const mayHoldMore = isLong || isSeparated(part)
    const holdsMore = mayHoldMore && addAddressesWithin(leaf, to, { text: part, use: 'address' })
    if (holdsMore || use === 'address') continue
    if (checks.host === 'host' && isHostLike(part, name))
      addValue(leaf, to, { reading: readValue(part, true), use: 'host' })
    else if (use !== 'nothing' && (policyRole !== undefined || !isDateText(part)))
      addValue(leaf, to, { reading, use })
  }
}

function addValue(
  { parent, key, role, policyRole }: ArgumentLeaf,
  { values }: ValueCollector,
  value: Pick<CheckedValue, 'reading' | 'use'>,
): void {
  const isDeclared = policyRole !== undefined
  values.push({ parent, key, ...value, isDeclared, isSecret: role === 'credential' })
}

/** Returns false if there are none. */
function addAddressesWithin(
  leaf: ArgumentLeaf,
  to: ValueCollector,
  { text, use }: { readonly text: string; readonly use: 'address' | 'mention' },
): boolean {
  const addresses = listAddresses(text, CHECKED_VALUES_MAX - to.values.length)
  for (const reading of addresses) addValue(leaf, to, { reading, use })
  return addresses.length > 0
}

/** `evil.example/x`: a host without a scheme, if the argument does not hold paths by its name. */
function isHostLike(text: string, name: string): boolean {
  return text.indexOf('.') !== -1 && !isPathName(name) && listHosts(text).length > 0
}

const DATE =
  /^\d{4}-\d\d(?:-\d\d)?(?:[T ][\d:.]+ ?(?:z|utc|[+-]\d\d:?\d\d)?)?$|^\d{1,2}:\d\d(?::\d\d)?$/i

function isDateText(text: string): boolean {
  return DATE.test(text)
}
