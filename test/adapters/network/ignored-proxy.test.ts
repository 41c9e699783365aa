import { expect, it } from 'vitest';
import { ignoredProxy } from '../../../src/adapters/network/ignored-proxy.ts';

it('names the variable that sets a proxy, and never its value', () => {
  expect(ignoredProxy({ HTTPS_PROXY: 'http://anna:secret@proxy.example:3128' })).toBe('HTTPS_PROXY');
  expect(ignoredProxy({ https_proxy: 'http://proxy.example' })).toBe('https_proxy');
  expect(ignoredProxy({ HTTPS_PROXY: '', NO_PROXY: '*' })).toBeNull();
});
