// What a call of a client brings beside itself: the user's prompt, and the id by which hooks of the client name the
// call. Called by handle-call.ts before every look-up.

import { getMeta, PROMPT_META } from '@sluice/protocol/protocol-generation'
import { parseCall } from '../shared/parse-call.ts'
import type { CallSession } from './call-session.ts'
import type { ParsedCall } from './parsed-request.ts'

/** Noted again after a wait: only now a new policy may read prompts, or the memory of the session may be a new one. */
export function noteArrival(
  { message, sender }: ParsedCall,
  { onPrompt, pipeline, server }: CallSession,
): void {
  if (sender === 'server') return
  const meta = getMeta(message.params)
  const { [PROMPT_META]: prompt, 'claudecode/toolUseId': id = meta.callId } = meta
  if (typeof prompt === 'string') onPrompt(prompt)
  if (typeof id === 'string') pipeline.onToolUse?.(id, parseCall(server, message))
}
