// Judges one call by where the values of its arguments came from: the rules behind `protect`. A call
// that changes something, or a read that sends, is held if a value that decides what it does came
// from text that a stranger wrote, or from nowhere. Pure, total and bounded.

import type { JsonObject, JsonValue } from '../core/json.ts'
import {
  type AnswerTrust,
  type ArgumentFlow,
  type ArgumentRoles,
  ORIGINS,
  type Origin,
  type ProtectionLevel,
  type ProvenanceLookup,
  type ValueReading,
} from '../core/provenance.ts'
import type { Category } from '../core/tools.ts'
import { isDestination, isSentTo } from './argument-roles.ts'
import { listReplaced, withoutDescription } from './client-tools.ts'
import { listEncodedAddresses } from './encoded-addresses.ts'
import { foldText } from './fold-text.ts'
import { isMessage } from './is-message.ts'
import { isReachable, isThisMachine } from './is-reachable.ts'
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
import type { Answer, SessionProvenance } from './session-provenance.ts'
import { getToolWords } from './tool-words.ts'
import { getToolVerb, isAskedFor } from './verbs.ts'
import {
  type ArgumentLeaf,
  type ArgumentPlace,
  toPathText,
  visitLeaves,
} from './visit-arguments.ts'

/** A call as protection sees it. */
export interface CheckedCall {
  readonly name: string
  readonly category: Category
  readonly args: JsonObject
  /** Where they go, if the policy says it. */
  readonly flow?: ArgumentFlow | undefined
  /** What arguments are, if the policy says it. */
  readonly roles?: ArgumentRoles | undefined
  /** The tool's schema, for enums and declared formats. */
  readonly inputSchema?: JsonValue | undefined
  /** A coding client carries it out itself (client-tools.ts). */
  readonly isClientTool?: boolean | undefined
}

/** Why a call is held. */
export interface ProtectionFinding {
  /** `args.recipients[0]`; absent for a verb. */
  readonly path?: string
  readonly origin?: Origin
  readonly reason: string
}

/**
 * `address`: an e-mail, URL or account. `recipient`: a person, group or credential by the name of its
 * argument. `identifier`: any other id or name. `host`: one that looks like a host, of an argument that is not known
 * to take one. `mention`: an address within free text. `code`: the text of a call that executes something.
 */
type ValueUse = 'address' | 'recipient' | 'identifier' | 'host' | 'mention' | 'code'

interface CheckedValue {
  readonly parent: ArgumentPlace
  readonly key: string | number
  readonly reading: ValueReading
  readonly use: ValueUse
  /** The policy says what the argument is. */
  readonly isDeclared?: boolean
  /** The argument is a credential, which no reason repeats. */
  readonly isSecret?: boolean
}

/** A read that sends nothing: what it is given decides nothing but what comes back. */
export function isSink(call: CheckedCall): boolean {
  if (call.category !== 'Read' || call.flow === 'external') return true
  return collectValues(call, true).values.length > 0
}

/** The first value that stands against the call. Undefined: none does. */
export function checkValues(
  call: CheckedCall,
  memory: ProvenanceLookup,
  level: ProtectionLevel,
): ProtectionFinding | undefined {
  if (call.flow === 'internal') return undefined
  const isRead = call.category === 'Read' && call.flow !== 'external'
  const { values, isTooLarge, replaced } = collectValues(call, isRead)
  if (isTooLarge && (!isRead || sendsByRole(call)))
    return { reason: 'it has more or longer arguments than are checked for their origin' }
  let isKnown = values.length === 0
  for (const value of values) {
    const origin = memory.originOf(value.reading)
    isKnown ||= origin !== 'nowhere'
    const isBad =
      level === 'strict'
        ? isHeldStrictly(value, origin, call, memory)
        : !staysHere(value, call, replaced) && isHeld(value, origin, call, memory)
    if (isBad) return { path: toPathText(value), origin, reason: describe(value, origin, memory) }
  }
  // Other changes may name something new, such as a file.
  if (isKnown || isRead || !memory.hasProse || !getToolVerb(call.name).isPurchase) return undefined
  const [first] = values as [CheckedValue]
  const path = toPathText(first)
  return { path, origin: 'nowhere', reason: describe(first, 'nowhere', memory) }
}

function sendsByRole({ roles }: CheckedCall): boolean {
  return roles !== undefined && [...roles.values()].some(isSentTo)
}

