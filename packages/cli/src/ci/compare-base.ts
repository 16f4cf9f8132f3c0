// Compares the decisions of a policy with those of a base revision in git: of every known tool, of every
// case, and what is or may be looser. Reads the base with `git show` and changes nothing.

import { execFileSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { type Action, isStronger } from '@sluice/policy/calls/actions'
import { type KnownTool, toToolId } from '@sluice/policy/calls/tools'
import { type PolicyCase, readCases } from '@sluice/policy/cases/cases'
import { runCase } from '@sluice/policy/cases/run-cases'
import { getTypicalAction } from '@sluice/policy/cases/typical-action'
import { type Loosening, loosenings } from '@sluice/policy/change/compare'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { toCanonicalRuleText } from '@sluice/policy/model/canonical-rule'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { TEXT_FILE_BYTES_MAX } from '../terminal/limits.ts'
import { readText } from '../terminal/read-input.ts'
import { createToolFinder } from '../terminal/read-tools.ts'

/** The action of a typical call; `depends` if a condition decides. */
type TypicalAction = Action | 'depends'

export interface ToolChange {
  readonly name: string
  readonly before: TypicalAction
  readonly now: TypicalAction
  readonly direction: 'looser' | 'stricter' | 'changed'
}

export interface CompareOptions {
  readonly base: string
  readonly policyFile: string
  readonly basePolicyFile: string | undefined
  readonly policy: CompiledPolicy
  readonly tools: readonly KnownTool[]
  readonly caseFiles: readonly string[]
}

/** What a policy changes. */
export interface BaseComparison {
  /** Tools whose typical call gets another action, or the same one by other rules. */
  readonly tools: readonly ToolChange[]
  /** Cases that come out otherwise. */
  readonly cases: readonly ToolChange[]
  /** What is, or may be, looser. */
  readonly looser: readonly Loosening[]
}

/** Undefined if the base revision has no such policy. */
export async function compareWithBase(
  options: CompareOptions,
): Promise<BaseComparison | undefined> {
  const { base, policyFile, basePolicyFile, policy, tools } = options
  const text = readRevision(base, policyFile)
  if (text === undefined) return undefined
  const baseText = basePolicyFile === undefined ? undefined : readRevision(base, basePolicyFile)
  const basePolicy =
    baseText === undefined ? {} : { base: compileBase(base, basePolicyFile as string, baseText) }
  const old = compileBase(base, policyFile, text, basePolicy)
  return {
    tools: tools.flatMap((tool) => compareTool(old, policy, tool)),
    cases: await compareCases(options, old),
    looser: loosenings(old, policy),
  }
}

function compileBase(
  base: string,
  file: string,
  text: string,
  basePolicy: { readonly base?: CompiledPolicy } = {},
): CompiledPolicy {
  const { policy, problems } = compile({ file: `${base}:${file}`, text }, basePolicy)
  if (policy !== undefined) return policy
  const [first] = problems
  throw new CliError(
    'CLI_POLICY',
    `\`${file}\` of \`${base}\` has errors: ${first?.message}`,
    'compare with a revision whose policy is right',
    problems,
  )
}

function compareTool(old: CompiledPolicy, now: CompiledPolicy, tool: KnownTool): ToolChange[] {
  const before = getTypicalAction(old, tool)
  const after = getTypicalAction(now, tool)
  const isSame =
    before === after && (before !== 'depends' || rulesOf(old, tool) === rulesOf(now, tool))
  return isSame ? [] : [toChange(toToolId(tool), before, after)]
}

/** The rules that apply, in a form that does not depend on how they were written. */
function rulesOf(policy: CompiledPolicy, tool: KnownTool): string {
  const { rules } = getRulesForTool(policy, tool)
  return rules.map(({ rule }) => toCanonicalRuleText(rule)).join('\n')
}

async function compareCases(
  { policy, tools, caseFiles }: CompareOptions,
  old: CompiledPolicy,
): Promise<ToolChange[]> {
  const toolFor = await createToolFinder(tools)
  const parts = { toolFor, counters: () => new MemoryCounters() }
  const actionIn = (document: CompiledPolicy, one: PolicyCase) =>
    runCase(document, one, parts).decision.action
  return caseFiles
    .flatMap((file) => readCases({ file, text: readText(file) }).cases?.cases ?? [])
    .flatMap((one) => {
      const before = actionIn(old, one)
      const now = actionIn(policy, one)
      return before === now ? [] : [toChange(one.name, before, now)]
    })
}

function toChange(name: string, before: TypicalAction, now: TypicalAction): ToolChange {
  const isKnown = before !== 'depends' && now !== 'depends'
  if (!isKnown) return { name, before, now, direction: 'changed' }
  return { name, before, now, direction: isStronger(now, before) ? 'stricter' : 'looser' }
}

/** The text of a file at a revision; undefined if it has no such file. */
function readRevision(revision: string, file: string): string | undefined {
  // A revision that begins with a dash would be an option of git.
  if (!/^[\w@][\w./@{}~^-]*$/.test(revision))
    throw new ArgumentError(`--base is \`${revision}\``, 'name a branch, tag or commit')
  try {
    return git(['show', `${revision}:./${basename(file)}`], file)
  } catch (error) {
    const { code, stderr } = error as { readonly code?: string; readonly stderr?: string }
    if (code === 'ENOENT')
      throw new CliError(
        'CLI_FILE',
        'there is no program `git`',
        'install git, or leave --base out',
      )
    const summary =
      String(stderr ?? '')
        .trim()
        .split('\n')[0] ?? ''
    if (/exists on disk, but not in|does not exist in/.test(summary)) return undefined
    throw new CliError(
      'CLI_FILE',
      `git cannot read \`${file}\` at \`${revision}\`: ${summary || 'it failed'}`,
      'fetch the revision first: in GitHub Actions, `actions/checkout` with `fetch-depth: 0`',
    )
  }
}

function git(args: readonly string[], file: string): string {
  return execFileSync('git', [...args], {
    cwd: dirname(file),
    encoding: 'utf8',
    maxBuffer: TEXT_FILE_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  })
}
