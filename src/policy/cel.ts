// The CEL library, fenced in: one environment with the functions the language allows, under names
// that do not collide with the library's own, and the list of what an expression may call. The
// library's `matches` is a native RegExp and its conversions are lenient, so those are replaced.

import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { type PolicyEmail, parseEmail } from './functions/email.ts'
import { type PolicyPath, parsePath, within } from './functions/path.ts'
import { readsOnly } from './functions/sql.ts'
import { Undecided } from './functions/undecided.ts'
import { isPrivate, type PolicyUrl, parseUrl } from './functions/url.ts'
import { EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX } from './limits.ts'

export type Node = ASTNode

export const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

/** Function or method -> the name it runs under, and how many arguments it takes. */
export const FUNCTIONS: ReadonlyMap<string, { runs: string; arity: number }> = new Map([
  ['size', { runs: 'sluiceSize', arity: 1 }],
  ['int', { runs: 'sluiceInt', arity: 1 }],
  ['double', { runs: 'sluiceDouble', arity: 1 }],
  ['string', { runs: 'string', arity: 1 }],
  ['timestamp', { runs: 'sluiceTimestamp', arity: 1 }],
  ['duration', { runs: 'sluiceDuration', arity: 1 }],
  ['path', { runs: 'sluicePath', arity: 1 }],
  ['url', { runs: 'sluiceUrl', arity: 1 }],
  ['email', { runs: 'sluiceEmail', arity: 1 }],
  ['sql', { runs: 'sluiceSql', arity: 1 }],
])

export const METHODS: ReadonlyMap<string, { runs: string; arity: number }> = new Map([
  ['size', { runs: 'sluiceSize', arity: 0 }],
  ['startsWith', { runs: 'startsWith', arity: 1 }],
  ['endsWith', { runs: 'endsWith', arity: 1 }],
  ['contains', { runs: 'contains', arity: 1 }],
  ['matches', { runs: 'sluiceMatches', arity: 1 }],
  ['lowerAscii', { runs: 'sluiceLower', arity: 0 }],
  ['upperAscii', { runs: 'sluiceUpper', arity: 0 }],
  ['trim', { runs: 'sluiceTrim', arity: 0 }],
  ['within', { runs: 'within', arity: 1 }],
  ['isPrivate', { runs: 'isPrivate', arity: 0 }],
  ['reads', { runs: 'reads', arity: 0 }],
  ...['FullYear', 'Month', 'Date', 'DayOfMonth', 'DayOfWeek', 'Hours', 'Minutes', 'Seconds'].map(
    (part) => [`get${part}`, { runs: `get${part}`, arity: 0 }] as const,
  ),
])

class Sql {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
class Path {
  readonly value: PolicyPath
  constructor(value: PolicyPath) {
    this.value = value
  }
}
class Url {
  readonly value: PolicyUrl
  readonly host: string
  readonly scheme: string
  constructor(value: PolicyUrl) {
    this.value = value
    this.host = value.host
    this.scheme = value.scheme
  }
}
class Email {
  readonly domain: string
  constructor(value: PolicyEmail) {
    this.domain = value.domain
  }
}

const patterns = new Map<string, RE2JS>()

/** Compiles a literal pattern once; throws where RE2 does not take it. */
export function compilePattern(pattern: string): RE2JS {
  let compiled = patterns.get(pattern)
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern)
    patterns.set(pattern, compiled)
  }
  return compiled
}

