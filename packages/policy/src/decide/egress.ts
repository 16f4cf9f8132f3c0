// Hosts that arguments name, compared with the lists under `egress`. Every address counts, wherever it
// stands in a text: with a scheme, after `//`, as `user@host`, and without a scheme as `protect` reads them.
// What URL parsers read differently is not on any list. A command line has the hosts that `shell()` finds too. Pure.

import type { Call } from '../calls/call.ts'
import { parseUrl } from '../expression/functions/url.ts'
import { EGRESS_ADDRESSES_MAX, EGRESS_HOSTS_MAX } from '../language/limits.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { isHostListed } from '../model/answer-rule.ts'
import { type CompiledPolicy, narrowest } from '../model/policy.ts'
import { getRole } from '../provenance/names.ts'
import { listHosts } from '../provenance/read-value.ts'
import { readShell } from '../readers/shell-command.ts'
import { isObject, type JsonValue } from '../values/json.ts'
import { escapePointer } from '../values/json-pointer.ts'

/** `://…` up to what ends an address in a sentence; what stands before it is its scheme. */
const ADDRESS = /(?<=[a-z0-9+.-]):\/\/[^\s"'<>`{}|]*/gi
/** Read as an address by browsers and many servers, and as something else by others. */
const ODD_ADDRESS =
  /(?:https?|wss?|ftps?):(?!\/\/)(?:[\\/\w@%[]|[^\0-\x7f\s])|(?:https?|wss?|ftps?):\/\/\//i
/** `https://a.example'@evil.example`: a URL parser, or a shell, passes over the quote mark. */
const USER_BEHIND = /["'`{}|]+[\w.~%+:-]{0,100}@/y
/** Arguments that are command lines. */
const COMMAND_NAME = /^(?:command|cmd)$/i
/** What URL parsers remove: control characters and spaces at the ends, tabs and line breaks everywhere. */
const EDGES = /^[\0-\x20\s]+/
const REMOVED = /[\t\n\r]+/g
/** A text that is an address as a whole: scheme, slashes, and what may be user, host and port. */
const WHOLE = /^([a-z][a-z0-9+.-]{0,30}):([\\/]*)([^\\/?#]*)/i
/** Browsers read a host behind these whatever the number and direction of the slashes. */
const SPECIAL = /^(?:https?|wss?|ftps?|file)$/i
const NOT_IN_HOSTS = /[\s<>^|]/
/** Marks that follow an address in a sentence and do not belong to it. */
const TRAILING: ReadonlySet<string> = new Set('.,;:!?)]"\'`}')

/** Calls that carry arguments to a server; what a server asks of the client goes the other way. */
const TO_SERVERS: ReadonlySet<string> = new Set([
  TOOL_CALL,
  'prompts/get',
  'completion/complete',
  'resources/read',
  'resources/subscribe',
])
const NETWORK = /(?:https?|wss?|ftps?):/i

interface FoundHosts {
  readonly found: Set<string>
  /** Addresses that may still be read. */
  addressesLeft: number
  /** Why the hosts of a command line are not known. */
  unknown?: string
}

/** Lists that hold for a call: an exact key alone, otherwise the narrowest globs, all of them. */
function egressLists(
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
  return [policy, policy.base].some(
    (each) => each !== undefined && !each.shadow && egressLists(each, call).length > 0,
  )
}

/** The lists of hosts that hold for a page of an app, which its server names by its URI. */
export function listEgressHosts(
  policy: CompiledPolicy,
  page: Pick<Call, 'server' | 'name'>,
): readonly (readonly string[])[] {
  return [policy, policy.base].flatMap((each) =>
    each === undefined || each.shadow ? [] : egressLists(each, page).map(([, hosts]) => hosts),
  )
}

const NONE: readonly (readonly [string, readonly string[]])[] = []

/** Why `egress` denies a call. */
export interface EgressDenial {
  /** JSON Pointer of the entry of `egress` that denies it. */
  readonly pointer: string
  readonly reason: string
}

/** The first host of a call that `egress` does not list, or what could not be read; undefined if there is none. */
export function findEgressDenial(policy: CompiledPolicy, call: Call): EgressDenial | undefined {
  if (!TO_SERVERS.has(call.method)) return undefined
  const lists = egressLists(policy, call)
  if (lists.length === 0) return undefined
  const hosts: FoundHosts = { found: new Set(), addressesLeft: EGRESS_ADDRESSES_MAX }
  // The URI of a resource is its server's own name for it, unless it leads into a network.
  const isRead = call.method.startsWith('resources/')
    ? collectFromUri(call.name, hosts)
    : collect(call.args, false, hosts)
  const [[firstKey] = ['']] = lists
  if (!isRead)
    return {
      pointer: pointerOf(firstKey),
      reason: 'an argument holds an address that URL parsers read differently, or too many',
    }
  for (const [key, listed] of lists)
    for (const host of hosts.found)
      if (!isHostListed(host, listed))
        return {
          pointer: pointerOf(key),
          reason: `an argument names the host \`${host.slice(0, 100)}\`, which \`egress\` does not list`,
        }
  if (hosts.unknown === undefined) return undefined
  const reason = `the hosts of a command line are not certain, because of ${hosts.unknown}`
  return { pointer: pointerOf(firstKey), reason }
}

/** The hosts that arguments name, as a list under `egress` has to have them; undefined if one cannot be read. */
export function listArgumentHosts(args: JsonValue): readonly string[] | undefined {
  const hosts: FoundHosts = { found: new Set(), addressesLeft: EGRESS_ADDRESSES_MAX }
  return collect(args, false, hosts) && hosts.unknown === undefined ? [...hosts.found] : undefined
}

function pointerOf(key: string): string {
  return `/egress/${escapePointer(key)}`
}

/** False if something could not be read. `isAddress`: the name of the nearest member says so. */
function collect(value: JsonValue, isAddress: boolean, hosts: FoundHosts): boolean {
  if (typeof value === 'string') return collectFromText(value, isAddress, hosts)
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).every((item) => collect(item, isAddress, hosts))
  if (!isObject(value)) return true
  return Object.keys(value).every(
    (key) =>
      collectFromText(key, false, hosts) &&
      (!COMMAND_NAME.test(key) || collectFromCommand(value[key], hosts)) &&
      collect(value[key] as JsonValue, getRole(key) === 'address', hosts),
  )
}

/** A host without a dot, and one that a program takes as a word: `ssh prod`. */
function collectFromCommand(text: JsonValue | undefined, hosts: FoundHosts): boolean {
  if (typeof text !== 'string') return true
  const { uncertainHosts, hosts: named } = readShell(text)
  if (uncertainHosts !== undefined) hosts.unknown = uncertainHosts
  return named.every((host) => add(`https://${host}`, hosts))
}

function collectFromUri(uri: string, hosts: FoundHosts): boolean {
  const plain = uri.replace(REMOVED, '')
  const start = plain.search(NETWORK)
  return start === -1 || collectFromText(plain.slice(start), false, hosts)
}

function collectFromText(text: string, isAddress: boolean, hosts: FoundHosts): boolean {
  if (ODD_ADDRESS.test(text)) return false
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    USER_BEHIND.lastIndex = index + address.length
    if (!/[/?#]/.test(address.slice(3)) && USER_BEHIND.test(text)) return false
    if (/file$/i.test(text.slice(Math.max(0, index - 4), index)) && isLocalFile(address)) continue
    if (!add(`any${withoutTrailing(address)}`, hosts)) return false
  }
  const plain = text.replace(EDGES, '').replace(REMOVED, '')
  if (/^(?:\/\/|\\\\)/.test(plain) || (isAddress && /^[\\/]{2}/.test(plain)))
    return add(`https:${plain}`, hosts)
  return (
    collectWhole(plain, hosts) &&
    listHosts(plain, isAddress).every((host) => add(`https://${host}`, hosts))
  )
}

/** The text as one address, as a URL parser reads it that is given all of it. */
function collectWhole(text: string, hosts: FoundHosts): boolean {
  const [, scheme = '', slashes = '', authority = ''] = WHOLE.exec(text) ?? []
  const isSpecial = SPECIAL.test(scheme)
  if (!isSpecial && slashes !== '//') return true
  if (authority.includes('@')) return false
  const host = withoutTrailing(authority)
  if (scheme.toLowerCase() === 'file')
    return /^\/?$|^\/\/\/$/.test(slashes) || (slashes === '//' && /^(?:localhost)?$/i.test(host))
  if (host === '' || NOT_IN_HOSTS.test(host)) return true
  // The next line is an address of its own.
  if (/.(?:https?|wss?|ftps?)$/i.test(host) && authority.endsWith(':')) return true
  return slashes === '//' && add(`${scheme}://${host}`, hosts)
}

/** Cuts those marks off. An expression would look at a run of them once for each of them. */
function withoutTrailing(address: string): string {
  let end = address.length
  while (TRAILING.has(address.charAt(end - 1))) end--
  return address.slice(0, end)
}

/** `file:///x` leads nowhere else; `file:////host/x` does on Windows. */
function isLocalFile(address: string): boolean {
  return /^:\/\/(?:localhost)?(?:\/(?!\/)|$)/i.test(address)
}

function add(address: string, hosts: FoundHosts): boolean {
  if (hosts.addressesLeft-- === 0) return false
  try {
    hosts.found.add(parseUrl(address).host)
  } catch {
    return false
  }
  return hosts.found.size <= EGRESS_HOSTS_MAX
}
