// `script:NAME`: a file of canned turns, for demonstrations and tests. The next turn is decided by
// how many the agent has behind it, so a script goes on where it was after a crash. It is named as
// what it is in every answer.

import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { z } from 'zod'
import { AgentError } from '../shared/errors.ts'
import { SCRIPT_BYTES_MAX, SCRIPT_KEPT_LENGTH_MAX, SCRIPTS_KEPT_MAX } from '../shared/limits.ts'
import type { ModelAnswer, ModelRequest } from './models.ts'

const count = z.int().min(0)
const shape = z.strictObject({
  turns: z.array(
    z.strictObject({
      text: z.string().default(''),
      toolCalls: z
        .array(z.strictObject({ name: z.string(), input: z.unknown().default({}) }))
        .default([]),
      usage: z
        .strictObject({ inputTokens: count, outputTokens: count })
        .default({ inputTokens: 1, outputTokens: 1 }),
      /** How long the turn takes, so that something can be seen happening. */
      delayMs: count.max(60_000).default(0),
    }),
  ),
})

type Script = z.infer<typeof shape>

/** Scripts that were read, by file and version: a turn should not cost what the others are long. */
const READ = new LruMap<string, Script>(SCRIPTS_KEPT_MAX)

export async function playScript(
  name: string,
  request: ModelRequest,
  directory: string,
): Promise<ModelAnswer> {
  const { turns } = readScript(name, directory)
  const turn = turns[request.turn]
  if (turn === undefined)
    throw new AgentError(
      'MODEL_SCRIPT',
      `the script \`${name}\` has ended after ${turns.length} turns`,
    )
  if (turn.delayMs > 0) await sleep(turn.delayMs, undefined, { signal: request.signal })
  if (turn.text !== '') request.onText?.(turn.text)
  return {
    text: turn.text,
    toolCalls: turn.toolCalls.map(({ name: tool, input }, at) => ({
      id: `script_${request.turn}_${at}`,
      name: tool,
      input,
    })),
    usage: turn.usage,
  }
}

/** Only a plain name, and only what really lies in the directory: a name must not read other files. */
function readScript(name: string, directory: string): Script {
  if (!/^[\w][\w.-]{0,127}$/.test(name))
    throw new AgentError(
      'MODEL_SCRIPT',
      `\`${name}\` is not a valid script name: letters, digits, ._-`,
    )
  let text: string
  let version: string
  try {
    const root = realpathSync(directory)
    const file = realpathSync(join(root, name.endsWith('.json') ? name : `${name}.json`))
    const { size, mtimeNs, ino } = statSync(file, { bigint: true })
    if (!file.startsWith(root + sep) || size > SCRIPT_BYTES_MAX) throw new Error()
    version = `${file} ${ino} ${size} ${mtimeNs}`
    const cached = READ.get(version)
    if (cached !== undefined) return cached
    text = readFileSync(file, 'utf8')
  } catch {
    throw new AgentError(
      'MODEL_SCRIPT',
      `there is no script \`${name}\` of at most ${SCRIPT_BYTES_MAX} bytes in the scripts directory`,
    )
  }
  // Nothing of the content is in the message: it may not be a script at all.
  try {
    const script = shape.parse(JSON.parse(text))
    if (text.length <= SCRIPT_KEPT_LENGTH_MAX) READ.set(version, script)
    return script
  } catch {
    throw new AgentError('MODEL_SCRIPT', `\`${name}\` is not a script: { "turns": [{ "text" }] }`)
  }
}
