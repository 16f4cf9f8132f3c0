// A parent to be killed: a gate with nothing but a watcher and one stdio server, `stubborn`. Prints
// the pids of the watcher, the server and the grandchild, and waits. Argument 1 is the file that
// keeps the groups.

import { extname, join } from 'node:path'
import { Watcher } from '../../packages/gateway/src/processes/watcher.ts'
import { StdioUpstream } from '../../packages/gateway/src/upstream/stdio/stdio.ts'
import { writeRequest } from '../../packages/protocol/src/write-message.ts'

const log = (): void => {}
const watcher = new Watcher({ file: process.argv[2], log })
const command = [
  process.execPath,
  join(import.meta.dirname, `stubborn${extname(import.meta.filename)}`),
]
const link = new StdioUpstream(
  { name: 'stubborn', command, log, watcher },
  {
    onMessage(message) {
      if (message.kind !== 'answer') return
      const result = JSON.parse(message.result ?? '') as { content: { text: string }[] }
      const pids = JSON.parse(result.content[0]?.text ?? '[]') as number[]
      console.log(JSON.stringify([watcher.pid, ...pids]))
    },
    onFailure() {},
    onClose() {},
  },
)
link.send(writeRequest(1, 'tools/call', new Map([['name', '"pid"']])))
setInterval(() => {}, 1_000)
