// Makes an export of the pieces that were taken out of an agent: secrets found and replaced, the whole
// sealed with its digest, and packed into a signed bundle if one is asked for. Runs in the transfer
// thread: of a large agent it takes longer than another owner's agent should wait.

import { asBuffer } from '@sluice/ledger/store/as-buffer'
import type { ChatMessage } from '../guest/protocol.ts'
import type { ExportPieces } from './export-agent.ts'
import { type AgentExport, type ExportedFile, writeExport } from './portable.ts'
import { Redactor } from './secrets.ts'

export interface ExportOptions {
  readonly secrets: 'redact' | 'keep'
  readonly nowMs: number
  readonly installation: string
}

/** The export as JSON in UTF-8. */
export function sealExport(pieces: ExportPieces, options: ExportOptions): AgentExport {
  const { taken, messages, bytes } = pieces
  const { agent, portable, tools, labels, work } = taken
  const { config, todos, turnCount, toolCallCount, usage, stop } = portable
  const redactor = new Redactor(options.secrets === 'keep')
  const files = sealFiles(taken.files, bytes, redactor)
  const redacted = readPages(messages).map((each, at) => redactor.value(each, `message ${at}`))
  const instructions = redactor.text(config.instructions, 'instructions')
  const detail = stop && redactor.text(stop.detail, 'stop')
  return writeExport({
    info: {
      id: agent.id,
      template: agent.template,
      model: agent.model,
      createdAt: new Date(agent.createdAt).toISOString(),
      state: agent.state,
      config: redactor.value(agent.asked, 'the arguments of create') as Record<string, unknown>,
      turnCount,
      fileCount: files.length,
      isStopped: agent.state === 'stopped',
      image: agent.image,
      family: `${options.installation}:${agent.family}`,
      ...(labels.length === 0 ? {} : { labels: [...labels] }),
    },
    agentState: {
      config: { ...config, instructions, tools: [...config.tools] },
      messages: [
        ...(instructions === '' ? [] : [{ role: 'system', content: instructions }]),
        ...redacted,
      ] as AgentExport['agentState']['messages'],
      turn_count: turnCount,
      tool_call_count: toolCallCount,
      usage,
      stopped: stop !== null,
      stop: stop && { ...stop, detail: detail ?? '' },
    },
    todos: redactor.value(todos, 'todos') as AgentExport['todos'],
    tools: [...tools],
    files,
    secrets: redactor.secrets,
    ...(work === undefined ? {} : { work: { runs: [...work.runs], effects: [...work.effects] } }),
  })
}

function sealFiles(
  files: ExportPieces['taken']['files'],
  bytes: Uint8Array,
  redactor: Redactor,
): ExportedFile[] {
  const used = new Set(files.map(({ path }) => path))
  return files.map(({ path, modifiedAt, isText, range: [start, end] }): ExportedFile => {
    const clean = redactor.text(path, 'the name of a file')
    const name = clean === path ? path : unusedName(clean, used)
    const where = `file ${name}`
    const content = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    const about = { path: name, modifiedAt }
    if (isText) return { ...about, text: redactor.text(content.toString('utf8'), where) }
    return { ...about, base64: Buffer.from(redactor.bytes(content, where)).toString('base64') }
  })
}

/** Two names may differ by their secrets only. */
function unusedName(name: string, used: Set<string>): string {
  let free = name
  for (let at = 2; used.has(free); at += 1) free = `${name} ${at}`
  used.add(free)
  return free
}

function readPages(messages: Uint8Array): ChatMessage[] {
  const text = asBuffer(messages).toString('utf8')
  return text.split('\n').flatMap((page) => JSON.parse(page) as ChatMessage[])
}
