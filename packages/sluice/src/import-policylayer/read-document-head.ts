// What both formats of PolicyLayer share: version, description, default, the list of hidden tools,
// and how a tool of theirs is named here.

import { isNull } from '@sluice/policy/document/check-shape'
import { KEY_LENGTH_MAX } from '@sluice/policy/document/limits'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import type { ImportDraft } from './draft.ts'
import { keyAt, readList, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'

export interface ServerScope {
  readonly server: string
  /** `<server>/*` */
  readonly all: string
}

export function readVersion(root: LocatedMap, report: ImportReport): void {
  const version = readText(root, 'version', report)
  if (version === '1') return
  report.error(
    'IMPORT_VERSION',
    keyAt(root, 'version'),
    `the version is \`${version ?? ''}\`, not \`1\``,
    'the original refuses it too',
  )
}

export function readDescription(root: LocatedMap, draft: ImportDraft, report: ImportReport): void {
  const description = readText(root, 'description', report)
  if (description !== undefined)
    draft.comments.push(...description.split('\n').filter((line) => line.trim() !== ''))
}

interface DefaultContext {
  readonly scope: ServerScope
  readonly draft: ImportDraft
  readonly report: ImportReport
}

/** The rule for tools that are not listed; `allow` is written as a glob over this server only. */
export function readDefault(
  root: LocatedMap,
  missing: 'allow' | 'refuse',
  { scope, draft, report }: DefaultContext,
): 'allow' | 'deny' {
  const at = keyAt(root, 'default')
  const written = readText(root, 'default', report)
  const word = written === undefined || written === '' ? missing : written
  report.warn(
    'IMPORT_OTHER_METHODS',
    root.at,
    'the original judges tool calls only: resources, prompts and requests of the server pass it unseen',
    'here they are denied; allow what you need under `resources`, `prompts` and `methods`',
  )
  if (word === 'deny') return 'deny'
  if (word !== 'allow') {
    const message = word === 'refuse' ? '`default` is missing' : `\`default\` is \`${word}\``
    report.error('IMPORT_INVALID', at, message, 'it is `allow` or `deny`; the import denies')
    return 'deny'
  }
  const left = written === undefined ? 'left out, `default` means `allow`' : '`default: allow`'
  report.warn(
    'IMPORT_DEFAULT_ALLOW',
    at,
    `${left}: every tool that is not listed may be called, new ones included`,
    `take \`${scope.all}: allow\` out and list what is needed`,
  )
  draft.tools.push({
    key: scope.all,
    comments: ['the original allows what it does not list'],
    body: { action: 'allow' },
    at,
  })
  return 'allow'
}

/** Hidden names; `*` hides everything. */
export function readHidden(
  root: LocatedMap,
  scope: ServerScope,
  draft: ImportDraft,
  report: ImportReport,
): ReadonlySet<string> {
  const names = new Set<string>()
  const items = readList(findEntry(root, 'hide'), '`hide`', report)
  if (items.length > 0)
    report.warn(
      'IMPORT_HIDE',
      keyAt(root, 'hide'),
      'the original shows hidden tools where it cannot read the list, and says that they are hidden',
      'here they are answered as names no server has',
    )
  for (const item of items) {
    const name = item.kind === 'scalar' && !isNull(item) ? item.text.trim() : ''
    if (name === '' || names.has(name)) {
      report.error(
        'IMPORT_INVALID',
        item.at,
        name === '' ? 'an empty name under `hide`' : `\`${name}\` stands twice under \`hide\``,
        'take it out',
      )
      continue
    }
    names.add(name)
    const key = name === '*' ? scope.all : toolKey(name, item.at, scope, report)
    if (key !== undefined && name !== '*')
      draft.tools.push({ key, comments: [], body: { action: 'hide' }, at: item.at })
  }
  if (names.has('*'))
    draft.tools.splice(0, draft.tools.length, {
      key: scope.all,
      comments: [],
      body: { action: 'hide' },
      at: keyAt(root, 'hide'),
    })
  return names
}

/** `<server>/<tool>`, or undefined after an error. */
export function toolKey(
  name: string,
  at: number,
  scope: ServerScope,
  report: ImportReport,
): string | undefined {
  const key = `${scope.server}/${name}`
  if (/[*?]/.test(name))
    return report.error(
      'IMPORT_NAME',
      at,
      `\`${name}\` is one exact name in the original and matches no other tool; here it would be a glob`,
      'list the tools that were meant, or write the glob by hand',
    )
  if (name.trim() === '' || key.length > KEY_LENGTH_MAX)
    return report.error(
      'IMPORT_NAME',
      at,
      `\`${name.slice(0, 80)}\` cannot be the name of a tool`,
      'take it out',
    )
  return key
}