/** `destructive`: of such verbs only. `unnamed`: of calls with a value that the user did not name. */
export type VerbScope = 'destructive' | 'unnamed' | 'every'

/** A verb that the user did not ask for. */
export function checkVerb(
  call: CheckedCall,
  memory: ProvenanceLookup,
  scope: VerbScope,
): ProtectionFinding | undefined {
  const { hasPrompt, hasProse } = memory
  if (call.category === 'Read' || !hasProse) return undefined
  // Nobody asks to `bash` something. `strict` asks about every change all the same.
  if (call.isClientTool === true && scope !== 'every') return undefined
  const { verb, isDestructive } = getToolVerb(call.name)
  if (call.category !== 'Destructive' && !isDestructive) {
    if (scope === 'destructive' || !hasPrompt) return undefined
    if (scope === 'unnamed' && (call.flow === 'internal' || isNamedWhole(call, memory)))
      return undefined
  }
  if (isAsked(call, memory)) return undefined
  return {
    reason: hasPrompt
      ? `the user did not ask to \`${verb}\` anything`
      : `it would \`${verb}\`, and what the user asked for is not known`,
  }
}

/** The user named everything that the call acts on. */
function isNamedWhole(call: CheckedCall, memory: ProvenanceLookup): boolean {
  const values = collectValues(call, false).values.filter(({ use }) => use !== 'code')
  return values.length > 0 && values.every(({ reading }) => memory.originOf(reading) === 'user')
}

/**
 * By the verb, or by another word for it. Such a word is vague ("put" asks to add), so something else
 * has to connect the call with the prompt: what the tool acts on, or a value that exists.
 */
function isAsked({ name, args, inputSchema }: CheckedCall, memory: ProvenanceLookup): boolean {
  const { verb, words, objects } = getToolVerb(name)
  const { promptWords } = memory
  if (isAskedFor(new Set([verb]), promptWords)) return true
  if (!isAskedFor(words, promptWords)) return false
  if (objects.size === 0 || isAskedFor(objects, promptWords)) return true
  let isConnected = false
  visitLeaves(args, inputSchema, ({ text, role, isEnum }) => {
    if (isEnum || isConnected || isProseLike(text)) return
    const origin = memory.originOf(readValue(text, role === 'address'))
    isConnected = origin === 'user' || origin === 'trusted' || origin.endsWith('field')
  })
  return isConnected
}

/** The worst origin of the texts and ids of one argument. */
export function originOfArgument(value: JsonValue, name: string, memory: ProvenanceLookup): Origin {
  let worst: Origin = 'user'
  const isTooLarge = visitLeaves({ [name]: value }, undefined, ({ text, role }) => {
    const origin = memory.originOf(readValue(text, role === 'address'))
    if (ORIGINS.indexOf(origin) > ORIGINS.indexOf(worst)) worst = origin
  })
  return isTooLarge ? 'nowhere' : worst
}

/** Under `balanced`: what a tool of a coding client does on this machine is for other rules. */
function staysHere(
  { parent, key, use, reading }: CheckedValue,
  { isClientTool }: CheckedCall,
  replaced: ReadonlySet<string>,
): boolean {
  if (isClientTool !== true) return false
  const isOfEdit = parent.parent === undefined && (key === 'old_string' || key === 'new_string')
  return use === 'identifier' || isThisMachine(reading) || (isOfEdit && replaced.has(reading.whole))
}

/** Under `balanced`. */
function isHeld(
  value: CheckedValue,
  origin: Origin,
  call: CheckedCall,
  memory: ProvenanceLookup,
): boolean {
  const use = value.use === 'host' ? 'identifier' : value.use
  if (use === 'code') return false
  // That it stands in a field says nothing of whom the user wants to reach.
  if (origin !== 'user' && isEverybody(value.reading.whole)) return memory.hasProse
  switch (origin) {
    case 'user':
    case 'trusted':
    case 'field':
    case 'shared field':
      return false
    case 'written field':
      return use === 'address' || use === 'mention'
    case 'own':
      return use !== 'identifier'
    case 'nowhere':
      return isHeldUnknown({ ...value, use }, call, memory)
    default:
      return true
  }
}

/** Of a value that stands nowhere. Before a stranger's text was read it can only be the user's. */
function isHeldUnknown(
  { use, reading }: CheckedValue,
  call: CheckedCall,
  { hasProse, hasPrompt }: ProvenanceLookup,
): boolean {
  if (!hasProse || use === 'identifier') return false
  if (use === 'address') return true
  if (use === 'recipient') return hasPrompt
  // Programs are full of addresses that a model knows by itself; messages are not.
  return isReachable(reading) && (hasPrompt || reading.kind !== 'url' || isMessage(call))
}

