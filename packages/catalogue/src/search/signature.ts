// A tool definition as one line of TypeScript: what a model needs in order to call it, in a fifth of the tokens of its
// JSON Schema. Read leniently, because servers write schemas of all kinds: what cannot be said is `unknown`. Pure.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'

const DEPTH_MAX = 6
const ENUM_WORDS_MAX = 12
/** Types that are written of one definition: references could unfold to any number. */
const TYPES_MAX = 200
const SENTENCE_LENGTH_MAX = 160
const SIGNATURE_LENGTH_MAX = 1_200
const PLAIN_NAME = /^[\w./-]+$/
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

const SIMPLE: ReadonlySet<unknown> = new Set(['string', 'number', 'boolean', 'null'])

interface Schemas {
  readonly root: JsonObject
  /** How many types may still be written. */
  left: number
}

/** How a program names a tool: `tools.github.create_issue`, `tools["my-server"].search`. */
export function writeProgramName(server: string, tool: string): string {
  const member = (name: string) =>
    IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  return `tools${member(server)}${member(tool)}`
}

/** `name({owner:string,state?:"open"|"closed"}) // What it does.` */
export function writeSignature(
  name: string,
  { description, inputSchema }: ToolDefinition,
  // A name with a line break would read as two results.
  shown = PLAIN_NAME.test(name) ? name : JSON.stringify(name),
): string {
  const root = isObject(inputSchema) ? inputSchema : {}
  const args = writeObject(root, { root, left: TYPES_MAX }, 0)
  const call = `${shown}(${args === 'object' ? '{}' : args})`
  const short = call.length > SIGNATURE_LENGTH_MAX ? `${shown}(object)` : call
  const about = firstSentence(typeof description === 'string' ? description : '')
  return about === '' ? short : `${short} // ${about}`
}

function firstSentence(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim()
  const sentence = /^.*?[.!?](?= |$)/.exec(plain)?.[0] ?? plain
  if (sentence.length <= SENTENCE_LENGTH_MAX) return sentence
  return `${sentence.slice(0, SENTENCE_LENGTH_MAX).replace(/[\ud800-\udbff]$/, '')}…`
}

function writeType(schema: JsonValue | undefined, schemas: Schemas, depth: number): string {
  if (!isObject(schema) || depth > DEPTH_MAX || --schemas.left < 0) return 'unknown'
  const { $ref, enum: words, const: only, anyOf, oneOf, allOf, type } = schema
  if (typeof $ref === 'string') return writeType(resolve($ref, schemas.root), schemas, depth + 1)
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(words)) return writeWords(words)
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices))
    return join(choices.map((each) => writeType(each, schemas, depth + 1)))
  if (Array.isArray(allOf) && allOf.length === 1) return writeType(allOf[0], schemas, depth + 1)
  if (Array.isArray(type))
    return join(type.map((each) => writeType({ ...schema, type: each }, schemas, depth + 1)))
  if (type === 'array') return writeArray(writeType(schema.items, schemas, depth + 1))
  if (type === 'object' || isObject(schema.properties)) return writeObject(schema, schemas, depth)
  if (type === 'integer') return 'number'
  return SIMPLE.has(type) ? String(type) : 'unknown'
}

function writeWords(words: readonly JsonValue[]): string {
  const shown = words.slice(0, ENUM_WORDS_MAX).map((word) => JSON.stringify(word))
  return join(words.length > ENUM_WORDS_MAX ? [...shown, 'string'] : shown)
}

function writeArray(item: string): string {
  return item.includes('|') ? `(${item})[]` : `${item}[]`
}

function writeObject(schema: JsonObject, schemas: Schemas, depth: number): string {
  const { properties, required, additionalProperties } = schema
  const members = Object.entries(isObject(properties) ? properties : {})
  if (members.length === 0) {
    if (!isObject(additionalProperties)) return 'object'
    return `Record<string,${writeType(additionalProperties, schemas, depth + 1)}>`
  }
  const needed = new Set(Array.isArray(required) ? required : [])
  // What must be given comes first: a long signature is read from its beginning.
  const inOrder = members.sort(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a)))
  const written = inOrder.map(([name, value]) => {
    const key = IDENTIFIER.test(name) ? name : JSON.stringify(name)
    return `${key}${needed.has(name) ? '' : '?'}:${writeType(value, schemas, depth + 1)}`
  })
  return `{${written.join(',')}}`
}

/** Only within the definition, as `#/$defs/Issue`. */
function resolve(reference: string, root: JsonObject): JsonValue | undefined {
  const path = reference.startsWith('#/') ? reference.slice(2).split('/') : ['']
  return path.reduce<JsonValue | undefined>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  )
}

function join(types: readonly string[]): string {
  return [...new Set(types)].join('|') || 'unknown'
}
