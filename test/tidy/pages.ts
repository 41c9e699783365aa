import type { Rule } from './source.ts';

/** A reference to a page of this repository, with its section if one is named. */
const POINTER =
  /(?<![\w./-])((?:docs|config|test|src|systemd|scripts)\/[\w./-]*\.(?:md|jsonc?))(?: (\d+(?:\.\d+)?))?/g;
/** Pages that are not in the repository. Built from parts, so that this file does not break its own rule. */
const ABSENT = new RegExp(
  [
    `\\b[Ss]${'pecification'} \\(?\\d`,
    `\\b(?:CON${'TRACT'}|REC${'IPES'}|DES${'IGN'}|SER${'VICE'})(?:\\.md| section)`,
  ].join('|'),
  'g',
);

/** Comments, errors and pages refer only to existing pages and sections: `docs/service.md 4.1` is a heading "## 4.1 ..." there. */
export const pointersLeadSomewhere: Rule = (files) => {
  const pages = new Map(files.map((file) => [file.path, file.text]));
  return files.flatMap(({ path, text }) => [
    ...[...text.matchAll(ABSENT)].map(
      ([found]) => `${path}: "${found}" is not a page here; say "docs/service.md 4.1"`,
    ),
    ...[...text.matchAll(POINTER)].flatMap(([, page = '', section]) => {
      const found = pages.get(page);
      // Other paths may be examples in tests, or generated files.
      if (found === undefined) return page.startsWith('docs/') ? [`${path}: there is no page ${page}`] : [];
      if (section === undefined || !page.startsWith('docs/')) return [];
      return sectionsOf(found).includes(section) ? [] : [`${path}: ${page} has no section ${section}`];
    }),
  ]);
};

const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g;
const ELSEWHERE = /^[a-z]+:/;

/** Links between pages: the file exists, and the heading of its anchor, too. */
export const linksLeadSomewhere: Rule = (files) => {
  const pages = new Map(files.map((file) => [file.path, file.text]));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...withoutCode(text).matchAll(LINK)].flatMap(([, target = '']) => {
        if (ELSEWHERE.test(target)) return [];
        const [file = '', anchor] = target.split('#');
        const page = file === '' ? path : resolve(path, file);
        const isFolder = [...pages.keys()].some((known) => known.startsWith(`${page}/`));
        if (!pages.has(page) && !isFolder) return [`${path}: there is no ${page}`];
        if (anchor === undefined) return [];
        return anchorsOf(pages.get(page) ?? '').includes(anchor)
          ? []
          : [`${path}: ${page} has no #${anchor}`];
      }),
    );
};

const NAMED =
  /`((?!config\/(?:desired|reported)`)(?:src|test|scripts|docs|config|systemd|examples)\/[\w./-]*\w)`/g;

/** Files and folders that a page names exist; `config/desired` and `config/reported` are topics. */
export const namedFilesExist: Rule = (files) => {
  const paths = files.map(({ path }) => path);
  return files
    .filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md')
    .flatMap(({ path, text }) =>
      [...text.matchAll(NAMED)].flatMap(([, named = '']) =>
        paths.some((known) => known === named || known.startsWith(`${named}/`))
          ? []
          : [`${path}: there is no ${named}`],
      ),
    );
};

function headingsOf(page: string): string[] {
  return [...withoutCode(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
}

function sectionsOf(page: string): string[] {
  return headingsOf(page).flatMap((heading) => /^(\d+(?:\.\d+)?)/.exec(heading)?.[1] ?? []);
}

/** Anchors as code hosts derive them from headings; equal ones are numbered from the second on. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return headingsOf(page).map((heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

function withoutCode(page: string): string {
  return page.replace(/^```[\s\S]*?^```/gm, '');
}

function resolve(from: string, target: string): string {
  const steps = from.split('/').slice(0, -1);
  for (const step of target.replace(/\/$/, '').split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.') steps.push(step);
  }
  return steps.join('/');
}
