// One reader for the three formats of PolicyLayer: version, description, default, hidden tools, and each tool by the
// table of its format.

import { isNull } from '@sluice/policy/document/check-shape'
import { KEY_LENGTH_MAX } from '@sluice/policy/document/limits'
import type { LocatedMap, LocatedNode } from '@sluice/policy/document/read-document'
import { composeGuardrails, composeTool } from './compose.ts'
import type { Check, ImportDraft } from './draft.ts'
import type { ImportCode } from './errors.ts'
import { Fields } from './fields.ts'
import { readHostedRules } from './hosted.ts'
import { readInterceptRules } from './intercept.ts'
import { PAGE_KEYS, readBody } from './pages.ts'
import type { ImportReport } from './report.ts'
import { notImported, type OriginalRule, toCheck } from './to-check.ts'

export type FormatName = 'intercept' | 'hosted' | 'pages'

interface Format {
  readonly title: string
  readonly hasVersion: boolean
  /** What a document without `default` means. */
  readonly missingDefault: 'allow' | 'refuse' | 'deny'
  readonly remark?: readonly [code: ImportCode, message: string, help: string]
  /** Keys of a tool. With those of the pages it may have an action, also as a bare word. */
  readonly keys: readonly string[]
  /** The name of rules for all tools: a tool called `*`, or a key of the document. */
  readonly all: '*' | 'all_tools'
  readonly allKeys: readonly string[]
  readRules(tool: Fields, title: string): readonly OriginalRule[]
}

export const FORMATS: Readonly<Record<FormatName, Format>> = {
  intercept: {
    title: 'Intercept YAML',
    hasVersion: true,
    missingDefault: 'allow',
    keys: ['rules'],
    all: '*',
    allKeys: ['rules'],
    readRules: readInterceptRules,
  },
  hosted: {
    title: 'hosted JSON',
    hasVersion: true,
    missingDefault: 'refuse',
    remark: [
      'IMPORT_HOSTED_READING',
      'the fields of conditions and limits are not documented in public; they are read as Intercept reads its own',
      'try the calls that matter with `sluice policy explain`',
    ],
    keys: ['require', 'deny_if', 'limits', ...PAGE_KEYS],
    all: 'all_tools',
    allKeys: ['limits'],
    readRules: readHostedRules,
  },
  pages: {
    title: 'as its pages describe it',
    hasVersion: false,
    missingDefault: 'deny',
    keys: PAGE_KEYS,
    all: 'all_tools',
    allKeys: [],
    readRules: () => [],
  },
}

const NO_RESCUE = '`*` lets no further tool through: with `default: deny` only listed tools are'

interface ImportContext {
  readonly format: Format
  readonly server: string
  readonly draft: ImportDraft
  readonly report: ImportReport
}

export function importDocument(map: LocatedMap, context: ImportContext): void {
  const { format, server, draft, report } = context
  const { all, remark } = format
  const keys = ['version', 'description', 'default', 'hide', 'tools', 'all_tools']
  const root = Fields.read(map, all === '*' ? keys.slice(0, -1) : keys, 'the policy', report)
  if (root === undefined) return
  if (remark !== undefined) report.warn(remark[0], map.at, remark[1], remark[2])
  const version = root.text('version') ?? ''
  if (format.hasVersion && version !== '1')
    root.error('IMPORT_VERSION', 'version', `the version is \`${version}\`, not \`1\``)
  const description = root.text('description') ?? ''
  draft.comments.push(...description.split('\n').filter((line) => line.trim() !== ''))
  const fallback = readDefault(root, context)
  const hidden = readHidden(root, context)
  const tools = Fields.read(root.node('tools'), undefined, '`tools`', report)
  for (const { key, value } of tools?.map.entries ?? []) {
    // With the server in front it is the same tool.
    const written = String(key.value)
    const title = written.startsWith(`${server}/`) ? written.slice(server.length + 1) : written
    if (title === all && all === '*') continue
    if (hidden.has(title) || hidden.has('*')) {
      const message = `\`${title}\` is hidden, so that its rules change nothing`
      const help = 'take it from `hide` if it was meant to be called'
      report.warn('IMPORT_UNREACHABLE', key.at, message, help)
    } else importTool(title, key.at, value, context)
  }
  const shared = (all === '*' ? tools : root)?.node(all)
  if (shared === undefined) return
  if (all === '*' && fallback === 'deny')
    tools?.warn('IMPORT_WILDCARD_NO_RESCUE', all, NO_RESCUE, 'list the tools that are meant')
  const before = report.errorCount
  const fields = Fields.read(shared, format.allKeys, `\`${all}\``, report)
  const checks = readChecks(fields, all, context)
  const target = { key: `${server}/*`, title: 'all tools', comments: [], at: shared.at }
  const isWhole = report.errorCount === before
  composeGuardrails(draft, target, isWhole ? checks : [notImported(report)])
}

