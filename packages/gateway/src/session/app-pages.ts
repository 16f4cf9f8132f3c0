// Pages of the apps of one server (`ui://`): pinned by their content and `_meta.ui` like definitions of tools, and
// allowed to reach no host that `egress` does not list. A tool whose page is withheld is listed without it.

import type { Facts } from '@sluice/policy/calls/call'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { isVisible } from '@sluice/policy/decide/decide'
import { listEgressHosts } from '@sluice/policy/decide/egress'
import { isHostListed } from '@sluice/policy/model/answer-rule'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { isObject, type JsonObject, type JsonValue, listStrings } from '@sluice/policy/values/json'
import { getUiMeta } from '@sluice/protocol/extensions'
import { splitElements, splitMembers } from '@sluice/protocol/json/raw-members'
import { editElements, editMember, patchObject } from '@sluice/protocol/members'
import { describePendingToCaller } from '../tools/describe-pending.ts'
import { isWithheld, sha256 } from '../tools/pins.ts'
import { APP_PAGES_MAX } from './limits.ts'
import type { SeenListsContext } from './visible-lists.ts'

const SCHEME = /^ui:/i
/** A source of a content security policy: a host, also with a scheme, a port or a wildcard in front. */
const SOURCE = /^(?:(?:https?|wss?):\/\/)?([a-z0-9.*-]+)(?::(?:\d+|\*))?\/?$/i

export class AppPages {
  readonly #context: Pick<SeenListsContext, 'server' | 'policy' | 'now' | 'pendingOf'>
  /** What is pinned of each page, as it was last read. */
  readonly #pages = new LruMap<string, KnownTool>(APP_PAGES_MAX)

  constructor(context: Pick<SeenListsContext, 'server' | 'policy' | 'now' | 'pendingOf'>) {
    this.#context = context
  }

  /** Why a page that was read may not pass; undefined if it may, or is none. */
  checkAnswer(uri: string, result: string): string | undefined {
    if (!SCHEME.test(uri)) return undefined
    const contents = listContents(result).map((content) => {
      const digest = sha256(String(content.text ?? content.blob))
      return { digest, mimeType: content.mimeType ?? null, ui: getUiMeta(content) }
    })
    const definition = { server: this.#context.server, name: uri, contents }
    const known = this.#pages.get(uri)
    const isSame = JSON.stringify(known?.definition) === JSON.stringify(definition)
    const tool = isSame && known ? known : ({ definition, category: 'Read', risk: 'low' } as const)
    this.#pages.set(uri, tool)
    const pending = this.#context.pendingOf(tool)
    return isWithheld(pending) ? describePendingToCaller(pending) : undefined
  }

  /** The text of an entry of a list, or of the contents of a page, which names no host beyond `egress`. */
  narrow(uri: string, text: string): string {
    if (!SCHEME.test(uri) || !text.includes('csp')) return text
    const { server, policy } = this.#context
    const lists = listEgressHosts(policy(), { server, name: uri })
    if (lists.length === 0) return text
    return editMember(text, ['_meta', 'ui', 'csp'], (csp) => narrowSources(csp, lists))
  }

  /** The same for the result of reading a page. */
  narrowResult(uri: string, result: string): string {
    return SCHEME.test(uri)
      ? editMember(result, ['contents'], (list) =>
          editElements(list, (content) => this.narrow(uri, content)),
        )
      : result
  }

  /** The definition of a tool, without its page if that one is hidden or waits for a person. */
  withoutWithheld(definition: JsonObject, text: string, facts: Omit<Facts, 'tool'>): string {
    const meta = definition._meta
    const uri = getUiMeta(definition).resourceUri ?? (isObject(meta) && meta[OLDER])
    if (typeof uri !== 'string' || !this.#isWithheld(uri, facts)) return text
    return editMember(text, ['_meta'], (all) =>
      patchObject(all, { ui: undefined, [OLDER]: undefined }),
    )
  }

  #isWithheld(name: string, facts: Omit<Facts, 'tool'>): boolean {
    const known = this.#pages.get(name)
    const isPending = known !== undefined && isWithheld(this.#context.pendingOf(known))
    return isPending || !isReadable(this.#context, name, facts)
  }
}

/** The contents in the result of `resources/read`. */
export function listContents(result: string): JsonObject[] {
  const contents = splitMembers(result).get('contents')
  return [...splitElements(contents ?? '[]')].map((text) => JSON.parse(text) as JsonObject)
}

/** Whether a caller sees a resource that its server lists, or has a skill or a tool for. */
export function isReadable(
  { server, policy, now }: Pick<SeenListsContext, 'server' | 'policy' | 'now'>,
  name: string,
  facts: Omit<Facts, 'tool'>,
): boolean {
  const call = { server, name, method: 'resources/read' }
  return isVisible(policy(), call, { ...facts, isListed: true }, now())
}

/** Where tools had the address of their page before `_meta.ui`. */
const OLDER = 'ui/resourceUri'

function narrowSources(csp: string, lists: readonly (readonly string[])[]): string {
  const isListed = (source: string) => {
    const host = SOURCE.exec(source)?.[1]?.toLowerCase() ?? ''
    return lists.every((list) => isHostListed(host, list))
  }
  const sources = JSON.parse(csp) as JsonValue
  const narrowed = Object.entries(isObject(sources) ? sources : {}).map(
    ([key, hosts]) => [key, listStrings(hosts).filter(isListed)] as const,
  )
  return JSON.stringify(Object.fromEntries(narrowed))
}
