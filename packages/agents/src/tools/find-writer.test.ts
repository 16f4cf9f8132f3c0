import { expect, test } from 'vitest'
import { findWriter } from './find-writer.ts'

const labels = (isUsersText?: (text: string) => boolean) => ({
  saw: () => [],
  see: () => {},
  ...(isUsersText === undefined ? {} : { isUsersText }),
})

test('a prompt is a person’s only if the session says so', () => {
  const known = labels((text) => text === 'go')
  expect(findWriter('go', { parent: undefined, labels: known })).toEqual({ kind: 'person' })
  expect(findWriter('go on', { parent: undefined, labels: known })).toEqual({ kind: 'model' })
  expect(findWriter('go', { parent: 'agent_1', labels: known })).toEqual({ agent: 'agent_1' })
  for (const unknown of [undefined, labels()])
    expect(findWriter('go', { parent: undefined, labels: unknown })).toEqual({ kind: 'model' })
})
