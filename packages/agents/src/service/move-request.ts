// An idle agent of an older core is brought to this one: its pieces from the step thread, the long work in the
// transfer thread, and the step thread stores the result if nothing has happened to the agent meanwhile.

import type { AgentRow } from '../journal/rows.ts'
import type { TransferSetting } from './import-request.ts'

export async function moveForOwner(
  id: string,
  nowMs: number,
  { steps, transfers, owner }: TransferSetting,
): Promise<AgentRow> {
  let seq = 0
  const moved = await transfers.move(owner, async () => {
    const { memory: old = new Uint8Array(), ...pieces } = await steps.takeExport(
      owner,
      id,
      nowMs,
      true,
    )
    seq = pieces.taken.agent.seq
    return { kind: 'move', pieces, memory: old, atMs: nowMs }
  })
  return steps.move(owner, id, { ...moved, seq, nowMs })
}
