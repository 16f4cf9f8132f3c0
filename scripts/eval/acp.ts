// `npm run eval -- acp`: `sluice agents acp` beside a real gate, judged by clients that others wrote: the protocol's SDK, with
// its schema for every line, and `acpx` for one prompt and for a kept session.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { methods, type NewSessionResponse, type PromptResponse } from '@agentclientprotocol/sdk'
import { type ModelServer, modelServer } from '../../test/agents/model-server.ts'
import {
  callsOf,
  endEditors,
  FOLDER,
  type SentUpdate,
  textOf,
  withEditor,
} from '../../test/support/acp-editor.ts'
import { runClient } from '../../test/support/coding-clients.ts'
import { ROOT } from '../../test/support/modules.ts'
import { PlainClient } from '../../test/support/plain-client.ts'
import {
  endGates,
  fixture,
  NODE,
  type RunningGate,
  SLUICE,
  startGate,
  writeScript,
} from '../../test/support/start-gate.ts'

const ACPX = 'acpx@0.19.1'
const POLICY = `
version: 1
default: allow
tools:
  office/delete_all: { action: deny, reason: nothing is deleted }
`
const STORY = [
  {
    text: 'I plan.',
    toolCalls: [
      { name: 'write_todos', input: { todos: [{ content: 'note it', status: 'in_progress' }] } },
    ],
  },
  { toolCalls: [{ name: 'office__delete_all', input: {} }] },
  { toolCalls: [{ name: 'office__write_note', input: { text: 'hello' } }] },
  { text: 'All is noted.' },
]
const TOOLS = ['--tools', 'office/*']
const ANSWER = 'All is noted.'

let wrong = 0
function judge(what: string, isRight: boolean, seen: string): void {
  if (!isRight) wrong++
  console.log(`${isRight ? 'right' : 'WRONG'}  ${what}${isRight ? '' : `  ${seen}`}`)
}

export async function run(): Promise<number> {
  const servers = {
    agents: { builtin: 'agents' as const },
    office: fixture('office', './office.log'),
  }
  const model = await modelServer(mkdtempSync(join(tmpdir(), 'sluice-acp-')))
  const spec = { servers, policy: POLICY, config: { models: { local: { url: model.url } } } }
  const gate = await startGate(spec)
  writeScript(gate.data, 'story', STORY)
  try {
    const live = await promptBySdk(gate)
    const summed = await promptSummedUp(gate, model)
    await gate.kill()
    const again = await startGate({ ...spec, folder: gate.folder })
    for (const [what, before] of [
      ['after the gate was killed', live],
      ['after a summary too', summed],
    ] as const) {
      const loaded = await loadBySdk(again, before.id)
      judge(
        `SDK: load shows what live showed, ${what}`,
        loaded === before.shown,
        `${loaded} and not ${before.shown}`,
      )
    }
    await promptByAcpx(again)
  } finally {
    endEditors()
    model.stop()
    await endGates()
  }
  console.log('Emacs (agent-shell): not run by this command')
  console.log(wrong === 0 ? 'all as they should be' : `${wrong} wrong`)
  return wrong === 0 ? 0 : 1
}

interface ShownSession {
  readonly id: string
  readonly shown: string
}

/** What an editor shows of a session, but the user's own words, which it has drawn itself, and why a run was stopped, which
 * is not in the journal. */
function shownOf(updates: readonly SentUpdate[]): string {
  const text = textOf(updates, 'agent_message_chunk').replaceAll('|', '')
  const words = text.replace(/\n\nStopped: .*\n/, '')
  return JSON.stringify([callsOf(updates), words])
}

