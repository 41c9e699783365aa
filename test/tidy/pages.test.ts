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
/** Words that may not stand together in any file, this one included. */
const said = (...words: string[]): string => words.join(' ');

describe('what the code points to is in the repository', () => {
  it('holds here', () => {
    expect(pointersLeadSomewhere(TREE)).toEqual([]);
  });

  it.each([
    said('// see docs/service.md', '4.9'),
    said('// see docs/', 'nowhere.md').replace(' nowhere', 'nowhere'),
    said('// the session of specification', '2.1'),
    said('// Specification', '(4.7) shows it'),
    said('// the topics (CONTRACT', 'section 3)'),
  ])('would be broken by: %s', (text) => {
    expect(pointersLeadSomewhere(source(text))).toHaveLength(1);
  });

  it('is not broken by a section that is there', () => {
    const text = '// docs/service.md 4.1 and docs/service.md; the specification leaves it open; a CONTRACT';
    expect(pointersLeadSomewhere(source(text))).toEqual([]);
  });
});

describe('links between pages lead somewhere', () => {
  it('holds here', () => {
    expect(linksLeadSomewhere(TREE)).toEqual([]);
  });

  it.each(['[x](nowhere.md)', '[x](service.md#nowhere)', '[x](../src)', '[x](#here)'])(
    'would be broken by %s',
    (text) => {
      expect(linksLeadSomewhere(page(text))).toHaveLength(1);
    },
  );

  it('is not broken by a file, a heading, a folder or another site', () => {
    const text =
      '[a](service.md#41-create-a-session) [b](../docs) [c](https://example.com/x) [d](#here)\n\n# Here\n';
    expect(linksLeadSomewhere(page(text))).toEqual([]);
    expect(linksLeadSomewhere(page('```\n[x](nowhere.md)\n```\n'))).toEqual([]);
    expect(linksLeadSomewhere(page('[a](#b) [c](#b-1)\n\n## B\n\n## B\n'))).toEqual([]);
  });
});

describe('files that pages name', () => {
  it('are there', () => {
    expect(namedFilesExist(TREE)).toEqual([]);
  });

  it.each(['`src/nowhere.ts`', '`docs/nowhere`'])('would be missed: %s', (text) => {
    expect(namedFilesExist(page(text))).toHaveLength(1);
    expect(
      namedFilesExist(page('`src/a.ts` `docs` src/nowhere.ts `docs/service.md`').concat(source(''))),
    ).toEqual([]);
  });
});
