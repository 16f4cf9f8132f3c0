// Sealed values in the arguments of a call. Rules, approvers and the ledger see placeholders; the values
// are put in after the last decision, for tools that every rule on them allows. A call that may
// not have one of its values is denied, and the reason is the same for every such value, known or not.

import { rewriteText } from '@sluice/access/approvals/json-text'
import { OPENED_CHARS_MAX } from '@sluice/access/identity/limits'
import type { SessionVault } from '@sluice/access/identity/sessions/session-vault'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { joinMembers } from '@sluice/policy/values/canonical-json'
import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest, ParsedMembers } from '@sluice/protocol/message'
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
export function findSealedObjection(call: SealedCall): string | undefined {
  const { message, tool, vault, canOpen, redacts } = call
  if (vault.size === 0 && !redacts()) return undefined
  const args = argumentsOf(message)
  if (args === undefined) return undefined
  const spelled = spellOut(args)
  // An agent that edits a file would put the placeholder in the place of the secret.
  if (REDACTED.test(spelled))
    return 'an argument holds the placeholder of a redacted secret: writing it would lose the value'
  if (vault.size === 0) return undefined
  const known = vault.findPlaceholders(spelled)
  if (known === 'too long')
    return `the sealed values in the arguments have more than ${OPENED_CHARS_MAX} characters together: pass fewer of them in one call`
  const isAllowed = known !== 'unknown' && known.every(({ sources }) => canOpen(sources, tool))
  return isAllowed ? undefined : 'a sealed value in the arguments may not be passed to this tool'
}

/** The parameters as the server gets them; undefined if nothing is opened. */
export function openSealed(call: SealedCall): ParsedMembers | undefined {
  const { message, vault } = call
  if (vault.size === 0) return undefined
  const args = argumentsOf(message)
  if (args === undefined) return undefined
  const known = vault.findPlaceholders(spellOut(args))
  if (typeof known === 'string' || known.length === 0) return undefined
  // Decided for the same arguments a moment ago; an approver may have changed them since.
  if (findSealedObjection(call) !== undefined) return undefined
  const opened = rewriteText(args, {
    text: (value) => JSON.stringify(vault.open(value)),
    plain: (written) => written,
    object: joinMembers,
  })
  return withMembers(message.params, { arguments: opened })
}

/** Replaces escapes by the letters that they stand for. The values are put in where the placeholder stands once JSON is
 * parsed: `\\u005bsealed …]` is one too. */
function spellOut(args: string): string {
  if (!args.includes('\\u00')) return args
  return args.replace(/\\u00([2-7][0-9a-fA-F])/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function argumentsOf({ method, params }: SealedCall['message']): string | undefined {
  return method === TOOL_CALL ? params?.text.get('arguments') : undefined
}
