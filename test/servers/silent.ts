// A server with sessions that says nothing to what it does not know, as some do; with a number it
// starts to read so many milliseconds late.

import { setTimeout as sleep } from 'node:timers/promises'
import { plainCall, resultOf, say } from './speak.ts'

await sleep(Number(process.argv[2] ?? 0))
let output = ''
process.stdin.on('data', (chunk) => {
  output += String(chunk)
  const lines = output.split('\n')
  output = lines.pop() ?? ''
  for (const line of lines) {
    const message = JSON.parse(line)
    const result = resultOf(message, plainCall)
    if (message.id !== undefined && result !== undefined) say({ id: message.id, result })
  }
})
