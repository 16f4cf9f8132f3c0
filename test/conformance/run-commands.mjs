// Runs commands of a published conformance suite in one process, because its start takes most of the time of one:
// `node run-commands.mjs FILE` with an IPC channel, which brings the words of a command at a time and gets an answer when
// it has ended. The suite is evaluated once; its program is kept, and reads the words of each command.

import { createRequire } from 'node:module'
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
