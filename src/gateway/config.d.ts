import { type Problem } from '../document/problem.ts'
export type ServerConfig =
  | {
      readonly kind: 'stdio'
      readonly command: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly cwd: string
    }
  | {
      readonly kind: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    }
export interface GateConfig {
  readonly file: string
  readonly host: string
  readonly port: number
  readonly data: string
  readonly servers: Readonly<Record<string, ServerConfig>>
  readonly policy?: string
  readonly house?: string
  readonly sync: 'normal' | 'full'
}
type Environment = Readonly<Record<string, string | undefined>>
export declare function readConfig(
  source: {
    readonly file: string
    readonly text: string
  },
  environment: Environment,
): {
  readonly config?: GateConfig
  readonly problems: readonly Problem[]
}
