// What `sluice ci` found: steps with their checks, each with its place. Written as text, JSON, JUnit,
// SARIF and Markdown by the files beside this one.

import type { ToolChange } from './compare-base.ts'

export interface CiCheck {
  /** An error code, or the name of the step. */
  readonly rule: string
  readonly name: string
  readonly level: 'passed' | 'warning' | 'failed'
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column?: number
  readonly message?: string
  readonly help?: string
}

export interface CiStep {
  readonly name: 'check' | 'test' | 'prove' | 'simulate' | 'coverage' | 'compare'
  readonly status: 'passed' | 'failed' | 'skipped'
  /** One line: what was found, or why it was skipped. */
  readonly summary: string
  readonly checks: readonly CiCheck[]
}

export interface CiReport {
  readonly ok: boolean
  readonly steps: readonly CiStep[]
  /** With `--base`. */
  readonly changes?: {
    readonly base: string
    readonly tools: readonly ToolChange[]
    readonly cases: readonly ToolChange[]
    readonly looser: readonly { readonly where: string; readonly what: string }[]
  }
}
