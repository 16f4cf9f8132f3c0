// Runs commands of a published conformance suite in one process, because its start takes most of the time of one:
// `node run-commands.mjs FILE` with an IPC channel, which brings the words of a command at a time and gets an answer when
// it has ended. The suite is evaluated once; its program is kept, and reads the words of each command. The client that it
// starts for a scenario is the test, which has the gate: it is told over HTTP, at the URL in place of the client's program.

import childProcess from 'node:child_process'
import { EventEmitter } from 'node:events'
import { request } from 'node:http'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'

const [, , file] = process.argv
const ended = new Error('the command has ended')
process.on('unhandledRejection', (error) => {
  if (error !== ended) throw error
})
const { Command } = createRequire(file)('commander')
const { parseAsync } = Command.prototype
let program
Command.prototype.parse = function () {
  program = this
}
childProcess.spawn = startClient
syncBuiltinESMExports()
await import(pathToFileURL(file))
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', (words) => {
  let isEnded = false
  process.exit = () => {
    // The suite catches what is thrown, and exits again.
    if (!isEnded) process.send({})
    isEnded = true
    throw ended
  }
  parseAsync.call(program, words, { from: 'user' }).catch(() => {})
})

/** Returns what the suite uses of a child process. */
function startClient(report, [url], { env }) {
  const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_CONTEXT: context = '{}' } = env
  const client = new EventEmitter()
  const asked = request(report, { method: 'POST' }, (response) => {
    response.pipe(process.stderr, { end: false })
    response.once('end', () => client.emit('close', response.statusCode === 200 ? 0 : 1))
  })
  asked.once('error', (error) => client.emit('error', error))
  asked.end(JSON.stringify({ name, url, context: JSON.parse(context) }))
  client.kill = () => asked.destroy(new Error('it took too long'))
  return client
}
