// A server that answers `initialize` and never a call; with `deaf` it also stops to read its stdin
// after the first call, and stays when stdin ends.

import { serve } from './speak.ts'

const deaf = process.argv[2] === 'deaf'
if (deaf) setInterval(() => {}, 1_000)
serve(() => {
  if (deaf) process.stdin.pause()
  return undefined
})
