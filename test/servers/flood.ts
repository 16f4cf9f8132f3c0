// A server that, once called, talks as fast as the pipe takes it: argument 1 says what (messages,
// stray lines, one endless line, stderr, responses that nobody asked for, changes of its tools). It waits for the pipe, so its own memory stays small.

import type { Writable } from 'node:stream'
import { serve, textResult } from './speak.ts'

const kind = process.argv[2] ?? 'messages'
const line = {
  messages: `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'y'.repeat(200) } })}\n`,
  stray: `${'stray '.repeat(20)}\n`,
  endless: 'z'.repeat(200),
  stderr: `${'error '.repeat(20)}\n`,
  unasked: '{"jsonrpc":"2.0","id":1000000,"result":{}}\n',
  changes: '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n',
}[kind]

serve((call) => {
  if (call.arguments.flood === true)
    setImmediate(() => pour(kind === 'stderr' ? process.stderr : process.stdout))
  return textResult('here it comes')
})

function pour(out: Writable): void {
  const chunk = line?.repeat(100)
  while (out.write(chunk));
  out.once('drain', () => setImmediate(() => pour(out)))
}
