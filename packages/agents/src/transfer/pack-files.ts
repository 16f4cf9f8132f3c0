// Files on their way into a guest: text stays text, everything else travels as one piece of bytes
// beside the event. What says it is text is held to UTF-8. Pure.

import type { FileIn } from '../guest/protocol.ts'
import type { ExportedFile } from './portable.ts'

export interface LooseFile {
  readonly path: string
  readonly content: string | Uint8Array
  readonly modifiedAt?: number
}

export interface PackedFiles {
  readonly files: FileIn[]
  /** The bytes of the files that are not text; undefined if all are. */
  readonly bytes: Buffer | undefined
}

export function packFiles(loose: readonly LooseFile[]): PackedFiles {
  const parts: Uint8Array[] = []
  let offset = 0
  const files = loose.map(({ path, content, modifiedAt }): FileIn => {
    const about = { path, ...(modifiedAt === undefined ? {} : { modifiedAt }) }
    const text = typeof content === 'string' ? wellFormed(content) : strictUtf8(content)
    if (text !== undefined) return { ...about, text, size: Buffer.byteLength(text) }
    parts.push(content as Uint8Array)
    offset += content.length
    return { ...about, bytes: [offset - content.length, content.length] }
  })
  return { files, bytes: parts.length === 0 ? undefined : Buffer.concat(parts) }
}

export function unpackExported(files: readonly ExportedFile[]): LooseFile[] {
  return files.map((file) => ({
    path: file.path,
    modifiedAt: file.modifiedAt,
    content: 'text' in file ? file.text : new Uint8Array(Buffer.from(file.base64, 'base64')),
  }))
}

/** Half characters as U+FFFD, as the guest itself would. By the encoder: a regular expression for them was
 * seen to take over a second for 250 kB. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString('utf8')
}

function strictUtf8(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
