// Properties for `prove`: what must never or always happen, over every known tool. Read from a YAML
// file, like cases.

import { ACTIONS, type Action } from '../calls/actions.ts'
import { CATEGORIES, type Category, RISKS, type Risk } from '../calls/tools.ts'
import { object, required, text, word } from '../document/build-shape.ts'
import { asMap, checkShape } from '../document/check-shape.ts'
import { scalar } from '../document/fields.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import { type Problem, Problems } from '../document/problem.ts'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
  readDocument,
} from '../document/read-document.ts'
import type { Shape } from '../document/shape.ts'
import { type Expression, parseExpression } from '../expression/expression.ts'
import { ExpressionError } from '../expression/expression-names.ts'
import { type Glob, parseGlob } from '../language/glob.ts'
import { EXPRESSION_LENGTH_MAX } from '../language/limits.ts'

/** What a property says of a call that it is about. */
export type Claim = Pick<Property, 'kind' | 'actions' | 'when'>

export interface Property {
  readonly name: string
  readonly line: number
  readonly kind: 'never' | 'always'
  readonly categories?: readonly Category[]
  readonly risks?: readonly Risk[]
  readonly tools?: readonly Glob[]
  readonly servers?: readonly string[]
  readonly actions: readonly Action[]
  /** Only calls of which this is true. */
  readonly when?: Expression
  /** Only calls of sessions with all of these labels, however they came by them. */
  readonly after?: readonly string[]
}

/** Whether a call that ends so breaks the property. */
export function isBroken({ kind, actions }: Claim): (action: Action) => boolean {
  return (action) => actions.includes(action) === (kind === 'never')
}

const oneOrMore = (of: Shape): Shape => ({
  kind: 'either',
  of: [of, { kind: 'list', of, max: 100 }],
})
const TEXT: Shape = text(KEY_LENGTH_MAX)

const CLAIM: Shape = object('a claim', {
  category: { shape: oneOrMore(word(CATEGORIES)), doc: 'tools of this category' },
  risk: { shape: oneOrMore(word(RISKS)), doc: 'tools of this risk' },
  tool: { shape: oneOrMore(TEXT), doc: '`<server>/<tool>` or a glob' },
  server: { shape: oneOrMore(TEXT), doc: 'tools of this server' },
  when: {
    shape: text(EXPRESSION_LENGTH_MAX),
    doc: 'only calls of which this condition is true, as `args.amount > 5000.0`',
  },
  after: {
    shape: oneOrMore(TEXT),
    doc: 'only in sessions that have all of these labels, after any sequence of allowed calls',
  },
  action: required(oneOrMore(word(ACTIONS)), 'the verdict'),
})

const FILE: Shape = object('a file of properties', {
  properties: {
    doc: 'what must hold',
    required: true,
    shape: {
      kind: 'list',
      min: 1,
      max: 1_000,
      of: object('a property', {
        name: { shape: TEXT, doc: 'for people' },
        never: { shape: CLAIM, doc: 'no call of these tools may end so' },
        always: { shape: CLAIM, doc: 'every call of these tools ends so' },
      }),
    },
  },
})

export function readProperties(source: { file: string; text: string }): {
  properties?: Property[]
  problems: Problem[]
} {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree === undefined || !checkShape(tree, FILE, 'the file', problems))
    return { problems: problems.sorted() }
  const node = findEntry(asMap(tree), 'properties')
  const items = node?.kind === 'list' ? node.items : []
  const properties = items.map((item) => readProperty(asMap(item), problems, source.text))
  return problems.hasErrors ? { problems: problems.sorted() } : { properties, problems: [] }
}

function readProperty(map: LocatedMap, problems: Problems, source: string): Property {
  const never = findEntry(map, 'never')
  const always = findEntry(map, 'always')
  if ((never === undefined) === (always === undefined))
    problems.error(
      'CASES_INVALID',
      map.at,
      'a property needs exactly one of `never` and `always`',
      'split it in two, or add one',
    )
  const kind = never === undefined ? 'always' : 'never'
  const claim = asMap(never ?? always)
  for (const tool of each(findEntry(claim, 'tool')) ?? [])
    if (!/^[^/]+\/.+/s.test(tool))
      problems.error(
        'DOCUMENT_BAD_NAME',
        claim.at,
        `\`${tool}\` is not a \`<server>/<tool>\``,
        `write \`*/${tool}\` for every server`,
      )
  const categories = each(findEntry(claim, 'category')) as Category[] | undefined
  const risks = each(findEntry(claim, 'risk')) as Risk[] | undefined
  const tools = each(findEntry(claim, 'tool'))
  const servers = each(findEntry(claim, 'server'))
  const actions = (each(findEntry(claim, 'action')) ?? []) as Action[]
  const after = each(findEntry(claim, 'after'))
  const when = readCondition(claim, problems, after)
  const which = [categories, risks, tools, servers, when && ['when', when.text]]
  return {
    name: String(
      scalar(map, 'name') ??
        describeProperty(kind, [...which, after && ['after', ...after]], actions),
    ),
    line: source.slice(0, map.at).split('\n').length,
    kind,
    ...(categories ? { categories } : {}),
    ...(risks ? { risks } : {}),
    ...(tools ? { tools: tools.map(parseGlob) } : {}),
    ...(servers ? { servers } : {}),
    actions,
    ...(when ? { when } : {}),
    ...(after ? { after } : {}),
  }
}

function readCondition(
  claim: LocatedMap,
  problems: Problems,
  after: readonly string[] | undefined,
): Expression | undefined {
  const node = findEntry(claim, 'when')
  if (node === undefined) return undefined
  try {
    return parseExpression(String(scalar(claim, 'when')), new Set(after))
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.error(error.code, node.at, error.message, error.help)
    return undefined
  }
}

function describeProperty(
  kind: string,
  parts: readonly (readonly string[] | undefined)[],
  actions: readonly string[],
): string {
  const which = parts.flatMap((part) => part ?? []).join(' ') || 'any tool'
  return `${kind} ${actions.join(' or ')}: ${which}`
}

function each(node: LocatedNode | undefined): string[] | undefined {
  if (node === undefined) return undefined
  return (node.kind === 'list' ? node.items : [node]).map((item) =>
    String((item as LocatedScalar).value),
  )
}
