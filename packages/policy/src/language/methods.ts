// MCP methods as the policy sees them: tool calls, methods that carry content or request something
// of the user or the model (each with its category), and protocol plumbing, which passes.

import type { Category } from '../calls/tools.ts'
import { toWordSet } from '../structures/word-set.ts'

export const TOOL_CALL = 'tools/call'

export const CONTENT_METHODS: ReadonlyMap<string, Category> = new Map([
  ['resources/read', 'Read'],
  ['resources/subscribe', 'Read'],
  ['prompts/get', 'Read'],
  ['completion/complete', 'Read'],
  ['sampling/createMessage', 'Execute'],
  ['elicitation/create', 'Execute'],
  ['roots/list', 'Execute'],
])

export const PLUMBING = toWordSet(`
  initialize server/discover ping logging/setLevel resources/unsubscribe subscriptions/listen
  tools/list resources/list resources/templates/list prompts/list notifications/initialized
  notifications/cancelled notifications/progress notifications/message
  notifications/roots/list_changed notifications/tools/list_changed
  notifications/resources/list_changed notifications/resources/updated
  notifications/prompts/list_changed
`)
