// What somebody brings as an agent: containers (RVF, with the checksum made to fit, so that what is behind
// it is reached), bundles and exports. Read or refused with a code, and what is read is written the same.

import { createHash } from 'node:crypto'
import { AgentError } from '../../../packages/agents/src/shared/errors.ts'
import { readImport } from '../../../packages/agents/src/transfer/read-import.ts'
import { EMPTY, readRvf, writeRvf } from '../../../packages/agents/src/transfer/rvf.ts'

const CHECKSUM_BYTES = 32

/** A container with an empty list in each segment; the last byte of a tag says which. */
function withSegments(...tags: readonly number[]): Buffer {
  const head = writeRvf(EMPTY).subarray(0, -CHECKSUM_BYTES - 4)
  const segments = tags.flatMap((tag) => [4, tag, 1, 2, 0, 0, 0, 0x5b, 0x5d])
  return Buffer.concat([head, Buffer.from([tags.length, 0, 0, 0, ...segments])])
}

export const seeds = [
  writeRvf(EMPTY).subarray(0, -CHECKSUM_BYTES),
  withSegments(0x05),
  withSegments(0x05, 0x09),
  '{"format":"sluice-agent","version":1,"info":{},"agentState":{},"todos":[],"files":{}}',
]

export function run(input: Buffer): void {
  refusing(() => {
    const sum = createHash('sha3-256').update(input).digest()
    const container = readRvf(Buffer.concat([input, sum]))
    const again = readRvf(writeRvf(container))
    if (JSON.stringify(again) !== JSON.stringify(container)) throw new Error('written otherwise')
  })
  refusing(() => void readImport(input))
  refusing(() => void readRvf(input))
}

function refusing(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
  }
}
