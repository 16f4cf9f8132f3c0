// Which of the gate's variables a server's process sees.

import { expect, test } from 'vitest'
import { environmentFor } from './environment.ts'

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
  expect(environmentFor(own, { TOKEN: 't', HOME: '/other' }, 'linux')).toEqual({
    PATH: '/bin',
    HOME: '/other',
    LC_ALL: 'C',
    TOKEN: 't',
  })
})

test('no shell function, which a shell would run (Shellshock)', () => {
  expect(environmentFor({ TERM: '() { :; }; evil', USER: 'u' }, {}, 'linux')).toEqual({ USER: 'u' })
})

test('on Windows the names that Windows needs, in any case', () => {
  const own = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', SHELL: 'x', windir: 'C:\\Windows' }
  expect(Object.keys(environmentFor(own, {}, 'win32'))).toEqual(['Path', 'SystemRoot', 'windir'])
})