function promptBySdk({ data }: RunningGate): Promise<ShownSession> {
  return withEditor(data, ['--model', 'script:story', ...TOOLS], async ({ agent, updates }) => {
    const { sessionId: id } = await agent.request<NewSessionResponse>(
      methods.agent.session.new,
      FOLDER,
    )
    const prompt = [{ type: 'text', text: 'note it' } as const]
    const { stopReason } = await agent.request<PromptResponse>(methods.agent.session.prompt, {
      sessionId: id,
      prompt,
    })
    const shown = shownOf(updates)
    judge('SDK: a prompt ends its turn, every line fits the schema', stopReason === 'end_turn', '')
    judge('SDK: a denied call is shown as failed', callsOf(updates).includes('failed'), shown)
    judge('SDK: the todos are its plan', JSON.stringify(updates).includes('"plan"'), shown)
    return { id, shown }
  })
}

/** An agent whose conversation was summed up under way, with a model that counts; made over MCP, since `acp` has no option
 * for that. The model begins again after each summary, until the agent may say no more. */
async function promptSummedUp(gate: RunningGate, model: ModelServer): Promise<ShownSession> {
  const mcp = await PlainClient.open(gate, 'agents')
  const write = { name: 'write_file', input: { path: 'f', content: '{{n}}' } }
  const { agent: made } = await mcp.value('wasm_agent_create', {
    model: model.plays(Array.from({ length: 9 }, () => ({ text: 'on. ', toolCalls: [write] }))),
    limits: { contextTokens: 15, maxTurns: 6 },
  })
  return withEditor(gate.data, [], async ({ agent, updates }) => {
    const prompt = [{ type: 'text', text: 'note it' } as const]
    await agent.request(methods.agent.session.prompt, { sessionId: made.id, prompt })
    const { events } = await mcp.value('wasm_agent_history', { agentId: made.id })
    // A summary is an answer of the model that is no turn.
    const turns = events
      .filter(({ kind }: { kind: string }) => kind === 'model')
      .map(({ turn }: { turn: number }) => turn)
    judge('SDK: the conversation was summed up', new Set(turns).size < turns.length, `${turns}`)
    return { id: made.id, shown: shownOf(updates) }
  })
}

function loadBySdk({ data }: RunningGate, sessionId: string): Promise<string> {
  return withEditor(data, [], async ({ agent, updates }) => {
    await agent.request(methods.agent.session.load, { ...FOLDER, sessionId })
    return shownOf(updates)
  })
}

async function promptByAcpx(gate: RunningGate): Promise<void> {
  const program = findAcpx()
  if (program === undefined) return console.log(`acpx: not run, ${ACPX} cannot be installed here`)
  const home = mkdtempSync(join(tmpdir(), 'sluice-acpx-'))
  const command = [NODE, SLUICE, 'agents', 'acp', '--data', gate.data, ...TOOLS]
  const acpx = (...words: string[]) =>
    runClient(
      NODE,
      [program, '--agent', [...command, '--model', 'script:story'].join(' '), ...words],
      { cwd: home, env: { HOME: home } },
    )
  const once = await acpx('exec', 'note it')
  judge('acpx: one prompt', once.code === 0 && once.output.includes(ANSWER), once.output)
  const made = await acpx('sessions', 'new')
  judge('acpx: a new session', made.code === 0, made.output)
  const kept = await acpx('prompt', 'note it')
  judge('acpx: a prompt of it', kept.code === 0 && kept.output.includes(ANSWER), kept.output)
  const listed = await acpx('sessions', 'list')
  judge('acpx: its agents are listed', /agent_\w/.test(listed.output), listed.output)
}

function findAcpx(): string | undefined {
  const folder = join(ROOT, 'node_modules/.cache/sluice-clients', ACPX)
  const file = join(folder, 'node_modules/acpx/dist/cli.js')
  if (!existsSync(file) && process.env.SLUICE_TEST_INSTALL !== '0') {
    mkdirSync(folder, { recursive: true })
    const npm = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--force']
    try {
      execFileSync('npm', [...npm, '--prefix', folder, ACPX], { cwd: folder, stdio: 'ignore' })
    } catch {
      return undefined
    }
  }
  return existsSync(file) ? file : undefined
}
