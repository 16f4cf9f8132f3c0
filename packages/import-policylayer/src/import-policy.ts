// Imports a policy of another make: tells the format, translates it, writes a Sluice policy. Pure;
// called by `sluice policy import`. The text comes from a stranger: it goes through the same
// guarded reader as our own documents, and nothing of it is evaluated.

import { asMap } from '@sluice/policy/document/check-shape'
import { type Problem, Problems } from '@sluice/policy/document/problem'
import { findEntry, type LocatedMap, readDocument } from '@sluice/policy/document/read-document'
import { parseExpression } from '@sluice/policy/expression/expression'
import { EXPRESSION_LENGTH_MAX, GUARDRAILS_MAX } from '@sluice/policy/language/limits'
import type { ImportDraft } from './draft.ts'
import { cleanLine, emitDocument } from './emit-document.ts'
import { FORMATS, type FormatName, importDocument } from './import-document.ts'
import { ImportReport, type ImportWarning } from './report.ts'
import { NOT_IMPORTED } from './to-check.ts'

export interface ImportOptions {
  readonly file: string
  /** What the server is called here; the original has one document for each server. */
  readonly server: string
}

/** What became of a policy of another make. */
export interface ImportedPolicy {
  /** The Sluice policy; empty if nothing could be read. With errors, what they concern is denied in it. */
  readonly yaml: string
  /** What was translated and has to be looked at. */
  readonly warnings: readonly ImportWarning[]
  /** What could not be translated. */
  readonly errors: readonly ImportWarning[]
}

export function importPolicy(text: string, { file, server }: ImportOptions): ImportedPolicy {
  const problems = new Problems(file, text)
  const root = readDocument(text, problems)
  const report = new ImportReport(file, text)
  const result = (yaml: string) => ({ yaml, warnings: report.warnings(), errors: report.errors() })
  if (root === undefined) return { ...result(''), errors: problems.sorted().map(withoutSeverity) }
  if (!/^[^\s/*?]{1,100}$/.test(server)) {
    const message = `\`${server}\` cannot be the name of a server`
    report.error('IMPORT_SERVER', 0, message, 'a name without spaces, `/`, `*` and `?`')
    return result('')
  }
  const name = root.kind === 'map' ? formatOf(root, text) : undefined
  if (root.kind !== 'map' || name === undefined) {
    const message = 'this is neither an Intercept policy nor a hosted one'
    const help =
      'a policy has `tools` with `rules`, with `require`, `deny_if` and `limits`, or with `action` and `rate_limit`'
    report.error('IMPORT_FORMAT', root.at, message, help)
    return result('')
  }
  const format = FORMATS[name]
  const draft: ImportDraft = { comments: [], tools: [], guardrails: [], names: new Set() }
  importDocument(root, { format, server, draft, report })
  checkBounds(draft, report)
  const head = [`Imported from ${cleanLine(file)} (PolicyLayer, ${format.title}).`]
  if (report.errorCount > 0)
    head.push(`NOT COMPLETE: ${report.errorCount} errors; what they concern is denied below.`)
  draft.comments.unshift(...head)
  return result(emitDocument(draft))
}

function withoutSeverity({ severity: _, ...problem }: Problem): ImportWarning {
  return problem
}

/** Whether a document is of that make: for a command that takes documents of this one. There every tool has
 * a server in its name. */
export function isPolicyLayer(text: string): boolean {
  const root = readDocument(text, new Problems('', text))
  if (root?.kind !== 'map' || formatOf(root, text) === undefined) return false
  const names = asMap(findEntry(root, 'tools')).entries.map(({ key }) => String(key.value))
  return names.length > 0 && !names.some((name) => name.includes('/'))
}

/** Recognises the format by what stands under `tools`, then by the look of the text. */
function formatOf(root: LocatedMap, text: string): FormatName | undefined {
  const has = (key: string) => findEntry(root, key) !== undefined
  if (has('guardrails') || has('categories') || !(has('version') || has('tools') || has('hide')))
    return undefined
  const values = asMap(findEntry(root, 'tools')).entries.map(({ value }) => value)
  const under = (...keys: string[]) =>
    values.some((tool) => keys.some((key) => findEntry(asMap(tool), key) !== undefined))
  const isHosted = has('all_tools') || under('require', 'deny_if', 'limits')
  const isWord = values.some((value) => value.kind === 'scalar' && value.value !== null)
  const isPages = isWord || under('action', 'rate_limit', 'reason')
  if (under('rules')) return isHosted || isPages ? undefined : 'intercept'
  if (isHosted || isPages) return isHosted ? 'hosted' : 'pages'
  return /^\s*\{/.test(text) ? 'hosted' : 'intercept'
}

/** What the language would refuse is an error here, and denied in what is written. */
function checkBounds({ tools, guardrails }: ImportDraft, report: ImportReport): void {
  const message = `the import needs ${guardrails.length} guardrails, the limit is ${GUARDRAILS_MAX}`
  if (guardrails.length > GUARDRAILS_MAX)
    report.error('IMPORT_TOO_LARGE', 0, message, 'split the document')
  for (const list of [tools, guardrails])
    list.forEach((rule, index) => {
      const problem = rule.body.when === undefined ? undefined : refusal(rule.body.when)
      if (problem === undefined) return
      const message = `the condition is too long for one rule: ${problem}`
      const help = 'split it, or shorten its list, in the original'
      report.error('IMPORT_TOO_LARGE', rule.at, message, help)
      list[index] = { ...rule, body: { action: 'deny', reason: NOT_IMPORTED } }
    })
}

function refusal(when: string): string | undefined {
  if (when.length > EXPRESSION_LENGTH_MAX)
    return `${when.length} characters, the limit is ${EXPRESSION_LENGTH_MAX}`
  try {
    parseExpression(when, new Set())
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
