// Hosts that arguments name, compared with the lists under `egress`. Every address counts, wherever it
// stands in a text: with a scheme, after `//`, as `user@host:path`, and without a scheme in an argument
// whose name says that it is an address. What URL parsers read differently is not on any list. Pure.

import type { Call } from '../core/call.ts'
import { isObject, type JsonValue } from '../core/json.ts'
import { parseUrl } from '../expression/functions/url.ts'
import { EGRESS_HOSTS_MAX } from '../language/limits.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { isHostListed } from '../model/answer-rule.ts'
import { type CompiledPolicy, narrowest } from '../model/policy.ts'

/** `scheme://…` up to what cannot be part of an address. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>`{}|]*/gi
/** Read as an address by browsers and many servers, and as something else by others. */
const ODD_ADDRESS = /(?:https?|wss?|ftps?):(?!\/\/)[\\/\w]|(?:https?|wss?|ftps?):\/\/\//i
const AT_HOST = /^[\w.-]{1,64}@([\w.-]{1,253}):(?!\/\/)/
const ADDRESS_NAME =
  /(?:^|[_-])(?:ur[li]|href|link|endpoint|host|hostname|domain|webhook|callback|site|origin)s?$|(?:U(?:RL|RI|rl|ri)|Href|Link|Endpoint|Host|Hostname|Domain|Webhook|Callback|Origin)s?$/
const BARE_HOST = /^(?:\[[0-9a-f:.]+\]|[\w-]{1,63}(?:\.[\w-]{1,63})*)(?=[:/?#]|$)/i
/** Behind an address in a sentence. */
const TRAILING = /[.,;:!?)\]]+$/

/** Calls that carry arguments to a server; what a server asks of the client goes the other way. */
const TO_SERVERS: ReadonlySet<string> = new Set([
  TOOL_CALL,
  'prompts/get',
  'completion/complete',
  'resources/read',
  'resources/subscribe',
])
const NETWORK = /^(?:https?|wss?|ftps?):/i

export interface EgressDenial {
  /** JSON Pointer of the list. */
  readonly pointer: string
  readonly reason: string
}

/** Lists that hold for a call: an exact key alone, otherwise the narrowest globs, all of them. */
export function egressLists(
  { egress }: CompiledPolicy,
  { server, name }: Pick<Call, 'server' | 'name'>,
): readonly (readonly [key: string, hosts: readonly string[]])[] {
  if (egress.size === 0) return NONE
  const exact = egress.exact(server, name)
  if (exact !== undefined) return [[`${server}/${name}`, exact]]
  return narrowest(egress.globs(server, name))
    .count.map(({ glob, value }) => [glob.key, value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

/** Whether the decision on a call depends on the hosts that its arguments name. */
export function hasEgressLists(policy: CompiledPolicy, call: Call): boolean {
  if (!TO_SERVERS.has(call.method)) return false
  return [policy, policy.house].some(
    (each) => each !== undefined && !each.shadow && egressLists(each, call).length > 0,
  )
}

const NONE: readonly (readonly [string, readonly string[]])[] = []

export function findEgressDenial(policy: CompiledPolicy, call: Call): EgressDenial | undefined {
  if (!TO_SERVERS.has(call.method)) return undefined
  const lists = egressLists(policy, call)
  if (lists.length === 0) return undefined
  const hosts = new Set<string>()
  // The URI of a resource is its server's own name for it, unless it leads into a network.
  const isRead = call.method.startsWith('resources/')
    ? !NETWORK.test(call.name) || collectFromText(call.name, '', hosts)
    : collect(call.args, '', hosts)
  const [[firstKey] = ['']] = lists
  if (!isRead)
    return {
      pointer: pointerOf(firstKey),
      reason: 'an argument holds an address that URL parsers read differently, or too many',
    }
  for (const [key, listed] of lists)
    for (const host of hosts)
      if (!isHostListed(host, listed))
        return {
          pointer: pointerOf(key),
          reason: `an argument names the host \`${host.slice(0, 100)}\`, which \`egress\` does not list`,
        }
  return undefined
}

function pointerOf(key: string): string {
  return `/egress/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** False if something could not be read. `name` is that of the nearest member. */
function collect(value: JsonValue, name: string, hosts: Set<string>): boolean {
  if (typeof value === 'string') return collectFromText(value, name, hosts)
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).every((item) => collect(item, name, hosts))
  if (!isObject(value)) return true
  return Object.keys(value).every(
    (key) => collectFromText(key, '', hosts) && collect(value[key] as JsonValue, key, hosts),
  )
}

function collectFromText(text: string, name: string, hosts: Set<string>): boolean {
  if (ODD_ADDRESS.test(text)) return false
  for (const [address] of text.matchAll(ADDRESS))
    if (!isLocalFile(address) && !add(address.replace(TRAILING, ''), hosts)) return false
  const at = AT_HOST.exec(text)?.[1]
  if (at !== undefined && !add(`ssh://${at}`, hosts)) return false
  if (text.startsWith('//')) return add(`https:${text}`, hosts)
  const isBare = name !== '' && ADDRESS_NAME.test(name) && !text.includes('://')
  if (!isBare || !BARE_HOST.test(text)) return true
  return add(`https://${text}`, hosts)
}

/** `file:///x` leads nowhere else. */
function isLocalFile(address: string): boolean {
  return /^file:\/\/(?:localhost)?(?:\/|$)/i.test(address)
}

function add(address: string, hosts: Set<string>): boolean {
  try {
    hosts.add(parseUrl(address).host)
  } catch {
    return false
  }
  return hosts.size <= EGRESS_HOSTS_MAX
}
