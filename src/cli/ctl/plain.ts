/** What devices say, without anything that could steer a terminal; lines stay. */
export function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, '?');
}
