// Verifies an export with the texts that were hashed, without a data directory: that each line follows the one before it,
// that what is readable in it is what was hashed, and that signed checkpoints fit. Lines may be of several gates.

import { attempt } from '@sluice/policy/structures/attempt'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { type JsonObject, parseObject } from '@sluice/policy/values/json'
import type { Checkpoint } from '../chain/checkpoint.ts'
import { recordJson } from '../export/record-json.ts'
import { decode } from '../records/decoding.ts'
import { PROBLEMS_MAX } from '../records/limits.ts'
import { makeToken, type NameRow, showNames } from '../records/names.ts'
import { chainHash, FIRST_HASH, fromHex, toHex } from '../store/chain-hash.ts'

export interface ExportVerification {
  readonly records: number
  /** The last record that one of the checkpoints covers; 0 without one. */
  readonly signed: number
  readonly problems: readonly string[]
}

/** Where the chain of one gate is after a line. */
interface ChainPosition {
  readonly seq: number
  /** 32 bytes as latin1; undefined if the line before is not in the export. */
  readonly hash: string | undefined
}

const START: ChainPosition = { seq: 0, hash: FIRST_HASH }

/** `checkpoints` are trusted: the caller has checked who signed them. */
export async function verifyExport(
  lines: AsyncIterable<string>,
  checkpoints: readonly Checkpoint[],
): Promise<ExportVerification> {
  const problems: string[] = []
  const names = new Map<string, string>()
  const chains = new Map<string, ChainPosition>()
  const heads = new Map(checkpoints.map(({ seq, head }) => [`${seq}:${head}`, seq]))
  const signedSeqs = new Set(checkpoints.map(({ seq }) => seq))
  const unmet = new Set<number>()
  let [number, records, signed] = [0, 0, 0]
  for await (const text of lines) {
    number++
    if (text.trim() === '') continue
    const line = readLine(text)
    const where = `line ${number}`
    const named = readName(text)
    if (named !== undefined) {
      const { name, salt, token } = named
      if (makeToken(name, Buffer.from(salt, 'base64url')) === token) names.set(token, name)
      else problems.push(`${where}: \`${token}\` is the token of another name`)
      continue
    }
    if (line === undefined) {
      problems.push(`${where}: this is not a line of an export in JSON`)
      continue
    }
    if (line.encoded === undefined) {
      problems.push(`${where}: made without \`--encoded\`: nothing to check`)
      break
    }
    records++
    const { encoded, gate, hash, seq } = line
    const before = chains.get(gate) ?? beginBefore(seq, checkpoints)
    if (seq > before.seq + 1)
      problems.push(`${where}: records ${before.seq + 1} to ${seq - 1} are missing`)
    else if (seq <= before.seq) problems.push(`${where}: record ${seq} is out of order`)
    const isNext = seq === before.seq + 1 && before.hash !== undefined
    if (isNext && toHex(chainHash(before.hash as string, encoded)) !== hash)
      problems.push(`${where}: record ${seq} was edited, or its hash`)
    if (!isReadable(line, names))
      problems.push(`${where}: what is readable is not what was hashed (record ${seq})`)
    chains.set(gate, { seq, hash: fromHex(hash) })
    if (heads.has(`${seq}:${hash}`)) {
      signed = Math.max(signed, seq)
      unmet.delete(seq)
    } else if (signedSeqs.has(seq)) unmet.add(seq)
    if (problems.length >= PROBLEMS_MAX) break
  }
  // With several gates, a checkpoint belongs to one of them.
  if (chains.size === 1)
    for (const seq of unmet) problems.push(`record ${seq} is not the one that was signed`)
  return { records, signed, problems }
}

/** An export may begin anywhere; its first record can be checked if the one before it was signed. */
function beginBefore(seq: number, checkpoints: readonly Checkpoint[]): ChainPosition {
  if (seq === 1) return START
  const known = checkpoints.find((checkpoint) => checkpoint.seq === seq - 1)
  return { seq: seq - 1, hash: known && fromHex(known.head) }
}

interface ExportLine {
  readonly gate: string
  readonly seq: number
  readonly hash: string
  readonly encoded: string | undefined
  /** Everything that is readable in it. */
  readonly values: JsonObject
}

function readLine(text: string): ExportLine | undefined {
  const values = parseObject(text)
  const { encoded, gate = '', hash, seq } = values ?? {}
  const isRight =
    typeof seq === 'number' &&
    typeof gate === 'string' &&
    typeof hash === 'string' &&
    /^[0-9a-f]{64}$/.test(hash) &&
    (encoded === undefined || typeof encoded === 'string')
  return isRight ? { encoded, gate, hash, seq, values: values as JsonObject } : undefined
}

function readName(text: string): NameRow | undefined {
  const { kind, name, salt, token } = parseObject(text) ?? {}
  const isName = kind === 'name' && [name, salt, token].every((value) => typeof value === 'string')
  return isName ? ({ name, salt, token } as NameRow) : undefined
}

/** Whether a reader of the line sees what the hashed text says, member by member. */
function isReadable(
  { encoded = '', gate, hash, values }: ExportLine,
  names: ReadonlyMap<string, string>,
): boolean {
  const record = attempt(() => decode(showNames(encoded, (token) => names.get(token))))
  if (record === undefined) return false
  const origin = gate === '' ? {} : { gate }
  const expected = parseObject(recordJson({ ...record, ...origin }, { hash, encoded }))
  return writeCanonicalJson(expected) === writeCanonicalJson(values)
}
