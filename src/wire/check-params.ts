// Types of what the gate reads in `params`. Where a peer would take something else for it (an array
// for `arguments`, a number for `name`), gate and server would judge different calls. Pure;
// read-message.ts asks it for every request and notification.

import { isObject, type JsonObject, type JsonValue } from '../core/json.ts'
import { belongsTo, META } from './eras.ts'
import { type KnownKeys, META_KEYS, REF_KEYS } from './known-keys.ts'
import { Refusal, show } from './refusal.ts'

type Kind = 'a string' | 'a string or absent' | 'an object' | 'an object or absent'

const EVERY_METHOD: Readonly<Record<string, Kind>> = {
  _meta: 'an object or absent',
  inputResponses: 'an object or absent',
  requestState: 'a string or absent',
  cursor: 'a string or absent',
}

const BY_METHOD: ReadonlyMap<string, Readonly<Record<string, Kind>>> = new Map([
  ['tools/call', { name: 'a string', arguments: 'an object or absent' }],
  ['prompts/get', { name: 'a string', arguments: 'an object or absent' }],
  ['resources/read', { uri: 'a string' }],
  ['resources/subscribe', { uri: 'a string' }],
  ['resources/unsubscribe', { uri: 'a string' }],
  ['completion/complete', { ref: 'an object' }],
  ['subscriptions/listen', { notifications: 'an object' }],
])

const NO_PARAMS: JsonObject = {}

/** Throws a Refusal that points to `at`. */
export function checkParams(method: string, params: JsonObject | undefined, at: number): void {
  const given = params ?? NO_PARAMS
  checkKinds(EVERY_METHOD, given, method, at)
  // Of the other era: whoever reads it knows no such method.
  if (isObject(given._meta) && META.version in given._meta && !belongsTo('stateless', method))
    return
  const kinds = BY_METHOD.get(method)
  if (kinds !== undefined) checkKinds(kinds, given, method, at)
  refuseTwins('_meta', given, META_KEYS, at)
  refuseTwins('ref', given, REF_KEYS, at)
}

function checkKinds(
  kinds: Readonly<Record<string, Kind>>,
  params: JsonObject,
  method: string,
  at: number,
): void {
  for (const key in kinds) {
    const kind = kinds[key] as Kind
    if (isOfKind(own(params, key), kind)) continue
    throw new Refusal('WIRE_PARAMS', `\`params.${key}\` of ${show(method)} must be ${kind}`, at)
  }
}

function isOfKind(value: JsonValue | undefined, kind: Kind): boolean {
  if (value === undefined && kind.endsWith('or absent')) return true
  if (kind.startsWith('a string')) return typeof value === 'string'
  return isObject(value)
}

function refuseTwins(key: string, params: JsonObject, known: KnownKeys, at: number): void {
  const value = own(params, key)
  if (isObject(value)) for (const inner of Object.keys(value)) refuseTwin(inner, known, at)
}

/** Throws where the key equals a known one but for case. */
export function refuseTwin(key: string, known: KnownKeys, at: number): void {
  const twin = known.twinOf(key)
  if (twin === undefined) return
  const message = `the key ${show(key)} equals \`${twin}\` but for case, spell it so`
  throw new Refusal('WIRE_CASE_TWIN', message, at)
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
