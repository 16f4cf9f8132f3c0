export declare function environmentFor(
  own: Readonly<Record<string, string | undefined>>,
  named: Readonly<Record<string, string>>,
  platform: string,
): Record<string, string>
