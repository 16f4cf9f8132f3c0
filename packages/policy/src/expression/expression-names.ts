// The names an expression may read: an unknown name is an error at load, with the nearest known
// one.

import { didYouMean, nearest } from '../document/nearest.ts'
import type { PolicyErrorCode } from '../language/errors.ts'
import { type CelNode, getRoot } from './cel.ts'
import { PAST_FUNCTIONS } from './past-functions.ts'

/** Thrown while an expression is loaded; `at` is an offset into its text. */
export class ExpressionError extends Error {
  readonly code: PolicyErrorCode
  readonly at: number
  readonly help: string
  constructor(
    at: number,
    message: string,
    help: string,
    code: PolicyErrorCode = 'POLICY_EXPRESSION',
  ) {
    super(message)
    this.code = code
    this.at = at
    this.help = help
  }
}

/** Root -> the names below it with their CEL types. `args` and claims are open. */
const NAMES = {
  call: {
    category: 'string',
    secret: 'bool',
    card: 'bool',
    iban: 'bool',
    valueFromText: 'bool',
    valueUnproven: 'bool',
    destroysUnasked: 'bool',
    changesUnasked: 'bool',
    actsUnasked: 'bool',
  },
  tool: { name: 'string', category: 'string', risk: 'string' },
  server: { name: 'string', transport: 'string' },
  principal: { id: 'string', kind: 'string', groups: 'list<string>', claims: 'dyn' },
  agent: { id: 'string', owner: 'string', template: 'string', depth: 'int', turn: 'int' },
  session: {
    id: 'string',
    startedAt: 'google.protobuf.Timestamp',
    calls: 'int',
    repeats: 'int',
    tokens: 'int',
    saw: 'dyn',
    mode: 'string',
  },
} satisfies Record<string, Record<string, string>>
export type Root = keyof typeof NAMES | 'args' | 'origin' | 'past' | 'last' | 'now'
const ROOTS = ['args', 'origin', 'now', ...Object.keys(NAMES)]

export interface InspectedPath {
  readonly root: Root
  readonly path: readonly string[]
  /** Where the part that became a variable ends in the text. */
  readonly end: number
}

/** Reads the static part of `root.a.b["c"]`; throws ExpressionError if the name is unknown. */
export function inspectPath(
  node: CelNode,
  labels: ReadonlySet<string>,
  presence: boolean,
): InspectedPath {
  const base = getRoot(node)
  const root = (base as CelNode & { op: 'id' }).args
  if (!ROOTS.includes(root))
    throw new ExpressionError(
      base.start,
      `unknown name \`${root}\``,
      didYouMean(root, ROOTS, `an argument is \`args.${root}\`; other names are ${listed(ROOTS)}`),
    )
  const staticParts = staticPrefix(node, base)
  const names = staticParts.map((part) => part.name)
  const end = staticParts.at(-1)?.node.end ?? base.end
  if (root === 'args' || (root === 'origin' && !presence)) return argsPath(root, node, names, end)
  if (presence && !(root === 'principal' && names[0] === 'claims' && names.length > 1)) {
    const help =
      root === 'agent'
        ? 'write `agent != null`'
        : 'use it on `args` or on one of `principal.claims`'
    throw new ExpressionError(
      base.start,
      `\`${[root, ...names].join('.')}\` cannot be tested with \`has\``,
      help,
      'POLICY_NO_EFFECT',
    )
  }
  return namedPath(root as Root, staticParts, { base, labels, presence })
}

function argsPath(
  root: 'args' | 'origin',
  node: CelNode,
  names: readonly string[],
  end: number,
): InspectedPath {
  if (names.length === 0)
    throw new ExpressionError(
      node.start,
      `\`${root}\` is read as a whole, or by a computed name`,
      `read arguments by name: \`${root}.x\`, \`${root}["x-y"]\``,
    )
  return { root, path: names, end }
}

interface PathContext {
  readonly base: CelNode
  readonly labels: ReadonlySet<string>
  readonly presence: boolean
}

