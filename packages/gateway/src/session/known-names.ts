// The prompts and resources of one session with one server, where the policy may hide some. There a
// name that the server lists nowhere is answered by the gate, as a hidden one is and after the same
// questions to the server: neither answers nor timing show what exists. If nothing can be
// hidden, nobody is asked and every name goes to the server. Used by the relay.

import type { Facts } from '@sluice/policy/calls/call'
import type { Instant } from '@sluice/policy/calls/clock'
import { isHidden } from '@sluice/policy/decide/decide'
import { readsUris } from '@sluice/policy/decide/decide-uri'
import { mayHide } from '@sluice/policy/decide/may-hide'
import { readUri } from '@sluice/policy/expression/functions/resource-uri'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { isDense } from '@sluice/protocol/json/is-dense'
import { PARSED_MARKS_MAX } from '@sluice/protocol/json/limits'
import { LISTS } from '@sluice/protocol/lists'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { UriTemplate } from '@sluice/protocol/uri-template'
import { MEMBER_TEMPLATES_MAX, RELIST_MS } from '../shared/limits.ts'
import { isAboutResource, parseCall } from '../shared/parse-call.ts'
import { Slices } from '../shared/slices.ts'
import { TEMPLATE_STEPS_MAX } from '../shared/turn-limits.ts'
import type { KnownSkills } from './known-skills.ts'
import { HEARD_DEPTH_MAX, HEARD_URIS_MAX } from './limits.ts'
import { type AskServer, listEntries } from './list-entries.ts'

export interface KnownNamesContext {
  readonly server: string
  readonly policy: () => CompiledPolicy
  readonly facts: () => Omit<Facts, 'tool'>
  readonly now: () => Instant
  readonly ask: AskServer
  /** Files and directories of skills need not be listed. */
  readonly skills: Pick<KnownSkills, 'has'>
}

/** What a request is about, by the method and the name that a list has it under. */
export interface NamedTarget {
  readonly method: 'prompts/get' | 'resources/read'
  readonly name: string
  /** A template is named as it stands. */
  readonly isTemplate: boolean
}

const SECTIONS = { 'prompts/get': 'prompts', 'resources/read': 'resources' } as const
const LISTED_IN = {
  'prompts/get': ['prompts/list'],
  'resources/read': ['resources/list', 'resources/templates/list'],
} as const

export class KnownNames {
  readonly #context: KnownNamesContext
  /** As last listed; of resources, templates stand beside URIs. */
  readonly #listed = new Map<NamedTarget['method'], ReadonlySet<string>>()
  #templates: readonly { readonly text: string; readonly template: UriTemplate }[] = []
  readonly #listing = new Map<NamedTarget['method'], Promise<void>>()
  readonly #listedMs = new Map<NamedTarget['method'], number>()
  /** Resources that answers of the server have named: they need not be listed. */
  readonly #announced = new LruMap<string, true>(HEARD_URIS_MAX)

  constructor(context: KnownNamesContext) {
    this.#context = context
  }

  /** Whether it is to be answered as what no server has; a promise only if something may be
   * hidden. Rejects if the server does not say what it has. */
  isMissing(request: JsonRpcRequest): boolean | Promise<boolean> {
    const named = findNamedTarget(request)
    return named !== undefined && this.#mayHide(named.method) ? this.#look(named) : false
  }

