/** Manual pages and shell completion, made from the `--help` texts of the programs. */

/** The `--help` text of a program or of one of its verbs. */
export interface Help {
  /** Empty for the program itself. */
  readonly verb: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly sections: readonly { readonly title: string; readonly lines: readonly string[] }[];
}

export function parseHelp(verb: readonly string[], text: string): Help {
  const blocks = text.trimEnd().split('\n\n');
  const [usage = '', summary = '', ...rest] = blocks;
  if (!usage.startsWith('Usage: ')) throw new Error(`no usage in the help of "${verb.join(' ')}"`);
  const sections = rest.map((block) => {
    const [first = '', ...lines] = block.split('\n');
    return /^[A-Z].*:$/.test(first)
      ? { title: first.slice(0, -1), lines }
      : { title: '', lines: [first, ...lines] };
  });
  return { verb, usage: usage.slice('Usage: '.length), summary: joined(summary), sections };
}

const joined = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');

/** The rows of a section with two columns; continuation lines are joined. */
export function rowsOf(lines: readonly string[]): { readonly term: string; readonly text: string }[] {
  const rows: { term: string; text: string }[] = [];
  for (const line of lines) {
    const [, term, text] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    if (term !== undefined) rows.push({ term, text: text ?? '' });
    else {
      const last = rows.at(-1);
      if (last !== undefined) last.text = `${last.text} ${line.trim()}`.trim();
    }
  }
  return rows;
}

/** The names of the verbs of a program or verb. */
export const verbsOf = ({ sections }: Help): string[] =>
  rowsOf(sections.find(({ title }) => title === 'Commands')?.lines ?? []).map(
    ({ term }) => term.split(' ')[0] ?? '',
  );

export const optionsOf = ({ sections }: Help): string[] =>
  rowsOf(sections.find(({ title }) => title === 'Options')?.lines ?? []).flatMap(
    ({ term }) => term.match(/--[a-z][a-z0-9-]*/g) ?? [],
  );

interface About {
  readonly program: string;
  readonly version: string;
  /** Time of the last change, seconds since 1970. */
  readonly changedAt: number;
  readonly seeAlso: readonly string[];
}

/** A page for `man`, section 1. */
export function manPage(helps: readonly Help[], { program, version, changedAt, seeAlso }: About): string {
  const [main, ...verbs] = helps;
  if (main === undefined) throw new Error('no help for the manual page');
  const date = new Date(changedAt * 1000).toISOString().slice(0, 10);
  const lines = [
    `.TH ${program.toUpperCase().replaceAll('-', '\\-')} 1 "${date}" "Dragoman ${version}" "User Commands"`,
    '.SH NAME',
    `${roff(program)} \\- ${roff(lowerFirst(main.summary.replace(/\.$/, '')))}`,
    '.SH SYNOPSIS',
    '.nf',
    ...[main, ...verbs].map(({ usage }) => roff(usage)),
    '.fi',
    '.SH OPTIONS',
    ...body(main, ['Options']),
    '.SH COMMANDS',
    ...verbs.flatMap((help) => [
      `.SS ${roff([program, ...help.verb].join(' '))}`,
      roff(sentence(help.summary)),
      ...body(
        help,
        help.sections.map(({ title }) => title).filter((title) => title !== 'Commands'),
      ),
    ]),
    '.SH SEE ALSO',
    seeAlso.map((page) => `.BR ${roff(page)} (1)`).join(' ,\n'),
    `/usr/share/doc/${roff(program)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function body({ sections }: Help, titles: readonly string[]): string[] {
  return sections
    .filter(({ title }) => titles.includes(title))
    .flatMap(({ title, lines }) => {
      if (title !== 'Options' && title !== 'Arguments')
        return ['.PP', ...(title === '' ? [] : [`${roff(title)}:`]), '.nf', ...lines.map(roff), '.fi'];
      return rowsOf(lines).flatMap(({ term, text }) => ['.TP', `.B ${roff(term)}`, roff(text)]);
    });
}

/** Escapes text for roff, which reads a dot or apostrophe at the start of a line as a command, and "-" as a typographic hyphen. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

/** A script for bash-completion: verbs, sub-verbs and options, otherwise files. */
export function completion(program: string, helps: readonly Help[]): string {
  const name = `_${program.replaceAll('-', '_')}`;
  const cases = helps.map((help) => {
    const label = help.verb.length === 0 ? '""' : `"${help.verb.join(' ')}"`;
    return `    ${label}) verbs="${verbsOf(help).join(' ')}" options="${optionsOf(help).join(' ')}" ;;`;
  });
  const known = helps.filter(({ verb }) => verb.length > 0).map(({ verb }) => `"${verb.join(' ')}"`);
  return `# bash completion for ${program}

${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" verb="" verbs="" options="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${verb:+$verb }$word" in
      ${known.join(' | ')}) verb="\${verb:+$verb }$word" ;;
    esac
  done
  case "$verb" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $verbs ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
} && complete -o filenames -F ${name} ${program}
`;
}