const BASE = new Environment({
  limits: { maxAstNodes: EXPRESSION_NODES_MAX, maxDepth: EXPRESSION_DEPTH_MAX },
})
  .registerType('Sql', { ctor: Sql, fields: {} })
  .registerType('Path', { ctor: Path, fields: {} })
  .registerType('Url', { ctor: Url, fields: { host: 'string', scheme: 'string' } })
  .registerType('Email', { ctor: Email, fields: { domain: 'string' } })
  .registerFunction('sluicePath(string): Path', (text: string) => new Path(parsePath(text)), sync())
  .registerFunction(
    'Path.within(string): bool',
    (path: Path, dir: string) => within(path.value, dir),
    sync(),
  )
  .registerFunction('sluiceUrl(string): Url', (text: string) => new Url(parseUrl(text)), sync())
  .registerFunction('Url.isPrivate(): bool', (url: Url) => isPrivate(url.value), sync())
  .registerFunction(
    'sluiceEmail(string): Email',
    (text: string) => new Email(parseEmail(text)),
    sync(),
  )
  .registerFunction('sluiceSql(string): Sql', (text: string) => new Sql(text), sync())
  .registerFunction('Sql.reads(): bool', (sql: Sql) => readsOnly(sql.text), sync())
  .registerFunction(
    'string.sluiceMatches(string): bool',
    (text: string, pattern: string) => compilePattern(pattern).test(text),
    sync(),
  )
  .registerFunction(
    'string.sluiceLower(): string',
    (text: string) => shiftLetters(text, 65, 32),
    sync(),
  )
  .registerFunction(
    'string.sluiceUpper(): string',
    (text: string) => shiftLetters(text, 97, -32),
    sync(),
  )
  .registerFunction('sluiceInt(int): int', (value: bigint) => value, sync())
  .registerFunction('sluiceInt(double): int', (value: number) => wholeOf(value), sync())
  .registerFunction(
    'sluiceInt(string): int',
    (text: string) => BigInt(plain(text, /^-?\d{1,18}$/)),
    sync(),
  )
  .registerFunction('sluiceDouble(int): double', (value: bigint) => Number(value), sync())
  .registerFunction('sluiceDouble(double): double', (value: number) => value, sync())
  .registerFunction(
    'sluiceDouble(string): double',
    (text: string) => Number(plain(text, /^-?\d{1,15}(\.\d{1,15})?$/)),
    sync(),
  )
  .registerFunction(
    'sluiceTimestamp(string): google.protobuf.Timestamp',
    (text: string) =>
      timestamp(
        realDay(
          plain(
            text,
            /^(?!0000)\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/,
          ),
        ),
      ),
    sync(),
  )

for (const [type, sizeOf] of [
  ['string', codePoints],
  ['list', (list: readonly unknown[]) => BigInt(list.length)],
  ['map', (map: object) => BigInt(map instanceof Map ? map.size : Object.keys(map).length)],
] as const) {
  BASE.registerFunction(`sluiceSize(${type}): int`, sizeOf, sync())
  BASE.registerFunction(`${type}.sluiceSize(): int`, sizeOf, sync())
}

// The library's pattern for durations takes cubic time on digits: only what is plain reaches it.
const readDuration = new Environment().registerVariable('text', 'string').parse('duration(text)')
const DURATION = /^(?=.{2,64}$)-?(?:\d{1,7}(?:\.\d{1,9})?(?:h|m|s|ms|us|ns))+$/
BASE.registerFunction(
  'sluiceDuration(string): google.protobuf.Duration',
  (text: string) => readDuration({ text: plain(text, DURATION) }),
  sync(),
)
// What Unicode calls white space; the library would also take U+FEFF and leave U+0085.
BASE.registerFunction(
  'string.sluiceTrim(): string',
  (text: string) => {
    let start = 0
    let end = text.length
    while (start < end && isSpace(text.charCodeAt(start))) start++
    while (end > start && isSpace(text.charCodeAt(end - 1))) end--
    return text.slice(start, end)
  },
  sync(),
)

// An integer and a double are compared by value, as `<` compares them.
BASE.registerOperator('int == double', (a: bigint, b: number) => Number(a) === b && BigInt(b) === a)

function sync(): { async: boolean } {
  return { async: false }
}

const BEYOND_ASCII = /[^\0-\x7f]/

function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d)
  return SPACES.has(code)
}

