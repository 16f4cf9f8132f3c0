// Which of the gate's variables a server's process sees.

import { expect, test } from 'vitest'
import { clientVariables, environmentFor, environmentKey } from './environment.ts'

test('only the names that programs need, and what the configuration names on top', () => {
  const own = {
    PATH: '/bin',
    HOME: '/h',
    LC_ALL: 'C',
    LC_evil: 'x',
    NODE_OPTIONS: '--require x',
    AWS_SECRET_ACCESS_KEY: 'secret',
    LD_PRELOAD: 'x.so',
    TERM: undefined,
  }
  const named = { TOKEN: 't', HOME: '/other' }
  expect(environmentFor({ own, named, platform: 'linux' })).toEqual({
    PATH: '/bin',
    HOME: '/other',
    LC_ALL: 'C',
    TOKEN: 't',
  })
})

test('no shell function, which a shell would run (Shellshock)', () => {
  const own = { TERM: '() { :; }; evil', USER: 'u' }
  const client = { variables: own, isWhole: true }
  expect(environmentFor({ own, named: {}, platform: 'linux' })).toEqual({ USER: 'u' })
  expect(environmentFor({ own: {}, named: {}, client, platform: 'linux' })).toEqual({ USER: 'u' })
})

test('proxies and certificates always', () => {
  const own = { https_proxy: 'http://p:1', NO_PROXY: 'a', NODE_EXTRA_CA_CERTS: '/ca', PROXY: 'x' }
  const { PROXY: _, ...kept } = own
  expect(environmentFor({ own, named: {}, platform: 'linux' })).toEqual(kept)
})

test('the whole environment of a client in place of the gate’s, without what is the gate’s own', () => {
  const own = { PATH: '/gate', KEY: 'of the gate', HTTPS_PROXY: 'http://gate' }
  const variables = { PATH: '/client', KEY: 'mine', SLUICE_TOKEN: 's', sluice_child: 'x' }
  const client = { variables, isWhole: true }
  const named = { TOKEN: 'configured' }
  const listed = ['KEY', 'OTHER']
  expect(environmentFor({ own, named, listed, client, platform: 'linux' })).toEqual({
    PATH: '/client',
    KEY: 'mine',
    TOKEN: 'configured',
  })
  expect(environmentFor({ own, named: { KEY: 'set' }, client, platform: 'linux' }).KEY).toBe('set')
})

test('of a client of another user only the names that the configuration lists', () => {
  const own = { PATH: '/gate', KEY: 'of the gate' }
  const variables = { PATH: '/evil', NODE_OPTIONS: '--require /evil.js', KEY: 'mine' }
  const client = { variables, isWhole: false }
  const environment = { own, named: {}, listed: ['KEY', 'SLUICE_CHILD'], platform: 'linux' }
  expect(environmentFor({ ...environment, client })).toEqual({ PATH: '/gate', KEY: 'mine' })
  // Nothing of another client's, which may have started the gate.
  expect(environmentFor({ ...environment, client: { variables: {}, isWhole: false } })).toEqual({
    PATH: '/gate',
  })
  // A client without an environment, over HTTP.
  expect(environmentFor(environment)).toEqual(own)
})

test('what a pipe hands over, and what tells two of them apart', () => {
  const own = { B: '2', A: '1', SLUICE_TOKEN: 's', F: '() { x; }', U: undefined }
  expect(clientVariables(own, undefined)).toEqual({ A: '1', B: '2' })
  expect(clientVariables(own, ['B', 'SLUICE_TOKEN'])).toEqual({ B: '2' })
  const keys = [{ A: '1', B: '2' }, { B: '2', A: '1' }, { A: '1', B: '3' }, { A: '1' }].map(
    (variables) => environmentKey({ variables, isWhole: true }),
  )
  expect(keys[0]).toBe(keys[1])
  expect(new Set([...keys, environmentKey(undefined)]).size).toBe(4)
})

test('on Windows the names that Windows needs, in any case', () => {
  const own = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', SHELL: 'x', windir: 'C:\\Windows' }
  const passed = environmentFor({ own, named: {}, platform: 'win32' })
  expect(Object.keys(passed)).toEqual(['Path', 'SystemRoot', 'windir'])
})
