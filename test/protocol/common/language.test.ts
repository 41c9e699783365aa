import { afterEach, describe, expect, it, vi } from 'vitest';
import { unknownLanguages } from '../../../src/protocol/common/language.ts';

describe('languages that no list knows', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('names tags without a language or region when they are asked for', () => {
    const tags = ['en', 'xx', 'pt-br', 'en-XQ', 'zh-Hant', 'haw', 'en-us-us'];
    expect(unknownLanguages(tags)).toEqual(['xx', 'en-XQ', 'en-us-us']);
  });

  it("loads none of the engine's tables, which are 7 MB, when all are languages of the service", async () => {
    const names = vi.spyOn(Intl, 'DisplayNames');
    vi.resetModules();
    const fresh = await import('../../../src/protocol/common/language.ts');
    expect(fresh.unknownLanguages(['en', 'es', 'yue'])).toEqual([]);
    expect(names).not.toHaveBeenCalled();
    expect(fresh.unknownLanguages(['xx'])).toEqual(['xx']);
    expect(names).toHaveBeenCalled();
  });
});
