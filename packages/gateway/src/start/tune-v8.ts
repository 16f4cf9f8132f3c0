// V8 as a gate wants it: its bounds are for pages in a browser. The way of a call is long and goes
// through many small functions, so more of them are put into one another: a call costs a tenth less. More
// than this costs more again. What lives as long as one call would be let grow to 64 MB under
// load, and a quarter of that costs no more time; an eighth costs a twentieth more. For `sluice up`, before anything is optimised.

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { YOUNG_LOOK_EVERY_MS, YOUNG_SPACE_BYTES_MAX } from '../shared/limits.ts'

/** The bytecode that V8 may inline: of one function, and of all that go into one (460 and 920 by default). */
const INLINED_BYTES_MAX = 2_000
const INLINED_BYTES_ALL_MAX = 3_000

export function tuneV8(): void {
  setFlagsFromString(`--max-inlined-bytecode-size=${INLINED_BYTES_MAX}`)
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES_ALL_MAX}`)
  // A young collection copies 100 kB: waking other threads for that costs more than it saves.
  setFlagsFromString('--no-parallel-scavenge')
  // What has outlived a call may double before it is looked through; V8 would let it grow fourfold.
  setFlagsFromString('--heap-growing-percent=100')
  boundYoungSpace()
}

/** It cannot be said once the process runs, but V8 asks before every step of growth by how much. Loading the
 * program may have reached it already. */
function boundYoungSpace(): void {
  let factor = growBy(1)
  const timer = setInterval(() => {
    const doubles = youngBytes() * 2 <= YOUNG_SPACE_BYTES_MAX
    if ((factor === 2) !== doubles) factor = growBy(doubles ? 2 : 1)
  }, YOUNG_LOOK_EVERY_MS)
  timer.unref()
}

function growBy(factor: 1 | 2): 1 | 2 {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  return factor
}

function youngBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return space?.space_size ?? 0
}
