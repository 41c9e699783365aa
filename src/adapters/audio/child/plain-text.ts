/** Text from a child without anything that could disturb a terminal or a log. */
export function plainText(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, ' ').trim();
}
