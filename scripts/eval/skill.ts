// `npm run eval -- skill`: the published Claude Code loads the skill `sluice-policy`, and a scripted model does what the
// skill says: it writes the files that the client showed it, and runs the commands. Prints a row for each step, and
// fails if one does not print what the skill says.

import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import {
  CODING_CLIENTS,
  findCodingClient,
  runClient,
  startOptions,
} from '../../test/support/coding-clients.ts'
import { type FakeCall, startFakeModel } from '../../test/support/fake-model.ts'
import { NODE, SLUICE } from '../../test/support/start-gate.ts'
import { ROOT } from '../run-step.ts'

const SKILL = 'sluice-policy'

/** What the model does after it has read the skill. */
interface SkillStep {
  readonly call: FakeCall
  /** What the command has to print. */
  readonly prints?: string
}

export async function run(): Promise<number> {
  const program = findCodingClient('claude-code')
  if (program === undefined) {
    console.log('not run: Claude Code cannot be installed here')
    return 1
  }
  console.log(`Claude Code ${CODING_CLIENTS['claude-code'].versions[0]}, skill ${SKILL}`)
  const root = mkdtempSync(join(tmpdir(), 'sluice-skill-'))
  const project = join(root, 'shop')
  const model = await startFakeModel()
  let steps: readonly SkillStep[] = []
  model.next = (results) => {
    if (results.length === 0) return { tool: 'Skill', input: { skill: SKILL } }
    if (results.length === 1) steps = readSteps(results[0] ?? '', project)
    return steps[results.length - 1]?.call
  }
  try {
    cpSync(join(ROOT, 'skills', SKILL), join(project, '.claude', 'skills', SKILL), {
      recursive: true,
    })
    const { env } = startOptions('claude-code', { root, model: model.url })
    const { output } = await runClient(
      program,
      ['-p', 'Write a policy for the tools of my shop', '--dangerously-skip-permissions'],
      { cwd: project, env: { ...env, IS_SANDBOX: '1', PATH: writeCommand(root) } },
    )
    return report(steps, model.results.slice(1), output)
  } finally {
    model.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** A `PATH` that begins with the command as users have it. */
function writeCommand(root: string): string {
  const folder = join(root, 'bin')
  mkdirSync(folder)
  writeFileSync(join(folder, 'sluice'), `#!/bin/sh\nexec '${NODE}' '${SLUICE}' "$@"\n`)
  chmodSync(join(folder, 'sluice'), 0o755)
  return [folder, process.env.PATH].join(delimiter)
}

/** The files and commands of the skill, from what the client sent to the model. */
function readSteps(sent: string, project: string): SkillStep[] {
  const skill = listTexts(JSON.parse(sent)).find((text) => text.includes('```sh'))
  const fences = [...(skill ?? '').matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)]
  return fences.flatMap(([, language, file, text = ''], index): SkillStep[] => {
    if (file !== undefined) {
      const input = { file_path: join(project, file), content: text }
      return [{ call: { tool: 'Write', input } }]
    }
    if (language !== 'sh') return []
    const input = { command: text.trim(), description: 'Runs what the skill says' }
    return [{ call: { tool: 'Bash', input }, prints: fences[index + 1]?.[3] ?? '' }]
  })
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(listTexts) : []
}

function report(steps: readonly SkillStep[], results: readonly string[], output: string): number {
  if (steps.length === 0) console.log(`the client did not show the skill: ${output.slice(-500)}`)
  let wrong = 0
  for (const [index, { call, prints }] of steps.entries()) {
    const result = results[index] ?? 'no result'
    const isFailed = result === 'no result' || result.includes('"is_error":true')
    const isRight =
      !isFailed && listTexts(JSON.parse(result)).some((text) => isPrinted(text, prints))
    if (!isRight) wrong++
    const { command, file_path } = call.input as { command?: string; file_path?: string }
    const what = command ?? `write ${file_path}`
    console.log(
      `  ${isRight ? 'ok   ' : 'WRONG'}  ${what}${isRight ? '' : `: ${result.slice(0, 500)}`}`,
    )
  }
  console.log(`${steps.length} steps, ${wrong} wrong`)
  return steps.length > 0 && wrong === 0 ? 0 : 1
}

/** All that a command has to print; of a file that is written nothing is wanted. */
function isPrinted(text: string, prints = ''): boolean {
  return text.includes(prints.trim())
}
