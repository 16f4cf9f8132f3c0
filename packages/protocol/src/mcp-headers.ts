// Headers that repeat the body (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`): written from the body,
// and compared with it. A load balancer that trusts the header and a server that trusts the body
// must see the same call. Pure; both HTTP sides of the gate use it.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { PARAM_HEADERS_MAX, SCHEMA_PATH_DEPTH_MAX } from './json/limits.ts'
import type { ParsedMembers } from './message.ts'

const SENTINEL = /^=\?base64\?(.*)\?=$/s
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** UTF-8 in base64 and back, which a pure module does not have. */
export interface Base64 {
  readonly encode: (text: string) => string
  /** Decodes a value; undefined if its bytes are not UTF-8. */
  readonly decode: (base64: string) => string | undefined
}

const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** What `Mcp-Name` repeats; undefined if the method has no name. */
export function nameIn(method: string, params: ParsedMembers | undefined): string | undefined {
  const key = NAMED_BY.get(method)
  const value = key === undefined ? undefined : params?.value[key]
  return typeof value === 'string' ? value : undefined
}

export function encodeValue(value: string, base64: Base64): string {
  if (PLAIN.test(value) && !SENTINEL.test(value)) return value
  return `=?base64?${base64.encode(value)}?=`
}

/** Reads the value of a header; undefined if no honest client writes it that way. */
export function decodeValue(header: string, base64: Base64): string | undefined {
  const encoded = SENTINEL.exec(header)?.[1]
  if (encoded === undefined) return PLAIN.test(header) ? header : undefined
  return BASE64.test(encoded) ? base64.decode(encoded) : undefined
}

/**
 * A parameter that a tool wants repeated: the header's name in lower case, and the path of its
 * value in the arguments.
 */
export interface ParamHeader {
  readonly header: string
  readonly path: readonly string[]
}

/** Cached by schema: definitions are shared, and needed for every call. */
const known = new WeakMap<JsonObject, readonly ParamHeader[] | null>()

/**
 * Undefined if the annotations are invalid: the protocol then has the client leave out the whole
 * tool.
 */
export function listParamHeaders(
  inputSchema: JsonValue | undefined,
): readonly ParamHeader[] | undefined {
  if (!isObject(inputSchema)) return []
  let found = known.get(inputSchema)
  if (found === undefined) {
    found = collected(inputSchema)
    known.set(inputSchema, found)
  }
  return found ?? undefined
}

function collected(inputSchema: JsonObject): readonly ParamHeader[] | null {
  const headers: ParamHeader[] = []
  if (!collect(inputSchema, [], headers)) return null
  const names = new Set(headers.map(({ header }) => header))
  return names.size === headers.length && headers.length <= PARAM_HEADERS_MAX ? headers : null
}

const ANNOTATION = 'x-mcp-header'
/** Members of a schema that are schemas, or lists of them; and those that have them by name. */
const INNER = ['items', 'prefixItems', 'additionalItems', 'contains', 'additionalProperties']
const ALTERNATIVES = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else']
const REST = ['unevaluatedProperties', 'unevaluatedItems', 'propertyNames']
const SCHEMAS: readonly string[] = [...INNER, ...ALTERNATIVES, ...REST]
const BY_NAME = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']

/**
 * False if one is invalid. `path` is undefined if no single argument is identified: in items,
 * alternatives, and anything else that is not a property of a property.
 */
function collect(
  schema: JsonObject,
  path: readonly string[] | undefined,
  headers: ParamHeader[],
): boolean {
  const name = schema[ANNOTATION]
  if (name !== undefined) {
    const isPrimitive = ['string', 'integer', 'boolean'].includes(String(schema.type))
    const isReached = path !== undefined && path.length > 0 && path.length <= SCHEMA_PATH_DEPTH_MAX
    if (typeof name !== 'string' || !TOKEN.test(name) || !isPrimitive || !isReached) return false
    headers.push({ header: `mcp-param-${name.toLowerCase()}`, path })
  }
  for (const [key, each] of listEntries(schema.properties))
    if (!collect(each, path && [...path, key], headers)) return false
  const others = [
    ...SCHEMAS.flatMap((key) => listEntries({ [key]: schema[key] ?? null })),
    ...BY_NAME.flatMap((key) => listEntries(schema[key])),
  ]
  return others.every(([, each]) => collect(each, undefined, headers))
}

/** The schemas that an object has, also in lists. */
function listEntries(value: JsonValue | undefined): (readonly [string, JsonObject])[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, each]) =>
    (Array.isArray(each) ? each : [each]).flatMap((one) =>
      isObject(one) ? [[key, one] as const] : [],
    ),
  )
}

/** The argument that is repeated; undefined if there is none. */
export function readArgumentAt(
  args: JsonObject,
  path: readonly string[],
): string | number | boolean | undefined {
  let value: JsonValue | undefined = args
  for (const key of path)
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value === null || typeof value === 'object' ? undefined : value
}

/**
 * Describes how headers and body differ; undefined if they agree. `headers` has lower-case names.
 */
export function describeMismatch(
  headers: ReadonlyMap<string, string>,
  wanted: readonly ParamHeader[],
  args: JsonObject,
  base64: Base64,
): string | undefined {
  for (const { header, path } of wanted) {
    const inBody = readArgumentAt(args, path)
    const value = headers.get(header)
    const inHeader = value === undefined ? undefined : decodeValue(value, base64)
    if (inBody === undefined && value === undefined) continue
    if (inBody === undefined) return `\`${header}\` repeats an argument that is not there`
    if (value === undefined) return `\`${header}\` is missing, and its argument is there`
    if (inHeader === undefined) return `\`${header}\` is not a value that a header may have`
    if (!isSame(inHeader, inBody)) return `\`${header}\` differs from the argument`
  }
  const known = new Set(wanted.map(({ header }) => header))
  for (const name of headers.keys())
    if (!known.has(name))
      return `\`${name.slice(0, 100)}\` repeats an argument that is not declared`
  return undefined
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** A number may be spelt in several ways, but not in one that only some parsers accept. */
function isSame(inHeader: string, inBody: string | number | boolean): boolean {
  if (inHeader === String(inBody)) return true
  return typeof inBody === 'number' && DECIMAL.test(inHeader) && Number(inHeader) === inBody
}
