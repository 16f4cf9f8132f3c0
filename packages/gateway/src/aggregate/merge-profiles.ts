// The answer to a client's initialize request at all servers: what any of them can do, and what each says of
// itself, under its name.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { isServedExtension, listExtensions } from '@sluice/protocol/extensions'
import { META } from '@sluice/protocol/protocol-generation'
import { toStatelessResult } from '../session/stateless-results.ts'
import { INSTRUCTIONS_LENGTH_MAX } from '../shared/limits.ts'
import { readPackageVersion } from '../shared/package-version.ts'
import type { AggregateMember } from './member.ts'

/** A server that has not begun is named as missing. */
function mergeProfiles(members: Iterable<AggregateMember>) {
  const servers = [...members]
  const begun = servers.flatMap(({ name, begun }) => (begun ? [{ ...begun, name }] : []))
  const missing = servers.flatMap(({ name, begun }) => (begun ? [] : [name]))
  const declared = begun.map((server) => server.capabilities)
  const capabilities = withSoleExtensions(declared.reduce(merged, OWN), declared)
  const parts = begun.flatMap(({ name, instructions }) =>
    instructions === undefined ? [] : [`${heading(name)}\n\n${ellipsize(instructions)}`],
  )
  if (missing.length > 0) parts.push(`Not there at the moment: ${missing.join(', ')}.`)
  const withInstructions = parts.length === 0 ? {} : { instructions: parts.join('\n\n') }
  return { capabilities: withListChanged(capabilities), ...withInstructions }
}

/** The result of `initialize`. */
export function buildInitializeResult(
  members: Iterable<AggregateMember>,
  revision: string,
): string {
  const all = mergeProfiles(members)
  return JSON.stringify({ protocolVersion: revision, ...all, serverInfo: whoWeAre() })
}

/** The result of `server/discover`. */
export function buildDiscoverResult(members: Iterable<AggregateMember>): string {
  const profile = { ...mergeProfiles(members), _meta: { [META.server]: whoWeAre() } }
  return toStatelessResult('server/discover', JSON.stringify(profile))
}

function whoWeAre(): JsonObject {
  return { name: 'sluice', version: readPackageVersion() }
}

/** A server that comes later may have what no other has. */
const OWN: JsonObject = { tools: {}, prompts: {}, resources: {} }

/** Servers come and go, whatever they say of their lists. */
function withListChanged(capabilities: JsonObject): JsonObject {
  const changing = ['tools', 'prompts', 'resources'].filter((key) => isObject(capabilities[key]))
  const entries = changing.map((key) => [key, { listChanged: true }] as const)
  return merged(capabilities, Object.fromEntries(entries))
}

/** An extension that the gate does not know may mean something else at each server: it is declared if one has it. */
function withSoleExtensions(all: JsonObject, declared: readonly JsonObject[]): JsonObject {
  const passes = (name: string) =>
    isServedExtension(name) ||
    declared.filter((one) => listExtensions(one)[name] !== undefined).length === 1
  const { extensions: _, ...others } = all
  const left = Object.entries(listExtensions(all)).filter(([name]) => passes(name))
  return left.length === 0 ? others : { ...others, extensions: Object.fromEntries(left) }
}

/** What either has; where they disagree, yes is more than no, and the first holds. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const members = new Map<string, JsonValue>(Object.entries(one))
  for (const [key, value] of Object.entries(other)) {
    const had = members.get(key)
    if (isObject(had) && isObject(value)) members.set(key, merged(had, value))
    else if (had === undefined || had === false) members.set(key, value)
  }
  return Object.fromEntries(members)
}

function heading(server: string): string {
  return `# Server ${server} (its tools begin with ${server}__)`
}

function ellipsize(text: string): string {
  if (text.length <= INSTRUCTIONS_LENGTH_MAX) return text
  // Half a surrogate pair could not be sent.
  return `${text.slice(0, INSTRUCTIONS_LENGTH_MAX).replace(/[\ud800-\udbff]$/, '')}…`
}
