// `npm run eval -- quiet [--data FILE] [--case NAME]`: how many questions of the published Claude Code the gate answers
// with `quiet: reads`. A model on loopback asks for each line of a labelled file, in sessions without a box and under a
// policy that allows everything, so that the floor alone holds; the shell of the client does nothing. A hook beside
// the gate's notes what the client would ask. Then cases of which all but two have to be asked.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  CODING_CLIENTS,
  findCodingClient,
  runClient,
  startOptions,
} from '../../test/support/coding-clients.ts'
import { type FakeModel, startFakeModel } from '../../test/support/fake-model.ts'
import { endOwnGates, type OwnGate } from '../../test/support/own-gate.ts'
import type { RunOptions } from '../dispatch.ts'
import { decideAll, SCRIPT, startRealGate, writeSettings } from './hooks.ts'

/** A labelled line. */
interface Line {
  readonly command: string
  readonly label: 'reads' | 'changes'
  /** A careful developer wants to be asked. */
  readonly ask: boolean
}

/** What became of a line. */
interface Result {
  readonly isAsked: boolean
  readonly isAnswered: boolean
}

interface Case {
  readonly name: string
  readonly command: string
  readonly policy?: string
  readonly settings?: object
  /** The name of the client's shell. */
  readonly shell?: string
  readonly isAnswered?: true
}

const POLICY = 'version: 1\ndefault: deny\nquiet: reads\ntools: { "*/*": allow }\n'
const LOOP = (line: string) => `git log --oneline -1 | while read a b; do ${line}; done`
const CASES: readonly Case[] = [
  { name: 'read', command: LOOP('echo $a'), isAnswered: true },
  {
    name: 'approved',
    command: 'npm test',
    policy: POLICY.replace('allow', 'require_approval'),
    isAnswered: true,
  },
  { name: 'rewritten', command: LOOP('echo $a'), settings: { PreToolUse: 'rewrite' } },
  {
    name: 'ask rule',
    command: LOOP('echo $a'),
    settings: { permissions: { ask: ['Bash(git log:*)'] } },
  },
  { name: 'outside', command: LOOP('cat /etc/hostname') },
  { name: 'secret', command: LOOP('cat .env') },
  { name: 'network', command: 'gh pr list' },
  {
    name: 'observe',
    command: LOOP('echo $a'),
    policy: `${POLICY}guardrails: [{ name: held, action: deny, mode: shadow }]\n`,
  },
  { name: 'link', command: LOOP('cat notes') },
  { name: 'folder', command: `bash -c "grep -rn KEY src | head"`, isAnswered: true },
  { name: 'folder with a secret', command: `bash -c "grep -rn KEY deploy | head"` },
  { name: 'zsh', command: LOOP('echo $a'), shell: 'zsh' },
]
/** What the project has: folders that a line searches are looked through. */
const FILES = [
  'infra/main.tf',
  'src/cart.ts',
  'src/main/java/Cart.java',
  'services/cart/handler.py',
  'deploy/.env',
]
/** The client sends the whole session with each call. */
const LINES_PER_SESSION = 60

export async function run({ data, case: one }: RunOptions): Promise<number> {
  const program = findCodingClient('claude-code')
  if (program === undefined) {
    console.log('not run: the client cannot be installed here')
    return 1
  }
  const model = await startFakeModel()
  let wrong = 0
  for (const each of CASES.filter(({ name }) => one === undefined || name === one)) {
    const gate = await startRealGate(each.policy ?? POLICY)
    const approving = decideAll(gate, 'approve')
    const [result] = await runLines([each.command], { program, model, gate, ...each })
    approving()
    const isRight = result?.isAsked && result.isAnswered === (each.isAnswered === true)
    if (!isRight) wrong++
    const what = result?.isAsked
      ? result.isAnswered
        ? 'answered'
        : 'left to the user'
      : 'no question'
    console.log(`${each.name}: ${what}${isRight ? '' : '  WRONG'}`)
    await gate.stop()
  }
  if (typeof data === 'string' && one === undefined)
    wrong += await countQuestions(data, { program, model })
  model.close()
  await endOwnGates()
  return wrong === 0 ? 0 : 1
}

