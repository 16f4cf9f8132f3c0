// Prompts of the fixture: plain, with arguments that can be completed, with a resource, an image.

import { completable, type McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { embedded, image, text } from './content.ts'

export function addPrompts(server: McpServer): void {
  const user = <const Content>(content: Content) => ({ role: 'user' as const, content })
  server.registerPrompt('test_simple_prompt', { description: 'plain' }, () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }))
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'with arguments',
      argsSchema: z.object({
        arg1: completable(z.string().describe('the first'), (value) =>
          ['paris', 'park', 'test', 'testing'].filter((word) => word.startsWith(value)),
        ),
        arg2: z.string().describe('the second'),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'with a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'with an image' }, () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }))
}
