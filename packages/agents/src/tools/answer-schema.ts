// The final answer of a run as a value: JSON that fits a schema of the caller. The agent is told the schema with the
// prompt, and once more what does not fit. Nothing of it is stored, so `wasm_agent_wait` is given the schema again.

import { fromJsonSchema } from '@modelcontextprotocol/server'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'
import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { AgentError } from '../shared/errors.ts'
import { ANSWER_SCHEMA_LENGTH_MAX } from '../shared/limits.ts'

/** An answer that was checked: its value, or why there is none. */
export type CheckedAnswer = { readonly output: JsonValue } | { readonly outputFault: string }

/** Keywords that are checked in bounded time. A keyword that was passed over would be a check that is not made. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
])
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const FAULT_LENGTH_MAX = 500

export class AnswerSchema {
  /** Stands behind the prompt. */
  readonly form: string
  readonly #schema: JsonObject

  /** Throws `AGENT_INPUT` if the schema cannot be checked. */
  constructor(schema: JsonObject) {
    const text = JSON.stringify(schema)
    if (text.length > ANSWER_SCHEMA_LENGTH_MAX)
      throw refuse(`it has ${text.length} characters, at most ${ANSWER_SCHEMA_LENGTH_MAX}`)
    checkSchema(schema, 'schema')
    this.#schema = schema
    this.form = `\n\nYour final answer is JSON and nothing else, and fits this JSON Schema:\n${text}`
  }

  async check(response: string): Promise<CheckedAnswer> {
    const output: JsonValue | undefined = attempt(() => JSON.parse(unfence(response)))
    if (output === undefined) return { outputFault: 'it is not JSON' }
    const validator = new CfWorkerJsonSchemaValidator()
    const { issues } = await fromJsonSchema(this.#schema, validator)['~standard'].validate(output)
    if (issues === undefined) return { output }
    const faults = issues.map(({ message }) => message).join('; ')
    return { outputFault: faults.slice(0, FAULT_LENGTH_MAX) }
  }
}

/** What the agent is told when its answer does not fit. */
export function askAgain(fault: string): string {
  return `Your final answer does not fit the JSON Schema: ${fault}. Answer again, with JSON and nothing else.`
}

/** Models like to put JSON into a code block. */
function unfence(response: string): string {
  const text = response.trim()
  if (!text.startsWith('```') || !text.endsWith('```')) return text
  return text.slice(text.indexOf('\n') + 1, -3)
}

function checkSchema(schema: unknown, path: string): void {
  if (typeof schema === 'boolean') return
  if (!isObject(schema)) throw refuse(`\`${path}\` is no schema`)
  for (const keyword of Object.keys(schema))
    if (!KEYWORDS.has(keyword)) throw refuse(`\`${path}.${keyword}\` is not checked here`)
  const { type = [], properties = {}, anyOf = [], items, additionalProperties } = schema
  for (const one of Array.isArray(type) ? type : [type])
    if (!TYPES.includes(String(one))) throw refuse(`\`${path}.type\` is \`${String(one)}\``)
  if (!isObject(properties)) throw refuse(`\`${path}.properties\` is no object`)
  for (const [name, of] of Object.entries(properties)) checkSchema(of, `${path}.properties.${name}`)
  if (!Array.isArray(anyOf)) throw refuse(`\`${path}.anyOf\` is no list`)
  for (const [at, of] of anyOf.entries()) checkSchema(of, `${path}.anyOf.${at}`)
  if (items !== undefined) checkSchema(items, `${path}.items`)
  if (additionalProperties !== undefined)
    checkSchema(additionalProperties, `${path}.additionalProperties`)
}

function refuse(why: string): AgentError {
  const known = 'write one with these words: '
  return new AgentError('AGENT_INPUT', `the schema: ${why}; ${known}${[...KEYWORDS].join(', ')}`)
}
