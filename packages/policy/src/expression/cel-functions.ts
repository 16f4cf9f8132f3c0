// The functions an expression may call, and the names they run under: one environment of the CEL
// library with the functions the language allows. The library's `matches` is a native RegExp and
// its conversions are lenient, so those are replaced.

import { Environment } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX } from '../language/limits.ts'
import { readShell } from '../readers/shell-command.ts'
import type { ShellReading } from '../readers/shell-reading.ts'
import { readsOnly } from '../readers/sql-reads.ts'
import { PolicyEmail, parseEmail } from './functions/email.ts'
import { isInsideDirectory, PolicyPath, parsePolicyPath } from './functions/path.ts'
import { isSecretFile } from './functions/secret-file.ts'
import {
  codePoints,
  realDay,
  requireForm,
  shiftLetters,
  timestamp,
  toInteger,
  trimSpace,
} from './functions/text.ts'
import { UndecidableError } from './functions/undecidable-error.ts'
import { isPrivate, PolicyUrl, parseUrl } from './functions/url.ts'

export const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

/** A function or method of conditions. */
interface CelFunction {
  /** The name it runs under. */
  readonly runs: string
  /** How many arguments it takes. */
  readonly arity: number
}

export const FUNCTIONS: ReadonlyMap<string, CelFunction> = new Map(
  withArity(1, {
    size: 'sluiceSize',
    int: 'sluiceInt',
    double: 'sluiceDouble',
    string: 'string',
    timestamp: 'sluiceTimestamp',
    duration: 'sluiceDuration',
    path: 'sluicePath',
    url: 'sluiceUrl',
    email: 'sluiceEmail',
    sql: 'sluiceSql',
    shell: 'sluiceShell',
  }),
)

export const METHODS: ReadonlyMap<string, CelFunction> = new Map([
  ...withArity(1, {
    startsWith: 'startsWith',
    endsWith: 'endsWith',
    contains: 'contains',
    matches: 'sluiceMatches',
    within: 'within',
  }),
  ...withArity(0, {
    size: 'sluiceSize',
    lowerAscii: 'sluiceLower',
    upperAscii: 'sluiceUpper',
    trim: 'sluiceTrim',
    isPrivate: 'isPrivate',
    reads: 'reads',
    local: 'local',
    isSecretFile: 'isSecretFile',
  }),
  ...['FullYear', 'Month', 'Date', 'DayOfMonth', 'DayOfWeek', 'Hours', 'Minutes', 'Seconds'].map(
    (part) => [`get${part}`, { runs: `get${part}`, arity: 0 }] as const,
  ),
])

function withArity(
  arity: number,
  names: Readonly<Record<string, string>>,
): (readonly [string, CelFunction])[] {
  return Object.entries(names).map(([name, runs]) => [name, { runs, arity }])
}

class Sql {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
const SHELL_LISTS = [
  'commands',
  'lines',
  'changes',
  'paths',
  'writes',
  'hosts',
  'variables',
] as const
/** Its lists are undecidable if the text is not certain. */
class Shell {
  readonly text: string
  readonly reading: ShellReading
  constructor(text: string) {
    this.text = text
    this.reading = readShell(text)
  }
  get certain(): boolean {
    return this.reading.uncertain === undefined
  }
}
for (const list of SHELL_LISTS)
  Object.defineProperty(Shell.prototype, list, {
    get(this: Shell) {
      const { text, reading } = this
      const why = list === 'hosts' ? reading.uncertainHosts : reading.uncertain
      if (why === undefined) return reading[list]
      throw new UndecidableError(`what a command line does, because of ${why}`, text)
    },
  })
const patterns = new Map<string, RE2JS>()

/** Compiles a literal pattern once; throws if RE2 rejects it. */
export function compilePattern(pattern: string): RE2JS {
  let compiled = patterns.get(pattern)
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern)
    patterns.set(pattern, compiled)
  }
  return compiled
}

