// A server whose process ends with its stdin, as it should, but leaves a grandchild that holds its
// stdout and stderr open, as `npx` and shells do. The tool `pid` answers with both pids.

import { spawn } from 'node:child_process'
import { serve, textResult } from './speak.ts'

const grandchild = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
  stdio: ['ignore', 'inherit', 'inherit'],
})
grandchild.unref()
serve(() => textResult(JSON.stringify([process.pid, grandchild.pid])))
process.stdin.on('end', () => process.exit(0))
