// What can be asked of an agent. Nothing here changes it; the host throws away what asking did to
// the memory all the same. Content of files leaves as it is, not inside JSON.

import type { Agent } from './agent.ts'
import { compileGlob } from './glob.ts'
import { LOCAL_TOOLS } from './local-tools.ts'
import { normalisePath } from './paths.ts'
import type { AgentQuery, ChatMessage, ModelTool, PortableAgent } from './protocol.ts'
import { QUESTION_EFFORT_MAX, WorkBudget } from './work-budget.ts'

export interface QueryResult {
  readonly value: unknown
  readonly content?: string | Uint8Array
}

export function answerQuery(agent: Agent, question: AgentQuery): QueryResult {
  switch (question.ask) {
    case 'todos':
      return { value: agent.todos.list }
    case 'files':
      return { value: listFiles(agent, question) }
    case 'read': {
      const { content, bytes, modifiedAt, revision } = agent.files.get(question.path)
      const path = normalisePath(question.path)
      const isText = typeof content === 'string'
      return { value: { path, bytes, modifiedAt, revision, isText }, content }
    }
    case 'messages':
      return { value: page(agent.conversation.messages, question.from, question.bytesMax) }
    case 'tools':
      return { value: toolsOf(agent) }
    case 'portable':
      return { value: portable(agent) }
    case 'summary':
      return { value: agent.summary() }
  }
}

function listFiles(agent: Agent, { glob, path }: { glob?: string; path?: string }): unknown {
  if (path !== undefined) {
    const name = normalisePath(path)
    agent.files.get(name)
    return agent.files.facts((each) => each === name)
  }
  const effort = new WorkBudget(QUESTION_EFFORT_MAX)
  return agent.files.facts(glob === undefined ? undefined : compileGlob(glob, effort))
}

/** At least one message, and no more than fit. */
function page(messages: readonly ChatMessage[], from: number, lengthMax: number): unknown {
  const kept: ChatMessage[] = []
  let length = 0
  for (const message of messages.slice(from)) {
    length += message.content.length
    if (message.role === 'assistant') length += JSON.stringify(message.toolCalls).length
    if (kept.length > 0 && length > lengthMax) break
    kept.push(message)
  }
  const next = from + kept.length
  return { messages: kept, next: next < messages.length ? next : null, count: messages.length }
}

function toolsOf(agent: Agent): ModelTool[] {
  return [...LOCAL_TOOLS, ...agent.config.tools].map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }))
}

/** All but files and messages, which are asked for in pages. */
function portable(agent: Agent): Omit<PortableAgent, 'messages'> {
  const { config, todos, stop } = agent
  const { turnCount, toolCallCount, usage } = agent.meter
  return { config, todos: todos.list, turnCount, toolCallCount, usage, stop }
}
