// What the arguments of a call may be under a standing approval: each is exactly what it was, or within the bound
// that its approver gave. A bound is checked when it is given, and the call that is decided has to be in it. Pure.

import {
  areOfFamilies,
  findFamilyFault,
  isBelow,
  type LinePrograms,
  listPrograms,
} from '@sluice/policy/readers/shell-family'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { compareDecimal, type Decimal, toDecimal } from '@sluice/policy/values/decimal'
import { ExactNumber } from '@sluice/policy/values/json'
import type { ArgumentBound } from './approval.ts'
import { toCanonicalJsonText } from './json-text.ts'
import { STANDING_VALUES_MAX } from './limits.ts'

/** The arguments of a call by name, each as canonical JSON. */
export type ArgumentTexts = ReadonlyMap<string, string>

type Bounds = Readonly<Record<string, ArgumentBound>>

interface CallTerms {
  /** Canonical text of each argument without a bound. */
  readonly exact: Readonly<Record<string, string>>
  readonly bounds: Bounds
}

interface CheckedCall {
  readonly members: ArgumentTexts
  /** All bounds that are given with this one. */
  readonly bounds: Bounds
  /** The tool is the shell of a coding agent. */
  readonly isShell: boolean
}

/**
 * Where a bound with only an upper end starts: the author of `amount<=50` means amounts, and a
 * negative one may be a payment in the other direction.
 */
const LOWEST = '0'

/** Whether the arguments are what the terms allow. */
export function isCovered(members: ArgumentTexts, { exact, bounds }: CallTerms): boolean {
  for (const name of Object.keys(exact)) if (!members.has(name)) return false
  for (const [name, text] of members) {
    if (Object.hasOwn(exact, name)) {
      if (exact[name] !== text) return false
    } else if (!Object.hasOwn(bounds, name)) return false
    else if (findObjection(name, members, bounds) !== undefined) return false
  }
  return Object.keys(bounds).every((name) => members.has(name))
}

/** Makes a bound canonical. Throws OperationError if it is none, or if the call itself is not within it. */
export function checkBound(name: string, bound: ArgumentBound, call: CheckedCall): ArgumentBound {
  const wrong = (what: string): OperationError =>
    new OperationError(`the bound of \`${name}\` ${what}`, 'give `min` and `max`, `oneOf` or `any`')
  const objectionTo = (read: ArgumentBound) =>
    findObjection(name, call.members, { ...call.bounds, [name]: read })
  let read: ArgumentBound
  if ('any' in bound && bound.any === true) read = { any: true }
  else if ('oneOf' in bound && Array.isArray(bound.oneOf)) {
    if (bound.oneOf.length === 0 || bound.oneOf.length > STANDING_VALUES_MAX)
      throw wrong(`lists none, or more than ${STANDING_VALUES_MAX} values`)
    read = { oneOf: bound.oneOf.map((text) => canonicalOr(text, () => wrong('is not JSON'))) }
  } else if ('lines' in bound) read = checkLines(name, bound.lines, call.isShell)
  else if ('below' in bound) {
    if (!isBelow(bound.below, '/'))
      throw wrong(`is \`${bound.below}\`, which is no plain directory`)
    read = { below: bound.below }
  } else {
    const { min, max } = bound as { min?: string; max?: string }
    if (min === undefined && max === undefined) throw wrong('is none')
    for (const side of [min, max])
      if (side !== undefined && decimalIn(side) === undefined) throw wrong('is not a number')
    read = max === undefined ? { min: min as string } : { min: min ?? LOWEST, max }
    if (min === undefined && objectionTo(read) !== undefined)
      throw new OperationError(
        `the bound of \`${name}\` has no lower end and therefore begins at ${LOWEST}, which leaves out the call that is decided`,
        `write the lower end too, such as \`${name}>=${call.members.get(name)}\``,
      )
  }
  const objection = objectionTo(read)
  if (objection === undefined) return read
  throw wrong(`leaves out the call that is decided${objection === '' ? '' : `: ${objection}`}`)
}

/** The call that is decided is checked like any other, so only the form is looked at here. */
function checkLines(
  name: string,
  lines: Extract<ArgumentBound, { lines: unknown }>['lines'],
  isShell: boolean,
): ArgumentBound {
  if (!isShell || name !== 'command')
    throw new OperationError(
      `\`lines\` is for the command line of a coding agent, and \`${name}\` is none`,
      'give `oneOf`',
    )
  const fault = findFamilyFault(lines)
  if (fault === undefined) return { lines }
  throw new OperationError(`the bound of \`${name}\`: ${fault}`, 'such as `npm test *`')
}

/** Why an argument is not within its bound; undefined if it is, empty if there is no more to say. */
function findObjection(name: string, members: ArgumentTexts, bounds: Bounds): string | undefined {
  const [bound, text] = [bounds[name] as ArgumentBound, members.get(name) as string]
  if ('lines' in bound) {
    const programs = programsOf(members, bounds)
    if (typeof programs === 'string') return programs
    return areOfFamilies(programs, bound.lines) ? undefined : 'it starts another program'
  }
  if ('below' in bound) return isBelow(readText(text) ?? '', bound.below) ? undefined : ''
  return isWithin(bound, text) ? undefined : ''
}

/** A line, and what it starts by the directory that it may not leave. */
interface ReadLine {
  readonly line: string | undefined
  readonly cwd: string | undefined
  readonly programs: Map<string, LinePrograms | string>
}

/** The lines of calls. A call is compared with a thousand approvals, of which most have the same directory. */
const lines = new WeakMap<ArgumentTexts, ReadLine>()

function programsOf(members: ArgumentTexts, { cwd: bound }: Bounds): LinePrograms | string {
  const read = lines.get(members) ?? {
    line: readText(members.get('command') ?? ''),
    cwd: readText(members.get('cwd') ?? ''),
    programs: new Map(),
  }
  lines.set(members, read)
  if (read.cwd === undefined || read.line === undefined) return 'it has no line, or no directory'
  const root = bound !== undefined && 'below' in bound ? bound.below : read.cwd
  const programs = read.programs.get(root) ?? listPrograms(read.line, root)
  read.programs.set(root, programs)
  return programs
}

function isWithin(
  bound: Exclude<ArgumentBound, { lines: unknown } | { below: unknown }>,
  text: string,
): boolean {
  if ('any' in bound) return true
  if ('oneOf' in bound) return bound.oneOf.includes(text)
  const value = decimalIn(text)
  if (value === undefined) return false
  const { max } = bound
  const min = bound.min ?? (max === undefined ? undefined : LOWEST)
  if (min !== undefined && compareDecimal(value, decimalIn(min) as Decimal) < 0) return false
  return max === undefined || compareDecimal(value, decimalIn(max) as Decimal) <= 0
}

/** Returns undefined if it is no text. */
function readText(json: string): string | undefined {
  return json.startsWith('"') ? (JSON.parse(json) as string) : undefined
}

function canonicalOr(text: string, refused: () => OperationError): string {
  try {
    return toCanonicalJsonText(text)
  } catch {
    throw refused()
  }
}

function decimalIn(text: string): Decimal | undefined {
  return /^-?\d/.test(text) ? toDecimal(new ExactNumber(text)) : undefined
}
