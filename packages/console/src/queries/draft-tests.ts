// The file of cases that belongs to a policy document, with one more case in it, and whether that case
// passes. Reads the file; nothing is written here.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { classify } from '@sluice/catalogue/classify/classify'
import { makeDocument, type PolicyDocument } from '@sluice/gateway/state/documents'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { addCase, type NewCase } from '@sluice/policy/cases/add-case'
import { readCases } from '@sluice/policy/cases/cases'
import { type CaseTools, runCase } from '@sluice/policy/cases/run-cases'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { isMap, isSeq, parseDocument } from 'yaml'

/** The file of cases beside a document, with one more. */
export interface PolicyTestsDraft {
  readonly file: string
  /** Digest of the text that the draft is made from; empty for a new file. */
  readonly base: string
  readonly before: string
  readonly after: string
  /** What is not as the new case expects; empty if it passes. */
  readonly differences: readonly string[]
  /** Why no case can be added there; empty if it can. */
  readonly refused: string
}

/** How the stored cases end under a draft. */
export interface PolicyCasesResult {
  /** How many cases passed. */
  readonly passed: number
  readonly failed: readonly { readonly name: string; readonly differences: readonly string[] }[]
  /** The file of cases without those that fail, empty if none is left, and the version that it is made from. */
  readonly without?: { readonly base: string; readonly text: string }
}

/** `cases.yaml` beside `policy.yaml`; another document has a file with its own name in front. */
export function casesFileOf(policyFile: string): string {
  const name = basename(policyFile, extname(policyFile))
  return join(dirname(policyFile), name === 'policy' ? 'cases.yaml' : `${name}.cases.yaml`)
}

/** Undefined if it does not exist. */
export function readCasesFile(policyFile: string): PolicyDocument | undefined {
  const file = casesFileOf(policyFile)
  return existsSync(file) ? makeDocument('', file, readFileSync(file, 'utf8')) : undefined
}

function unlisted(server: string, name: string): KnownTool {
  const definition = { server, name }
  return { definition, ...classify(definition) }
}

export function draftTests(
  policyFile: string,
  one: NewCase,
  policy: CompiledPolicy,
  tools: readonly KnownTool[],
): PolicyTestsDraft {
  const current = readCasesFile(policyFile)
  const hasTools = existsSync(join(dirname(policyFile), 'tools.json'))
  const head = { policy: basename(policyFile), ...(hasTools ? { tools: 'tools.json' } : {}) }
  const made = addCase(current?.text, one, head)
  const input = {
    file: casesFileOf(policyFile),
    base: current?.digest ?? '',
    before: current?.text ?? '',
  }
  if ('refused' in made)
    return { ...input, after: input.before, differences: [], refused: made.refused }
  const { differences } = runCase(policy, made.added, toCaseTools(tools))
  return { ...input, after: made.text, differences, refused: '' }
}

/** The cases that are stored beside the document, under the text that is edited. */
export function runStoredCases(
  policyFile: string,
  policy: CompiledPolicy,
  tools: readonly KnownTool[],
): PolicyCasesResult {
  const stored = readCasesFile(policyFile)
  const { cases = [] } = (stored && readCases(stored).cases) ?? {}
  const results = cases.map((one) => runCase(policy, one, toCaseTools(tools)))
  const failed = results.filter(({ passed }) => !passed)
  const names = new Set(failed.map(({ case: { name } }) => name))
  return {
    passed: results.length - failed.length,
    failed: failed.map(({ case: { name }, differences }) => ({ name, differences })),
    ...(stored !== undefined &&
      names.size > 0 && {
        without: {
          base: stored.digest,
          text: failed.length === results.length ? '' : removeCases(stored.text, names),
        },
      }),
  }
}

/** The text without the cases of these names; everything else stays as it is written. */
function removeCases(text: string, names: ReadonlySet<string>): string {
  const list = parseDocument(text).get('cases')
  if (!isSeq(list)) return text
  return list.items.reduceRight<string>((left, item) => {
    if (!isMap(item) || item.range == null || !names.has(String(item.get('name')))) return left
    const start = left.lastIndexOf('\n', left.lastIndexOf('-', item.range[0])) + 1
    return left.slice(0, start) + left.slice(item.range[2])
  }, text)
}

function toCaseTools(tools: readonly KnownTool[]): CaseTools {
  return {
    toolFor: (server, name) =>
      tools.find(({ definition }) => definition.server === server && definition.name === name) ??
      unlisted(server, name),
    counters: () => new MemoryCounters(),
  }
}
