// Takes an agent out of its memory in the portable form: asked piece by piece, so that no answer is
// larger than a file or a page of messages. Called in the step thread.

import type { FileFacts, Message, Portable, Question, ToolDefinition } from '../../guest/words.ts'
import type { AgentRow } from '../journal/rows.ts'
import { MESSAGES_PAGE_LENGTH } from '../limits.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'
import { type Exported, type ExportedFile, FORMAT, seal, VERSION } from './portable.ts'
import { Redactor } from './secrets.ts'

export interface ExportOptions {
  readonly secrets: 'redact' | 'keep'
  readonly nowMs: number
  readonly installation: string
}

export function takeExport(stepper: Stepper, agent: AgentRow, options: ExportOptions): Exported {
  return stepper.residents.asking(agent, options.nowMs, (call) => {
    const ask = <Value>(question: Question): Value =>
      unwrap<Value>(call(JSON.stringify(question)).text)
    const redactor = new Redactor(options.secrets === 'keep')
    const portable = ask<Omit<Portable, 'messages'>>({ ask: 'portable' })
    const tools = ask<ToolDefinition[]>({ ask: 'tools' })
    const files = ask<FileFacts[]>({ ask: 'files' }).map(({ path, modifiedAt, isText }) => {
      const { bytes } = call(JSON.stringify({ ask: 'read', path } satisfies Question))
      const content = Buffer.from(bytes ?? new Uint8Array())
      return isText
        ? { path, modifiedAt, text: redactor.text(content.toString('utf8'), `file ${path}`) }
        : { path, modifiedAt, base64: content.toString('base64') }
    })
    const messages = allMessages(ask).map(
      (message, at) => redactor.value(message, `message ${at}`) as Message,
    )
    return seal(assemble(agent, options, { ...portable, messages }, tools, files, redactor))
  })
}

function allMessages(ask: <Value>(question: Question) => Value): Message[] {
  const all: Message[] = []
  for (let from: number | null = 0; from !== null; ) {
    const page: { messages: Message[]; next: number | null } = ask({
      ask: 'messages',
      from,
      bytesMax: MESSAGES_PAGE_LENGTH,
    })
    all.push(...page.messages)
    from = page.next
  }
  return all
}

function assemble(
  agent: AgentRow,
  { nowMs, installation }: ExportOptions,
  portable: Portable,
  tools: readonly ToolDefinition[],
  files: ExportedFile[],
  redactor: Redactor,
): Omit<Exported, 'digest'> {
  const { config, todos, messages, turnCount, toolCallCount, usage, stop } = portable
  const instructions = redactor.text(config.instructions, 'instructions')
  return {
    format: FORMAT,
    version: VERSION,
    info: {
      id: agent.id,
      template: agent.template,
      model: agent.model,
      createdAt: new Date(agent.createdAt).toISOString(),
      exportedAt: new Date(nowMs).toISOString(),
      image: agent.image,
      family: `${installation}:${agent.family}`,
    },
    agentState: {
      config: { ...config, instructions, tools: [...config.tools] },
      messages: messages as Exported['agentState']['messages'],
      turn_count: turnCount,
      tool_call_count: toolCallCount,
      usage,
      stopped: stop,
    },
    todos: redactor.value(todos, 'todos') as Exported['todos'],
    tools: tools.map(({ name }) => name),
    files,
    secrets: redactor.found,
  }
}
