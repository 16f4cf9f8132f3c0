// Variables in a client's file, each client in its own spelling, as parts that a configuration of the
// gate can have: plain text and names of environment variables. What only the client can fill is a
// reason to leave the entry. Pure.

import type { McpClientId } from './client.ts'

export type TextPart = string | { readonly variable: string }

export interface VariableScope {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly separator: string
  readonly project?: string
}

/** A reason why an entry stays where it is. */
export class NotMovableError extends Error {}

interface Spelling {
  readonly pattern: RegExp
  /** `${NAME}` is a variable, `${NAME:-text}` has a text for when there is none. */
  readonly bare?: boolean
  /** `${env:NAME}`, `${userHome}` and the like. */
  readonly editor?: boolean
}

const BRACES = /\$\{([^}]*)\}/g
const SPELLINGS: Readonly<Record<McpClientId, Spelling | undefined>> = {
  'claude-code': { pattern: BRACES, bare: true },
  'claude-desktop': undefined,
  cursor: { pattern: BRACES, editor: true },
  vscode: { pattern: BRACES, editor: true },
  windsurf: { pattern: BRACES, editor: true },
  codex: undefined,
  gemini: { pattern: /\$\{([^}]*)\}|\$([A-Za-z_]\w*)/g, bare: true },
}

export function fillVariables(
  text: string,
  client: McpClientId,
  around: VariableScope,
): TextPart[] {
  const spelling = SPELLINGS[client]
  if (spelling === undefined) return text === '' ? [] : [text]
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(spelling.pattern)) {
    if (match.index > at) parts.push(text.slice(at, match.index))
    parts.push(fill(match[1] ?? match[2] ?? '', spelling, around))
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

function fill(inside: string, { bare, editor }: Spelling, around: VariableScope): TextPart {
  const [, name, text] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside) ?? []
  if (bare === true && name !== undefined)
    return text !== undefined && !around.environment[name] ? text : variable(name, around)
  const [, kind = '', word = ''] = /^([\w/]*):?(.*)$/s.exec(inside) ?? []
  if (editor === true && kind === 'env') return variable(word, around)
  if (kind === 'input') throw new NotMovableError(`it asks you for \`${word}\` when it starts`)
  if (editor === true) {
    if (inside === 'userHome') return around.home
    if (inside === 'pathSeparator' || inside === '/') return around.separator
    const { project } = around
    if (inside === 'workspaceFolder' && project !== undefined) return project
    if (inside === 'workspaceFolderBasename' && project !== undefined)
      return project.split(/[\\/]/).at(-1) ?? ''
  }
  throw new NotMovableError(`\`\${${inside}}\` is something only the client can fill`)
}

function variable(name: string, { environment }: VariableScope): TextPart {
  if (/^[A-Za-z_]\w*$/.test(name) && environment[name]) return { variable: name }
  throw new NotMovableError(`the environment has no \`${name}\``)
}