/** Calls of which every value decides something that cannot be taken back. */
const GRAVE: ReadonlySet<Category> = new Set(['Destructive', 'Financial', 'Execute'])

/** Only the user, the policy and the fields that it trusts vouch for a value, whatever the form of an answer. */
function isHeldStrictly(
  value: CheckedValue,
  origin: Origin,
  call: CheckedCall,
  memory: ProvenanceLookup,
): boolean {
  if (origin === 'user' || origin === 'trusted') return false
  const { use } = value
  // What a definition says is a text, too: it does not replace what the user said.
  if (origin === 'nowhere' && !memory.hasRead)
    return memory.hasPrompt && (use === 'address' || use === 'recipient')
  if (use !== 'identifier' || GRAVE.has(call.category)) return true
  return isHeld(value, origin, call, memory)
}

const USES: Readonly<Record<ValueUse, string>> = {
  address: 'the address',
  recipient: 'the recipient',
  identifier: 'the value',
  host: 'the host',
  mention: 'an address in',
  code: 'the text',
}

/** Which value it is, where it was read, and what would let the call pass. */
function describe(value: CheckedValue, origin: Origin, memory: ProvenanceLookup): string {
  const { use, reading, isDeclared, isSecret } = value
  const by = isDeclared === true ? ' (by `destinations`)' : ''
  const shown = isSecret === true || use === 'code' ? '' : ` (\`${shorten(reading.whole)}\`)`
  const tool = memory.sourceOf(reading)
  const answer = tool === undefined ? 'an answer' : `an answer of \`${tool}\``
  const where: Readonly<Record<Origin, string>> = {
    user: 'was named by the user',
    trusted: `stands in a field of ${answer} that the policy trusts`,
    field: `stands in ${answer}, and in no field that the policy trusts`,
    own: 'was brought by an earlier call of this session, which vouches for no recipient',
    'shared field': `is a field of ${answer} that also holds text`,
    'written field': `is a field of ${answer} that a stranger may have written`,
    steered: `comes from ${answer}, whose arguments stood in a text`,
    prose: `stands in the text of ${answer}, and in no field that the policy trusts`,
    nowhere: 'was named by nobody and stands in no answer',
  }
  return `${USES[use]} \`${toPathText(value)}\`${by}${shown} ${where[origin]}: the user can name it, or an approver release the call`
}

