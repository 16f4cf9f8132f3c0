// What a call is called: nothing is titled with a server and no name.

import { expect, test } from 'vitest'
import {
  describeServerRequest,
  findTarget,
  SERVER_REQUESTS,
  splitTitle,
  titleOfCall,
} from './call-title.ts'
import type { DecisionRecord } from './record.ts'

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
  expect(findTarget({ name: 'Bash', judged: { 'args.command': 'ls' } })).toEqual({
    commandLine: 'ls',
  })
})

test('a call is shown with the file or address that it is about, or with the word that it is not stored', () => {
  const read = (judged: DecisionRecord['judged'], name = 'Read') =>
    titleOfCall({ server: 'cc', method: 'tools/call', name, ...findTarget({ name, judged }) })
  expect(read({ 'args.cwd': '/srv', 'args.file_path': '/srv/.env' })).toBe('cc/Read /srv/.env')
  expect(read({ 'args.amount': 5 })).toBe('cc/Read')
  const call = { server: 'cc', method: 'tools/call', name: 'Bash' }
  expect(splitTitle({ ...call, commandLine: 'git push' })).toEqual(['cc $', 'git push'])
  expect(splitTitle({ ...call, place: '(not stored)' })).toEqual(['cc/Bash', '(not stored)'])
  expect(read({ 'args.command': { is: 'withheld' } }, 'Bash')).toBe('cc/Bash (not stored)')
})
