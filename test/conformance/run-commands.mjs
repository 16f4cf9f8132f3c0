// Runs commands of a published conformance suite one after the other in one process, because the start of one takes
// most of its time: `node run-commands.mjs FILE '[["server", …], …]'`. Each is evaluated as a module of its own.

import { pathToFileURL } from 'node:url'

const [node, , file, commands] = process.argv
const ended = new Error('the command has ended')
const { exit } = process
process.on('unhandledRejection', (error) => {
  if (error !== ended) throw error
})
for (const [at, words] of JSON.parse(commands).entries()) {
  process.argv = [node, file, ...words]
  await new Promise((resolve) => {
    process.exit = () => {
      resolve()
      throw ended
    }
    import(`${pathToFileURL(file)}?${at}`).catch(() => {})
  })
}
exit(0)
