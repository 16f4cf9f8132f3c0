// Wraps the CEL library: parses expressions to trees and type-checks them over exactly the
// variables they read. The functions they may call are in cel-functions.ts.

import type { ASTNode, Environment } from '@marcbachmann/cel-js'
import { BASE } from './cel-functions.ts'

export type CelNode = ASTNode

export function parseCel(text: string): CelNode {
  return BASE.parse(text).ast
}

/** The base of a chain of `.x` and `[y]`. */
export function getRoot(node: CelNode): CelNode {
  let at = node
  while (at.op === '.' || at.op === '[]') at = at.args[0]
  return at
}

export function listChildren(node: CelNode): readonly CelNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case '!_':
    case '-_':
      return [node.args]
    case 'map':
      return node.args.flat()
    default:
      return node.args as readonly CelNode[]
  }
}

export type CelProgram = (values: Record<string, unknown>) => unknown

export type CelCheck =
  | { readonly ok: true; readonly type: string; readonly run: CelProgram }
  | { readonly ok: false; readonly message: string; readonly start: number; readonly end: number }

const environments = new Map<string, Environment>()
const ENVIRONMENTS_MAX = 1_000

/** Parses and checks `text` over exactly these variables. */
export function checkCel(
  text: string,
  variables: readonly { name: string; type: string }[],
): CelCheck {
  const signature = variables.map(({ name, type }) => `${name}:${type}`).join()
  let environment = environments.get(signature)
  if (environment === undefined) {
    environment = BASE.clone()
    for (const { name, type } of variables) environment.registerVariable(name, type)
    if (environments.size >= ENVIRONMENTS_MAX) environments.clear()
    environments.set(signature, environment)
  }
  try {
    const program = environment.parse(text)
    const checked = program.check()
    if (checked.valid) return { ok: true, type: checked.type ?? 'dyn', run: program }
    return failure(checked.error)
  } catch (error) {
    return failure(error)
  }
}

function failure(error: unknown): CelCheck & { ok: false } {
  const { summary, message, range } = error as {
    summary?: string
    message: string
    range?: { start: number; end: number }
  }
  const text = (summary ?? message.split('\n')[0] ?? 'not CEL').replace(/\.$/, '')
  return {
    ok: false,
    message: text.charAt(0).toLowerCase() + text.slice(1),
    start: range?.start ?? 0,
    end: range?.end ?? 0,
  }
}

export function celFailure(error: unknown): { message: string; start: number } {
  return failure(error)
}
