import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { linksLeadSomewhere, namedFilesExist, pointersLeadSomewhere } from './pages.ts';
import { readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));
const PAGE: SourceFile = {
  path: 'docs/service.md',
  text: '# Service\n\n## 4. Operations\n\n### 4.1 Create a session\n',
};
const source = (text: string): SourceFile[] => [PAGE, { path: 'src/a.ts', text }];
const page = (text: string): SourceFile[] => [PAGE, { path: ['docs', 'a.md'].join('/'), text }];
/** Joins words that no file may contain together, not even this one. */
const joined = (...words: string[]): string => words.join(' ');

describe('pages and sections that code refers to exist', () => {
  it('holds in this repository', () => {
    expect(pointersLeadSomewhere(TREE)).toEqual([]);
  });

  it.each([
    joined('// see docs/service.md', '4.9'),
    joined('// see docs/', 'nowhere.md').replace(' nowhere', 'nowhere'),
    joined('// the session of specification', '2.1'),
    joined('// Specification', '(4.7) shows it'),
    joined('// the topics (CONTRACT', 'section 3)'),
  ])('reports: %s', (text) => {
    expect(pointersLeadSomewhere(source(text))).toHaveLength(1);
  });

  it('accepts a section that exists', () => {
    const text = '// docs/service.md 4.1 and docs/service.md; the specification leaves it open; a CONTRACT';
    expect(pointersLeadSomewhere(source(text))).toEqual([]);
  });
});

describe('links between pages', () => {
  it('holds in this repository', () => {
    expect(linksLeadSomewhere(TREE)).toEqual([]);
  });

  it.each(['[x](nowhere.md)', '[x](service.md#nowhere)', '[x](../src)', '[x](#here)'])(
    'reports %s',
    (text) => {
      expect(linksLeadSomewhere(page(text))).toHaveLength(1);
    },
  );

  it('accepts a file, a heading, a folder and another site', () => {
    const text =
      '[a](service.md#41-create-a-session) [b](../docs) [c](https://example.com/x) [d](#here)\n\n# Here\n';
    expect(linksLeadSomewhere(page(text))).toEqual([]);
    expect(linksLeadSomewhere(page('```\n[x](nowhere.md)\n```\n'))).toEqual([]);
    expect(linksLeadSomewhere(page('[a](#b) [c](#b-1)\n\n## B\n\n## B\n'))).toEqual([]);
  });
});

describe('files that pages name exist', () => {
  it('holds in this repository', () => {
    expect(namedFilesExist(TREE)).toEqual([]);
  });

  it.each(['`src/nowhere.ts`', '`docs/nowhere`'])('reports a missing %s', (text) => {
    expect(namedFilesExist(page(text))).toHaveLength(1);
    expect(
      namedFilesExist(page('`src/a.ts` `docs` src/nowhere.ts `docs/service.md`').concat(source(''))),
    ).toEqual([]);
  });
});
