// Whether a call reaches a person: text that it carries is read by somebody else.

import type { ArgumentRoles } from '../calls/provenance.ts'
import { toWordSet } from '../structures/word-set.ts'
import type { JsonObject } from '../values/json.ts'
import { getRole, splitName } from './names.ts'

interface MessageCall {
  readonly name: string
  readonly args: JsonObject
  readonly roles?: ArgumentRoles | undefined
}

/** The call reaches a person: by the name of the tool, or by a recipient among its arguments. */
export function isMessage({ name, args, roles }: MessageCall): boolean {
  if (splitName(name).some((word) => MESSAGES.has(word))) return true
  if (Object.keys(args).some((key) => getRole(key) === 'recipient')) return true
  for (const [path, role] of roles ?? [])
    if (role === 'recipient' && Object.hasOwn(args, path.split('.', 1)[0] as string)) return true
  return false
}

const MESSAGES =
  toWordSet(`send email mail message reply forward respond post publish tweet share invite notify comment
  review dm sms announce broadcast submit answer`)
