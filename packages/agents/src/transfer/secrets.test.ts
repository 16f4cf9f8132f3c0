// What leaves with an export has no secrets that stand behind their names; code that handles them stays.

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from './secrets.ts'

/** The same in every run, and with all that a generated secret has. */
const secret = (at: number, encoding: 'base64' | 'base64url' | 'hex', length: number) =>
  createHash('sha256').update(`secret ${at}`).digest(encoding).slice(0, length)

test('passwords and keys behind their names are replaced, whatever they look like', () => {
  const left: string[] = []
  for (let at = 0; at < 200; at += 1)
    for (const [text, value] of [
      [`password=${secret(at, 'base64url', 12)}`, secret(at, 'base64url', 12)],
      [`db_password = ${secret(at, 'base64', 10)}`, secret(at, 'base64', 10)],
      [`{"password":"${secret(at, 'hex', 12)}"}`, secret(at, 'hex', 12)],
      [`aws_secret_access_key=${secret(at, 'base64', 40)}`, secret(at, 'base64', 40)],
      [`AWS_SECRET_ACCESS_KEY: ${secret(at, 'base64', 40)}`, secret(at, 'base64', 40)],
      [`secret_key: ${secret(at, 'hex', 24)}`, secret(at, 'hex', 24)],
    ] as const)
      if (new Redactor(false).text(`before ${text} after`, 'file').includes(value)) left.push(text)
  // Twelve letters can look like the name of a variable, of which the value is somewhere else.
  expect(left.length).toBeLessThanOrEqual(2)
  const redactor = new Redactor(false)
  expect(redactor.text('password=hunter2, then more', 'file')).not.toContain('hunter2')
  expect(redactor.secrets).toEqual([{ kind: 'named-secret', where: 'file', count: 1 }])
})

test.each([
  'the password is in the vault',
  'const password = readPassword(options)',
  'connect(password=password, secret_key=config.secretKey)',
  'password: string',
  'api_key = API_KEY',
  'password=%PASSWORD%',
])('what only names a secret stays: %s', (text) => {
  expect(new Redactor(false).text(text, 'file')).toBe(text)
})
