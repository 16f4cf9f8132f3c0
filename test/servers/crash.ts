// A server that dies at call number N (argument 1), with words on stderr and exit code 7; at 0 it
// dies before it says anything, and with `signal` as argument 2 by SIGABRT.

import { plainCall, serve } from './speak.ts'

let left = Number(process.argv[2] ?? 1)

function die(): never {
  console.error('the disk is on fire')
  console.error('giving up')
  if (process.argv[3] === 'signal') process.kill(process.pid, 'SIGABRT')
  process.exit(7)
}

if (left === 0) die()
serve((call) => {
  left -= 1
  if (left === 0) die()
  return plainCall(call)
})
