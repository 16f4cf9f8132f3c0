// What a call is called: nothing is titled with a server and no name.

import { expect, test } from 'vitest'
import { commandLineOf, describeServerRequest, SERVER_REQUESTS, titleOfCall } from './call-title.ts'

test.each([...SERVER_REQUESTS])('%s has its method as title, with who asks', (method, purpose) => {
  const call = { server: 'fs', method, name: '' }
  expect(titleOfCall(call)).toBe(method)
  expect(describeServerRequest(call)).toBe(`the server fs asks for ${purpose}`)
})

test('a call of a client has the name of what it calls', () => {
  const call = { server: 'fs', method: 'tools/call', name: 'read_file' }
  expect(titleOfCall(call)).toBe('fs/read_file')
  expect(describeServerRequest(call)).toBeUndefined()
  expect(titleOfCall({ server: 'fs', method: 'completion/complete', name: '' })).toBe(
    'fs/completion/complete',
  )
})

test('a shell command whose line is stored is shown as one', () => {
  const call = { server: 'claude-code', method: 'tools/call', name: 'Bash' }
  expect(titleOfCall({ ...call, commandLine: 'ls' })).toBe('claude-code $ ls')
  expect(commandLineOf('Bash', { 'args.command': 'ls' })).toBe('ls')
  expect(commandLineOf('Bash', { 'args.command': { is: 'text' } })).toBeUndefined()
})
