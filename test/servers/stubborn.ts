// A server that ignores SIGTERM and the end of its stdin, and has a grandchild that does the same.
// The tool `pid` answers with both pids.

import { spawn } from 'node:child_process'
import { serve, textResult } from './speak.ts'

const ignore = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`
const grandchild = spawn(process.execPath, ['-e', ignore], { stdio: 'ignore' })
process.on('SIGTERM', () => {})
setInterval(() => {}, 1_000)
serve(() => textResult(JSON.stringify([process.pid, grandchild.pid])))
