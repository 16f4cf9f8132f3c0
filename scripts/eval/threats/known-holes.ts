// The holes that a review of revision 9df67f5f found in its policies, as far as the search was expected to see them, and
// three that were found later: docs/decisions/2026-11-19-threats-and-known-holes.md. Every open way is listed: what was
// found is asked for by a guardrail of its own, and the search runs again.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { classifyOwn } from '../../../packages/catalogue/src/classify/classify.ts'
import { findThreats } from '../../../packages/cli/src/threats/search-paths.ts'
import type { Harm, PathStep, ThreatInputs } from '../../../packages/cli/src/threats/threat.ts'
import { listClientTools } from '../../../packages/gateway/src/hooks/client-tools.ts'
import type { KnownTool, ToolDefinition } from '../../../packages/policy/src/calls/tools.ts'
import { addGuardrail } from '../../../packages/policy/src/change/add-entries.ts'
import { compile } from '../../../packages/policy/src/compile/compile.ts'

interface KnownHole {
  readonly id: string
  readonly what: string
  /** Undefined: nothing was said beforehand. */
  readonly isExpected?: true
  readonly harm: Harm
  /** The last call: its tool, and a part of its arguments. */
  readonly tool: string
  readonly argument: string
}

const HOLES: readonly KnownHole[] = [
  {
    id: 'H1',
    what: 'the editor writes outside of the project',
    isExpected: true,
    harm: 'code',
    tool: 'Write',
    argument: '/srv/ann/.local/bin/git',
  },
  {
    id: 'H2',
    what: 'a protected folder is replaced as a whole',
    isExpected: true,
    harm: 'gate',
    tool: 'Bash',
    argument: 'mv x .claude',
  },
  {
    id: 'H3',
    what: 'the gate is undone by a path of the project',
    isExpected: true,
    harm: 'gate',
    tool: 'Bash',
    argument: 'node_modules/.bin/sluice init --undo',
  },
  {
    id: 'M4',
    what: 'a page gets what was read',
    isExpected: true,
    harm: 'secret',
    tool: 'WebFetch',
    argument: 'collect.attacker.example',
  },
  {
    id: 'M4',
    what: 'a name server gets what was read',
    isExpected: true,
    harm: 'secret',
    tool: 'Bash',
    argument: 'dig ',
  },
  {
    id: 'later',
    what: 'the environment is shown as a read',
    harm: 'secret',
    tool: 'Bash',
    argument: 'xargs -a /proc/self/environ',
  },
  {
    id: 'later',
    what: 'a program of the project runs, once written',
    harm: 'code',
    tool: 'Bash',
    argument: 'npm test',
  },
  {
    id: 'later',
    what: 'a command of git deletes by another',
    harm: 'data',
    tool: 'Bash',
    argument: 'git submodule foreach',
  },
]

/** Of that revision; the server of each is what its rules name. */
const POLICIES: Readonly<Record<string, string>> = {
  'coding-agent.yaml': 'coding-agent',
  'hooks-page.yaml': 'claude-code',
}

/** Prints a row for each hole and the ways that are open beside; false if an expected one was not found. */
export function searchKnownHoles(): boolean {
  const ways = Object.entries(POLICIES).map(([file, server]) => ({
    file,
    calls: listOpenCalls(file, server),
  }))
  let isAllFound = true
  for (const { id, what, isExpected = false, ...hole } of HOLES) {
    const where = ways.filter(({ calls }) => calls.some((call) => isSame(call, hole)))
    const found = where.map(({ file }) => file).join(', ')
    isAllFound &&= found !== '' || !isExpected
    const said = isExpected ? 'expected' : 'not said'
    console.log(
      `${id.padEnd(6)} ${said.padEnd(9)} ${found === '' ? 'MISSED' : `found in ${found}`}: ${what}`,
    )
  }
  for (const { file, calls } of ways) {
    console.log(`\n${file}: ${calls.length} ends are open`)
    for (const { harm, tool, args } of calls)
      console.log(`  ${harm.padEnd(8)} ${tool} ${String(findWord(args) ?? args.paths)}`)
  }
  return isAllFound
}

interface OpenCall extends PathStep {
  readonly harm: Harm
}

function isSame(
  call: OpenCall,
  { harm, tool, argument }: Pick<KnownHole, 'harm' | 'tool' | 'argument'>,
) {
  const isOfTool = call.tool.endsWith(`/${tool}`)
  return call.harm === harm && isOfTool && String(findWord(call.args)).includes(argument)
}

/** Names of the argument that says what a call does. */
const WORDS = ['command', 'file_path', 'url'] as const

function findWord(args: PathStep['args']) {
  return WORDS.map((name) => args[name]).find((value) => value !== undefined)
}

function listOpenCalls(file: string, server: string): OpenCall[] {
  const tools = listTools(server)
  const calls: OpenCall[] = []
  let text = readFileSync(join(import.meta.dirname, 'policies', file), 'utf8')
  for (;;) {
    const { policy } = compile({ file, text })
    if (policy === undefined) throw new Error(`${file} does not compile`)
    const found = findOpen({ ...PLACES, policy, tools, servers: { [server]: { kind: 'client' } } })
    if (found.length === 0) return calls
    calls.push(...found)
    for (const { tool, args } of found) text = stop(text, tool, args)
  }
}

const PLACES = {
  home: '/srv/ann',
  // That the page on hooks names.
  project: '/srv/app',
  nowMs: () => performance.now(),
} as const

function findOpen(inputs: ThreatInputs): OpenCall[] {
  const { harms, isCutShort } = findThreats(inputs)
  if (isCutShort) throw new Error('the search was cut short')
  return harms.flatMap(({ harm, paths }) =>
    paths.map(({ steps }) => ({ harm, ...(steps.at(-1) as PathStep) })),
  )
}

/** The same call asks a person from now on. */
function stop(text: string, tool: string, args: PathStep['args']): string {
  const name = WORDS.find((word) => args[word] !== undefined)
  const changed = addGuardrail(text, {
    name: `stopped ${text.length}`,
    tools: [tool],
    ...(name === undefined ? {} : { when: `args.${name} == ${JSON.stringify(args[name])}` }),
    action: 'require_approval',
    reason: 'it was found',
  })
  if (changed === undefined) throw new Error('the policy cannot be edited')
  return changed
}

/** As the catalogue of today has them: what the review found in classes is not to be seen here. */
function listTools(server: string): KnownTool[] {
  return listClientTools('claude-code', []).map((listed) => {
    const definition = { server, ...listed } as unknown as ToolDefinition
    return { definition, ...classifyOwn(definition), isClientTool: true }
  })
}
