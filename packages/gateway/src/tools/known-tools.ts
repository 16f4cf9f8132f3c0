// What a server's tools are, as it lists them: each definition with the class it was accepted with.
// One object for each distinct definition, shared by all sessions, because the engine keeps what it
// derives from a definition by identity.

import { classify, classifyOwn } from '@sluice/catalogue/classify/classify'
import type { KnownTool, ToolDefinition } from '@sluice/policy/calls/tools'

/** Which tools are no server's, by the configuration of their server. */
export interface ToolSources {
  /** They are served inside the gate: their own hints are believed. */
  readonly isOwn: (server: string, tool: string) => boolean
  /** A coding client carries them out itself. */
  readonly isClientTool: (server: string, tool: string) => boolean
}

const FOREIGN: ToolSources = { isOwn: () => false, isClientTool: () => false }

export class KnownTools {
  readonly #byText = new Map<string, KnownTool>()
  /** The newest definition of each, by server and name. */
  readonly #newest = new Map<string, Map<string, KnownTool>>()
  readonly #onNew: (tool: KnownTool) => void
  readonly #sources: ToolSources
  /** The instructions of each server, with a number that grows when they change. */
  readonly #instructions = new Map<string, { readonly text: string; readonly number: number }>()

  constructor(onNew: (tool: KnownTool) => void, sources: ToolSources = FOREIGN) {
    this.#onNew = onNew
    this.#sources = sources
  }

  /** The newest definition of each tool of a server, by its name. */
  of(server: string): ReadonlyMap<string, KnownTool> {
    return this.#newest.get(server) ?? NO_TOOLS
  }

  /** What a server tells the model at the beginning: a part of its definitions from now on. */
  hear(server: string, text: string): void {
    const before = this.#instructions.get(server)
    if (before?.text === text) return
    this.#instructions.set(server, { text, number: (before?.number ?? 0) + 1 })
  }

  /** `text` is the definition as the server wrote it. */
  accept(server: string, definition: Omit<ToolDefinition, 'server'>, text: string): KnownTool {
    const known = this.#instructions.get(server)
    const key = `${server}\n${known?.number ?? 0}\n${text}`
    let tool = this.#byText.get(key)
    if (tool === undefined) {
      const whole = { ...definition, server }
      const instructions = known === undefined ? {} : { instructions: known.text }
      const { isOwn, isClientTool } = this.#sources
      const classification = isOwn(server, whole.name) ? classifyOwn(whole) : classify(whole)
      const carriedOut = isClientTool(server, whole.name) ? { isClientTool: true } : {}
      tool = { definition: whole, ...classification, ...instructions, ...carriedOut }
      if (this.#byText.size >= DEFINITIONS_MAX) {
        this.#byText.clear()
        this.#newest.clear()
      }
      this.#byText.set(key, tool)
      const newest = this.#newest.get(server) ?? new Map<string, KnownTool>()
      this.#newest.set(server, newest.set(whole.name, tool))
      this.#onNew(tool)
    }
    return tool
  }
}

/** Definitions remembered; a server that changes its own all day must not fill the memory. */
const DEFINITIONS_MAX = 50_000
const NO_TOOLS: ReadonlyMap<string, KnownTool> = new Map()