  /** Whether the server lists the URI in exactly this spelling. Asked only if that makes a difference:
   * if rules read URIs and this one is not in normal form, see resource-uri.ts. What answers have
   * named does not count: an answer may repeat what the caller sent. */
  isListed(request: JsonRpcRequest): true | Promise<boolean> {
    const named = findNamedTarget(request)
    if (named?.method !== 'resources/read' || !this.#isOdd(named.name)) return true
    return this.#findListed(named)
  }

  async #findListed({ method, name }: NamedTarget): Promise<boolean> {
    if (!this.#listed.has(method)) await this.#list(method)
    if (this.#listed.get(method)?.has(name) === true) return true
    if (this.#mayAskAgain(method)) await this.#list(method)
    return this.#listed.get(method)?.has(name) === true
  }

  #isOdd(uri: string): boolean {
    return readsUris(this.#context.policy()) && !readUri(uri).isNormal
  }

  #mayAskAgain(method: NamedTarget['method']): boolean {
    const listedMs = this.#listedMs.get(method) ?? Number.NEGATIVE_INFINITY
    return this.#context.now().monotonicMs - listedMs >= RELIST_MS
  }

  /** The server's own words to this error would tell that the name is not a hidden one. */
  isVague(method: string, name: string): boolean {
    if (method !== 'resources/read' && method !== 'resources/subscribe') return false
    if (!this.#mayHide('resources/read') || this.#announced.has(name)) return false
    return !this.#listed.get('resources/read')?.has(name)
  }

  /** A change of it is not told. */
  isHidden(uri: JsonValue | undefined): boolean {
    if (typeof uri !== 'string' || !this.#mayHide('resources/read')) return false
    return this.#isHidden({ method: 'resources/read', name: uri, isTemplate: false })
  }

  /** What an answer links to may be read, although no list has it. */
  hear(resultText: string | undefined): void {
    if (!this.#mayHide('resources/read') || !resultText?.includes('"uri"')) return
    // What it links to can then be read only if a list has it.
    if (isDense(resultText, PARSED_MARKS_MAX)) return
    for (const uri of urisIn(JSON.parse(resultText) as JsonValue, HEARD_DEPTH_MAX))
      this.#announced.set(uri, true)
  }

  async #look(named: NamedTarget): Promise<boolean> {
    if (!this.#listed.has(named.method)) await this.#list(named.method)
    // A hidden name counts as not found, so that it takes as long as one that is not there.
    if (await this.#isThere(named)) return false
    if (this.#mayAskAgain(named.method)) await this.#list(named.method)
    if (await this.#isThere(named)) return false
    // One more that fits the template would be asked for.
    if (await this.#fits(named)) await this.#list(named.method)
    return true
  }

  async #isThere(named: NamedTarget): Promise<boolean> {
    if (this.#isHidden(named)) return false
    const { method, name } = named
    return (
      this.#listed.get(method)?.has(name) === true ||
      (method === 'resources/read' &&
        (this.#announced.has(name) || this.#context.skills.has(name))) ||
      (await this.#fits(named))
    )
  }

  /** In slices: templates are chosen by the server. What takes too many steps fits none, and is
   * answered as a hidden one is. */
  async #fits({ method, name, isTemplate }: NamedTarget): Promise<boolean> {
    if (method !== 'resources/read' || isTemplate || this.#isOdd(name)) return false
    const slices = new Slices()
    let steps = 0
    for (const { text, template } of this.#templates) {
      steps += template.stepsFor(name)
      if (steps > TEMPLATE_STEPS_MAX) return false
      if (slices.isOver) await slices.next()
      if (this.#isHidden({ method, name: text, isTemplate: true })) continue
      if (template.fits(name)) return true
    }
    return false
  }

  #isHidden({ method, name }: NamedTarget): boolean {
    const { facts, now, policy, server } = this.#context
    return isHidden(policy(), { server, method, name }, facts(), now())
  }

  #mayHide(method: NamedTarget['method']): boolean {
    return mayHide(this.#context.policy(), SECTIONS[method])
  }

  #list(method: NamedTarget['method']): Promise<void> {
    const under = this.#listing.get(method)
    if (under !== undefined) return under
    const listing = this.#readNames(method).finally(() => {
      this.#listing.delete(method)
      this.#listedMs.set(method, this.#context.now().monotonicMs)
    })
    this.#listing.set(method, listing)
    return listing
  }

  async #readNames(method: NamedTarget['method']): Promise<void> {
    const names = new Set<string>()
    for (const list of LISTED_IN[method]) {
      const listed: string[] = []
      for await (const text of listEntries(this.#context.ask, list)) {
        const entry = JSON.parse(text) as JsonValue
        const named = isObject(entry) ? entry[LISTS.get(list)?.name ?? ''] : undefined
        if (typeof named === 'string') listed.push(named)
      }
      if (list === 'resources/templates/list')
        this.#templates = listed
          .slice(0, MEMBER_TEMPLATES_MAX)
          .map((text) => ({ text, template: new UriTemplate(text) }))
      for (const each of listed) names.add(each)
    }
    this.#listed.set(method, names)
  }
}

/** The prompt or resource that a request is about. */
export function findNamedTarget(
  request: Pick<JsonRpcRequest, 'method' | 'params'>,
): NamedTarget | undefined {
  const { method, params } = request
  if (method === 'completion/complete') return referenceIn(params?.value.ref)
  if (method !== 'prompts/get' && !isAboutResource(method)) return undefined
  const { name } = parseCall('', request)
  return { method: method === 'prompts/get' ? method : 'resources/read', name, isTemplate: false }
}

function referenceIn(ref: JsonValue | undefined): NamedTarget | undefined {
  const { type, name, uri } = isObject(ref) ? ref : {}
  if (type === 'ref/prompt') return { method: 'prompts/get', name: `${name}`, isTemplate: false }
  return { method: 'resources/read', name: `${uri}`, isTemplate: true }
}

function urisIn(value: JsonValue, depth: number): string[] {
  if (depth === 0) return []
  if (Array.isArray(value)) return value.flatMap((each) => urisIn(each as JsonValue, depth - 1))
  if (!isObject(value)) return []
  const inner = Object.values(value).flatMap((each) => urisIn(each, depth - 1))
  return typeof value.uri === 'string' ? [value.uri, ...inner] : inner
}
