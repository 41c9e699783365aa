/** A command line that a page or an example of a configuration tells its readers to run. */
export interface PageCommand {
  readonly page: string;
  /** The heading above it; empty in configurations. */
  readonly heading: string;
  /** One line, without comment; the words of an array are joined by spaces. */
  readonly line: string;
  /** Its words, for an array in a configuration: no shell runs it. */
  readonly words: readonly string[] | null;
}

const FENCE = /^\s*```(\w*)/;
const HEADING = /^#+ (.*)$/;
const ARRAY = /"command": (\[[^\]]*\])/g;
const HERE_DOCUMENT = /<<-?'?(\w+)'?/;

/** All command lines of a page: blocks marked `sh` or `console`, and arrays called `command`. */
export function commandsOf(page: string, text: string): PageCommand[] {
  const found: PageCommand[] = [];
  let heading = '';
  let fence: string | null = null;
  let block: string[] = [];
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line);
    if (mark !== null) {
      if (fence === 'sh' || fence === 'console')
        found.push(...shellLines(block).map((one) => ({ page, heading, line: one, words: null })));
      fence = fence === null ? (mark[1] ?? '') : null;
      block = [];
    } else if (fence !== null) block.push(line);
    else if (page.endsWith('.md')) heading = HEADING.exec(line)?.[1] ?? heading;
    for (const [, array = ''] of line.matchAll(ARRAY)) {
      const words = JSON.parse(array) as string[];
      found.push({ page, heading, line: words.join(' '), words });
    }
  }
  return found;
}

/** The commands of a block. Lines that end in a backslash are joined; comments and the texts of here-documents are left out. */
export function shellLines(block: readonly string[]): string[] {
  const whole = block
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  // In a record of a session only the lines after a prompt are commands.
  const isSession = whole.some((line) => line.startsWith('$ '));
  const lines: string[] = [];
  let end: string | null = null;
  for (const line of whole) {
    if (end !== null) {
      if (line.trim() === end) end = null;
      continue;
    }
    end = HERE_DOCUMENT.exec(line)?.[1] ?? null;
    if (isSession && !line.startsWith('$ ')) continue;
    const command = line
      .replace(/^\$ /, '')
      .replace(/(?:^|\s)#.*$/, '')
      .trim();
    if (command !== '') lines.push(command);
  }
  return lines;
}
