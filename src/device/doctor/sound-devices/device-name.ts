/** What a lane's capture or playback is called in a sentence: its device, file, program or driver. */
export function nameOf(part: {
  readonly driver: string;
  readonly device?: string;
  readonly path?: string;
  readonly command?: readonly string[];
}): string {
  return part.device ?? part.path ?? part.command?.[0] ?? part.driver;
}
