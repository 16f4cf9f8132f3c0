// The content blocks of `session/prompt` as the text of a prompt. Text blocks are what the user typed; a file or a
// link that the editor adds is quoted, and is never counted as the user's words. Pure.

import { isObject } from '@sluice/policy/values/json'
import { AcpError } from './acp-error.ts'

export interface ReadPrompt {
  /** What the agent is told. */
  readonly input: string
  /** The part of it that the user typed. */
  readonly typed: string
}

const BLOCKS_MAX = 1_000

/** Throws AcpError if a block is of a kind that agents cannot take, or nothing is left. */
export function readPrompt(blocks: unknown): ReadPrompt {
  if (!Array.isArray(blocks)) throw new AcpError('badParams', '`prompt` is not a list of blocks')
  if (blocks.length > BLOCKS_MAX)
    throw new AcpError('badParams', `\`prompt\` has ${blocks.length} blocks; at most ${BLOCKS_MAX}`)
  const parts = blocks.map(readBlock)
  const input = parts.map(({ text }) => text).join('\n\n')
  if (input.trim() === '') throw new AcpError('badParams', 'the prompt is empty')
  const typed = parts.flatMap(({ isTyped, text }) => (isTyped ? [text] : [])).join('\n\n')
  return { input, typed }
}

interface PromptPart {
  readonly text: string
  readonly isTyped: boolean
}

function readBlock(block: unknown, at: number): PromptPart {
  const { type, text, name, uri, resource } = isObject(block) ? block : {}
  if (type === 'text' && typeof text === 'string') return { text, isTyped: true }
  if (type === 'resource_link' && typeof uri === 'string')
    return { text: `[${typeof name === 'string' ? name : uri}](${uri})`, isTyped: false }
  if (type === 'resource' && isObject(resource) && typeof resource.text === 'string') {
    const source = JSON.stringify(String(resource.uri ?? ''))
    return { text: `<file uri=${source}>\n${resource.text}\n</file>`, isTyped: false }
  }
  throw new AcpError(
    'badParams',
    `block ${at + 1} of the prompt is of type \`${String(type)}\`: agents take text, text files and links`,
  )
}
