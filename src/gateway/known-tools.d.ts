import type { KnownTool, ToolDefinition } from '../core/tools.ts'
export declare class KnownTools {
  #private
  /** `text` is the definition as the server wrote it. */
  accept(server: string, definition: Omit<ToolDefinition, 'server'>, text: string): KnownTool
}
