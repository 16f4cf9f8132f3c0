// One reader for the three formats of PolicyLayer: version, description, default, hidden tools, and each tool by the
// table of its format.

import { KEY_LENGTH_MAX } from '@sluice/policy/document/limits'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { composeGuardrails, type ImportTarget } from './compose.ts'
import type { Check, ImportDraft, RuleBody } from './draft.ts'
import type { ImportCode } from './errors.ts'
import { importHostedTool, readChecks } from './hosted.ts'
import { importInterceptTool, readInterceptChecks } from './intercept.ts'
import { importPagesTool } from './pages.ts'
import { keyAt, readList, readMap, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'

export type Format = 'intercept' | 'hosted' | 'pages'

interface FormatTable {
  readonly title: string
  /** The key of rules for all tools, and how they are read. */
  readonly all?: {
    readonly key: readonly string[]
    read(node: LocatedNode, report: ImportReport): readonly Check[]
  }
  readonly hasVersion: boolean
  /** What a document without `default` means. */
  readonly missingDefault: 'allow' | 'refuse' | 'deny'
  readonly remark?: readonly [code: ImportCode, message: string, help: string]
  importTool(
    node: LocatedNode,
    target: ImportTarget,
    draft: ImportDraft,
    report: ImportReport,
  ): void
}

export const FORMATS: Readonly<Record<Format, FormatTable>> = {
  intercept: {
    title: 'Intercept YAML',
    all: { key: ['tools', '*'], read: (node, report) => readInterceptChecks('*', node, report) },
    hasVersion: true,
    missingDefault: 'allow',
    importTool: importInterceptTool,
  },
  hosted: {
    title: 'hosted JSON',
    all: {
      key: ['all_tools'],
      read: (node, report) => readChecks(node, '`all_tools`', ['limits'], report),
    },
    hasVersion: true,
    missingDefault: 'refuse',
    remark: [
      'IMPORT_HOSTED_READING',
      'the fields of conditions and limits are not documented in public; they are read as Intercept reads its own',
      'try the calls that matter with `sluice policy explain`',
    ],
    importTool: importHostedTool,
  },
  pages: {
    title: 'as its pages describe it',
    hasVersion: false,
    missingDefault: 'deny',
    importTool: importPagesTool,
  },
}

export interface ImportContext {
  readonly server: string
  readonly draft: ImportDraft
  readonly report: ImportReport
}

export function importDocument(root: LocatedMap, format: Format, context: ImportContext): void {
  const { all, hasVersion, missingDefault, remark, importTool } = FORMATS[format]
  const { server, draft, report } = context
  const keys = [
    'version',
    'description',
    'default',
    'hide',
    'tools',
    ...(all?.key.slice(0, 1) ?? []),
  ]
  readMap(root, keys, 'the policy', report)
  if (remark !== undefined) report.warn(remark[0], root.at, remark[1], remark[2])
  if (hasVersion) checkVersion(root, report)
  const description = readText(root, 'description', report) ?? ''
  draft.comments.push(...description.split('\n').filter((line) => line.trim() !== ''))
  const fallback = readDefault(root, missingDefault, context)
  const hidden = readHidden(root, context)
  const tools = readMap(findEntry(root, 'tools'), undefined, '`tools`', report)
  for (const { key, value } of tools?.entries ?? []) {
    const { at } = key
    // With the server in front it is the same tool.
    const written = String(key.value)
    const title = written.startsWith(`${server}/`) ? written.slice(server.length + 1) : written
    if (all?.key[1] === title) continue
    if (hidden.has(title) || hidden.has('*')) {
      const message = `\`${title}\` is hidden, so that its rules change nothing`
      report.warn(
        'IMPORT_UNREACHABLE',
        at,
        message,
        'take it from `hide` if it was meant to be called',
      )
      continue
    }
    const rule = toolKey(title, at, context)
    if (rule !== undefined) importTool(value, { key: rule, title, comments: [], at }, draft, report)
  }
  const shared = all?.key.reduce<LocatedNode | undefined>(
    (node, name) => (node?.kind === 'map' ? findEntry(node, name) : undefined),
    root,
  )
  if (all === undefined || shared === undefined) return
  if (all.key[1] !== undefined && fallback === 'deny')
    report.warn(
      'IMPORT_WILDCARD_NO_RESCUE',
      keyAt(tools ?? root, '*'),
      '`*` lets no further tool through: with `default: deny` only listed tools are',
      'list the tools, or write `<server>/*` by hand',
    )
  const target = { key: `${server}/*`, title: 'all tools', comments: [], at: shared.at }
  composeGuardrails(draft, target, all.read(shared, report))
}

function checkVersion(root: LocatedMap, report: ImportReport): void {
  const version = readText(root, 'version', report)
  if (version === '1') return
  const message = `the version is \`${version ?? ''}\`, not \`1\``
  report.error('IMPORT_VERSION', keyAt(root, 'version'), message, 'the original refuses it too')
}

/** The rule for tools that are not listed; `allow` is written as a glob over this server only. */
function readDefault(
  root: LocatedMap,
  missing: FormatTable['missingDefault'],
  { server, draft, report }: ImportContext,
): 'allow' | 'deny' {
  const at = keyAt(root, 'default')
  const written = readText(root, 'default', report) || undefined
  const word = written ?? missing
  if (written === undefined && missing === 'deny')
    report.warn(
      'IMPORT_PAGES_DEFAULT',
      root.at,
      '`default` is not written, and the pages do not say what holds for other tools',
      'here they are denied; write `default: allow` to import the opposite',
    )
  else
    report.warn(
      'IMPORT_OTHER_METHODS',
      root.at,
      'the original judges tool calls only: resources, prompts and requests of the server pass it unseen',
      'here they are denied; allow what you need under `resources`, `prompts` and `methods`',
    )
  if (word === 'deny') return 'deny'
  if (word !== 'allow') {
    const message = written === undefined ? '`default` is missing' : `\`default\` is \`${word}\``
    report.error('IMPORT_INVALID', at, message, 'it is `allow` or `deny`; the import denies')
    return 'deny'
  }
  const left = written === undefined ? 'left out, `default` means `allow`' : '`default: allow`'
  report.warn(
    'IMPORT_DEFAULT_ALLOW',
    at,
    `${left}: every tool that is not listed may be called, new ones included`,
    `take \`${server}/*: allow\` out and list what is needed`,
  )
  const comments = ['the original allows what it does not list']
  draft.tools.push({ key: `${server}/*`, comments, body: { action: 'allow' }, at })
  return 'allow'
}

/** Hidden names; `*` hides everything. */
function readHidden(root: LocatedMap, context: ImportContext): ReadonlySet<string> {
  const { server, draft, report } = context
  const names = new Set<string>()
  const items = readList(findEntry(root, 'hide'), '`hide`', report)
  const body: RuleBody = { action: 'hide' }
  if (items.length > 0)
    report.warn(
      'IMPORT_HIDE',
      keyAt(root, 'hide'),
      'the original shows hidden tools where it cannot read the list, and says that they are hidden',
      'here they are answered as names no server has',
    )
  for (const { at, ...item } of items) {
    const name = item.kind === 'scalar' && item.value !== null ? item.text.trim() : ''
    if (name === '' || names.has(name)) {
      const what = name === '' ? 'an empty name' : `\`${name}\` stands twice`
      report.error('IMPORT_INVALID', at, `${what} under \`hide\``, 'write each name once')
      continue
    }
    names.add(name)
    const key = name === '*' ? undefined : toolKey(name, at, context)
    if (key !== undefined) draft.tools.push({ key, comments: [], body, at })
  }
  const every = { key: `${server}/*`, comments: [], body, at: keyAt(root, 'hide') }
  if (names.has('*')) draft.tools.splice(0, draft.tools.length, every)
  return names
}

/** `<server>/<tool>`, or undefined after an error. */
function toolKey(name: string, at: number, { server, report }: ImportContext): string | undefined {
  const key = `${server}/${name}`
  if (/[*?]/.test(name))
    return report.error(
      'IMPORT_NAME',
      at,
      `\`${name}\` is one exact name in the original and matches no other tool; here it would be a glob`,
      'list the tools that were meant, or write the glob by hand',
    )
  if (name.trim() !== '' && key.length <= KEY_LENGTH_MAX) return key
  const message = `\`${name.slice(0, 80)}\` cannot be the name of a tool`
  return report.error('IMPORT_NAME', at, message, 'rename it')
}