/** Returns how many lines were answered that must not be. */
async function countQuestions(file: string, tools: { program: string; model: FakeModel }) {
  const lines: Line[] = JSON.parse(readFileSync(file, 'utf8'))
  const gate = await startRealGate(POLICY)
  const results: Result[] = []
  for (let at = 0; at < lines.length; at += LINES_PER_SESSION) {
    const part = lines.slice(at, at + LINES_PER_SESSION).map(({ command }) => command)
    results.push(...(await runLines(part, { ...tools, gate })))
  }
  const kinds = [
    ['reads that nobody wants to be asked about', 'reads', false],
    ['reads to be asked about', 'reads', true],
    ['changes that nobody wants to be asked about', 'changes', false],
    ['changes to be asked about', 'changes', true],
  ] as const
  let wrong = 0
  const total = { asked: 0, answered: 0 }
  for (const [what, label, ask] of kinds) {
    const of = results.filter((_, at) => lines[at]?.label === label && lines[at]?.ask === ask)
    const asked = of.filter(({ isAsked }) => isAsked).length
    const answered = of.filter(({ isAsked, isAnswered }) => isAsked && isAnswered).length
    total.asked += asked
    total.answered += answered
    if (what !== kinds[0][0]) wrong += answered
    console.log(`${what}: ${of.length}, the client asks ${asked}, answered ${answered}`)
  }
  console.log(`questions: ${total.asked} without the gate, ${total.asked - total.answered} with it`)
  for (const [at, { command, label, ask }] of lines.entries()) {
    const { isAsked, isAnswered } = results[at] ?? {}
    if (isAsked && label === 'reads' && !ask && !isAnswered) console.log(`  left: ${command}`)
    if (isAnswered && (label === 'changes' || ask) && isAsked) console.log(`  WRONG: ${command}`)
  }
  return wrong
}

interface LineRun extends Pick<Case, 'settings' | 'shell'> {
  readonly program: string
  readonly model: FakeModel
  readonly gate: OwnGate
}

/** One session of the client. */
async function runLines(
  commands: readonly string[],
  { program, model, gate, settings = {}, shell = 'bash' }: LineRun,
): Promise<Result[]> {
  const root = mkdtempSync(join(tmpdir(), 'sluice-quiet-'))
  const home = join(root, 'home/ann')
  const cwd = join(home, 'work/shop')
  const questions = join(root, 'questions')
  try {
    for (const file of FILES) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true })
      writeFileSync(join(cwd, file), '')
    }
    symlinkSync('/etc/hostname', join(cwd, 'notes'))
    // The lines are judged and not run.
    writeFileSync(join(root, shell), '#!/bin/sh\nexit 0\n')
    chmodSync(join(root, shell), 0o755)
    const [version] = CODING_CLIENTS['claude-code'].versions
    const url = `${gate.url}/hooks/claude-code`
    writeSettings('claude-code', { root: home, url, seconds: 40, version, script: SCRIPT })
    addSettings(join(home, '.claude/settings.json'), settings, questions)
    const lines = commands.map((command) => command.replaceAll(join('/home', 'ann'), home))
    model.results.length = 0
    model.next = ({ length }) => {
      const command = lines[length]
      return command === undefined ? undefined : { tool: 'Bash', input: { command } }
    }
    const { args, env } = startOptions('claude-code', { root: home, model: model.url })
    const { output } = await runClient(program, args.slice(0, 2), {
      cwd,
      env: { ...env, CLAUDE_CODE_SHELL: join(root, shell), SHELL: '/bin/sh' },
    })
    if (model.results.length < lines.length) throw new Error(`the client ended: ${output}`)
    const texts = existsSync(questions) ? readFileSync(questions, 'utf8').split('\0') : []
    const asked = new Set(
      texts.filter((text) => text !== '').map((text) => JSON.parse(text).tool_input.command),
    )
    return lines.map((command, at) => ({
      isAsked: asked.has(command) || ('PreToolUse' in settings && asked.size > 0),
      isAnswered: isDone(model.results[at] ?? ''),
    }))
  } finally {
    model.next = undefined
    rmSync(root, { recursive: true, force: true })
  }
}

/** Whether the last of the results that the client sent is one of a line that ran. */
function isDone(results: string): boolean {
  return results.lastIndexOf('"is_error":false') > results.lastIndexOf('"is_error":true')
}

/** The hook that notes questions, and what the case brings. */
function addSettings(file: string, more: object, questions: string): void {
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  const note = { type: 'command', command: `cat >> '${questions}'; printf '\\0' >> '${questions}'` }
  settings.hooks.PermissionRequest.push({ matcher: '*', hooks: [note] })
  const { PreToolUse, ...others } = more as { PreToolUse?: string }
  if (PreToolUse !== undefined) {
    const hookSpecificOutput = {
      hookEventName: 'PreToolUse',
      updatedInput: { command: 'touch evil' },
    }
    const command = `echo '${JSON.stringify({ hookSpecificOutput })}'`
    settings.hooks.PreToolUse.push({ matcher: '*', hooks: [{ type: 'command', command }] })
  }
  writeFileSync(file, JSON.stringify({ ...settings, ...others }))
}
