// The parameters of a tool as a table, narrow enough for a phone: name, type and whether it is required, and
// what its server says of it. A schema is a stranger's: any of its parts may be missing or of another kind.
// Pure; called by tool-page.ts.

import { type Cell, createTextBlock, type PageBlock } from '@sluice/guard/show/page'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { propertiesOf } from '../signals/schema-properties.ts'

const PARAMETERS_SHOWN_MAX = 24
const NOTE_CHARS_MAX = 160
const CHOICES_SHOWN_MAX = 8
/** The depth of unions and arrays in each other that is shown. */
const TYPE_DEPTH_MAX = 3

export function parameterBlocks({ inputSchema }: ToolDefinition): PageBlock[] {
  const properties = propertiesOf(inputSchema)
  const names = Object.keys(properties)
  if (names.length === 0) return [createTextBlock('It takes no arguments.')]
  const list = isObject(inputSchema) ? inputSchema.required : undefined
  const required = new Set(Array.isArray(list) ? list : [])
  const shown = names.slice(0, PARAMETERS_SHOWN_MAX)
  const hasNotes = shown.some((name) => noteOf(properties[name]) !== '')
  const rows = shown.map((name): Cell[] => {
    const property = properties[name]
    const type = typeOf(property)
    const needed = required.has(name) ? `${type.includes(':') ? ';' : ','} required` : ''
    const row: Cell[] = [`\`${name}\``, { text: `${type}${needed}` }]
    return hasNotes ? [...row, { text: cutAtWord(noteOf(property), NOTE_CHARS_MAX) }] : row
  })
  const head = ['name', 'type', ...(hasNotes ? ['its server says'] : [])]
  const more = names.length - rows.length
  return [
    { kind: 'table', head, rows },
    ...(more > 0 ? [createTextBlock(`And ${more} more.`)] : []),
  ]
}

function noteOf(property: JsonValue | undefined): string {
  return isObject(property) && typeof property.description === 'string' ? property.description : ''
}

/** `string`, `string or array of string`, `string: once, forever`. */
function typeOf(property: JsonValue | undefined, depth = 0): string {
  if (!isObject(property) || depth > TYPE_DEPTH_MAX) return 'any'
  const { type, enum: values, items, anyOf, oneOf } = property
  const union = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (type === undefined && union !== undefined && union.length > 0)
    return [...new Set(union.map((one) => typeOf(one, depth + 1)))].join(' or ')
  if (Array.isArray(values) && values.length > 0) {
    const more = values.length > CHOICES_SHOWN_MAX ? ', …' : ''
    const choices = values.slice(0, CHOICES_SHOWN_MAX).map(String).join(', ')
    return `${typeof type === 'string' ? type : 'one of'}: ${choices}${more}`
  }
  if (type === 'array' && items !== undefined) {
    const inner = typeOf(items, depth + 1)
    return inner === 'any' ? 'array' : `array of ${inner}`
  }
  return Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any'
}

/** Cuts a text behind the last whole word that fits. */
export function cutAtWord(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const cut = text.slice(0, charsMax)
  const end = cut.search(/\s\S*$/)
  return `${end > charsMax / 2 ? cut.slice(0, end) : cut} …`
}