function namedPath(
  root: Root,
  parts: readonly { name: string; node: CelNode }[],
  { base, labels, presence }: PathContext,
): InspectedPath {
  const [first, second] = parts
  if (root === 'now' || (root === 'agent' && first === undefined))
    return { root, path: [], end: base.end }
  const known = NAMES[root as keyof typeof NAMES]
  if (first === undefined) {
    const names = Object.keys(known).map((name) => `${root}.${name}`)
    throw new ExpressionError(
      base.start,
      `\`${root}\` is read as a whole`,
      `read one of ${listed(names)}`,
    )
  }
  if (!Object.hasOwn(known, first.name)) {
    const near = nearest(first.name, Object.keys(known))
    const names = Object.keys(known).map((name) => `${root}.${name}`)
    const help =
      near === undefined ? `one of ${listed(names)}` : `did you mean \`${root}.${near}\`?`
    throw new ExpressionError(base.start, `nothing fills \`${root}.${first.name}\``, help)
  }
  if (root === 'session' && first.name === 'saw') {
    if (second !== undefined && labels.has(second.name))
      return { root, path: ['saw', second.name], end: second.node.end }
    const message =
      second === undefined
        ? '`session.saw` is read as a whole'
        : `no answer brings the label \`session.saw.${second.name}\``
    const known = listed([...labels].map((label) => `session.saw.${label}`))
    throw new ExpressionError(
      base.start,
      message,
      didYouMean(second?.name ?? '', [...labels], `read one of ${known}`),
    )
  }
  if (root === 'principal' && first.name === 'claims' && second !== undefined) {
    const rest = presence ? parts : parts.slice(0, 2)
    return { root, path: rest.map((part) => part.name), end: (rest.at(-1) ?? second).node.end }
  }
  return { root, path: [first.name], end: first.node.end }
}

/** The leading `.x` and `["x"]` of a chain, up to the first computed index. */
export function staticPrefix(node: CelNode, base: CelNode): { name: string; node: CelNode }[] {
  const chain: CelNode[] = []
  for (let at = node; at !== base; at = (at as CelNode & { op: '.' }).args[0]) chain.unshift(at)
  const parts: { name: string; node: CelNode }[] = []
  for (const link of chain) {
    const name =
      link.op === '.' ? (link.args[1] as string) : literal((link as CelNode & { op: '[]' }).args[1])
    if (name === undefined) break
    parts.push({ name, node: link })
  }
  return parts
}

function literal(node: CelNode): string | undefined {
  return node.op === 'value' && typeof node.args === 'string' ? node.args : undefined
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

/** The CEL type of a variable that is not an argument. */
export function findVariableType(root: Root, path: readonly string[]): string {
  if (root === 'now') return 'google.protobuf.Timestamp'
  if (root === 'origin') return 'string'
  if (root === 'past') return PAST_FUNCTIONS.get(path[0] as string)?.type as string
  if (root === 'args' || root === 'last' || path.length === 0) return 'dyn'
  if (path[0] === 'saw') return 'bool'
  const types: Readonly<Record<string, string>> = NAMES[root]
  return path.length > 1 ? 'dyn' : (types[path[0] as string] as string)
}

/** Every step of `root.a["b"]` is a name. */
export function isNamePath(node: CelNode): boolean {
  let at = node
  for (; at.op === '.' || at.op === '[]'; at = at.args[0])
    if (at.op === '[]' && !(at.args[1].op === 'value' && typeof at.args[1].args === 'string'))
      return false
  return at.op === 'id' && at !== node
}

export function refuseLiteral(node: CelNode & { op: 'value' }): void {
  const { args: value } = node
  const help = 'write a text, or a number within 64 bits'
  const fail = (what: string) => new ExpressionError(node.start, what, help)
  // 2^63 itself is the lowest integer once it is negated.
  if (typeof value === 'bigint' && value > 2n ** 63n) throw fail(`${value} is not a 64-bit integer`)
  if (typeof value === 'object' && value !== null)
    throw fail('bytes and unsigned integers are not supported')
}
