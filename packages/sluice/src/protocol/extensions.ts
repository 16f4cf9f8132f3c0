// Extensions of the protocol: an identifier in `capabilities.extensions` of both sides. A gate that passes the
// declaration and not the methods behind it leaves the client with half of one, which it cannot handle, so that what
// the gate does not serve is cut whole. Pure.

import { splitMembers } from './json/raw-members.ts'
import { patchObject } from './members.ts'
import { TASKS } from './protocol-generation.ts'

/** Apps: resources and tools with further `_meta`, which the gate passes on. */
const APPS = 'io.modelcontextprotocol/ui'

const SERVED: ReadonlySet<string> = new Set([TASKS, APPS])

/** The result of `initialize` or `server/discover` without the extensions that the gate does not serve, and those. */
export function cutExtensions(result: string): { readonly result: string; readonly cut: string[] } {
  const capabilities = splitMembers(result).get('capabilities') ?? '{}'
  const extensions = splitMembers(capabilities).get('extensions') ?? '{}'
  const cut = [...splitMembers(extensions).keys()].filter((name) => !SERVED.has(name))
  if (cut.length === 0) return { result, cut }
  const left = patchObject(extensions, Object.fromEntries(cut.map((name) => [name, undefined])))
  const shown = left === '{}' ? undefined : left
  return {
    result: patchObject(result, { capabilities: patchObject(capabilities, { extensions: shown }) }),
    cut,
  }
}
