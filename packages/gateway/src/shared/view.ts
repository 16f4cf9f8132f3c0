// A view: tools of some servers, under names of the operator's choice, listed at `/mcp/@NAME` by the session of all
// servers. It says what is listed and how it is named, and permits nothing: the relay of each server decides every call.

import { hash } from 'node:crypto'
import { didYouMean, nearest } from '@sluice/policy/document/nearest'
import {
  type Glob,
  globMatches,
  isGlob,
  parseGlob,
  wildcardMatches,
} from '@sluice/policy/language/glob'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { JOINED_NAME_LENGTH_MAX } from '@sluice/protocol/json/limits'
import { joinName } from '@sluice/protocol/tool-names'

/** An entry of `views` in sluice.yaml. */
export interface ViewConfig {
  /** `server/tool`, where both parts may have `*` and `?`. */
  readonly tools: readonly string[]
  /** Names of tools, by `server/tool`. */
  readonly as: Readonly<Record<string, string>>
}

export interface ToolPlace {
  readonly server: string
  readonly name: string
}

/** What stands before the name of a view in an address, and in place of a server's name. No server's name has it. */
const MARK = '@'

/** The view that an address names in place of a server; undefined if it names a server. */
export function viewOf(address: string): string | undefined {
  return address.startsWith(MARK) ? address.slice(MARK.length) : undefined
}

export function addressOfView(name: string): string {
  return MARK + name
}

/** Why there is nothing at the address of a view; undefined for an address of another kind. */
export function explainMissingView(
  address: string,
  views: readonly string[],
): OperationError | undefined {
  const view = viewOf(address)
  if (view === undefined) return undefined
  const text = `no view is called \`${view.slice(0, 100)}\``
  if (views.length === 0)
    return new OperationError(text, 'this gate has none: write `views` in sluice.yaml')
  return new OperationError(text, didYouMean(view, views))
}

/** Length of the name of a tool in a view: clients show it as `mcp__VIEW__TOOL`, which has to be shorter than model
 * providers allow. */
export function viewToolLengthMax(view: string): number {
  return JOINED_NAME_LENGTH_MAX - 1 - `mcp__${view}__`.length
}

export class View {
  readonly name: string
  /** Length of the name of a tool, as it is listed. */
  readonly nameLengthMax: number
  readonly #patterns: readonly Glob[]
  readonly #names: ReadonlyMap<string, string>
  readonly #renamed: ReadonlyMap<string, ToolPlace>
  /** Tells this view from an earlier one of the same name. */
  readonly digest: string

  constructor(name: string, { tools, as }: ViewConfig) {
    this.name = name
    this.nameLengthMax = viewToolLengthMax(name)
    this.#patterns = tools.map(parseGlob)
    this.#names = new Map(Object.entries(as))
    this.#renamed = new Map(Object.entries(as).map(([tool, given]) => [given, placeOf(tool)]))
    this.digest = hash('sha256', JSON.stringify([name, tools, as]))
  }

  includesServer(server: string): boolean {
    return this.#patterns.some((pattern) => wildcardMatches(pattern.server, server))
  }

  lists(server: string, tool: string): boolean {
    return this.#patterns.some((pattern) => globMatches(pattern, server, tool))
  }

  /** The name that clients are given. */
  nameOf(server: string, tool: string): string {
    const digest = (text: string) => hash('sha256', text, 'base64url')
    const { nameLengthMax: lengthMax } = this
    return this.#names.get(`${server}/${tool}`) ?? joinName(server, tool, digest, lengthMax)
  }

  /** The tool that has this name by `as`. */
  find(given: string): ToolPlace | undefined {
    return this.#renamed.get(given)
  }

  /** Names in the view that fit none of the tools that a server has, each with what may be meant. */
  unknownTools(server: string, tools: readonly string[]): { tool: string; near?: string }[] {
    const exact = [...this.#patterns, ...[...this.#names.keys()].map(parseGlob)]
    const own = exact.filter(
      (pattern) =>
        pattern.server === server && !tools.some((each) => wildcardMatches(pattern.name, each)),
    )
    return [...new Set(own.map(({ key }) => key))].map((tool) => {
      const near = isGlob(tool) ? undefined : nearest(placeOf(tool).name, tools)
      return near === undefined ? { tool } : { tool, near: `${server}/${near}` }
    })
  }
}

function placeOf(tool: string): ToolPlace {
  const { server, name } = parseGlob(tool)
  return { server, name }
}
