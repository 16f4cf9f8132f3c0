// The accepted tools by what a reader, or a model, takes for the same (A03): a name that looks alike, a
// definition that is a copy. Two look-ups for a new tool, however many there are: a server that lists
// ten thousand must not stop the gate. Kept by pins.ts.

import { hash } from 'node:crypto'
import { skeletonOf } from '@sluice/catalogue/attacks/look-alike'
import { type ToolDefinition, toToolKey } from '@sluice/policy/calls/tools'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'

interface IndexedTool {
  readonly name: string
  readonly atMs: number
  readonly groups: readonly string[]
}

/** A definition may not be known, only its digest. */
export interface LookAlikeCandidate {
  readonly server: string
  readonly name: string
  readonly definition: ToolDefinition | undefined
  /** When it was first accepted. */
  readonly atMs: number
}

/** Letters beyond ASCII, and a blank at an end, which nobody sees. */
const FOREIGN = /[^ -~]|^ | $/

export class LookAlikeNames {
  readonly #tools = new Map<string, IndexedTool>()
  /** The members of each group by key, the oldest first. */
  readonly #groups = new Map<string, Map<string, IndexedTool>>()

  /** The digest of the last definition: one that is looked for is mostly put next. */
  #lastBody: { readonly definition: ToolDefinition; readonly digest: string } | undefined

  /** In the place of what was accepted of this tool before. */
  put({ server, name, definition, atMs }: LookAlikeCandidate): void {
    const key = toToolKey(server, name)
    const look = skeletonOf(name)
    const groups = [
      groupOf('look', look),
      groupOf('look here', server, look),
      ...(FOREIGN.test(name) ? [groupOf('foreign', look)] : []),
      ...(definition === undefined ? [] : [groupOf('body', server, this.#digestBody(definition))]),
    ]
    // A group that it stays in keeps its order: the oldest member stays the first.
    this.remove(key, groups)
    const known = { name, atMs, groups }
    this.#tools.set(key, known)
    for (const group of groups) {
      const members = this.#groups.get(group) ?? new Map<string, IndexedTool>()
      const [oldest] = members.values()
      const isOldest = oldest !== undefined && atMs < oldest.atMs
      this.#groups.set(group, isOldest ? new Map([[key, known], ...members]) : members)
      if (!isOldest) members.set(key, known)
    }
  }

  /** What a definition that is not accepted renames, copies, or could be mistaken for. Only what was
   * there before `settledMs` counts, but for letters of another script and blanks at an end: these
   * are no accident. */
  find(definition: ToolDefinition, settledMs: number): string | undefined {
    const { server, name } = definition
    const look = skeletonOf(name)
    const isForeign = FOREIGN.test(name)
    const alike =
      this.#other(groupOf(isForeign ? 'look' : 'foreign', look), name) ??
      this.#settled(groupOf('look here', server, look), settledMs)
    if (alike !== undefined) return `its name looks like \`${alike}\``
    const copied = this.#settled(groupOf('body', server, this.#digestBody(definition)), settledMs)
    return copied === undefined ? undefined : `it is \`${copied}\` under another name`
  }

  #digestBody(definition: ToolDefinition): string {
    if (this.#lastBody?.definition !== definition)
      this.#lastBody = { definition, digest: digestDefinitionBody(definition) }
    return this.#lastBody.digest
  }

  /** One of another name; the same name is another server's. */
  #other(group: string, name: string): string | undefined {
    for (const known of this.#groups.get(group)?.values() ?? [])
      if (known.name !== name) return known.name
    return undefined
  }

  #settled(group: string, settledMs: number): string | undefined {
    const [oldest] = this.#groups.get(group)?.values() ?? []
    return oldest !== undefined && oldest.atMs < settledMs ? oldest.name : undefined
  }

  /** Removes a tool, named by `toToolKey`, from all groups but these. */
  remove(key: string, staysIn: readonly string[] = []): void {
    const groups = this.#tools.get(key)?.groups ?? []
    this.#tools.delete(key)
    for (const group of groups) {
      if (staysIn.includes(group)) continue
      const members = this.#groups.get(group)
      members?.delete(key)
      if (members?.size === 0) this.#groups.delete(group)
    }
  }
}

function groupOf(...parts: string[]): string {
  return JSON.stringify(parts)
}

/** All of a definition but its name. */
function digestDefinitionBody({ server: _server, name: _name, ...body }: ToolDefinition): string {
  return hash('sha256', writeCanonicalJson(body), 'base64')
}
