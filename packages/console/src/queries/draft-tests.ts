// The file of cases that belongs to a policy document, with one more case in it, and whether that case
// passes. Reads the file; nothing is written here.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { classify } from '@sluice/catalogue/classify/classify'
import { makeDocument, type PolicyDocument } from '@sluice/gateway/state/documents'
import { addCase, type NewCase } from '@sluice/policy/cases/add-case'
import { readCases } from '@sluice/policy/cases/cases'
import { type CaseTools, runCase } from '@sluice/policy/cases/run-cases'
import type { KnownTool } from '@sluice/policy/core/tools'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'

/** The file of cases beside a document, with one more. */
export type PolicyTestsDraft = ReturnType<typeof draftTests>

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
) {
  const current = readCasesFile(policyFile)
  const hasTools = existsSync(join(dirname(policyFile), 'tools.json'))
  const head = { policy: basename(policyFile), ...(hasTools ? { tools: 'tools.json' } : {}) }
  const made = addCase(current?.text, one, head)
  const input = {
    file: casesFileOf(policyFile),
    // Digest of the text it is made from; empty for a new file.
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
) {
  const stored = readCasesFile(policyFile)
  const { cases = [] } = (stored && readCases(stored).cases) ?? {}
  const results = cases.map((one) => runCase(policy, one, toCaseTools(tools)))
  const failed = results.filter(({ passed }) => !passed)
  return {
    passed: results.length - failed.length,
    failed: failed.map(({ case: { name }, differences }) => ({ name, differences })),
  }
}

function toCaseTools(tools: readonly KnownTool[]): CaseTools {
  return {
    toolFor: (server, name) =>
      tools.find(({ definition }) => definition.server === server && definition.name === name) ??
      unlisted(server, name),
    counters: () => new MemoryCounters(),
  }
}