function shorten(text: string): string {
  const plain = text.replace(/[\p{C}\p{Z}`]+/gu, ' ')
  return plain.length > VALUE_SHOWN_CHARS_MAX ? `${plain.slice(0, VALUE_SHOWN_CHARS_MAX)}…` : plain
}

const VALUE_SHOWN_CHARS_MAX = 60

/** What was called, and what the policy says of its answers. */
export interface AnsweredCall extends Pick<CheckedCall, 'args' | 'inputSchema'> {
  /** Undefined for a notification, a resource and a prompt. */
  readonly name?: string | undefined
  readonly server?: string | undefined
  readonly trust?: AnswerTrust | undefined
  /** A coding client carried it out itself: what a file or a command says is text, whatever its form. */
  readonly isClientTool?: boolean
  /** A server of the gate itself was called. */
  readonly isGates?: boolean
}

/** Remembers the answer to a call. */
export function rememberAnswer(
  call: AnsweredCall,
  answer: Answer,
  memory: SessionProvenance,
  /** Where its arguments came from. */
  origins: ProvenanceLookup = memory,
): void {
  const known: string[] = []
  const echoes: string[] = []
  const own: ValueReading[] = []
  let { texts } = answer
  let isSteered = false
  visitLeaves(call.args, call.inputSchema, ({ text, role, isEnum: isWord }) => {
    if (isWord || text === '' || role === 'date') return
    const reading = readValue(text, role === 'address')
    const origin = origins.originOf(reading)
    if (origin === 'user' || origin === 'trusted') return
    if (!memory.hasRead && origin === 'nowhere') {
      if (role !== 'free text') known.push(text)
      return
    }
    echoes.push(text)
    if ((origin === 'prose' || origin === 'steered') && role !== 'free text') isSteered = true
    const canBeOwn = (role === 'id' || role === 'name') && !isDestinationKind(reading.kind)
    if (origin !== 'nowhere' || !canBeOwn) return
    if (answer.isError !== true) own.push(reading)
    // That a call failed makes nothing its own, and repeating the value makes it nobody else's.
    else texts = texts.map((one) => one.replaceAll(text, ' '))
  })
  const { name, server, trust = [], isClientTool = false, isGates = false } = call
  const words = name === undefined ? undefined : getToolWords(name)
  // What a tool makes of values that nobody named is no better than they are.
  if (echoes.length > 0 && words?.transformsInput === true) isSteered = true
  memory.addKnown(known)
  memory.addOwn(own)
  memory.remember(
    { ...answer, texts },
    {
      tool: name === undefined || server === undefined ? undefined : `${server}/${name}`,
      isSteered,
      trust,
      echoes,
      handsOverContent: isClientTool || words?.handsOverContent !== false,
      isGates,
    },
  )
}

interface CollectedValues {
  readonly values: readonly CheckedValue[]
  readonly isTooLarge: boolean
  /** Addresses that the file holds before a client edits it. */
  readonly replaced: ReadonlySet<string>
}

const NOTHING: ReadonlySet<string> = new Set()

interface LastCall {
  readonly call: CheckedCall
  readonly isRead: boolean
  readonly found: CollectedValues
}

/** Several conditions look at the values of one call, one after the other. */
let last: LastCall | undefined

function collectValues(call: CheckedCall, isRead: boolean): CollectedValues {
  if (last === undefined || last.isRead !== isRead || !isSameCall(last.call, call))
    last = { call, isRead, found: listValues(call, isRead) }
  return last.found
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

function listValues(
  { name, category, args, inputSchema, roles, isClientTool }: CheckedCall,
  isRead: boolean,
): CollectedValues {
  const to: ValueCollector = {
    values: [],
    isRead,
    isReach: isRead && getToolWords(name).reachesHosts,
    category,
  }
  const checked = isClientTool === true ? withoutDescription(args) : args
  const isTooLarge = visitLeaves(checked, inputSchema, (leaf) => collectLeaf(leaf, to), roles)
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
  /** A read that reaches hosts: an argument may be one without a scheme. */
  readonly isReach: boolean
  readonly category: Category
}

/** What is checked of one argument, in this order; docs/concepts/guards.md, "What is held", has the same list. */
function collectLeaf(leaf: ArgumentLeaf, to: ValueCollector): void {
  const { text, parent, key, role, isEnum, policyRole } = leaf
  if (text === '' || policyRole === 'none') return
  if (!to.isRead && isEverybody(text))
    to.values.push({ parent, key, reading: readValue(text), use: 'recipient' })
  if (isEnum && policyRole === undefined) return
  if (to.isRead && !isSentTo(policyRole)) {
    collectOfRead(leaf, to)
    return
  }
  if (!to.isRead) {
    for (const reading of listEncodedAddresses(text, CHECKED_VALUES_MAX - to.values.length))
      to.values.push({ parent, key, reading, use: 'mention' })
    if (policyRole === undefined && role !== 'free text' && collectOneValue(leaf, to)) return
  }
  const isSent = SENT_ROLES.has(role)
  const isText = role === 'free text' || isProseLike(text.trim())
  if (isText && !isDestination(policyRole) && !isSent) collectText(leaf, to)
  else collectParts(leaf, to, { isSent, isText })
}

/** Roles of arguments whose value gets something, or lets something in. */
const SENT_ROLES: ReadonlySet<ValueRole> = new Set(['recipient', 'address', 'credential'])

/** An argument of a read that is sent to nobody: only URLs count, as they carry what stands in them. */
function collectOfRead(leaf: ArgumentLeaf, to: ValueCollector): void {
  const { text, role } = leaf
  const isFree = role === 'free text'
  if ((isFree && !to.isReach) || HOLDS_NO_URL.test(text)) return
  const isAddress = role === 'address' || (to.isReach && !isFree)
  if (isAddress ? isAddressLike(text) : looksLikeUrl(text))
    addValue(leaf, to, { reading: readValue(text, true), use: 'address' })
  else if (isSeparated(text) && !isFree)
    for (const reading of listAddresses(text, CHECKED_VALUES_MAX - to.values.length))
      if (reading.kind === 'url') addValue(leaf, to, { reading, use: 'address' })
}

/** Most values are one word, or a few: neither several nor a sentence. False if this one is not. */
function collectOneValue({ text, parent, key, name, role }: ArgumentLeaf, to: ValueCollector) {
  const reading = readOne(text, role)
  if (reading === undefined || isHostLike(text, name)) return false
  const use = isDestinationKind(reading.kind) ? 'address' : USE_OF[role]
  if (use !== undefined && (use === 'address' || !isDateText(text)))
    to.values.push({ parent, key, reading, use, isSecret: role === 'credential' })
  return true
}

/** A text that is sent to nobody: the addresses in it, and the whole if it is run. */
function collectText(leaf: ArgumentLeaf, to: ValueCollector): void {
  addWithin(leaf, to, { text: leaf.text, use: 'mention' })
  if (to.category !== 'Execute') return
  const whole = foldText(leaf.text).trim()
  addValue(leaf, to, { reading: { kind: 'text', whole }, use: 'code' })
}

interface PartKind {
  /** The argument's role says that something goes to the value, or is let in by it. */
  readonly isSent: boolean
  readonly isText: boolean
}

/** A value, or several recipients in one text: each is checked. */
function collectParts(leaf: ArgumentLeaf, to: ValueCollector, { isSent, isText }: PartKind): void {
  const { text, role, name, policyRole } = leaf
  const isWhole = isDestination(policyRole)
  for (const part of role === 'recipient' ? text.split(/[,;|\n\r]+/) : [text]) {
    if (to.values.length >= CHECKED_VALUES_MAX) return
    if (part.trim() === '') continue
    const reading = readValue(part, role === 'address')
    const isAddress = isDestinationKind(reading.kind) || policyRole === 'address'
    if (isAddress) addValue(leaf, to, { reading, use: 'address' })
    const isLooked = isText || isSeparated(part)
    if ((isLooked && addWithin(leaf, to, { text: part, use: 'address' })) || isAddress) continue
    const isHost = !isSent && isHostLike(part, name)
    if (isHost) addValue(leaf, to, { reading: readValue(part, true), use: 'host' })
    const decidesNothing = !isWhole && (role === 'date' || role === 'place' || isDateText(part))
    if (!isHost && !decidesNothing)
      addValue(leaf, to, { reading, use: isSent ? 'recipient' : 'identifier' })
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

/** The addresses in a text; false if there are none. */
function addWithin(
  leaf: ArgumentLeaf,
  to: ValueCollector,
  { text, use }: { readonly text: string; readonly use: ValueUse },
): boolean {
  const addresses = listAddresses(text, CHECKED_VALUES_MAX - to.values.length)
  for (const reading of addresses) addValue(leaf, to, { reading, use })
  return addresses.length > 0
}

/** `evil.example/x`: a host without a scheme, if the argument is one for such. */
function isHostLike(text: string, name: string): boolean {
  return text.indexOf('.') !== -1 && !isPathName(name) && listHosts(text).length > 0
}

/** A value that cannot be several, and holds no address within; undefined if it has to be looked into. */
function readOne(text: string, role: ValueRole): ValueReading | undefined {
  const simple = text.length > PROSE_CHARS_MIN ? undefined : readSimple(text)
  // Of an argument for addresses a path may be a host: `example.com/x`.
  if (simple !== undefined && !(role === 'address' && simple.kind === 'path')) return simple
  return WORD.test(text) ? readValue(text, role === 'address') : undefined
}

const WORD = /^[\w-]+$/
/** A URL has a scheme or a host with a dot; beyond ASCII are other spellings of both. */
const HOLDS_NO_URL = /^[^.:\u0080-\uffff]*$/
/** What a value that is no address is used for; a date and a place decide nothing. */
const USE_OF: Readonly<Partial<Record<ValueRole, ValueUse>>> = {
  address: 'recipient',
  recipient: 'recipient',
  credential: 'recipient',
  id: 'identifier',
  name: 'identifier',
}

function isAddressLike(text: string): boolean {
  return readValue(text, true).kind === 'url'
}

/** Too long for a name: what counts as a field of an answer is shorter. */
function isProseLike(text: string): boolean {
  return text.length > PROSE_CHARS_MIN && (text.includes('\n') || text.split(' ', 14).length > 12)
}

const PROSE_CHARS_MIN = 24

const DATE =
  /^\d{4}-\d\d(?:-\d\d)?(?:[T ][\d:.]+ ?(?:z|utc|[+-]\d\d:?\d\d)?)?$|^\d{1,2}:\d\d(?::\d\d)?$/i

function isDateText(text: string): boolean {
  return DATE.test(text)
}
