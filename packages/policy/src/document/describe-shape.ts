// Describes shapes and values in problems: what was found, what is expected, and how to write it.

import type { LocatedNode } from './read-document.ts'
import type { Shape } from './shape.ts'

export function describeNode(node: LocatedNode): string {
  if (node.kind === 'map') return 'a mapping'
  if (node.kind === 'list') return 'a list'
  if (node.value === null) return 'empty'
  const written = shorten(node.text)
  return typeof node.value === 'string' ? `the text \`${written}\`` : `\`${written}\``
}

/** Suggests how to write the intended value, if it is obvious. */
export function howToWrite(node: LocatedNode, shape: Shape): string {
  const wanted = nodeKind(shape)
  if (node.kind === 'list' && wanted === 'map') return ': write its entries without `-` or brackets'
  if (node.kind === 'map' && wanted === 'list') return ': write each entry after a `-`'
  if (node.kind !== 'scalar' || node.value === null) return ''
  if (wanted === 'list') return `: write \`${toFlowList(node.text)}\``
  if (wanted === 'map' && /\w:\S/.test(node.text)) return ': put a space after each `:`'
  if (shape.kind === 'text' && shape.example === undefined) return ': put it in quotes'
  return typeof node.value === 'string' && /^\d+(\.\d+)?$/.test(node.text) && shape.kind !== 'word'
    ? ', without quotes'
    : ''
}

/** `npx -y foo` is three entries; quotes of a shell are not taken apart. */
function toFlowList(text: string): string {
  const words = /["'\\]/.test(text) ? [text] : text.split(/[\s,]+/).filter(Boolean)
  const entries = words.map((word) => (PLAIN_ENTRY.test(word) ? word : JSON.stringify(word)))
  return shorten(`[${entries.join(', ')}]`)
}

/** Needs no quotes inside of a YAML list. */
const PLAIN_ENTRY = /^[\w./-][\w./=-]*$/

export function shorten(text: string): string {
  return text.length <= 80 ? text : text.slice(0, 80)
}

export function describeShape(shape: Shape): string {
  switch (shape.kind) {
    case 'word':
      return `${shape.words.length > 1 ? 'one of ' : ''}${shape.words.map((word) => `\`${word}\``).join(', ')}`
    case 'constant':
      return `the number \`${shape.value}\``
    case 'integer':
      return `a whole number from ${shape.min} to ${shape.max}`
    case 'decimal':
      return 'a decimal above zero, such as `99.50`'
    case 'text':
      return shape.example === undefined ? 'text' : `text such as ${shape.example}`
    case 'form':
      return `${/^(?:[aeiou]|http)/.test(shape.noun) ? 'an' : 'a'} ${shape.noun}`
    case 'time':
      return 'a time such as `2027-01-31T18:00:00Z`, or a day'
    case 'duration':
      return 'whole seconds, or `30s`, `5m`, `1h`, `1d`'
    case 'boolean':
      return '`true` or `false`'
    case 'list':
      return shape.of.kind === 'object' ? 'a list' : `a list of ${describeShape(shape.of)}`
    case 'either':
      return shape.of.map(describeShape).join(', or ')
    case 'object':
      return shape.example === undefined ? 'a mapping' : `a mapping such as ${shape.example}`
    default:
      return 'a mapping'
  }
}

/** The kind of node that a shape is written as. */
export function nodeKind(shape: Shape): LocatedNode['kind'] {
  if (shape.kind === 'object' || shape.kind === 'record') return 'map'
  return shape.kind === 'list' ? 'list' : 'scalar'
}
