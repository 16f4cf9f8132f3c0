// The files as a program sees them: those of the agent when it began, and over them what the program
// wrote. Nothing reaches the agent before the program has ended well. Bytes are bytes; text is held
// as text.

import { normalisePath } from './paths.ts'
import type { FileIn } from './protocol.ts'
import { wellFormed } from './text.ts'

type Content = string | Uint8Array

/** Where each file's content is: so many characters of the texts, or a stretch of the bytes. */
export interface OverlayFile {
  readonly path: string
  readonly length?: number
  readonly bytes?: readonly [offset: number, length: number]
}

export interface Overlay {
  readonly api: object
  /** What was written and removed; the contents go along beside it, so that the list stays short. */
  take(): { list: { write: OverlayFile[]; remove: string[] }; texts: string; bytes: Uint8Array }
}

export function fileApi(files: readonly FileIn[], bytes: Uint8Array | undefined): Overlay {
  const base = new Map<string, Content>()
  for (const { path, text, bytes: [offset, length] = [0, 0] } of files)
    base.set(path, text ?? (bytes ?? new Uint8Array()).slice(offset, offset + length))
  /** `null`: removed. */
  const over = new Map<string, Content | null>()

  const find = (path: unknown): Content => {
    const name = normalisePath(path)
    const content = over.has(name) ? over.get(name) : base.get(name)
    if (content === undefined || content === null) throw new Error(`there is no file ${name}`)
    return content
  }
  const has = (path: unknown): boolean => {
    const name = normalisePath(path)
    return over.has(name) ? over.get(name) !== null : base.has(name)
  }
  const api = Object.freeze({
    read: (path: unknown): string => {
      const content = find(path)
      if (typeof content !== 'string') throw new Error(`${String(path)} is not text: readBytes`)
      return content
    },
    readBytes: (path: unknown): Uint8Array => {
      const content = find(path)
      return typeof content === 'string' ? encode(content) : content.slice()
    },
    write: (path: unknown, content: unknown): void => {
      const name = normalisePath(path)
      if (typeof content === 'string') over.set(name, wellFormed(content))
      else if (content instanceof Uint8Array) over.set(name, content.slice())
      else throw new Error('the content of a file is a text or a Uint8Array')
    },
    delete: (path: unknown): void => {
      find(path)
      over.set(normalisePath(path), null)
    },
    exists: has,
    list: (): string[] => [...new Set([...base.keys(), ...over.keys()])].filter(has).sort(),
  })
  return {
    api,
    take() {
      const write: OverlayFile[] = []
      const remove: string[] = []
      const texts: string[] = []
      const parts: Uint8Array[] = []
      let offset = 0
      for (const [path, content] of over) {
        if (content === null) remove.push(path)
        else if (typeof content === 'string') {
          write.push({ path, length: content.length })
          texts.push(content)
        } else {
          write.push({ path, bytes: [offset, content.length] })
          parts.push(content)
          offset += content.length
        }
      }
      const bytes = new Uint8Array(offset)
      let at = 0
      for (const part of parts) {
        bytes.set(part, at)
        at += part.length
      }
      return { list: { write, remove }, texts: texts.join(''), bytes }
    },
  }
}

/** There is no TextEncoder in here. */
function encode(text: string): Uint8Array {
  const bytes: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) bytes.push(code)
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
    else if (code < 0x1_0000)
      bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    else
      bytes.push(
        0xf0 | (code >> 18),
        0x80 | ((code >> 12) & 63),
        0x80 | ((code >> 6) & 63),
        0x80 | (code & 63),
      )
  }
  return Uint8Array.from(bytes)
}
