// What of a server goes into sluice.yaml as it is, and what goes into the file of keys and is in
// sluice.yaml as `${NAME}`: whatever may be a secret, whatever has a `${` that is none of ours, and
// variables that a gate started by another program would lack. Pure.

import type { SandboxProfile } from '@sluice/gateway/config/config'
import type { ParsedServer, TextTemplate } from '../files/read-server.ts'

/** A server as sluice.yaml has it. */
/** A `type`, so that an entry is a `JsonObject` without a cast: an interface has no index. */
export type ServerYaml = {
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly sandbox?: SandboxProfile
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServerWithSecrets {
  readonly server: ServerYaml
  /** For the file of keys, by name. */
  readonly keys: ReadonlyMap<string, string>
}

export function extractSecrets(
  name: string,
  server: ParsedServer,
  environment: Readonly<Record<string, string | undefined>>,
  holdsSecret: (text: string) => boolean,
): ServerWithSecrets {
  const keeper = new SecretExtractor(name, environment, holdsSecret)
  if (server.kind === 'http')
    return {
      server: {
        url: keeper.text(server.url, 'URL', 'ask'),
        ...record('headers', keeper.texts(server.headers)),
      },
      keys: keeper.keys,
    }
  const [program, ...args] = server.command
  const words = args.map((word, at) => {
    // `--api-key VALUE`, `--token=VALUE`, `-p VALUE`
    const before = at === 0 ? '' : plainText(args[at - 1] as TextTemplate)
    const isNamed = /^--?[\w-]*$/.test(before) && SECRET_NAME.test(before)
    const own = /^--?([\w-]+)=/.exec(plainText(word))?.[1] ?? ''
    return keeper.text(word, `ARG_${at + 1}`, isNamed || SECRET_NAME.test(own) ? 'keep' : 'ask')
  })
  return {
    server: {
      command: [keeper.text(program ?? [], 'COMMAND', 'ask'), ...words],
      cwd: server.cwd,
      ...record('env', keeper.texts(server.env)),
      ...(server.sandbox === undefined ? {} : { sandbox: server.sandbox }),
    },
    keys: keeper.keys,
  }
}

const SECRET_NAME =
  /key|token|secret|passw|pwd|auth|cred|cookie|session|bearer|private|signature|dsn|webhook|conn/i
/** Values that say nothing to a thief. */
const HARMLESS =
  /^(?:|true|false|yes|no|on|off|-?\d{1,6}(?:\.\d{1,6})?|debug|info|warn|warning|error|trace|silent|production|development|test|stdio|http|utf-?8|[a-z]{2}[-_][A-Z]{2}|application\/[a-z+.-]{1,40}|(?:[A-Za-z]:)?[\\/][\w .@+\\/-]{0,400})$/i

class SecretExtractor {
  readonly keys = new Map<string, string>()
  readonly #prefix: string
  readonly #environment: Readonly<Record<string, string | undefined>>
  readonly #holdsSecret: (text: string) => boolean

  constructor(
    name: string,
    environment: Readonly<Record<string, string | undefined>>,
    holdsSecret: (text: string) => boolean,
  ) {
    this.#prefix = `SLUICE_${variableName(name)}_`
    this.#environment = environment
    this.#holdsSecret = holdsSecret
  }

  /** Environment and headers: a value is a key unless it plainly is none. */
  texts(values: Readonly<Record<string, TextTemplate>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const isPlain = HARMLESS.test(plainText(value)) && !SECRET_NAME.test(name)
        return [name, this.text(value, variableName(name), isPlain ? 'ask' : 'keep')]
      }),
    )
  }

  /** `ask`: only if it looks like a key. */
  text(parts: TextTemplate, name: string, how: 'keep' | 'ask'): string {
    const plain = plainText(parts)
    const isKey = plain !== '' && (how === 'keep' || this.#looksSecret(plain))
    const hasNames = parts.some((part) => typeof part !== 'string')
    // A text with `${` in it would be read as a variable; one around variables is taken apart.
    if (!hasNames && (isKey || plain.includes('${'))) return this.#put(name, plain)
    return parts
      .map((part, at) => {
        if (typeof part !== 'string') {
          this.keys.set(part.variable, this.#environment[part.variable] ?? '')
          return `\${${part.variable}}`
        }
        const odd = part.includes('${') || part.endsWith('$') || this.#holdsSecret(part)
        return odd ? this.#put(`${name}_${at + 1}`, part) : part
      })
      .join('')
  }

  #looksSecret(text: string): boolean {
    if (this.#holdsSecret(text)) return true
    return /^[a-z][\w+.-]*:\/\//i.test(text) && URL.canParse(text) && urlHasKey(new URL(text))
  }

  #put(name: string, value: string): string {
    let own = this.#prefix + name
    for (let next = 2; (this.keys.get(own) ?? value) !== value; next++)
      own = `${this.#prefix}${name}_${next}`
    this.keys.set(own, value)
    return `\${${own}}`
  }
}

/** A password, a named key, or a part that no person would write. */
function urlHasKey(url: URL): boolean {
  if (url.username !== '' || url.password !== '') return true
  const named = [...url.searchParams].some(
    ([name, value]) => value !== '' && SECRET_NAME.test(name),
  )
  const odd = (part: string) => part.length >= 20 && /\d/.test(part) && /[a-z]/i.test(part)
  return named || url.pathname.split('/').some(odd) || [...url.searchParams.values()].some(odd)
}

function plainText(parts: TextTemplate): string {
  return parts.filter((part) => typeof part === 'string').join('')
}

function variableName(text: string): string {
  const name = text.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  return name.replace(/^_|_$/g, '') || 'X'
}

function record<K extends string>(
  key: K,
  values: Record<string, string>,
): { [P in K]?: Record<string, string> } {
  return Object.keys(values).length === 0
    ? {}
    : ({ [key]: values } as { [P in K]: Record<string, string> })
}
