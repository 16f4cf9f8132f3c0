// How much memory is taken for what lives as long as one call: V8 would let it grow to 64 MB under
// load, and an eighth of that costs no more time. It cannot be said once the process runs, but V8 asks
// before every step of growth by how much. For `sluice up`, as long as it runs.

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { YOUNG_LOOK_EVERY_MS, YOUNG_SPACE_BYTES_MAX } from '../limits.ts'

/** Does not grow while the gate starts: what is made then mostly stays. */
export function boundYoungSpace(): void {
  // What has outlived a call may double before it is looked through; V8 would let it grow fourfold.
  setFlagsFromString('--heap-growing-percent=100')
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
