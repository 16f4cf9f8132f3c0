// Who wrote a prompt that comes with a call: an agent, or the one behind the caller's session. A client
// of MCP is a model's, so its prompts are a person's only as long as it has read nothing, or if it is
// allowed to say what the user asked for and said just that. Used by both ways to prompt.

import type { PromptWriter } from '../shared/prompt-writer.ts'
import type { ToolSetting } from './tool-table.ts'

export function findWriter(
  input: string,
  { parent, labels }: Pick<ToolSetting, 'parent' | 'labels'>,
): PromptWriter {
  if (parent !== undefined) return { agent: parent }
  return { kind: labels?.isUsersText?.(input) === true ? 'person' : 'model' }
}
