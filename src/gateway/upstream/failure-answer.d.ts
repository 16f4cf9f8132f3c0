import type { Answer } from '../../wire/message.ts'
import type { UpstreamFailure } from './upstream.ts'
export declare function failureAnswer(failure: UpstreamFailure): Answer | undefined
