// Paths and values of the original as CEL text. Only what CEL and the engine read back as the same
// thing is written.

import type { LocatedScalar } from '@sluice/policy/document/read-document'
import type { ImportReport } from './report.ts'

/** Words that CEL does not take as a name after a dot. */
const RESERVED = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
)
const NAME = /^[A-Za-z_]\w*$/
const INDEX = /^(?!.*["\\])[\u0020-\u007e\u00a0-\ud7ff]{1,100}$/

/** The path of an argument. */
export interface ArgumentPath {
  /** The names below `args`. */
  readonly names: readonly string[]
  /** The path in an expression: `args.a["b-c"]`. */
  readonly cel: string
  /** Whether `has(...)` can ask for it, which takes names after dots only. */
  readonly askable: boolean
}

/** A dotted path below `args`, as the original splits it; undefined after an error. */
export function readArgumentPath(
  path: string,
  at: number,
  report: ImportReport,
): ArgumentPath | undefined {
  const [root, ...names] = path.split('.')
  const isWritable = (name: string) => isPlain(name) || INDEX.test(name)
  if (root === 'args' && names.length > 0 && names.every(isWritable)) {
    const steps = names.map((name) => (isPlain(name) ? `.${name}` : `["${name}"]`))
    return { names, cel: `args${steps.join('')}`, askable: names.every(isPlain) }
  }
  const message = `\`${path}\` is not a path to an argument that can be written here`
  return report.error('IMPORT_PATH', at, message, 'write `args.<name>`, or the rule by hand')
}

function isPlain(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name)
}

/** Each step of the way is there: `has(args.a) && has(args.a.b)`. */
export function presenceSteps(path: ArgumentPath): string[] {
  return path.names.map((_, index) => `has(args.${path.names.slice(0, index + 1).join('.')})`)
}

/** A value that conditions compare with. */
export type CelValue =
  | { readonly kind: 'text'; readonly cel: string; readonly text: string }
  | { readonly kind: 'number'; readonly cel: string; readonly number: number }
  | { readonly kind: 'bool'; readonly cel: string; readonly bool: boolean }

export function toValue({ value }: LocatedScalar): CelValue | undefined {
  if (typeof value === 'string') return { kind: 'text', cel: textLiteral(value), text: value }
  if (typeof value === 'boolean') return { kind: 'bool', cel: String(value), bool: value }
  if (typeof value !== 'number') return undefined
  const cel = numberLiteral(value)
  return cel === undefined ? undefined : { kind: 'number', cel, number: value }
}

export function textLiteral(text: string): string {
  return JSON.stringify(text)
}

function numberLiteral(value: number): string | undefined {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? String(value) : undefined
  const text = String(value)
  return Number.isFinite(value) && !text.includes('e') ? text : undefined
}

/** Whether something that is no string could be printed as this text: the original compares what
 * Go prints, so that `true` equals "true" and 5 equals "5". */
export function looksLikeOther(text: string): boolean {
  return /^(true|false|<nil>|[-+]?(\d|Inf|NaN).*|\[.*\]|map\[.*\])$/s.test(text)
}