function importTool(title: string, at: number, node: LocatedNode, context: ImportContext): void {
  const { format, draft, report } = context
  const key = toolKey(title, at, context)
  if (key === undefined) return
  const before = report.errorCount
  const target = { key, title, comments: report.commentsAbove(at), at }
  const fields = readToolFields(node, title, context)
  const hasBody = format.keys.includes('action') && PAGE_KEYS.some((key) => fields?.has(key))
  const body = fields && hasBody ? readBody(fields) : undefined
  const checks = readChecks(fields, title, context)
  if (report.errorCount > before) return composeTool(draft, target, [notImported(report)])
  const message = `a rule of \`${title}\` denies every call, so that its other rules change nothing`
  const isOff = body?.action === 'deny' || body?.action === 'hide'
  if (isOff ? checks.length > 0 : checks.length > 1 && checks.some((check) => check.denies))
    report.warn('IMPORT_UNREACHABLE', at, message, 'keep the one that was meant')
  composeTool(draft, target, checks, body)
}

/** A bare word is an action, if the format has actions. */
function readToolFields(node: LocatedNode, title: string, { format, report }: ImportContext) {
  const isAction = node.kind === 'scalar' && !isNull(node) && format.keys.includes('action')
  const entries = isAction ? [{ key: { ...node, value: 'action' }, value: node }] : []
  const map = { kind: 'map', at: node.at, end: node.at, entries } as const
  return Fields.read(isAction ? map : node, format.keys, `\`${title}\``, report)
}

/** After an error they may be incomplete: the caller denies everything. */
function readChecks(
  fields: Fields | undefined,
  title: string,
  { format, report }: ImportContext,
): readonly Check[] {
  const rules = fields === undefined ? [] : format.readRules(fields, title)
  return rules.flatMap((rule) => toCheck(rule, report) ?? [])
}

/** The rule for tools that are not listed; `allow` is written as a glob over this server only. */
function readDefault(root: Fields, context: ImportContext): 'allow' | 'deny' {
  const { format, server, draft, report } = context
  const written = root.text('default') || undefined
  const word = written ?? format.missingDefault
  if (written === undefined && word === 'deny')
    report.warn(
      'IMPORT_PAGES_DEFAULT',
      root.map.at,
      '`default` is not written, and the pages do not say what holds for other tools',
      'here they are denied; write `default: allow` to import the opposite',
    )
  else
    report.warn(
      'IMPORT_OTHER_METHODS',
      root.map.at,
      'the original judges tool calls only: resources, prompts and requests of the server pass it unseen',
      'here they are denied; allow what you need under `resources`, `prompts` and `methods`',
    )
  if (word === 'deny') return 'deny'
  if (word !== 'allow') {
    const message = written === undefined ? '`default` is missing' : `\`default\` is \`${word}\``
    root.error('IMPORT_INVALID', 'default', message, 'it is `allow` or `deny`; the import denies')
    return 'deny'
  }
  const left = written === undefined ? 'left out, `default` means `allow`' : '`default: allow`'
  const message = `${left}: every tool that is not listed may be called, new ones included`
  const help = `take \`${server}/*: allow\` out and list what is needed`
  root.warn('IMPORT_DEFAULT_ALLOW', 'default', message, help)
  const comments = ['the original allows what it does not list']
  const at = root.keyAt('default')
  draft.tools.push({ tools: `${server}/*`, comments, body: { action: 'allow' }, at })
  return 'allow'
}

/** Hidden names; `*` hides everything. */
function readHidden(root: Fields, context: ImportContext): ReadonlySet<string> {
  const { server, draft, report } = context
  const names = new Set<string>()
  const items = root.list('hide')
  const hide = { comments: [], body: { action: 'hide' }, at: root.keyAt('hide') } as const
  const message = 'the original shows hidden tools where it cannot read the list, and names them'
  const help = 'here they are answered as names no server has'
  if (items.length > 0) root.warn('IMPORT_HIDE', 'hide', message, help)
  for (const { at, ...item } of items) {
    const name = item.kind === 'scalar' && item.value !== null ? item.text.trim() : ''
    if (name === '' || names.has(name)) {
      const what = name === '' ? 'an empty name' : `\`${name}\` stands twice`
      report.error('IMPORT_INVALID', at, `${what} under \`hide\``, 'write each name once')
      continue
    }
    names.add(name)
    const tools = name === '*' ? undefined : toolKey(name, at, context)
    if (tools !== undefined) draft.tools.push({ ...hide, tools, at })
  }
  if (names.has('*')) draft.tools.splice(0, draft.tools.length, { ...hide, tools: `${server}/*` })
  return names
}

/** `<server>/<tool>`, or undefined after an error. */
function toolKey(name: string, at: number, { server, report }: ImportContext): string | undefined {
  const key = `${server}/${name}`
  const isGlob = /[*?]/.test(name)
  if (!isGlob && name.trim() !== '' && key.length <= KEY_LENGTH_MAX) return key
  const message = isGlob
    ? `\`${name}\` is one exact name in the original and matches no other tool; here it would be a glob`
    : `\`${name.slice(0, 80)}\` cannot be the name of a tool`
  return report.error('IMPORT_NAME', at, message, 'list the tools that were meant')
}