const SPACES = new Set([
  ...[0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
])

/** The 26 letters from `first` on, moved; in pieces, since arguments of a call are limited. */
function shiftLetters(text: string, first: number, by: number): string {
  if (!BEYOND_ASCII.test(text)) return by > 0 ? text.toLowerCase() : text.toUpperCase()
  let result = ''
  const piece = new Uint16Array(Math.min(text.length, 1_024))
  for (let from = 0; from < text.length; from += piece.length) {
    const length = Math.min(piece.length, text.length - from)
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(from + at)
      piece[at] = code >= first && code < first + 26 ? code + by : code
    }
    result += Reflect.apply(String.fromCharCode, undefined, piece.subarray(0, length))
  }
  return result
}

const INT_LIMIT = 2 ** 63

function wholeOf(value: number): bigint {
  if (!(Math.abs(value) < INT_LIMIT)) throw new Undecided('no integer of 64 bits', String(value))
  return BigInt(Math.trunc(value))
}

function codePoints(text: string): bigint {
  let pairs = 0
  for (let at = 1; at < text.length; at++) {
    const low = text.charCodeAt(at)
    if (low < 0xdc00 || low > 0xdfff) continue
    const high = text.charCodeAt(at - 1)
    if (high >= 0xd800 && high <= 0xdbff) pairs++
  }
  return BigInt(text.length - pairs)
}

/** A Date takes the 30th of February for the 2nd of March. */
function realDay(text: string): string {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  if (day > days) throw new Undecided('no day of the calendar', text)
  return text
}

function plain(text: string, form: RegExp): string {
  if (!form.test(text)) throw new Undecided('not written plainly', text)
  return text
}

/** CEL's timestamp is a Date: made from an argument, never from the machine's clock. */
export function timestamp(value: number | string): object {
  // biome-ignore lint/style/noRestrictedGlobals: a value from outside, not the present
  const date = new Date(value) // allowed: a value from outside, not the present
  if (Number.isNaN(date.getTime())) throw new Undecided('no time', String(value))
  return date
}

export function parseCel(text: string): Node {
  return BASE.parse(text).ast
}

/** What stands at the bottom of a chain of `.x` and `[y]`. */
export function rootOf(node: Node): Node {
  let at = node
  while (at.op === '.' || at.op === '[]') at = at.args[0]
  return at
}

export function childrenOf(node: Node): readonly Node[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case '!_':
    case '-_':
      return [node.args]
    case 'map':
      return node.args.flat()
    default:
      return node.args as readonly Node[]
  }
}

export type CelProgram = (slots: Record<string, unknown>) => unknown

export type CelCheck =
  | { readonly ok: true; readonly type: string; readonly run: CelProgram }
  | { readonly ok: false; readonly message: string; readonly start: number; readonly end: number }

const environments = new Map<string, Environment>()
const ENVIRONMENTS_MAX = 1_000

/** Parses and checks `text` over exactly these variables. */
export function checkCel(
  text: string,
  variables: readonly { name: string; type: string }[],
): CelCheck {
  const signature = variables.map(({ name, type }) => `${name}:${type}`).join()
  let environment = environments.get(signature)
  if (environment === undefined) {
    environment = BASE.clone()
    for (const { name, type } of variables) environment.registerVariable(name, type)
    if (environments.size >= ENVIRONMENTS_MAX) environments.clear()
    environments.set(signature, environment)
  }
  try {
    const program = environment.parse(text)
    const checked = program.check()
    if (checked.valid) return { ok: true, type: checked.type ?? 'dyn', run: program }
    return failure(checked.error)
  } catch (error) {
    return failure(error)
  }
}

function failure(error: unknown): CelCheck & { ok: false } {
  const { summary, message, range } = error as {
    summary?: string
    message: string
    range?: { start: number; end: number }
  }
  const text = (summary ?? message.split('\n')[0] ?? 'not CEL').replace(/\.$/, '')
  return {
    ok: false,
    message: text.charAt(0).toLowerCase() + text.slice(1),
    start: range?.start ?? 0,
    end: range?.end ?? 0,
  }
}

export function celFailure(error: unknown): { message: string; start: number } {
  return failure(error)
}
