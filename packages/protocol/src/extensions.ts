// Extensions of the protocol: an identifier in `capabilities.extensions` of both sides. A gate that passes the
// declaration and not the methods behind it leaves its peers with half of one, which neither can handle, so that
// what the gate does not serve is cut whole, towards the client and towards the server. Pure.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { splitMembers } from './json/raw-members.ts'
import { patchObject, withMembers } from './members.ts'
import type { JsonRpcRequest } from './message.ts'
import { getMeta, META, TASKS } from './protocol-generation.ts'

/** Apps: pages that a host shows, `ui://` resources, and tools with `_meta.ui`. */
export const APPS = 'io.modelcontextprotocol/ui'

/** Skills: resources with a manifest. */
export const SKILLS = 'io.modelcontextprotocol/skills'

/** The extensions that the gate serves, each with whether it means the same in both protocol generations. */
const SERVED: ReadonlyMap<string, { readonly crosses: boolean }> = new Map([
  [TASKS, { crosses: false }],
  [APPS, { crosses: true }],
  [SKILLS, { crosses: true }],
])

export type PassesExtension = (name: string) => boolean

export const isServedExtension: PassesExtension = (name) => SERVED.has(name)

/** Whether an extension may be declared to a peer of the other generation. One that the operator has named may. */
export const crossesGenerations: PassesExtension = (name) => SERVED.get(name)?.crosses !== false

/** The text of capabilities without the extensions that do not pass, and the names of those. */
export function cutExtensions(
  capabilities: string | undefined,
  passes: PassesExtension,
): { readonly capabilities: string; readonly cut: readonly string[] } {
  const extensions = splitMembers(capabilities ?? '{}').get('extensions') ?? '{}'
  const cut = [...splitMembers(extensions).keys()].filter((name) => !passes(name))
  if (cut.length === 0) return { capabilities: capabilities ?? '{}', cut }
  const left = patchObject(extensions, Object.fromEntries(cut.map((name) => [name, undefined])))
  const shown = left === '{}' ? undefined : left
  return { capabilities: patchObject(capabilities, { extensions: shown }), cut }
}

/** A request of a client as its server may read it: it declares only extensions that pass. */
export function cutClientExtensions(
  request: JsonRpcRequest,
  passes: PassesExtension,
): JsonRpcRequest {
  const { method, params } = request
  const cut = (text: string | undefined) => cutExtensions(text, passes).capabilities
  if (method === 'initialize' && declaresOther(params?.value.capabilities, passes)) {
    const capabilities = cut(params?.text.get('capabilities'))
    return { ...request, params: withMembers(params, { capabilities }) }
  }
  if (!declaresOther(getMeta(params)[META.capabilities], passes)) return request
  const meta = params?.text.get('_meta') ?? '{}'
  const capabilities = cut(splitMembers(meta).get(META.capabilities))
  const _meta = patchObject(meta, { [META.capabilities]: capabilities })
  return { ...request, params: withMembers(params, { _meta }) }
}

function declaresOther(capabilities: JsonValue | undefined, passes: PassesExtension): boolean {
  return Object.keys(listExtensions(capabilities)).some((name) => !passes(name))
}

/** The extensions in capabilities, by name. */
export function listExtensions(
  capabilities: JsonValue | undefined,
): Readonly<Record<string, JsonValue>> {
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined
  return isObject(extensions) ? extensions : {}
}

/** The member `ui` of the `_meta` of a tool, or of a page of an app. */
export function getUiMeta(entry: JsonValue | undefined): JsonObject {
  const meta = isObject(entry) ? entry._meta : undefined
  const ui = isObject(meta) ? meta.ui : undefined
  return isObject(ui) ? ui : {}
}

/** Whether a tool is for the model, or for the app of its server; by default it is for both. */
export function isToolFor(audience: 'model' | 'app', definition: JsonValue | undefined): boolean {
  const { visibility } = getUiMeta(definition)
  return !Array.isArray(visibility) || visibility.includes(audience)
}
