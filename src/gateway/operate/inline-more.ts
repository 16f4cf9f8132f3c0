// How much of what it calls V8 puts into a function it optimises. The way of a call is long and goes
// through many small functions, and its bounds are for pages in a browser: with wider ones a call costs
// 5 to 8 % less, and the code a megabyte or two more. For `sluice up`, before anything is optimised.

import { setFlagsFromString } from 'node:v8'

/** In bytes of bytecode: of one function, and of all that go into one (460 and 920 unless said). */
const INLINED_BYTES_MAX = 1_000
const INLINED_BYTES_ALL_MAX = 4_000

export function inlineMore(): void {
  setFlagsFromString(`--max-inlined-bytecode-size=${INLINED_BYTES_MAX}`)
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES_ALL_MAX}`)
}
