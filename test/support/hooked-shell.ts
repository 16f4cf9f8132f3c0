// A coding client as far as its shell goes, in a real gate with a box: asks the gate before each line, runs what it is
// given instead, and reports what came out. Its model repeats a line with `# outside` where it is told to.

import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { ADA, type OwnGate, ownGate } from './own-gate.ts'

const LINE_MS_MAX = 10_000
const HINT = '# outside'

export type LineEnd =
  /** Ran in the box, with the exit code 0. */
  | 'ran'
  /** Ran in the box, with another one. */
  | 'failed'
  | 'slow'
  /** A person was asked. */
  | 'asked'
  | 'denied'
  /** Would have run outside of the box without a question. It is not run. */
  | 'outside'

export interface LineRun {
  readonly end: LineEnd
  /** It was repeated with `# outside`. */
  readonly repeated: boolean
  readonly output: string
  /** What the gate has said. */
  readonly said: string
}

export interface ShellOptions {
  readonly policy: string
  readonly sandbox: object
}

export class HookedShell {
  readonly #gate: OwnGate
  readonly #token: string
  #calls = 0
  #held = 0

  private constructor(gate: OwnGate, token: string) {
    this.#gate = gate
    this.#token = token
    // A line that was approved is not run: what counts is that somebody was asked.
    gate.approvals.watch(({ id, state }) => {
      if (state !== 'pending') return
      this.#held++
      void gate.approvals.decide(id, { verdict: 'approve' }, ADA, 'console')
    })
  }

  static async open({ policy, sandbox }: ShellOptions): Promise<HookedShell> {
    const token = makeToken()
    const hash = `sha256:${hashGrantToken(token)?.toString('hex')}`
    const grants = { claude: { hash, policy: 'policy', hooks: 'claude-code' } }
    const servers = { 'claude-code': { builtin: 'claude-code' as const, sandbox } }
    return new HookedShell(await ownGate({ servers, policy, config: { grants } }), token)
  }

  get log(): readonly string[] {
    return this.#gate.log
  }

  async run(line: string, session: string, cwd: string): Promise<LineRun> {
    const first = await this.#once(line, session, cwd)
    const isTold = first.said.includes(HINT) && ['failed', 'slow', 'denied'].includes(first.end)
    if (!isTold) return { ...first, repeated: false }
    const again = await this.#once(`${line}\n${HINT}`, session, cwd)
    const said = `${first.said}\n${again.said}`
    return { end: again.end, repeated: true, output: first.output, said }
  }

  async end(session: string): Promise<void> {
    await this.#post({ session_id: session, hook_event_name: 'SessionEnd' })
  }

  async #once(command: string, session: string, cwd: string): Promise<Omit<LineRun, 'repeated'>> {
    const payload = {
      session_id: session,
      cwd,
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: `toolu_${++this.#calls}`,
    }
    const held = this.#held
    const before = await this.#post({ ...payload, hook_event_name: 'PreToolUse' })
    const said = before.hookSpecificOutput?.permissionDecisionReason ?? ''
    if (this.#held > held) return { end: 'asked', output: '', said }
    if (said !== '') return { end: 'denied', output: '', said }
    const input = before.hookSpecificOutput?.updatedInput
    if (input === undefined) return { end: 'outside', output: '', said }
    const { code, output } = await runInShell(input.command, cwd)
    const ended = code === 0 ? 'PostToolUse' : 'PostToolUseFailure'
    const after = await this.#post({
      ...payload,
      tool_input: input,
      hook_event_name: ended,
      ...(code === 0 ? { tool_response: { stdout: output } } : { error: output }),
    })
    const note = after.hookSpecificOutput?.additionalContext ?? ''
    return { end: code === 0 ? 'ran' : code === null ? 'slow' : 'failed', output, said: note }
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of the gate, taken apart above
  async #post(body: object): Promise<any> {
    const response = await fetch(`${this.#gate.url}/hooks/claude-code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
    return JSON.parse(text)
  }
}

/** As clients do: output in a file, which a process in the background may keep open. */
async function runInShell(
  line: string,
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-shell-'))
  const file = join(folder, 'output')
  const output = openSync(file, 'w')
  const { PATH, HOME, SHOP_TEST } = process.env
  const child = spawn('/bin/bash', ['-c', `ulimit -f 65536\n${line}`], {
    cwd,
    env: { PATH, HOME, SHOP_TEST, USER: 'somebody', LANG: 'C.UTF-8' },
    stdio: ['ignore', output, output],
    timeout: LINE_MS_MAX,
    killSignal: 'SIGKILL',
  })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  closeSync(output)
  const text = readFileSync(file, 'utf8').slice(0, 100_000)
  rmSync(folder, { recursive: true })
  return { code, output: text }
}
