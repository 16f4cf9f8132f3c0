// Reads an export that somebody brings: bounded, unpacked, digest and signature checked, then its
// shape, and taken apart into texts that go into a guest as they are. Hostile input is met here, in
// the transfer thread, whose heap is bounded and in which nobody's agent waits. Called there.

import { asBuffer } from '@sluice/ledger/store/as-buffer'
import type { Config, TokenUsage } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import {
  FILES_BYTES_MAX,
  IMPORT_BYTES_MAX,
  IMPORT_CONVERSATION_LENGTH_MAX,
  IMPORT_STATE_BYTES_MAX,
} from '../shared/limits.ts'
import { isBundle, readBundle } from './bundle.ts'
import { packFiles, unpackExported } from './pack-files.ts'
import { type AgentExport, checkExport, parseExport, toPortable } from './portable.ts'

/** What of an import the host decides by; small. */
export interface ImportFacts {
  readonly info: AgentExport['info']
  readonly config: Config
  readonly turnCount: number
  readonly toolCallCount: number
  readonly usage: TokenUsage
  /** What it had under way; it goes on with its memory only. */
  readonly work: AgentExport['work']
  /** The key that signed the memory, in hex; undefined if there is no memory. */
  readonly signer: string | undefined
}

export interface ReadImport {
  readonly facts: ImportFacts
  /** JSON of the files of the create event, and of what an agent has beside its config, in UTF-8. */
  readonly files: Uint8Array
  readonly rest: Uint8Array
  /** The bytes of files that are no text. */
  readonly bytes: Uint8Array | undefined
  readonly memory: Uint8Array | undefined
}

export function readImport(input: Uint8Array): ReadImport {
  if (input.length > IMPORT_BYTES_MAX)
    throw new AgentError(
      'AGENT_IMPORT',
      `an import has at most ${IMPORT_BYTES_MAX} bytes, this one has ${input.length}`,
    )
  const bundle = findBundle(asBuffer(input))
  if (bundle !== undefined) return readSigned(bundle)
  const exported = parseExport(input)
  // The answer of `wasm_agent_export` as it was given: the bundle in it has the memory too.
  const inside =
    typeof exported.bundle === 'string' ? findBundle(Buffer.from(exported.bundle)) : undefined
  return inside === undefined ? takeApart(checkExport(exported)) : readSigned(inside)
}

function readSigned(bundle: Buffer): ReadImport {
  const { json, memory, signer } = readBundle(bundle)
  return takeApart(checkExport(parseExport(json)), memory, signer)
}

/** The bundle that these bytes are, or are in base64. A text that is cut off fails its signature. */
function findBundle(bytes: Buffer): Buffer | undefined {
  if (isBundle(bytes)) return bytes
  const isText = isBundle(Buffer.from(bytes.toString('latin1', 0, 12), 'base64'))
  return isText ? Buffer.from(bytes.toString('latin1'), 'base64') : undefined
}

function takeApart(whole: AgentExport, memory?: Uint8Array, signer?: string): ReadImport {
  const { config, todos, messages, turnCount, toolCallCount, usage, stop } = toPortable(whole)
  const { files, bytes } = packFiles(unpackExported(whole.files))
  const counts = { turnCount, toolCallCount, usage }
  const rest = Buffer.from(JSON.stringify({ todos, messages, ...counts, stop }))
  // What no agent can hold does not get as far as the thread of all agents.
  const totalBytes = files.reduce((sum, file) => sum + (file.size ?? file.bytes?.[1] ?? 0), 0)
  checkSize('its files have', totalBytes, FILES_BYTES_MAX)
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0)
  checkSize('its conversation has', chars, IMPORT_CONVERSATION_LENGTH_MAX)
  checkSize('its messages and todos have', rest.length, IMPORT_STATE_BYTES_MAX)
  return {
    facts: { info: whole.info, config, ...counts, work: whole.work, signer },
    files: Buffer.from(JSON.stringify(files)),
    rest,
    bytes,
    memory: memory?.length ? memory : undefined,
  }
}

function checkSize(what: string, size: number, most: number): void {
  if (size > most)
    throw new AgentError('AGENT_IMPORT', `${what} ${size} bytes or characters, at most ${most}`)
}
