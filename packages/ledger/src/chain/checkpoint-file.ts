// Checkpoints in a file, one per line, oldest first: next to the ledger, and in a remote checkpoint
// store that is a file. Append-only, so that the store may enforce that.

import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { LedgerError } from '../records/errors.ts'
import {
  CHECKPOINT_FILE_BYTES_MAX,
  CHECKPOINT_FILE_END_BYTES,
  CHECKPOINT_FILE_THIN_BYTES,
  CHECKPOINT_TEXT_LENGTH_MAX,
} from '../records/limits.ts'
import { type Checkpoint, checkpointText, readCheckpoint } from './checkpoint.ts'

/** A checkpoint and its location, for messages. */
export interface LocatedCheckpoint {
  readonly checkpoint: Checkpoint
  readonly where: string
}

/**
 * Reads a whole file; an invalid line is a LedgerError, or is passed to `onBad`. One line that a
 * crash truncated at the end is ignored.
 */
export function readCheckpoints(
  file: string,
  onBad?: (error: LedgerError) => void,
): LocatedCheckpoint[] {
  if (!existsSync(file)) return []
  const { size } = statSync(file)
  if (size > CHECKPOINT_FILE_BYTES_MAX)
    throw new LedgerError(
      'LEDGER_CHECKPOINT',
      `\`${file}\` has ${size} bytes, the limit is ${CHECKPOINT_FILE_BYTES_MAX}`,
      'is it a file of checkpoints?',
    )
  const text = readFileSync(file, 'utf8')
  const isWhole = text.endsWith('\n') || !text.includes('\n')
  const lines = text.split('\n')
  if (!isWhole) lines.pop()
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return []
    const where = `\`${file}\`:${at + 1}`
    try {
      return [{ checkpoint: readCheckpoint(line, where), where }]
    } catch (error) {
      if (onBad === undefined) throw error
      onBad(error as LedgerError)
      return []
    }
  })
}

/** The last complete line; undefined if there is none. */
export function lastCheckpoint(file: string): LocatedCheckpoint | undefined {
  if (!existsSync(file)) return undefined
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const from = Math.max(0, size - CHECKPOINT_FILE_END_BYTES)
    const bytes = Buffer.alloc(size - from)
    readSync(handle, bytes, 0, bytes.length, from)
    const line = bytes.toString('utf8').split('\n').slice(0, -1).findLast(isFull)
    if (line === undefined) return undefined
    const where = `at the end of \`${file}\``
    return { checkpoint: readCheckpoint(line, where), where }
  } finally {
    closeSync(handle)
  }
}

/** The last valid one, provided all before a valid one are: the file is bisected, not read. */
export function findCheckpoint(
  file: string,
  isGood: (checkpoint: Checkpoint) => boolean,
): Checkpoint | undefined {
  if (!existsSync(file)) return undefined
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    let [low, high] = [0, size]
    while (high - low > CHECKPOINT_TEXT_LENGTH_MAX) {
      const middle = Math.floor((low + high) / 2)
      const [first] = linesFrom(handle, middle, 2 * CHECKPOINT_TEXT_LENGTH_MAX)
      if (first !== undefined && isGood(readCheckpoint(first, `in \`${file}\``))) low = middle
      else high = middle
    }
    const rest = linesFrom(handle, low, high - low + 2 * CHECKPOINT_TEXT_LENGTH_MAX)
    return rest.map((line) => readCheckpoint(line, `in \`${file}\``)).findLast(isGood)
  } finally {
    closeSync(handle)
  }
}

/** Complete lines that start after this offset, or at the start of the file. */
function linesFrom(handle: number, from: number, length: number): string[] {
  const bytes = Buffer.alloc(length)
  const read = readSync(handle, bytes, 0, length, from)
  const lines = bytes.toString('utf8', 0, read).split('\n').slice(0, -1)
  return (from === 0 ? lines : lines.slice(1)).filter(isFull)
}

/**
 * Keeps every tenth line and the last of each version: few old checkpoints are needed, since each covers all before
 * it. Written to a temporary file and renamed, so that a crash leaves one or the other.
 */
export function thinCheckpoints(file: string, bytesMax = CHECKPOINT_FILE_THIN_BYTES): void {
  if (!existsSync(file) || statSync(file).size <= bytesMax) return
  const lines = readFileSync(file, 'utf8').split('\n').filter(isFull)
  const start = '{"version":1'.length
  const kept = lines.filter(
    (line, at) => at % 10 === 9 || lines[at + 1]?.slice(0, start) !== line.slice(0, start),
  )
  writeFileSync(`${file}.new`, `${kept.join('\n')}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** Readable by its owner only. Not flushed: a power loss costs only a check. */
export function appendCheckpoint(file: string, checkpoint: Checkpoint): void {
  appendFileSync(file, `${checkpointText(checkpoint)}\n`, { mode: 0o600 })
}

/** A line that a crash truncated would corrupt the next one. */
export function truncatePartialLine(file: string): void {
  if (!existsSync(file)) return
  const handle = openSync(file, 'r+')
  try {
    const { size } = fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(size, CHECKPOINT_FILE_END_BYTES))
    readSync(handle, bytes, 0, bytes.length, size - bytes.length)
    const rest = bytes.length - 1 - bytes.lastIndexOf(0x0a)
    if (rest > 0) ftruncateSync(handle, size - rest)
  } finally {
    closeSync(handle)
  }
}

function isFull(line: string): boolean {
  return line.trim() !== ''
}
