// Sealed values in the arguments of a call. Rules, approvers and the ledger see placeholders; the values
// are put in after the last decision, for tools that every rule they came under allows. A call that may
// not have one of its values is denied, and the reason is the same for every such value, known or not.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import { rewriteText } from '../../approvals/json-text.ts'
import { joinMembers } from '../../core/canonical-json.ts'
import type { SessionVault } from '../../identity/sessions/session-vault.ts'
import { withMembers } from '../../protocol/members.ts'
import type { JsonRpcRequest, ParsedMembers } from '../../protocol/message.ts'
import type { AnswerFilter } from './filter-answers.ts'

export interface SealedCall {
  readonly message: Pick<JsonRpcRequest, 'method' | 'params'>
  readonly tool: string
  readonly vault: SessionVault
  readonly canOpen: AnswerFilter['canOpen']
  /** Whether answers are filtered at all. */
  readonly redacts: AnswerFilter['isActive']
}

/** `[secret: GitHub token]`, as rewrite-answer.ts writes it. */
const REDACTED = /\[secret: [A-Za-z][A-Za-z0-9 ,-]{2,60}\]/

/** Why a call is denied; undefined if it holds no sealed value, or may have all of them. */
export function sealedObjection(call: SealedCall): string | undefined {
  const { message, tool, vault, canOpen, redacts } = call
  if (vault.size === 0 && !redacts()) return undefined
  const args = argumentsOf(message)
  if (args === undefined) return undefined
  // An agent that edits a file would put the placeholder in the place of the secret.
  if (REDACTED.test(args))
    return 'an argument holds the placeholder of a redacted secret: writing it would lose the value'
  if (vault.size === 0) return undefined
  const { known, unknown } = vault.findPlaceholders(args)
  const isAllowed = unknown === 0 && known.every(({ sources }) => canOpen(sources, tool))
  return isAllowed ? undefined : 'a sealed value in the arguments may not be passed to this tool'
}

/** The parameters as the server gets them; undefined if nothing is opened. */
export function openSealed(call: SealedCall): ParsedMembers | undefined {
  const { message, vault } = call
  if (vault.size === 0) return undefined
  const args = argumentsOf(message)
  if (args === undefined) return undefined
  if (vault.findPlaceholders(args).known.length === 0) return undefined
  // Decided for the same arguments a moment ago; an approver may have changed them since.
  if (sealedObjection(call) !== undefined) return undefined
  const opened = rewriteText(args, {
    text: (value) => JSON.stringify(vault.open(value)),
    plain: (written) => written,
    object: joinMembers,
  })
  return withMembers(message.params, { arguments: opened })
}

function argumentsOf({ method, params }: SealedCall['message']): string | undefined {
  return method === TOOL_CALL ? params?.text.get('arguments') : undefined
}
