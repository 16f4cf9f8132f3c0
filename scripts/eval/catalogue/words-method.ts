// The baseline that the catalogue is compared with: words as features. Single words and pairs of
// name and description, names of arguments, first words of choices, and n-grams of names; those of
// three servers or more. No lexicon and no grammar, so it learns only from the labels.

import { isObject } from '@sluice/policy/core/json'
import type { ToolDefinition } from '@sluice/policy/core/tools'
import {
  splitNameWords,
  splitText,
} from '../../../packages/sluice/src/catalogue/signals/split-words.ts'
import type { Example } from './train.ts'

const SERVERS_MIN = 3
const TEXT_CHARS_MAX = 500
const LETTERS = [4, 5]

export function listWords(tool: ToolDefinition): string[] {
  const features = new Set<string>()
  const names = splitNameWords(tool.name).map(({ text }) => text)
  names.forEach((word, index) => {
    features.add(`n ${word}`)
    if (index === 0) features.add(`n^ ${word}`)
    else features.add(`n2 ${names[index - 1]} ${word}`)
    for (const length of LETTERS)
      for (let at = 0; at + length <= word.length; at++)
        features.add(`c ${word.slice(at, at + length)}`)
  })
  const text = tool.description ?? ''
  const words = splitText(text, 0, Math.min(text.length, TEXT_CHARS_MAX)).map((word) => word.text)
  words.forEach((word, index) => {
    features.add(`d ${word}`)
    if (index === 0) features.add(`d^ ${word}`)
    else features.add(`d2 ${words[index - 1]} ${word}`)
  })
  const schema = tool.inputSchema
  if (isObject(schema) && isObject(schema.properties))
    for (const [name, property] of Object.entries(schema.properties)) {
      for (const { text: word } of splitNameWords(name)) features.add(`a ${word}`)
      if (isObject(property) && Array.isArray(property.enum))
        for (const value of property.enum)
          if (typeof value === 'string') features.add(`e ${splitNameWords(value)[0]?.text ?? ''}`)
    }
  return [...features]
}

/** Without the words that only one or two servers use: they identify the server. */
export function keepShared(examples: readonly Example[]): Example[] {
  const servers = new Map<string, Set<string>>()
  for (const { server, amounts } of examples)
    for (const feature of amounts.keys()) {
      const known = servers.get(feature) ?? new Set()
      servers.set(feature, known.add(server))
    }
  return examples.map((example) => ({
    ...example,
    amounts: new Map(
      [...example.amounts].filter(
        ([feature]) => !isWord(feature) || (servers.get(feature)?.size ?? 0) >= SERVERS_MIN,
      ),
    ),
  }))
}

export function isWord(feature: string): boolean {
  return IS_WORD.test(feature)
}

const IS_WORD = /^(?:n|n\^|n2|c|d|d\^|d2|a|e) /
