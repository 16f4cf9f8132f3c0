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
  ['size', { runs: 'size', arity: 1 }],
  ['int', { runs: 'sluiceInt', arity: 1 }],
  ['double', { runs: 'sluiceDouble', arity: 1 }],
  ['string', { runs: 'string', arity: 1 }],
  ['timestamp', { runs: 'sluiceTimestamp', arity: 1 }],
  ['duration', { runs: 'duration', arity: 1 }],
  ['path', { runs: 'sluicePath', arity: 1 }],
  ['url', { runs: 'sluiceUrl', arity: 1 }],
  ['email', { runs: 'sluiceEmail', arity: 1 }],
  ['sql', { runs: 'sluiceSql', arity: 1 }],
])

export const METHODS: ReadonlyMap<string, { runs: string; arity: number }> = new Map([
  ['size', { runs: 'size', arity: 0 }],
  ['startsWith', { runs: 'startsWith', arity: 1 }],
  ['endsWith', { runs: 'endsWith', arity: 1 }],
  ['contains', { runs: 'contains', arity: 1 }],
  ['matches', { runs: 'sluiceMatches', arity: 1 }],
  ['lowerAscii', { runs: 'sluiceLower', arity: 0 }],
  ['upperAscii', { runs: 'sluiceUpper', arity: 0 }],
  ['trim', { runs: 'trim', arity: 0 }],
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
    (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase()),
    sync(),
  )
  .registerFunction(
    'string.sluiceUpper(): string',
    (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase()),
    sync(),
  )
  .registerFunction('sluiceInt(int): int', (value: bigint) => value, sync())
  .registerFunction('sluiceInt(double): int', (value: number) => BigInt(Math.trunc(value)), sync())
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
      timestamp(plain(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/)),
    sync(),
  )

// An integer and a double are compared by value, as `<` compares them.
BASE.registerOperator('int == double', (a: bigint, b: number) => Number(a) === b && BigInt(b) === a)

function sync(): { async: boolean } {
  return { async: false }
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
