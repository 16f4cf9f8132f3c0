// Checks the types of what the gate reads in `params`. If a peer accepted another type (an array
// for `arguments`, a number for `name`), gate and server would see different calls. Pure; called by
// read-message.ts for every request and notification.

import { getOwn, isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { NAME_LENGTH_MAX, URI_LENGTH_MAX } from './json/limits.ts'
import { quoteForMessage, WireRejection } from './json/wire-rejection.ts'
import { type KnownKeys, META_KEYS, REF_KEYS } from './known-keys.ts'
import { belongsTo, META } from './protocol-generation.ts'

interface ParamKind {
  readonly name: string
  readonly isText: boolean
  readonly isOptional: boolean
  /** How long a text may be, in UTF-16 code units. */
  readonly lengthMax?: number
}

const NAME: ParamKind = {
  name: 'a string',
  isText: true,
  isOptional: false,
  lengthMax: NAME_LENGTH_MAX,
}
const URI: ParamKind = { ...NAME, lengthMax: URI_LENGTH_MAX }
const TEXT_OR_NONE: ParamKind = { name: 'a string or absent', isText: true, isOptional: true }
const OBJECT: ParamKind = { name: 'an object', isText: false, isOptional: false }
const OBJECT_OR_NONE: ParamKind = { name: 'an object or absent', isText: false, isOptional: true }
type Kinds = readonly (readonly [key: string, kind: ParamKind])[]

const EVERY_METHOD: Kinds = [
  ['_meta', OBJECT_OR_NONE],
  ['inputResponses', OBJECT_OR_NONE],
  ['requestState', TEXT_OR_NONE],
  ['cursor', TEXT_OR_NONE],
]

const NAMED: Kinds = [
  ['name', NAME],
  ['arguments', OBJECT_OR_NONE],
]
const OF_RESOURCE: Kinds = [['uri', URI]]
const BY_METHOD: ReadonlyMap<string, Kinds> = new Map([
  ['tools/call', NAMED],
  ['prompts/get', NAMED],
  ['resources/read', OF_RESOURCE],
  ['resources/subscribe', OF_RESOURCE],
  ['resources/directory/read', OF_RESOURCE],
  ['skills/get', OF_RESOURCE],
  ['resources/unsubscribe', OF_RESOURCE],
  ['completion/complete', [['ref', OBJECT]]],
  ['subscriptions/listen', [['notifications', OBJECT]]],
])

const NO_PARAMS: JsonObject = {}

/** Throws a WireRejection that points to `at`. */
export function checkParams(method: string, params: JsonObject | undefined, at: number): void {
  const object = params ?? NO_PARAMS
  checkKinds(EVERY_METHOD, object, method, at)
  // Of the other protocol generation: its readers have no such method.
  if (isObject(object._meta) && META.version in object._meta && !belongsTo('stateless', method))
    return
  const kinds = BY_METHOD.get(method)
  if (kinds !== undefined) checkKinds(kinds, object, method, at)
  refuseTwins('_meta', object, META_KEYS, at)
  refuseTwins('ref', object, REF_KEYS, at)
}

function checkKinds(kinds: Kinds, params: JsonObject, method: string, at: number): void {
  for (const [key, kind] of kinds) {
    const value = getOwn(params, key)
    if (isOfKind(value, kind)) {
      checkLength(value, kind, key, at)
      continue
    }
    throw new WireRejection(
      'WIRE_PARAMS',
      `\`params.${key}\` of ${quoteForMessage(method)} must be ${kind.name}`,
      at,
    )
  }
}

function checkLength(
  value: JsonValue | undefined,
  { lengthMax = Number.POSITIVE_INFINITY }: ParamKind,
  key: string,
  at: number,
): void {
  if (typeof value !== 'string' || value.length <= lengthMax) return
  const long = `\`params.${key}\` has ${value.length} characters, at most ${lengthMax} are read`
  throw new WireRejection('WIRE_SIZE', long, at)
}

function isOfKind(value: JsonValue | undefined, { isText, isOptional }: ParamKind): boolean {
  if (value === undefined) return isOptional
  return isText ? typeof value === 'string' : isObject(value)
}

function refuseTwins(key: string, params: JsonObject, known: KnownKeys, at: number): void {
  const value = getOwn(params, key)
  if (isObject(value)) for (const inner of Object.keys(value)) rejectCaseVariant(inner, known, at)
}

/** Throws if the key differs from a known one only in case. */
export function rejectCaseVariant(key: string, known: KnownKeys, at: number): void {
  const twin = known.findVariant(key)
  if (twin === undefined) return
  const message = `the key ${quoteForMessage(key)} equals \`${twin}\` but for case, spell it so`
  throw new WireRejection('WIRE_CASE_TWIN', message, at)
}
