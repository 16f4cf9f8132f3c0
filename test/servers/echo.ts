// A server that behaves: answers, notifies when asked to, and ends when its stdin does.

import { serve } from './speak.ts'

console.error('echo is up')
serve()
