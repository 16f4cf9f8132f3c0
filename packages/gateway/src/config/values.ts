// Values of sluice.yaml as they are meant: `${NAME}` is an environment variable, and a missing one is
// an error at its place; a path is taken from the file's own folder. Used by the readers of its parts.

import { resolve } from 'node:path'
import { isSafeUrl } from '@sluice/access/identity/oauth/safe-url'
import { readSecret, type Secret, SecretText } from '@sluice/access/identity/oauth/secret-text'
import { form } from '@sluice/policy/document/build-shape'
import { asMap, isNull } from '@sluice/policy/document/check-shape'
import { toJson } from '@sluice/policy/document/fields'
import type { Problems } from '@sluice/policy/document/problem'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from '@sluice/policy/document/read-document'
import {
  type FieldValues,
  type FilledValues,
  type FormShape,
  fillDefaults,
  parseDuration,
  type ShapeFields,
  type ShapeValue,
} from '@sluice/policy/document/shape'

/** What a section says, with its defaults. It has been checked, and its variables are filled in. */
export function readFields<const Fields extends ShapeFields>(
  fields: Fields,
  node: LocatedNode | undefined,
): FilledValues<Fields> {
  return fillDefaults(fields, (readValue(node) ?? {}) as FieldValues<Fields>)
}

/** The value of a node that fits a shape; undefined if it is missing or blank. */
export function readValue<S>(node: LocatedNode | undefined): ShapeValue<S> | undefined {
  const value = node === undefined ? null : toJson(node)
  return value === null ? undefined : (value as ShapeValue<S>)
}

/** Of a duration that has been checked. */
export function toMs(duration: string | number): number {
  return (parseDuration(duration) ?? 0) * 1_000
}

export const SECRET_HELP = 'make one with `openssl rand -hex 32`, and give it by a variable'

/** A text that signs messages or lets somebody in. */
export function secretShape(code: string, pattern = /^.{16,1024}$/s): FormShape {
  return form('secret', pattern, `at least 16 characters: ${SECRET_HELP}`, { secret: true, code })
}

/** https, or http on this machine: what is sent there, or comes from there, is a secret or is trusted. */
export function safeUrlShape(code: string): FormShape {
  return form(
    'https address',
    /^https?:.{1,2048}$/i,
    'write `https://…`; http only on this machine',
    { check: isSafeUrl, code },
  )
}

export const URL_SHAPE = form(
  'http or https address',
  /^https?:\/\/.{1,2048}$/,
  'write `https://…/mcp`',
  { check: URL.canParse, code: 'CONFIG_SERVER' },
)

/** Keys whose texts may have references to files, in every section. */
const SECRETS: ReadonlySet<string> = new Set([
  'client_secret',
  'private_key',
  'assertion',
  'hmac_key',
])

export type Environment = Readonly<Record<string, string | undefined>>

export class ConfigValues {
  readonly folder: string
  readonly problems: Problems
  readonly #environment: Environment

  constructor(folder: string, environment: Environment, problems: Problems) {
    this.folder = folder
    this.#environment = environment
    this.problems = problems
  }

  /** From the environment; empty counts as missing. */
  variable(name: string): string | undefined {
    return this.#environment[name] || undefined
  }

  path(node: LocatedNode | undefined): string | undefined {
    return node === undefined ? undefined : resolve(this.folder, this.text(node))
  }

  /** Texts that may have references to files. */
  secrets(node: LocatedNode | undefined): Record<string, Secret> {
    return Object.fromEntries(
      asMap(node)
        .entries.filter(({ value }) => !isNull(value))
        .map(({ key, value }) => [String(key.value), this.secret(value)]),
    )
  }

  findSecret(map: LocatedMap, name: string): Secret | undefined {
    const node = findEntry(map, name)
    return node && this.secret(node)
  }

  /** With `${NAME}` filled in; `${file:PATH}` is read when the text is used. */
  secret(node: LocatedNode): Secret {
    const { value, at } = node as LocatedScalar
    const parts = String(value)
      .split(/(\$\{file:[^$}]*\})/)
      .map((part) => {
        const path = /^\$\{file:(.*)\}$/s.exec(part)?.[1]
        return path === undefined ? this.#fill(part, at) : { file: resolve(this.folder, path) }
      })
    const [only = ''] = parts
    if (parts.length === 1 && typeof only === 'string') return only
    const secret = new SecretText(parts)
    try {
      readSecret(secret)
    } catch (error) {
      const { message } = error as Error
      this.problems.warn('CONFIG_SECRET', at, message, 'the calls fail until it can be read')
    }
    return secret
  }

  /** The names of a mapping that have no value. */
  blankNames(node: LocatedNode | undefined): string[] {
    return asMap(node)
      .entries.filter(({ value }) => isNull(value))
      .map(({ key }) => String(key.value))
  }

  list(node: LocatedNode | undefined): string[] {
    return node?.kind === 'list' ? node.items.map((item) => this.text(item)) : []
  }

  /** The tree with `${NAME}` filled in below these keys. */
  fillSections(tree: LocatedNode, sections: ReadonlySet<string>): LocatedNode {
    if (tree.kind !== 'map') return tree
    const entries = tree.entries.map(({ key, value }) =>
      sections.has(String(key.value)) ? { key, value: this.filled(value) } : { key, value },
    )
    return { ...tree, entries }
  }

  /** The tree with `${NAME}` filled in, but for secrets. `text` stays as it was written: problems show no value
   * of a variable, which may be a secret. */
  filled(node: LocatedNode): LocatedNode {
    if (node.kind === 'list') return { ...node, items: node.items.map((item) => this.filled(item)) }
    if (node.kind === 'map')
      return {
        ...node,
        entries: node.entries.map(({ key, value }) => ({
          key,
          value: SECRETS.has(String(key.value)) ? value : this.filled(value),
        })),
      }
    return typeof node.value === 'string' ? { ...node, value: this.text(node) } : node
  }

  /** With `${NAME}` filled in. */
  text(node: LocatedNode): string {
    const { value, at } = node as LocatedScalar
    return this.#fill(String(value), at)
  }

  #fill(text: string, at: LocatedNode['at']): string {
    return text.replace(/\$\{([^}]*)(\}?)/g, (whole, name: string, end: string) => {
      if (end === '') return whole
      if (name.startsWith('file:')) {
        const help = `it may in \`headers\`, \`env\`, ${[...SECRETS].map((one) => `\`${one}\``).join(', ')}`
        this.problems.error('CONFIG_SECRET', at, `\`${whole}\` cannot stand here`, help)
        return whole
      }
      const filled = this.#environment[name]
      if (filled !== undefined) return filled
      this.problems.error(
        'CONFIG_VARIABLE',
        at,
        `the environment has no \`${name}\``,
        `set ${name}, or write the value`,
      )
      return whole
    })
  }
}
