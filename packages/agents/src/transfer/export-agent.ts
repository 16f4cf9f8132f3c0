// Takes an agent out of its memory: asked piece by piece in the step thread, so that no answer is
// larger than a file or a page of messages. What takes long (secrets, digest, packing) is done of the
// pieces by seal-export.ts, in a thread in which nobody's agent waits.

import type {
  AgentQuery,
  ChatMessage,
  FileFacts,
  ModelTool,
  PortableAgent,
} from '../guest/protocol.ts'
import type { OpenAgentWork } from '../journal/open-work.ts'
import type { AgentRow } from '../journal/rows.ts'
import type { GuestAnswer } from '../sandbox/instance.ts'
import { AgentError } from '../shared/errors.ts'
import { MESSAGES_PAGE_LENGTH } from '../shared/limits.ts'
import type { SlicedWork } from '../shared/sliced.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'

export interface ExportedFileRow {
  readonly path: string
  readonly modifiedAt: number
  readonly isText: boolean
  /** Where its bytes are among the bytes of all files. */
  readonly range: readonly [start: number, end: number]
}

export interface ExportSnapshot {
  readonly agent: AgentRow
  readonly portable: Omit<PortableAgent, 'messages'>
  readonly tools: readonly string[]
  readonly files: readonly ExportedFileRow[]
  /** What its family has seen. */
  readonly labels: readonly string[]
  /** What a paused agent has under way; only with its memory, which waits for it. */
  readonly work?: Omit<OpenAgentWork, 'isSent'> | undefined
}

/** A question to a guest. */
type GuestAsk = (question: string) => GuestAnswer

export interface ExportPieces {
  readonly taken: ExportSnapshot
  /** JSON of the messages, a list for each page, one to a line. */
  readonly messages: Uint8Array
  readonly bytes: Uint8Array
}

/** The pieces of an export as they were taken. */
export interface TakenExport extends ExportPieces {
  /** The memory; undefined if it was not asked for. */
  readonly memory: Buffer | undefined
}

/** Exports an agent; with its memory also what it has under way. */
export function* exportAgent(
  stepper: Stepper,
  agent: AgentRow,
  nowMs: number,
  withMemory: boolean,
): SlicedWork<TakenExport> {
  const { residents, journal } = stepper
  // All of it as it was when this began.
  const { labels } = journal.family(agent.family)
  const work = withMemory ? takeWork(stepper, agent) : undefined
  const memory = withMemory ? residents.memory(agent) : undefined
  const take = (call: GuestAsk) => takePieces(call, { agent, labels, work })
  const pieces = yield* residents.askingInSlices(agent, nowMs, take, memory)
  return { ...pieces, memory }
}

/** What is under way; undefined if nothing is. What was sent and has no result belongs to this agent: a copy would wait for it
 * for ever, or do it twice. */
function takeWork({ journal }: Stepper, agent: AgentRow): ExportSnapshot['work'] {
  const { runs, effects, isSent } = journal.work.openWork(agent.key)
  if (runs.length === 0) return undefined
  if (isSent || agent.pausedAt === null)
    throw new AgentError(
      'AGENT_BUSY',
      `\`${agent.id}\` still waits for a call${agent.summary.waitingFor ? ` (${agent.summary.waitingFor})` : ''}: export it when the call has ended, or without its memory`,
    )
  return { runs, effects }
}

/** Takes the pieces by questions to a guest, wherever it runs. */
export function* takePieces(
  call: GuestAsk,
  about: Pick<ExportSnapshot, 'agent' | 'labels' | 'work'>,
): SlicedWork<ExportPieces> {
  const ask = <Value>(question: AgentQuery): Value =>
    unwrap<Value>(call(JSON.stringify(question)).text)
  const { config, ...rest } = ask<Omit<PortableAgent, 'messages'>>({ ask: 'portable' })
  // A fork may have another model than its memory says.
  const { model, price } = about.agent
  const portable = {
    ...rest,
    config: model === config.model ? config : { ...config, model, price },
  }
  const tools = ask<ModelTool[]>({ ask: 'tools' }).map(({ name }) => name)
  const parts: Uint8Array[] = []
  let at = 0
  const files: ExportedFileRow[] = []
  for (const { path, modifiedAt, isText } of ask<FileFacts[]>({ ask: 'files' })) {
    const { bytes } = call(JSON.stringify({ ask: 'read', path } satisfies AgentQuery))
    const content = Buffer.from(bytes ?? new Uint8Array())
    parts.push(content)
    at += content.length
    files.push({ path, modifiedAt, isText, range: [at - content.length, at] })
    yield
  }
  const pages = yield* pagesOf(ask)
  return {
    taken: { ...about, portable, tools, files },
    messages: Buffer.from(pages.join('\n')),
    bytes: Buffer.concat(parts),
  }
}

function* pagesOf(ask: <Value>(question: AgentQuery) => Value): SlicedWork<string[]> {
  const pages: string[] = []
  for (let from: number | null = 0; from !== null; ) {
    const page: { messages: ChatMessage[]; next: number | null } = ask({
      ask: 'messages',
      from,
      bytesMax: MESSAGES_PAGE_LENGTH,
    })
    pages.push(JSON.stringify(page.messages))
    from = page.next
    yield
  }
  return pages
}