export const BASE = new Environment({
  limits: { maxAstNodes: EXPRESSION_NODES_MAX, maxDepth: EXPRESSION_DEPTH_MAX },
})
  .registerType('Sql', { ctor: Sql, fields: {} })
  .registerType('Shell', {
    ctor: Shell,
    fields: {
      certain: 'bool',
      ...Object.fromEntries(SHELL_LISTS.map((list) => [list, 'list<string>'])),
    },
  })
  .registerType('Path', { ctor: PolicyPath, fields: {} })
  .registerType('Url', { ctor: PolicyUrl, fields: { host: 'string', scheme: 'string' } })
  .registerType('Email', { ctor: PolicyEmail, fields: { domain: 'string' } })

// The library's pattern for durations takes cubic time on digits: only plain texts reach it.
const readDuration = new Environment().registerVariable('text', 'string').parse('duration(text)')
const DURATION = /^(?=.{2,64}$)-?(?:\d{1,7}(?:\.\d{1,9})?(?:h|m|s|ms|us|ns))+$/
const TIMESTAMP =
  /^(?!0000)\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/
const lengthOf = (list: readonly unknown[]) => BigInt(list.length)
const entriesOf = (map: object) => BigInt(map instanceof Map ? map.size : Object.keys(map).length)

/** The functions by their signatures. Each is called with values of the types that its signature has. */
const IMPLEMENTATIONS: Readonly<Record<string, (...values: never[]) => unknown>> = {
  'sluicePath(string): Path': parsePolicyPath,
  'Path.within(string): bool': isInsideDirectory,
  'sluiceUrl(string): Url': parseUrl,
  'Url.isPrivate(): bool': isPrivate,
  'sluiceEmail(string): Email': parseEmail,
  'sluiceSql(string): Sql': (text: string) => new Sql(text),
  'Sql.reads(): bool': (sql: Sql) => readsOnly(sql.text),
  'sluiceShell(string): Shell': (text: string) => new Shell(text),
  'Shell.reads(): bool': (shell: Shell) => shell.reading.reads,
  'Shell.local(): bool': (shell: Shell) => shell.reading.local,
  'string.sluiceMatches(string): bool': (text: string, pattern: string) =>
    compilePattern(pattern).test(text),
  'string.isSecretFile(): bool': isSecretFile,
  'string.sluiceLower(): string': (text: string) => shiftLetters(text, 65, 32),
  'string.sluiceUpper(): string': (text: string) => shiftLetters(text, 97, -32),
  // White space as Unicode defines it; the library would also trim U+FEFF and keep U+0085.
  'string.sluiceTrim(): string': trimSpace,
  'sluiceInt(int): int': (value: bigint) => value,
  'sluiceInt(double): int': (value: number) => toInteger(value),
  'sluiceInt(string): int': (text: string) => BigInt(requireForm(text, /^-?\d{1,18}$/)),
  'sluiceDouble(int): double': (value: bigint) => Number(value),
  'sluiceDouble(double): double': (value: number) => value,
  'sluiceDouble(string): double': (text: string) =>
    Number(requireForm(text, /^-?\d{1,15}(\.\d{1,15})?$/)),
  'sluiceTimestamp(string): google.protobuf.Timestamp': (text: string) =>
    timestamp(realDay(requireForm(text, TIMESTAMP))),
  'sluiceDuration(string): google.protobuf.Duration': (text: string) =>
    readDuration({ text: requireForm(text, DURATION) }),
  'sluiceSize(string): int': codePoints,
  'string.sluiceSize(): int': codePoints,
  'sluiceSize(list): int': lengthOf,
  'list.sluiceSize(): int': lengthOf,
  'sluiceSize(map): int': entriesOf,
  'map.sluiceSize(): int': entriesOf,
}
for (const [signature, run] of Object.entries(IMPLEMENTATIONS))
  BASE.registerFunction(signature, run, { async: false })

// An integer and a double are compared by value, as `<` compares them.
BASE.registerOperator('int == double', (a: bigint, b: number) => Number(a) === b && BigInt(b) === a)
