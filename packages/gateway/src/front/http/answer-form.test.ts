import { expect, test } from 'vitest'
import { answerForm } from './answer-form.ts'

test.each([
  [undefined, 'json'],
  ['', 'json'],
  ['application/json, text/event-stream', 'json'],
  ['text/event-stream, application/json', 'json'],
  ['*/*', 'json'],
  ['application/*;q=0.5', 'json'],
  ['text/event-stream', 'events'],
  ['TEXT/Event-Stream ; q=1', 'events'],
  ['text/*', 'events'],
  ['application/json;q=0, */*', 'events'],
  ['application/json;q=0.000, text/event-stream', 'events'],
  ['text/html', undefined],
  ['text/event-stream;q=0', undefined],
  ['*/*;q=0', undefined],
])('F7: Accept %j is answered in %s', (accept, form) => {
  expect(answerForm(accept)).toBe(form)
})
