// RVF containers: an agent's prompts, skills and tools in one file, as `@ruvector/rvagent-wasm` reads
// and writes them. `RVF\x01`, a count, segments of type, tag, length and JSON, and SHA3-256 over all
// before it. What is read is checked to the last byte; nothing in a container grants anything. Pure.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AgentError } from '../shared/errors.ts'
import { IMPORT_DEPTH_MAX, TEMPLATE_ELEMENTS_MAX } from '../shared/limits.ts'
import { checkJsonSize } from './measure-json.ts'

const MAGIC = Buffer.from('RVF\x01', 'latin1')
const HEAD_BYTES = 8
const SEGMENT_HEAD_BYTES = 7
const CHECKSUM_BYTES = 32
const RVF_BYTES_MAX = 4 * 1_048_576
const SEGMENTS_MAX = 64
const BOUNDS = { elements: TEMPLATE_ELEMENTS_MAX, depth: IMPORT_DEPTH_MAX }

const text = z.string().max(200_000)
const object = z.record(z.string(), z.unknown())

const shapes = {
  tools: z.array(
    z.object({
      name: text,
      description: text,
      parameters: z.unknown().optional(),
      returns: text.nullable().optional(),
    }),
  ),
  prompts: z.array(z.object({ name: text, system_prompt: text, version: text.optional() })),
  orchestrator: object.nullable(),
  skills: z.array(
    z.object({
      name: text,
      description: text,
      trigger: text.optional(),
      content: text.optional(),
    }),
  ),
  mcp_tools: z.array(
    z.object({
      name: text,
      description: text,
      input_schema: z.unknown().optional(),
      group: text.nullable().optional(),
    }),
  ),
  capabilities: z.array(
    z.object({
      name: text,
      rights: z.array(text).optional(),
      scope: text.optional(),
      delegation_depth: z.int().min(0).max(10).optional(),
    }),
  ),
}

type RvfSection = keyof typeof shapes

/** In the order in which they are written. */
const SEGMENTS: readonly (readonly [RvfSection, type: number, tag: number])[] = [
  ['tools', 4, 0x105],
  ['prompts', 4, 0x106],
  ['orchestrator', 11, 0x108],
  ['skills', 4, 0x109],
  ['mcp_tools', 4, 0x10b],
  ['capabilities', 6, 0x10c],
]

export type Container = { readonly [Name in RvfSection]: z.infer<(typeof shapes)[Name]> }

export const EMPTY: Container = {
  tools: [],
  prompts: [],
  orchestrator: null,
  skills: [],
  mcp_tools: [],
  capabilities: [],
}

export function writeRvf(container: Container): Buffer {
  const segments = SEGMENTS.flatMap(([name, type, tag]) => {
    const value = container[name]
    if (value === null || (Array.isArray(value) && value.length === 0)) return []
    const payload = Buffer.from(JSON.stringify(value), 'utf8')
    const head = Buffer.alloc(SEGMENT_HEAD_BYTES)
    head.writeUInt8(type, 0)
    head.writeUInt16LE(tag, 1)
    head.writeUInt32LE(payload.length, 3)
    return [Buffer.concat([head, payload])]
  })
  const count = Buffer.alloc(4)
  count.writeUInt32LE(segments.length)
  const body = Buffer.concat([MAGIC, count, ...segments])
  if (body.length + CHECKSUM_BYTES > RVF_BYTES_MAX)
    throw wrong(`it would have more than ${RVF_BYTES_MAX} bytes`)
  return Buffer.concat([body, checksum(body)])
}

export function readRvf(bytes: Uint8Array): Container {
  const whole = Buffer.from(bytes)
  const end = whole.length - CHECKSUM_BYTES
  if (whole.length > RVF_BYTES_MAX) throw wrong(`it has more than ${RVF_BYTES_MAX} bytes`)
  if (end < HEAD_BYTES || !whole.subarray(0, MAGIC.length).equals(MAGIC))
    throw wrong('it does not begin as one')
  if (!checksum(whole.subarray(0, end)).equals(whole.subarray(end)))
    throw wrong('its checksum is another')
  const count = whole.readUInt32LE(MAGIC.length)
  if (count > SEGMENTS_MAX) throw wrong(`it has more than ${SEGMENTS_MAX} segments`)
  const segments: Record<string, unknown> = {}
  let at = HEAD_BYTES
  for (let index = 0; index < count; index += 1) {
    if (at + SEGMENT_HEAD_BYTES > end) throw wrong('a segment is cut off')
    const [type, tag, length] = [
      whole.readUInt8(at),
      whole.readUInt16LE(at + 1),
      whole.readUInt32LE(at + 3),
    ]
    at += SEGMENT_HEAD_BYTES
    if (length > end - at) throw wrong('a segment is cut off')
    const known = SEGMENTS.find(([, , each]) => each === tag)
    if (known === undefined || known[1] !== type) throw wrong(`a segment of an unknown kind ${tag}`)
    if (Object.hasOwn(segments, known[0])) throw wrong(`two segments of ${known[0]}`)
    segments[known[0]] = parseSegmentJson(whole.subarray(at, at + length))
    at += length
  }
  if (at !== end) throw wrong('there is something after its segments')
  return checkContainer({ ...EMPTY, ...segments })
}

/** Held to the shape; from a segment or from the arguments of compose. */
export function checkContainer(value: object): Container {
  const read = z.object(shapes).safeParse(value)
  if (read.success) return read.data as Container
  const [issue] = read.error.issues
  throw wrong(`${issue?.path.join('.')}: ${issue?.message}`)
}

/** The instructions of an agent made from it. */
export function instructionsOf({ prompts, skills }: Container): string {
  const systemPrompts = prompts.map(({ system_prompt }) => system_prompt)
  const learned = skills.map(
    ({ name, description, trigger, content }) =>
      `Skill ${name}${trigger ? ` (${trigger})` : ''}: ${description}\n${content ?? ''}`,
  )
  return [...systemPrompts, ...learned].join('\n\n').trim()
}

function checksum(bytes: Uint8Array): Buffer {
  return createHash('sha3-256').update(bytes).digest()
}

function parseSegmentJson(bytes: Uint8Array): unknown {
  checkJsonSize(bytes, BOUNDS, 'RVF_INVALID')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw wrong('a segment is not JSON')
  }
}

function wrong(why: string): AgentError {
  return new AgentError('RVF_INVALID', `the container cannot be used: ${why}`)
}
