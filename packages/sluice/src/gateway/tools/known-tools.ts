// What a server's tools are, as it lists them: each definition with the class it was accepted with.
// One object for each distinct definition, shared by all sessions, because the engine keeps what it
// derives from a definition by identity.

import type { KnownTool, ToolDefinition } from '@sluice/policy/core/tools'
import { classify, classifyOwn } from '../../catalogue/classify/classify.ts'

export class KnownTools {
  readonly #byText = new Map<string, KnownTool>()
  /** The newest definition of each, by server and name. */
  readonly #newest = new Map<string, Map<string, KnownTool>>()
  readonly #onNew: (tool: KnownTool) => void
  readonly #isOwn: (server: string, tool: string) => boolean
  /** Of each server, with a number for each time they were others. */
  readonly #instructions = new Map<string, { readonly text: string; readonly number: number }>()

  /** `isOwn` tells tools that are served inside the gate: their own hints are believed. */
  constructor(
    onNew: (tool: KnownTool) => void,
    isOwn: (server: string, tool: string) => boolean = () => false,
  ) {
    this.#onNew = onNew
    this.#isOwn = isOwn
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
      const classification = this.#isOwn(server, whole.name) ? classifyOwn(whole) : classify(whole)
      tool = { definition: whole, ...classification, ...instructions }
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
